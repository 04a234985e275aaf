// SPDX-License-Identifier: GPL-2.0-only
#include "model/unstalled.h"

#include <math.h>

static struct reader_spell spell(const struct trace_snapshot *s, size_t i, enum rx_state state)
{
	const struct trace_ledger *rx = &s->ep[i].rx;

	return (struct reader_spell){
		.endpoint = (int)i,
		.ns = rx->ns[state],
		.max_ns = rx->max[state],
		.count = rx->count[state],
		.share = rx->lifetime_ns ? (double)rx->ns[state] / (double)rx->lifetime_ns : 0,
	};
}

/* less of its time is any reader's, and so is a shorter while each time: a server looks after others too */
#define LATE_SHARE 0.1
#define LATE_NS 1000000

static bool is_late(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	if (ep->proto == TRACE_UDP || other_end_seen(ep) || ep->rx.resolution[RX_UNREAD] == TRACE_UNKNOWN)	/* who sends UDP waits for no reader */
		return false;
	return r->share >= LATE_SHARE && r->ns >= LATE_NS * r->count;
}

/*
 * Less is any reader's. Whom it waits for had nothing to send in most of that time: neither was it held up itself, nor was there anything
 * on its way. And it did not wait for this one in turn.
 */
#define WAIT_SHARE 0.9
#define IDLE_SHARE 0.8
#define BY_TURNS 0.2

/* who should have sent: of a pipe the writers of the same endpoint; NULL: not seen */
static const struct trace_endpoint *awaited(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return ep;
	return ep->peer >= 0 ? &s->ep[ep->peer] : NULL;
}

static pid_t awaited_tgid(const struct trace_endpoint *sender, bool pipe)
{
	return sender->txb.tgid || pipe ? sender->txb.tgid : sender->rxb.tgid;
}

/* two pipes between two programs, one each way */
static bool answers(const struct trace_endpoint *ep, const struct trace_endpoint *back)
{
	return back->proto == TRACE_PIPE && ep->txb.tgid && back->rxb.tgid == ep->txb.tgid && back->txb.tgid == ep->rxb.tgid;
}

/* where the one whom this reader waits for waits for this one; NULL: not seen */
static const struct trace_endpoint *way_back(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (ep->proto != TRACE_PIPE)
		return awaited(s, ep);
	for (size_t i = 0; i < s->n; i++)
		if (answers(ep, &s->ep[i]))
			return &s->ep[i];
	return NULL;
}

static bool by_turns(const struct trace_snapshot *s, const struct trace_endpoint *ep, uint64_t wait)
{
	const struct trace_endpoint *back = way_back(s, ep);

	return back && (double)back->rx.ns[RX_WAIT] > BY_TURNS * (double)wait;
}

/* What a server without work or a program's own helper waits for is no news; of datagrams from anybody nobody is awaited. */
static bool awaits_another(const struct trace_snapshot *s, const struct trace_endpoint *ep, uint64_t wait)
{
	const struct trace_endpoint *sender = awaited(s, ep);

	if (!sender)
		return ep->proto != TRACE_UDP;
	return (double)sender->tx.ns[TX_IDLE] >= IDLE_SHARE * (double)wait && awaited_tgid(sender, ep->proto == TRACE_PIPE) != ep->rxb.tgid;
}

/* Who waits where nothing ever goes through waits for work, as servers do; unless that is all there is to see. */
static bool may_matter(const struct trace_endpoint *ep, bool nothing_sent)
{
	return nothing_sent || ep->rxb.bytes || ep->txb.bytes;
}

static bool waits_long(const struct trace_snapshot *s, const struct trace_endpoint *ep, const struct reader_spell *r, bool nothing_sent)
{
	return r->share >= WAIT_SHARE && ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN && may_matter(ep, nothing_sent) &&
	       awaits_another(s, ep, r->ns) && !by_turns(s, ep, r->ns);
}

#define STRAY_SHARE 0.001

/*
 * What was dropped came, but was never read. What lies unread still is neither: a socket that nobody read from has no share. Nor has what a
 * queue dropped: one send() may have made many datagrams of it (UDP_SEGMENT), and one that the queue refused may have failed (IP_RECVERR).
 */
static double share_lost(const struct trace_endpoint *ep, enum trace_drop kind)
{
	uint64_t n = ep->drops[kind];

	if (kind == TRACE_DROP_QDISC || !ep->rxb.messages || !trace_messages_known(&ep->rxb))
		return NAN;
	return (double)n / (double)(n + ep->rxb.messages);
}

/* of calls that sent or read, if their number is known */
static bool is_stray(const struct trace_endpoint *ep, enum trace_drop kind)
{
	const struct trace_beside *calls = kind == TRACE_DROP_QDISC ? &ep->txb : &ep->rxb;

	return trace_messages_known(calls) && ep->drops[kind] < STRAY_SHARE * (double)calls->messages;
}

static void find_loss(const struct trace_snapshot *s, size_t i, struct datagram_loss *loss)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (ep->drops_res == TRACE_UNKNOWN)
		return;
	for (enum trace_drop k = 0; k < TRACE_DROP_OTHER; k++)
		if (ep->drops[k] > loss->n)
			*loss = (struct datagram_loss){ .endpoint = (int)i, .kind = k, .n = ep->drops[k], .share = share_lost(ep, k), .stray = is_stray(ep, k) };
}

enum { CHAIN_MAX = 16 };

/* Whoever is awaited may itself only wait, for about as long: the last of such a chain is the one to look at. */
static void follow_chain(const struct trace_snapshot *s, uint64_t min_ns, bool nothing_sent, struct reader_spell *wait)
{
	for (int hops = 0; wait->endpoint >= 0 && hops < CHAIN_MAX; hops++) {
		const struct trace_endpoint *ep = &s->ep[wait->endpoint], *sender = awaited(s, ep);
		pid_t tgid = sender ? awaited_tgid(sender, ep->proto == TRACE_PIPE) : 0;
		struct reader_spell next = { .endpoint = -1 };

		for (size_t i = 0; tgid && i < s->n; i++) {
			struct reader_spell r = spell(s, i, RX_WAIT);

			if (s->ep[i].rxb.tgid == tgid && r.ns >= min_ns && r.ns > next.ns && (double)r.ns >= IDLE_SHARE * (double)wait->ns &&
			    waits_long(s, &s->ep[i], &r, nothing_sent))
				next = r;
		}
		if (next.endpoint < 0)
			return;
		*wait = next;
	}
}

static void find_spells(const struct trace_snapshot *s, size_t i, uint64_t min_ns, struct verdict *out)
{
	struct reader_spell unread = spell(s, i, RX_UNREAD), wait = spell(s, i, RX_WAIT);

	if (unread.ns >= min_ns && unread.ns > out->late.ns && is_late(&s->ep[i], &unread))
		out->late = unread;
	if (wait.ns >= min_ns && wait.ns > out->wait.ns && waits_long(s, &s->ep[i], &wait, !out->lifetime_ns))
		out->wait = wait;
}

void verdict_unstalled(const struct trace_snapshot *s, uint64_t min_ns, struct verdict *out)
{
	out->late.endpoint = out->wait.endpoint = out->loss.endpoint = -1;
	for (size_t i = 0; i < s->n; i++) {
		find_loss(s, i, &out->loss);
		if (!out->n)	/* a sender that was seen speaks for itself */
			find_spells(s, i, min_ns, out);
	}
	follow_chain(s, min_ns, !out->lifetime_ns, &out->wait);
}
