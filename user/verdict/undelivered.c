// SPDX-License-Identifier: GPL-2.0-only
/* Segments that did not leave this host before the retransmission timer fired: a neighbour that
 * does not answer (they wait in its queue), a link that is down, a blocked queue. The ledger
 * calls that `device`, which is no stall: usually the device is at work. */
#include "verdict/other_findings.h"
#include "verdict/times.h"

#define TIMER_NS 200000000 /* TCP_RTO_MIN */

struct reader_spell find_undelivered(const struct trace_snapshot *s)
{
	struct reader_spell most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		uint64_t ns = trace_undelivered_ns(ep);
		double share =
			ep->tx.lifetime_ns ? (double)ns / (double)ep->tx.lifetime_ns : 0;

		if (ns < TIMER_NS || ns <= most.ns || share < VERDICT_MIN_SHARE)
			continue;
		most = (struct reader_spell){ (int)i, ns, smaller(ep->tx.max[TX_DEVICE], ns),
					      ep->timeouts, share };
	}
	return most;
}
