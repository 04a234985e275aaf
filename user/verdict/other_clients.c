// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/other_clients.h"

#include "verdict/replies.h"
#include "verdict/times.h"
#include "verdict/verdict.h"

static uint64_t accepted(const struct trace_endpoint *ep)
{
	return began(ep) + ep->making.accept_ns;
}

/* in which the one had its connection while the other had none yet */
static uint64_t time_together(const struct trace_endpoint *waits, const struct trace_endpoint *has)
{
	uint64_t from = larger(began(waits), accepted(has)),
		 to = smaller(accepted(waits), has->at_ns);

	return to > from ? to - from : 0;
}

/* From what it read there to its answer, and asleep in a call there: it did nothing else, unless
 * another thread did. */
static uint64_t was_busy_with(const struct trace_endpoint *ep)
{
	return ep->tx_calls.reply_ns + ep->tx_calls.open_reply_ns + ep->rx.ns[RX_WAIT] +
	       ledger_stall_ns(&ep->tx);
}

static bool is_client_of_same(const struct trace_snapshot *s, size_t i, size_t other)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[other];

	return i != other && a->proto == b->proto && a->local.port == b->local.port &&
	       a->rx_calls.tgid && a->rx_calls.tgid == b->rx_calls.tgid &&
	       (b->making.accept_ns || is_asked(s, other));
}

struct other_clients other_clients_meanwhile(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct other_clients sum = {};
	uint64_t wait = ep->making.accept_ns;

	for (size_t k = 0; k < s->n; k++) {
		uint64_t ns = is_client_of_same(s, i, k) ? time_together(ep, &s->ep[k]) : 0,
			 busy = ns ? was_busy_with(&s->ep[k]) : 0;

		ns = busy < ns ? busy : ns;
		if (!ns)
			continue;
		sum.n++;
		sum.ns += ns;
		sum.one = k;
	}
	sum.ns = sum.ns < wait ? sum.ns : wait;
	return 2 * sum.ns > wait ? sum : (struct other_clients){};
}
