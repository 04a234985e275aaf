// SPDX-License-Identifier: GPL-2.0-only
/* Threads that were woken in a call and had to wait for a CPU. No ledger calls that a stall: a reader stands in `wait` meanwhile. */
#include "model/blame.h"
#include "model/unstalled.h"

/* less of an endpoint's time is any busy machine's */
#define STARVED_SHARE 0.1

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct reader_spell starved(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	uint64_t writer = blame_starved(&ep->txb), reader = blame_starved(&ep->rxb);

	return (struct reader_spell){
		.endpoint = (int)i,
		.ns = writer + reader,
		.max_ns = larger(writer ? ep->txb.runq_max_ns : 0, reader ? ep->rxb.runq_max_ns : 0),
		.count = (writer ? ep->txb.wakeups : 0) + (reader ? ep->rxb.wakeups : 0),
		.share = ep->rx.lifetime_ns ? (double)(writer + reader) / (double)ep->rx.lifetime_ns : 0,
	};
}

struct reader_spell find_starved(const struct trace_snapshot *s, uint64_t min_ns)
{
	struct reader_spell most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell one = starved(s, i);

		if (one.ns >= min_ns && one.ns > most.ns && one.share >= STARVED_SHARE)
			most = one;
	}
	return most;
}
