// SPDX-License-Identifier: GPL-2.0-only
/* Requests that were sent before the session began: the ledger saw nothing go, and a reader sleeps
 * in a call. TCP knows which end sent last. */
#include "tracer/internal.h"
#include "tracer/tcp_turns.h"

static bool nothing_went(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && !ep->closed && ep->joined_late && ep->inode &&
	       !ep->rx_calls.bytes && !ep->tx_calls.bytes && !ep->rx_calls.reply_n &&
	       !ep->rx_calls.open_reply_ns;
}

void trace_find_outstanding(struct trace_snapshot *s)
{
	struct tcp_turns turns = {};
	bool are_read = false;

	for (size_t i = 0; i < s->n; i++) {
		struct trace_endpoint *ep = &s->ep[i];
		const struct tcp_turn *t;

		if (!nothing_went(ep))
			continue;
		if (!are_read)
			tcp_turns_read(&turns);
		are_read = true;
		t = tcp_turns_find(&turns, ep->inode);
		ep->making.sent_last = t && tcp_turn_sent_last(t) && tcp_turn_is_answered(t);
		if (ep->making.sent_last && ep->rx.ns[RX_WAIT])
			ep->rx_calls.open_reply_ns = ep->rx.lifetime_ns; /* who reads has asked */
	}
	tcp_turns_free(&turns);
}
