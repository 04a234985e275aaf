// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/negligible.h"

/* A user may look for a time of half a delayed ACK, however long the session is. */
#define ALWAYS_NS	 20000000
#define NEGLIGIBLE_SHARE 0.005

uint64_t observed_ns(const struct trace_snapshot *s)
{
	uint64_t from = UINT64_MAX, to = s->at_ns;

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		uint64_t life = ep->tx.lifetime_ns > ep->rx.lifetime_ns ? ep->tx.lifetime_ns
									: ep->rx.lifetime_ns;
		uint64_t began = ep->at_ns > life ? ep->at_ns - life : 0;

		from = began < from ? began : from;
		to = ep->at_ns > to ? ep->at_ns : to;
	}
	return to > from ? to - from : 0;
}

bool is_unnoticeable(uint64_t ns, uint64_t observed)
{
	return is_negligible(ns, observed) ||
	       (ns < NOTICEABLE_NS && (double)ns < NOTICEABLE_SHARE * (double)observed);
}

bool is_negligible(uint64_t ns, uint64_t observed)
{
	return ns < ALWAYS_NS && (double)ns < NEGLIGIBLE_SHARE * (double)observed;
}
