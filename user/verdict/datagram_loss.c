// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams that were dropped on this host. */
#include "verdict/other_findings.h"

#include <math.h>

/* Drops as a share of drops and reads; datagrams that still lie unread are neither. Unknown for a
 * socket that nobody read from, and for drops by a qdisc: one send() may have made many datagrams
 * (UDP_SEGMENT), and a send() that the qdisc refused may have failed (IP_RECVERR). */
static double share_lost(const struct trace_endpoint *ep, enum trace_drop kind)
{
	uint64_t n = ep->drops[kind];

	if (kind == TRACE_DROP_QDISC || !ep->rx_calls.messages ||
	    !trace_messages_known(&ep->rx_calls))
		return NAN;
	return (double)n / (double)(n + ep->rx_calls.messages);
}

/* Compares the drops with the calls that sent or read, if their number is known. */
static bool is_stray(const struct trace_endpoint *ep, enum trace_drop kind)
{
	const struct trace_call_stats *calls =
		kind == TRACE_DROP_QDISC ? &ep->tx_calls : &ep->rx_calls;

	return trace_messages_known(calls) &&
	       ep->drops[kind] < STRAY_SHARE * (double)calls->messages;
}

static struct datagram_loss loss_at(const struct trace_endpoint *ep, size_t i, enum trace_drop kind)
{
	return (struct datagram_loss){
		.endpoint = (int)i,
		.kind = kind,
		.n = ep->drops[kind],
		.share = share_lost(ep, kind),
		.stray = is_stray(ep, kind),
	};
}

/* Its receiver is no endpoint, but counts its drops: in the short time at the session's end in
 * which that was read twice. */
static struct datagram_loss loss_at_other_end(const struct trace_endpoint *ep, size_t i)
{
	const struct trace_making *m = &ep->making;
	double sent = ep->tx.lifetime_ns && trace_messages_known(&ep->tx_calls)
			      ? (double)ep->tx_calls.messages * (double)m->other_drops_ns /
					(double)ep->tx.lifetime_ns
			      : 0;

	return (struct datagram_loss){
		.endpoint = (int)i,
		.kind = TRACE_DROP_RCVBUF,
		.n = m->other_drops,
		.over_ns = m->other_drops_ns,
		.share = sent > 0 ? fmin(1, (double)m->other_drops / sent) : NAN,
		.stray = sent > 0 && (double)m->other_drops < STRAY_SHARE * sent,
	};
}

struct datagram_loss find_loss(const struct trace_snapshot *s)
{
	struct datagram_loss worst = find_lost_between(s), loss;

	for (size_t i = 0; i < s->n; i++) {
		loss = loss_at_other_end(&s->ep[i], i);
		keep_worse_loss(&worst, &loss);
		for (enum trace_drop k = 0; k < TRACE_DROPS && s->ep[i].drops_res != TRACE_UNKNOWN;
		     k++) {
			loss = loss_at(&s->ep[i], i, k);
			keep_worse_loss(&worst, &loss);
		}
	}
	return worst;
}
