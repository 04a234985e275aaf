/* SPDX-License-Identifier: GPL-2.0-only */
/* One point's two ends: the processes, and the pipes through which they are ordered and report. */
#ifndef IPCSTALL_BENCH_POINT_RUN_H
#define IPCSTALL_BENCH_POINT_RUN_H

#include "bench/run.h"

struct worker {
	pid_t pid;
	int orders, reports; /* our ends */
};

struct point_run {
	struct run run;
	struct worker worker[ROLES];
	struct conn ends[ROLES];
	int awake_fd;
};

void point_run_init(struct point_run *b, const struct bench_plan *plan, enum test t, int64_t size);
/* All that both ends have before they are forked. */
int point_run_open(struct point_run *b, struct err *e);
/* Ends what was begun, as far as it was. */
void point_run_end(struct point_run *b, bool failed);

/* workers.c */
int point_run_spawn(struct point_run *b, enum role role, struct err *e);
int point_run_order(struct point_run *b, enum role role, const struct order_msg *o, struct err *e);
int point_run_report(struct point_run *b, enum role role, struct err *e);
/* An order, and the reports of whoever has it. */
int point_run_order_one(struct point_run *b, enum role role, enum order what, struct err *e);
int point_run_order_both(struct point_run *b, const struct order_msg *o, uint64_t budget_ns,
			 struct err *e);
void point_run_reap(struct point_run *b, bool failed);

/* runner.c: a phase begins */
void phase_reset(struct shared *sh);

#endif
