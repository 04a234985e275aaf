// SPDX-License-Identifier: GPL-2.0-only
/* Senders that were not seen, and waited for this host's delayed ACKs: told by when their next data came (timer_answered() in bpf/tcp.bpf.h). */
#include "model/unstalled.h"

/*
 * A message may come by itself a round trip after the timer fired. Of one in two it does not, nor often three times in a row: what is
 * sent at random meets a millisecond of forty, or a round trip of many. A beat of forty milliseconds and a round trip looks the same.
 */
#define LEAST_TIMES 3
#define ANSWERED_SHARE 0.5

static bool was_waited_for(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->delack_res != TRACE_UNKNOWN && !other_end_seen(ep) && ep->answered >= LEAST_TIMES &&
	       (double)ep->answered >= ANSWERED_SHARE * (double)ep->delack_fires;
}

struct withheld_ack find_withheld_ack(const struct trace_snapshot *s, double min_share, uint64_t min_ns)
{
	struct withheld_ack most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		double share = ep->rx.lifetime_ns ? (double)ep->answered_ns / (double)ep->rx.lifetime_ns : 0;

		if (ep->answered_ns >= min_ns && ep->answered_ns > most.ns && share >= min_share && was_waited_for(ep))
			most = (struct withheld_ack){ .endpoint = (int)i, .ns = ep->answered_ns, .count = ep->answered, .share = share };
	}
	return most;
}
