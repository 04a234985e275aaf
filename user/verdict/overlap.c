// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/overlap.h"

static uint64_t began(const struct trace_endpoint *ep)
{
	return ep->at_ns - ep->tx.lifetime_ns;
}

uint64_t surely_overlap(const struct trace_endpoint *a, uint64_t a_ns, const struct trace_endpoint *b, uint64_t b_ns)
{
	uint64_t to = a->at_ns > b->at_ns ? a->at_ns : b->at_ns, from = began(a) < began(b) ? began(a) : began(b);

	return a_ns + b_ns > to - from ? a_ns + b_ns - (to - from) : 0;
}
