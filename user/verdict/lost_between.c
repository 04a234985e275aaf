// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams that were sent to a socket of this host and did not arrive, for example over a tunnel,
 * a veth or a filter. The counts are known if sender and receiver were seen from their start.
 * Untraced senders make the loss look smaller.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verdict/other_findings.h"

#define STRAY_SHARE 0.001
/* Fewer than half arrived: it may be another that has this address, in another network. */
#define MOST_ARRIVE 2
#define ON_THE_WAY_NS 100000000

static bool all_calls_known(const struct trace_endpoint *ep, const struct trace_call_stats *b)
{
	return !ep->joined_late && !ep->let_go && !ep->unseen[0] && !ep->unseen[1] &&
	       trace_messages_known(b);
}

/* Blind stretches are those of another program's calls. */
static bool nothing_was_missed(const struct trace_counters *c)
{
	return !c->lost && !c->missed && !c->overflow && !c->contended;
}

/* What it did not read lies in no queue, and it was there all the time. */
static bool received_all(const struct trace_endpoint *to)
{
	return all_calls_known(to, &to->rx_calls) && to->drops_res != TRACE_UNKNOWN &&
	       (to->rx.now == RX_WAIT || to->rx.now == RX_IDLE);
}

static bool was_there(const struct trace_endpoint *to, const struct trace_endpoint *from)
{
	uint64_t last = from->at_ns - from->tx_calls.quiet_ns;

	return to->at_ns - to->rx.lifetime_ns <= from->at_ns - from->tx.lifetime_ns &&
	       to->at_ns >= last + ON_THE_WAY_NS;
}

/* A connected receiver takes what comes from its other end alone. */
static bool takes_from(const struct trace_endpoint *to, const struct trace_endpoint *from)
{
	return from != to && (!to->remote.port || to->remote.port == from->local.port);
}

/* ---- by address ---- */

/* A socket at every address of its host has none of its own. */
struct at_address {
	int family;
	const struct trace_addr *addr;
	const struct trace_endpoint *ep;
};

struct by_address {
	struct at_address *v;
	size_t n;
};

static int address_order(const void *x, const void *y)
{
	const struct at_address *a = x, *b = y;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->addr->port != b->addr->port)
		return a->addr->port < b->addr->port ? -1 : 1;
	return memcmp(a->addr->ip, b->addr->ip, sizeof(a->addr->ip));
}

static const struct trace_addr *where_bound(const struct trace_endpoint *ep)
{
	return &ep->local;
}

static const struct trace_addr *where_it_sends(const struct trace_endpoint *ep)
{
	return ep->tx_calls.messages ? &ep->remote : NULL;
}

/* all that have such an address; of no memory none */
static struct by_address list_by(const struct trace_snapshot *s,
				 const struct trace_addr *address(const struct trace_endpoint *ep))
{
	struct by_address list = { .v = array_new(s->n, 1, sizeof(*list.v)) };

	for (size_t i = 0; list.v && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		const struct trace_addr *addr = ep->proto == TRACE_UDP ? address(ep) : NULL;

		if (addr && addr->port)
			list.v[list.n++] = (struct at_address){ ep->family, addr, ep };
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), address_order);
	return list;
}

/* those at one address */
static struct by_address all_at(const struct by_address *list, const struct trace_endpoint *to)
{
	struct at_address want = { to->family, &to->local, NULL };
	size_t lo = 0, hi = list->n, end;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (address_order(&list->v[mid], &want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < list->n && !address_order(&list->v[end], &want);)
		end++;
	return (struct by_address){ list->v + lo, end - lo };
}

/* ---- what was sent, and what came ---- */

struct sum {
	uint64_t n, bytes;
};

static uint64_t dropped(const struct trace_endpoint *ep)
{
	uint64_t n = 0;

	for (enum trace_drop k = 0; k < TRACE_DROPS; k++)
		n += ep->drops[k];
	return n;
}

/* what went out to it, and through no full queue; n 0: that is not known */
static struct sum sent_to(const struct by_address *senders, const struct trace_endpoint *to)
{
	struct by_address there = all_at(senders, to);
	struct sum sent = {};

	for (size_t i = 0; i < there.n; i++) {
		const struct trace_endpoint *from = there.v[i].ep;
		const struct trace_call_stats *b = &from->tx_calls;

		if (!takes_from(to, from))
			continue;
		if (!all_calls_known(from, b) || from->making.moved || !was_there(to, from) ||
		    b->refused_n || from->rx_calls.refused_n || dropped(from) >= b->messages)
			return (struct sum){};
		sent.n += b->messages - dropped(from);
		sent.bytes += b->bytes;
	}
	return sent;
}

/* Several may be read at once (UDP_GRO): then no bytes are missing. */
static bool are_bytes_missing(const struct sum *sent, const struct trace_endpoint *to,
			      uint64_t lost)
{
	uint64_t got = to->rx_calls.bytes, missing = sent->bytes > got ? sent->bytes - got : 0;

	return 2.0 * (double)missing / (double)sent->bytes >= (double)lost / (double)sent->n;
}

static uint64_t lost_on_the_way(const struct sum *sent, const struct trace_endpoint *to)
{
	uint64_t got = to->rx_calls.messages > to->dequeued ? to->rx_calls.messages : to->dequeued,
		 known = got + dropped(to);

	return got && sent->n > known && MOST_ARRIVE * known >= sent->n &&
			       are_bytes_missing(sent, to, sent->n - known)
		       ? sent->n - known
		       : 0;
}

/* of several sockets at one address nobody knows to which it went */
static uint64_t lost_before(const struct trace_endpoint *to, const struct by_address *bound,
			    const struct by_address *senders, struct sum *sent)
{
	if (!received_all(to) || all_at(bound, to).n != 1)
		return 0;
	*sent = sent_to(senders, to);
	return sent->n ? lost_on_the_way(sent, to) : 0;
}

static struct datagram_loss find_most(const struct trace_snapshot *s,
				      const struct by_address *bound,
				      const struct by_address *senders)
{
	struct datagram_loss most = { .endpoint = -1 };

	for (size_t i = 0; i < bound->n; i++) {
		const struct trace_endpoint *to = bound->v[i].ep;
		struct sum sent;
		uint64_t n = lost_before(to, bound, senders, &sent);

		if (n <= most.n)
			continue;
		most = (struct datagram_loss){ .endpoint = (int)(to - s->ep),
					       .sent = sent.n,
					       .kind = TRACE_DROP_OTHER,
					       .n = n,
					       .share = (double)n / (double)sent.n };
		most.stray = most.share < STRAY_SHARE;
	}
	return most;
}

struct datagram_loss find_lost_between(const struct trace_snapshot *s)
{
	struct by_address bound = {}, senders = {};
	struct datagram_loss most;

	if (nothing_was_missed(&s->counters)) {
		bound = list_by(s, where_bound);
		senders = list_by(s, where_it_sends);
	}
	most = find_most(s, &bound, &senders);
	free(bound.v);
	free(senders.v);
	return most;
}
