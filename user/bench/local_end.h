/* SPDX-License-Identifier: GPL-2.0-only */
/* One end of a point, run here while the other end is on another host. */
#ifndef IPCSTALL_BENCH_LOCAL_END_H
#define IPCSTALL_BENCH_LOCAL_END_H

#include "bench/run.h"

struct half;

/* bind: the address to listen at. NULL with the reason, and then nothing is left. */
struct half *half_start(const struct bench_plan *plan, enum test t, int64_t size, const char *bind, struct err *e);
struct run *half_run(struct half *h);
pid_t half_pid(const struct half *h);
/* Readable when the worker has reported or died. */
int half_fd(const struct half *h);
int half_order(struct half *h, const struct order_msg *o, struct err *e);
int half_report(struct half *h, struct err *e);
/* A phase begins: what its end will say is not known. */
void half_reset(struct half *h);
void half_stop(struct half *h, bool failed);

#endif
