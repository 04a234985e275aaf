// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams that were sent to a socket of this host and never came there, as over a tunnel, a veth
 * or a filter. What every sender sent and the receiver got is known, if both were seen from their
 * beginnings on. Others may have sent there too, and not be traced: then fewer seem lost.
 */
#include <string.h>

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

/* A socket at every address of its host has none of its own. */
static bool is_same_address(const struct trace_endpoint *from, const struct trace_endpoint *to)
{
	return from->family == to->family && from->remote.port == to->local.port &&
	       !memcmp(from->remote.ip, to->local.ip, sizeof(to->local.ip));
}

/* ... and the receiver takes what comes from there */
static bool sends_to(const struct trace_endpoint *from, const struct trace_endpoint *to)
{
	return from != to && from->proto == TRACE_UDP && from->tx_calls.messages &&
	       from->remote.port && is_same_address(from, to) &&
	       (!to->remote.port || to->remote.port == from->local.port);
}

/* of several sockets at one address nobody knows to which it went */
static bool is_alone(const struct trace_snapshot *s, const struct trace_endpoint *to)
{
	for (size_t i = 0; i < s->n; i++)
		if (&s->ep[i] != to && s->ep[i].proto == TRACE_UDP &&
		    s->ep[i].family == to->family &&
		    s->ep[i].local.port == to->local.port &&
		    !memcmp(s->ep[i].local.ip, to->local.ip, sizeof(to->local.ip)))
			return false;
	return true;
}

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
static struct sum sent_to(const struct trace_snapshot *s, const struct trace_endpoint *to)
{
	struct sum sent = {};

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *from = &s->ep[i];
		const struct trace_call_stats *b = &from->tx_calls;

		if (!sends_to(from, to))
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

struct datagram_loss find_lost_between(const struct trace_snapshot *s)
{
	struct datagram_loss most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n && nothing_was_missed(&s->counters); i++) {
		const struct trace_endpoint *to = &s->ep[i];
		struct sum sent;
		uint64_t n;

		if (to->proto != TRACE_UDP || !to->local.port || !received_all(to) ||
		    !is_alone(s, to))
			continue;
		sent = sent_to(s, to);
		n = sent.n ? lost_on_the_way(&sent, to) : 0;
		if (n <= most.n)
			continue;
		most = (struct datagram_loss){ .endpoint = (int)i,
					       .sent = sent.n,
					       .kind = TRACE_DROP_OTHER,
					       .n = n,
					       .share = (double)n / (double)sent.n };
		most.stray = most.share < STRAY_SHARE;
	}
	return most;
}
