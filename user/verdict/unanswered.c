// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries by UDP that nobody answers, or that another host refuses: no sender is held up, and
 * nothing is lost that this host knows of. Who never tries to read expects no answer.
 */
#include "verdict/other_findings.h"

#include <string.h>

static bool expects_an_answer(const struct trace_endpoint *ep)
{
	return ep->rx.ns[RX_WAIT] >= VERDICT_MIN_NS || (ep->remote.port && ep->rx.ns[RX_WORK]);
}

static bool is_unanswered(const struct trace_endpoint *ep)
{
	if (ep->proto != TRACE_UDP || ep->rx.resolution[RX_WAIT] == TRACE_UNKNOWN)
		return false;
	return ep->tx_calls.messages && trace_messages_known(&ep->tx_calls) &&
	       trace_messages_known(&ep->rx_calls) && !ep->rx_calls.messages &&
	       expects_an_answer(ep);
}

static bool is_any(const struct trace_addr *a)
{
	static const uint8_t zero[16];

	return !memcmp(a->ip, zero, sizeof(zero));
}

/* whose socket is bound to where they went */
static int server_of(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	for (size_t i = 0; ep->remote.port && i < s->n; i++) {
		const struct trace_endpoint *x = &s->ep[i];

		if (x == ep || x->proto != TRACE_UDP || x->local.port != ep->remote.port ||
		    x->netns != ep->netns)
			continue;
		if (is_any(&x->local) || !memcmp(x->local.ip, ep->remote.ip, sizeof(x->local.ip)))
			return (int)i;
	}
	return -1;
}

struct unanswered find_unanswered(const struct trace_snapshot *s)
{
	struct unanswered most = { .endpoint = -1, .server = -1 };

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		if (is_unanswered(ep) && (most.endpoint < 0 || ep->rx.ns[RX_WAIT] > most.ns))
			most = (struct unanswered){ (int)i, server_of(s, ep), ep->tx_calls.messages,
						    ep->rx.ns[RX_WAIT] };
	}
	return most;
}
