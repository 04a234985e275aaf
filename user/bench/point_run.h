/* SPDX-License-Identifier: GPL-2.0-only */
/* One point's two ends: the processes, and the pipes through which they are ordered and report. */
#ifndef IPCSTALL_BENCH_POINT_RUN_H
#define IPCSTALL_BENCH_POINT_RUN_H

#include "bench/run.h"

struct worker {
	pid_t pid;
	int orders, reports; /* our ends */
};

struct bout {
	struct run run;
	struct worker worker[ROLES];
	struct conn ends[ROLES];
	int awake_fd;
};

void bout_init(struct bout *b, const struct bench_plan *plan, enum test t, int64_t size);
/* All that both ends have before they are forked. */
int bout_open(struct bout *b, struct err *e);
/* Ends what was begun, as far as it was. */
void bout_end(struct bout *b, bool failed);

/* workers.c */
int bout_spawn(struct bout *b, enum role role, struct err *e);
int bout_order(struct bout *b, enum role role, const struct order_msg *o, struct err *e);
int bout_report(struct bout *b, enum role role, struct err *e);
/* An order, and the reports of whoever has it. */
int bout_order_one(struct bout *b, enum role role, enum order what, struct err *e);
int bout_order_both(struct bout *b, const struct order_msg *o, uint64_t budget_ns, struct err *e);
void bout_reap(struct bout *b, bool failed);

/* runner.c: a phase begins */
void phase_reset(struct shared *sh);

#endif
