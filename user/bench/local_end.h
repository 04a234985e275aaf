/* SPDX-License-Identifier: GPL-2.0-only */
/* One end of a point, run here while the other end is on another host. */
#ifndef IPCSTALL_BENCH_LOCAL_END_H
#define IPCSTALL_BENCH_LOCAL_END_H

#include "bench/run.h"

struct local_end;

/* bind: the address to listen at. On failure returns NULL with the reason and keeps nothing. */
struct local_end *local_end_start(const struct bench_plan *plan, enum test t, int64_t size,
				  const char *bind, struct err *e);
struct run *local_end_run(struct local_end *h);
pid_t local_end_pid(const struct local_end *h);
/* Readable when the worker has reported or died. */
int local_end_fd(const struct local_end *h);
int local_end_order(struct local_end *h, const struct order_msg *o, struct err *e);
int local_end_report(struct local_end *h, struct err *e);
/* Call when a phase begins: forgets what the ends shared in the previous phase. */
void local_end_reset(struct local_end *h);
void local_end_stop(struct local_end *h, bool failed);

#endif
