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

/* less is any reader's; and where the other end waits nearly as long, they wait for each other by turns */
#define WAIT_SHARE 0.5
#define BY_TURNS 0.2

/* two pipes between two programs, one each way */
static bool answers(const struct trace_endpoint *ep, const struct trace_endpoint *back)
{
	return back->proto == TRACE_PIPE && ep->txb.tgid && back->rxb.tgid == ep->txb.tgid && back->txb.tgid == ep->rxb.tgid;
}

/* where the one whom this reader waits for waits for this one; NULL: not seen */
static const struct trace_endpoint *way_back(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (ep->proto != TRACE_PIPE)
		return ep->peer >= 0 ? &s->ep[ep->peer] : NULL;
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

/* Who waits where nothing ever goes through waits for work, as servers do; unless that is all there is to see. */
static bool may_matter(const struct trace_endpoint *ep, bool nothing_sent)
{
	return nothing_sent || ep->rxb.bytes || ep->txb.bytes;
}

static bool waits_long(const struct trace_snapshot *s, const struct trace_endpoint *ep, const struct reader_spell *r, bool nothing_sent)
{
	return r->share >= WAIT_SHARE && ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN && may_matter(ep, nothing_sent) && !by_turns(s, ep, r->ns);
}

/*
 * What was dropped came, but was never read, and what a queue dropped was sent. What lies unread still is neither: a socket that nobody read
 * from has no share.
 */
static double share_lost(const struct trace_endpoint *ep, enum trace_drop kind)
{
	const struct trace_beside *calls = kind == TRACE_DROP_QDISC ? &ep->txb : &ep->rxb;
	uint64_t of = kind == TRACE_DROP_QDISC ? calls->messages : calls->messages + ep->drops[kind];

	return trace_messages_known(calls) && calls->messages && of >= ep->drops[kind] ? (double)ep->drops[kind] / (double)of : NAN;
}

static void find_loss(const struct trace_snapshot *s, size_t i, struct datagram_loss *loss)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (ep->drops_res == TRACE_UNKNOWN)
		return;
	for (enum trace_drop k = 0; k < TRACE_DROP_OTHER; k++)
		if (ep->drops[k] > loss->n)
			*loss = (struct datagram_loss){ .endpoint = (int)i, .kind = k, .n = ep->drops[k], .share = share_lost(ep, k) };
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
}
