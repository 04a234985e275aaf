// SPDX-License-Identifier: GPL-2.0-only
#include "bench/rpc_overhead.h"

#include <math.h>

#include "bench/run.h"

enum { SHARE = 5, LEAST_NS = 50000000, MOST_NS = 300000000 };

uint64_t rpc_overhead_ns(const struct bench_plan *plan)
{
	int64_t ns = plan->o.duration / SHARE;

	if (!(plan->w->flags & WL_RPC) || plan->o.connect)
		return 0;
	return (uint64_t)(ns < LEAST_NS ? LEAST_NS : ns > MOST_NS ? MOST_NS : ns);
}

int rpc_overhead_measure(const struct bench_plan *plan, enum test t, int64_t size, struct point *p,
			 struct err *e)
{
	struct bench_plan plain = *plan;
	struct point found = {};

	if (!(plan->w->flags & WL_RPC) || plan->remote || plan->o.serving)
		return 0;
	plain.w = plan->w->plain;
	plain.o.duration = (int64_t)rpc_overhead_ns(plan);
	plain.o.count = plain.o.bytes = 0;
	if (bench_run_as_planned(&plain, t, size, NULL, &found, e)) {
		point_free(p);
		return -1;
	}
	if (found.latency.present)
		p->rpc.plain_ns = found.latency.s.median;
	if (found.throughput.present)
		p->rpc.plain_bytes_per_s = found.throughput.bytes_per_s;
	point_free(&found);
	return 0;
}

double rpc_overhead(const struct point *p)
{
	return p->throughput.present ? p->rpc.plain_bytes_per_s / p->throughput.bytes_per_s
	       : p->latency.present  ? p->latency.s.median / p->rpc.plain_ns
				     : NAN;
}
