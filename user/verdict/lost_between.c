// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams that were sent to a socket of this host and did not arrive, for example over a tunnel,
 * a veth or a filter. The counts are known if sender and receiver were seen from their start.
 * Untraced senders make the loss look smaller.
 */
#include <stdlib.h>

#include "verdict/by_address.h"
#include "verdict/other_findings.h"
#include "verdict/times.h"

/* If fewer than half arrived, they may have gone to another host that has this address, in another
 * network. */
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

/* Nothing is left in its queue, and it was seen from its start. */
static bool received_all(const struct trace_endpoint *to)
{
	return all_calls_known(to, &to->rx_calls) && to->drops_res != TRACE_UNKNOWN &&
	       (to->rx.now == RX_WAIT || to->rx.now == RX_IDLE);
}

static bool was_there(const struct trace_endpoint *to, const struct trace_endpoint *from)
{
	uint64_t last = from->at_ns - from->tx_calls.quiet_ns;

	return began(to) <= began(from) && to->at_ns >= last + ON_THE_WAY_NS;
}

/* A connected receiver takes datagrams only from its other end. */
static bool takes_from(const struct trace_endpoint *to, const struct trace_endpoint *from)
{
	return from != to && (!to->remote.port || to->making.unconnected ||
			      to->remote.port == from->local.port);
}

static const struct trace_addr *where_it_sends(const struct trace_endpoint *ep)
{
	return ep->tx_calls.messages ? &ep->remote : NULL;
}

/* ---- what was sent, and what came ---- */

struct sum {
	uint64_t n;
	double bytes;
};

/* Datagrams that came and were dropped unread. A full qdisc drops what the socket itself sends. */
static uint64_t dropped_there(const struct trace_endpoint *to)
{
	uint64_t n = 0;

	for (enum trace_drop k = 0; k < TRACE_DROPS; k++)
		n += k == TRACE_DROP_QDISC ? 0 : to->drops[k];
	return n;
}

static double scale(uint64_t bytes, uint64_t n, uint64_t of)
{
	return (double)bytes * (double)n / (double)of;
}

/* What was sent to `to` and not dropped by a full qdisc; n 0: unknown. */
static struct sum sent_to(const struct by_address *senders, const struct trace_endpoint *to)
{
	struct by_address there = all_at(senders, to);
	struct sum sent = {};

	for (size_t i = 0; i < there.n; i++) {
		const struct trace_endpoint *from = there.v[i].ep;
		const struct trace_call_stats *b = &from->tx_calls;
		uint64_t queue = from->drops[TRACE_DROP_QDISC], out = b->messages - queue;

		if (!takes_from(to, from))
			continue;
		if (!all_calls_known(from, b) || from->making.moved || !was_there(to, from) ||
		    b->refused_n || from->rx_calls.refused_n || queue >= b->messages)
			return (struct sum){};
		sent.n += out;
		sent.bytes += scale(b->bytes, out, b->messages);
	}
	return sent;
}

/* One read may return several datagrams (UDP_GRO): then no bytes are missing. */
static bool are_bytes_missing(const struct sum *sent, double came, uint64_t lost)
{
	return 2 * (sent->bytes - came) / sent->bytes >= (double)lost / (double)sent->n;
}

static uint64_t lost_on_the_way(const struct sum *sent, const struct trace_endpoint *to)
{
	uint64_t got = to->rx_calls.messages > to->dequeued ? to->rx_calls.messages : to->dequeued,
		 came = got + dropped_there(to);

	return got && sent->n > came && MOST_ARRIVE * came >= sent->n &&
			       are_bytes_missing(sent, scale(to->rx_calls.bytes, came, got),
						 sent->n - came)
		       ? sent->n - came
		       : 0;
}

/* If several sockets share the address, it is unknown to which of them a datagram went. */
static uint64_t lost_before(const struct trace_endpoint *to, const struct by_address *bound,
			    const struct by_address *senders, struct sum *sent)
{
	if (!received_all(to) || all_at(bound, to).n != 1)
		return 0;
	*sent = sent_to(senders, to);
	return sent->n ? lost_on_the_way(sent, to) : 0;
}

/* A stray loss hides none that is not stray. */
void keep_worse_loss(struct datagram_loss *worst, const struct datagram_loss *loss)
{
	if (loss->n && (loss->stray == worst->stray ? loss->n > worst->n : worst->stray))
		*worst = *loss;
}

static struct datagram_loss find_worst(const struct trace_snapshot *s,
				       const struct by_address *bound,
				       const struct by_address *senders)
{
	struct datagram_loss worst = { .endpoint = -1, .stray = true }, loss;

	for (size_t i = 0; i < bound->n; i++) {
		const struct trace_endpoint *to = bound->v[i].ep;
		struct sum sent;
		uint64_t n = lost_before(to, bound, senders, &sent);

		if (!n)
			continue;
		loss = (struct datagram_loss){ .endpoint = (int)(to - s->ep),
					       .sent = sent.n,
					       .kind = TRACE_DROP_OTHER,
					       .n = n,
					       .share = (double)n / (double)sent.n };
		loss.stray = loss.share < STRAY_SHARE;
		keep_worse_loss(&worst, &loss);
	}
	return worst;
}

struct datagram_loss find_lost_between(const struct trace_snapshot *s)
{
	struct by_address bound = {}, senders = {};
	struct datagram_loss worst;

	if (nothing_was_missed(&s->counters)) {
		bound = list_by_address(s, where_bound);
		senders = list_by_address(s, where_it_sends);
	}
	worst = find_worst(s, &bound, &senders);
	free(bound.v);
	free(senders.v);
	return worst;
}
