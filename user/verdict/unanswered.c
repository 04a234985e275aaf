// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries by UDP that nobody answers, or that another host refuses: no sender is held up, and
 * nothing is lost that this host knows of. Who never tries to read expects no answer.
 */
#include "verdict/by_address.h"
#include "verdict/other_findings.h"
#include "verdict/requests.h"
#include "verdict/unsampled_connections.h"

static bool was_refused(const struct trace_endpoint *ep)
{
	return ep->tx_calls.refused_n || ep->rx_calls.refused_n;
}

/* Who names the address in each call may send news that nobody answers. */
static bool is_connected(const struct trace_endpoint *ep)
{
	return ep->remote.port && !ep->making.unconnected;
}

static bool expects_an_answer(const struct trace_endpoint *ep)
{
	return ep->rx.ns[RX_WAIT] >= VERDICT_MIN_NS || (is_connected(ep) && ep->rx.ns[RX_WORK]) ||
	       was_refused(ep);
}

/* Of who waits in poll() or epoll no call tells; but what it asked lies unread at the server, for
 * most of a second that somebody had for an answer. */
#define LIES_NS	  500000000

static bool lies_unread(const struct trace_snapshot *s, const struct trace_endpoint *ep, int server)
{
	const struct trace_endpoint *at = server >= 0 ? &s->ep[server] : NULL;

	return at && is_connected(ep) && ep->tx_calls.messages <= QUESTIONS &&
	       at->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN &&
	       at->rx.max[RX_UNREAD] >= LIES_NS && !at->tx_calls.messages;
}

/* And whoever sends so few, and closes after as long without an answer, gave it up. */
static bool gave_up(const struct trace_endpoint *ep)
{
	return ep->closed && is_connected(ep) && ep->tx_calls.messages <= QUESTIONS &&
	       ep->rx_calls.open_reply_ns >= LIES_NS;
}

static bool is_unanswered(const struct trace_endpoint *ep)
{
	if (ep->proto != TRACE_UDP || ep->rx.resolution[RX_WAIT] == TRACE_UNKNOWN)
		return false;
	return ep->tx_calls.messages && trace_messages_known(&ep->tx_calls) &&
	       trace_messages_known(&ep->rx_calls) && !ep->rx_calls.messages;
}

static bool waits(const struct trace_snapshot *s, const struct trace_endpoint *ep, int server)
{
	return expects_an_answer(ep) || gave_up(ep) || lies_unread(s, ep, server);
}

/* how long, by its own call or by what lies at the server; 0: not known */
static uint64_t waited_ns(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			  int server)
{
	if (expects_an_answer(ep) && ep->rx.ns[RX_WAIT])
		return ep->rx.ns[RX_WAIT];
	if (expects_an_answer(ep) || gave_up(ep))
		return ep->rx_calls.open_reply_ns;
	return s->ep[server].rx.ns[RX_UNREAD];
}

/* What is asked last, of a socket for each question, may only be late. */
static bool was_answered_before(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	for (size_t i = 0; i < s->n && !ep->closed; i++) {
		const struct trace_endpoint *other = &s->ep[i];

		if (other != ep && same_client(other, ep) && same_server(other, ep) &&
		    other->rx_calls.messages)
			return true;
	}
	return false;
}

struct unanswered find_unanswered(const struct trace_snapshot *s)
{
	struct unanswered most = { .endpoint = -1, .server = -1 };

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		uint64_t ns;
		int server;

		if (!is_unanswered(ep))
			continue;
		server = bound_where_it_sends(s, ep);
		if (!waits(s, ep, server))
			continue;
		ns = waited_ns(s, ep, server);
		if ((most.endpoint < 0 || ns > most.ns) && !was_answered_before(s, ep))
			most = (struct unanswered){ (int)i, server, ep->tx_calls.messages, ns,
						    was_refused(ep) };
	}
	return most;
}
