// SPDX-License-Identifier: GPL-2.0-only
/* Readers that leave unread what a sender had sent that was not seen. */
#include "model/unstalled.h"

struct reader_spell spell_of(const struct trace_snapshot *s, size_t i, enum rx_state state)
{
	const struct trace_ledger *rx = &s->ep[i].rx;

	return (struct reader_spell){
		.endpoint = (int)i,
		.ns = rx->ns[state],
		.max_ns = rx->max[state],
		.count = rx->count[state],
		.share = rx->lifetime_ns ? (double)rx->ns[state] / (double)rx->lifetime_ns : 0,
	};
}

/* less of its time is any reader's, and so is a shorter while each time: a server looks after others too */
#define LATE_SHARE 0.1
#define LATE_NS 1000000

static bool is_late(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	if (ep->proto == TRACE_UDP || other_end_seen(ep) || ep->rx.resolution[RX_UNREAD] == TRACE_UNKNOWN)	/* who sends UDP waits for no reader */
		return false;
	return r->share >= LATE_SHARE && r->ns >= LATE_NS * r->count;
}

struct reader_spell find_late_reader(const struct trace_snapshot *s, uint64_t min_ns)
{
	struct reader_spell late = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell r = spell_of(s, i, RX_UNREAD);

		if (r.ns >= min_ns && r.ns > late.ns && is_late(&s->ep[i], &r))
			late = r;
	}
	return late;
}
