// SPDX-License-Identifier: GPL-2.0-only
/* What was seen of an endpoint: its stall, its other end, and how long it was in one rx state. */
#include <string.h>
#include <sys/socket.h>

#include "verdict/other_findings.h"

bool other_end_seen(const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE) /* both ends are one endpoint, whose writer may be known by a
					descriptor alone */
		return ep->tx_calls.tid || ep->tx_calls.messages;
	return ep->peer >= 0 || ep->paired;
}

struct reader_spell spell_of(const struct trace_snapshot *s, size_t i, enum rx_state state)
{
	const struct trace_ledger *rx = &s->ep[i].rx;

	return (struct reader_spell){
		.endpoint = (int)i,
		.ns = rx->ns[state],
		.max_ns = rx->max[state] >= TRACE_SPLIT_NS ? rx->ns[state] : rx->max[state],
		.count = rx->count[state],
		.share = rx->lifetime_ns ? (double)rx->ns[state] / (double)rx->lifetime_ns : 0,
	};
}

const struct trace_call_stats *program_at(const struct trace_endpoint *ep)
{
	return ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
}

const struct trace_call_stats *who_waits(const struct trace_endpoint *ep)
{
	bool seen = ep->proto == TRACE_PIPE || ep->rx_calls.tgid || ep->rx_calls.others;

	return seen ? &ep->rx_calls : program_at(ep);
}

static bool is_at(const struct trace_listener *l, const struct trace_endpoint *ep)
{
	static const uint8_t any[16];

	return l->local.port == ep->remote.port && l->netns == ep->netns &&
	       (!memcmp(l->local.ip, any, sizeof(any)) || l->family != ep->family ||
		!memcmp(l->local.ip, ep->remote.ip, sizeof(any)));
}

bool is_unix_connection(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UNIX_STREAM || ep->proto == TRACE_UNIX_SEQPACKET;
}

bool is_local_ipc(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE || ep->family == AF_UNIX;
}

const struct trace_listener *listener_of(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep)
{
	for (size_t i = 0; ep->proto == TRACE_TCP && i < s->listeners.n; i++) {
		const struct trace_listener *l = &s->listeners.v[i];

		if (l->tgid && l->netns == ep->netns && l->local.port == ep->local.port)
			return l;
	}
	return NULL;
}

bool listener_was_full(const struct trace_listener *l)
{
	return l->dropped && l->peak > l->backlog;
}

const struct trace_listener *full_listener(const struct trace_snapshot *s,
					   const struct trace_endpoint *ep)
{
	for (size_t i = 0; ep->proto == TRACE_TCP && i < s->listeners.n; i++) {
		const struct trace_listener *l = &s->listeners.v[i];

		if (is_at(l, ep) && listener_was_full(l))
			return l;
	}
	return NULL;
}

uint64_t ledger_stall_ns(const struct trace_ledger *tx)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		if (tx_is_stall(i))
			sum += tx->ns[i];
	return sum;
}
