/* SPDX-License-Identifier: GPL-2.0-only */
/* The two ends of a point: their processes, and the pipes for orders and reports. */
#ifndef IPCSTALL_BENCH_POINT_RUN_H
#define IPCSTALL_BENCH_POINT_RUN_H

#include "bench/run.h"

struct worker {
	pid_t pid;
	int orders, reports; /* the coordinator's ends of the pipes */
};

struct point_run {
	struct run run;
	struct worker worker[ROLES];
	struct conn ends[ROLES];
	int awake_fd;
};

void point_run_init(struct point_run *b, const struct bench_plan *plan, enum test t, int64_t size);
/* Set up everything that both ends have before they are forked. */
int point_run_open(struct point_run *b, struct err *e);
/* Undo everything that was set up; also after a partial failure. */
void point_run_end(struct point_run *b, bool failed);

/* workers.c */
int point_run_spawn(struct point_run *b, enum role role, struct err *e);
int point_run_order(struct point_run *b, enum role role, const struct order_msg *o, struct err *e);
int point_run_report(struct point_run *b, enum role role, struct err *e);
/* Send an order, and await the report of each end that got it. */
int point_run_order_one(struct point_run *b, enum role role, enum order what, struct err *e);
int point_run_order_both(struct point_run *b, const struct order_msg *o, uint64_t budget_ns,
			 struct err *e);
void point_run_reap(struct point_run *b, bool failed);

/* runner.c: a phase begins */
void phase_reset(struct shared *sh);

#endif
