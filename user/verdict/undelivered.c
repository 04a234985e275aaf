// SPDX-License-Identifier: GPL-2.0-only
/* Segments that did not leave this host before the retransmission timer fired: a neighbour that
 * does not answer (they wait in its queue), a link that is down, a blocked queue. The ledger
 * calls that `device`, which is no stall: usually the device is at work. */
#include "verdict/other_findings.h"

#define TIMER_NS 200000000 /* TCP_RTO_MIN */
#define FLOWS \
	100000 /* bytes a second: what goes out through a device in this time, though something be \
		  lost */

static bool flows(const struct trace_endpoint *ep)
{
	return (double)ep->tx_calls.bytes * 1e9 >= FLOWS * (double)ep->tx.ns[TX_DEVICE];
}

struct reader_spell find_undelivered(const struct trace_snapshot *s)
{
	struct reader_spell most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		const struct trace_ledger *tx = &ep->tx;
		double share =
			tx->lifetime_ns ? (double)tx->ns[TX_DEVICE] / (double)tx->lifetime_ns : 0;

		if (ep->proto != TRACE_TCP || !ep->timeouts || tx->max[TX_DEVICE] < TIMER_NS ||
		    tx->max[TX_DEVICE] <= most.max_ns)
			continue;
		if (share >= VERDICT_MIN_SHARE && !flows(ep))
			most = (struct reader_spell){ (int)i, tx->ns[TX_DEVICE], tx->max[TX_DEVICE],
						      ep->timeouts, share };
	}
	return most;
}
