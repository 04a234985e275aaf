// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/other_clients.h"

#include "verdict/replies.h"
#include "verdict/times.h"
#include "verdict/verdict.h"

static uint64_t accepted(const struct trace_endpoint *ep)
{
	return began(ep) + ep->making.accept_ns;
}

/* The time in which the server had accepted `has` but not yet `waits`. */
static uint64_t time_together(const struct trace_endpoint *waits, const struct trace_endpoint *has)
{
	uint64_t from = larger(began(waits), accepted(has)),
		 to = smaller(accepted(waits), has->at_ns);

	return to > from ? to - from : 0;
}

/* From each read there to the answer, and asleep in a call there: the server did nothing else,
 * unless by another thread. */
static uint64_t was_busy_with(const struct trace_endpoint *ep)
{
	return ep->tx_calls.reply_ns + ep->tx_calls.open_reply_ns + ep->rx.ns[RX_WAIT] +
	       ledger_stall_ns(&ep->tx);
}

#define LITTLE_OF_WAIT 0.05 /* clients whose requests take less of it are left out */

static bool is_client_of_same(const struct trace_snapshot *s, size_t i, size_t other)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[other];

	return i != other && a->proto == b->proto && a->local.port == b->local.port &&
	       a->rx_calls.tgid && a->rx_calls.tgid == b->rx_calls.tgid &&
	       (b->making.accept_ns || answers_requests(s, other));
}

/* How long the thread that reads here worked on requests of the other client while both had a
 * connection. */
static uint64_t thread_was_busy(const struct trace_endpoint *ep, const struct trace_endpoint *other)
{
	uint64_t from = larger(began(ep), began(other)), to = smaller(ep->at_ns, other->at_ns),
		 busy = other->tx_calls.reply_ns + other->tx_calls.open_reply_ns;

	if (!ep->rx_calls.tid || ep->rx_calls.tid != other->rx_calls.tid ||
	    other->tx_calls.tid != other->rx_calls.tid || to <= from)
		return 0;
	return smaller(busy, to - from);
}

/* Most of the unread time passed before anybody had the connection. */
bool lay_in_queue(const struct trace_endpoint *ep, uint64_t unread_ns)
{
	return 2 * ep->making.accept_unread_ns >= unread_ns;
}

static uint64_t busy_meanwhile(const struct trace_endpoint *ep, const struct trace_endpoint *other,
			       bool queued)
{
	return queued ? smaller(was_busy_with(other), time_together(ep, other))
				    : thread_was_busy(ep, other);
}

struct other_clients other_clients_meanwhile(const struct trace_snapshot *s, size_t i,
					     uint64_t unread_ns)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct other_clients sum = {};
	bool queued = lay_in_queue(ep, unread_ns);
	uint64_t wait = queued ? ep->making.accept_ns : unread_ns;

	for (size_t k = 0; k < s->n; k++) {
		uint64_t ns = is_client_of_same(s, i, k) ? busy_meanwhile(ep, &s->ep[k], queued)
							 : 0;

		if (!ns || (double)ns < LITTLE_OF_WAIT * (double)wait)
			continue;
		sum.n++;
		sum.ns += ns;
		sum.one = k;
	}
	sum.ns = sum.ns < wait ? sum.ns : wait;
	return 2 * sum.ns > wait ? sum : (struct other_clients){};
}
