/* SPDX-License-Identifier: GPL-2.0-only */
/* How much more calls cost than plain messages of the same size over the same path. */
#ifndef IPCSTALL_BENCH_RPC_OVERHEAD_H
#define IPCSTALL_BENCH_RPC_OVERHEAD_H

#include "bench/bench.h"

/* Run the plain workload once, for a short time, and keep its figure in p->rpc. Does nothing with
 * --connect: the other host's end serves one kind of workload. */
int rpc_overhead_measure(const struct bench_plan *plan, enum test t, int64_t size, struct point *p,
			 struct err *e);
uint64_t rpc_overhead_ns(const struct bench_plan *plan);

/* How many times as long a call takes as a plain message; for a stream, how many times as fast the
 * plain stream is. NAN: one of the two is unknown. */
double rpc_overhead(const struct point *p);

#endif
