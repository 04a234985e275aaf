// SPDX-License-Identifier: GPL-2.0-only
/* Requests that were sent before the session began: the ledger saw nothing go, and a reader sleeps
 * in a call. TCP knows which end sent last. */
#include "host/sock_diag.h"
#include "tracer/internal.h"
#include "tracer/netns.h"
#include "tracer/tcp_turns.h"

static bool nothing_went(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && !ep->closed && ep->joined_late && ep->inode &&
	       !ep->rx_calls.bytes && !ep->tx_calls.bytes && !ep->rx_calls.reply_n &&
	       !ep->rx_calls.open_reply_ns;
}

static void find_in_netns(struct trace_snapshot *s, const struct netns_list *l, size_t netns)
{
	struct tcp_turns turns = {};
	bool are_read = false;

	for (size_t i = 0; i < s->n; i++) {
		struct trace_endpoint *ep = &s->ep[i];
		const struct tcp_turn *t;

		if (!netns_is_of(l, netns, ep) || !nothing_went(ep))
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

void trace_find_outstanding(struct trace_snapshot *s)
{
	struct netns_list l;
	int before;

	netns_of_endpoints(s, &l);
	find_in_netns(s, &l, 0);
	for (size_t i = 1; i < l.n; i++) {
		before = sock_diag_enter(l.v[i].pid);
		find_in_netns(s, &l, i);
		sock_diag_leave(before);
	}
}
