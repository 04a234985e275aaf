// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/overlap.h"

#include "verdict/times.h"

uint64_t asleep_ns(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = &ep->rx_calls;
	uint64_t ready = larger(b->runq_ns, b->no_cpu_ns), wait = ep->rx.ns[RX_WAIT];

	return ready < wait ? wait - ready : 0;
}

uint64_t surely_overlap(const struct trace_endpoint *a, uint64_t a_ns,
			const struct trace_endpoint *b, uint64_t b_ns)
{
	uint64_t to = larger(a->at_ns, b->at_ns), from = smaller(began(a), began(b));

	return a_ns + b_ns > to - from ? a_ns + b_ns - (to - from) : 0;
}
