// SPDX-License-Identifier: GPL-2.0-only
/* Where nothing stalls, a reader may still wait long: for another program that is slow, or has nothing to send. */
#include "model/unstalled.h"

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

/* Of datagrams from anybody nobody is awaited; but who connected his socket to one address, and sent something there, waits for that one. */
static bool may_await_unseen(const struct trace_endpoint *ep)
{
	return ep->proto != TRACE_UDP || (ep->remote.port && (ep->txb.messages || ep->txb.bytes));
}

/* What a server without work or a program's own helper waits for is no news. */
static bool awaits_another(const struct trace_snapshot *s, const struct trace_endpoint *ep, uint64_t wait)
{
	const struct trace_endpoint *sender = awaited(s, ep);

	if (!sender)
		return may_await_unseen(ep);
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

enum { CHAIN_MAX = 16 };

/* the longest wait of at least so long, of the readers of one process (0: of any) */
static struct reader_spell longest_wait(const struct trace_snapshot *s, pid_t reader, uint64_t min_ns, bool nothing_sent)
{
	struct reader_spell longest = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell r = spell_of(s, i, RX_WAIT);

		if ((!reader || s->ep[i].rxb.tgid == reader) && r.ns >= min_ns && r.ns > longest.ns && waits_long(s, &s->ep[i], &r, nothing_sent))
			longest = r;
	}
	return longest;
}

/* Whoever is awaited may itself only wait, for about as long: the last of such a chain is the one to look at. */
struct reader_spell find_long_wait(const struct trace_snapshot *s, uint64_t min_ns, bool nothing_sent)
{
	struct reader_spell wait = longest_wait(s, 0, min_ns, nothing_sent);

	for (int hops = 0; wait.endpoint >= 0 && hops < CHAIN_MAX; hops++) {
		const struct trace_endpoint *ep = &s->ep[wait.endpoint], *sender = awaited(s, ep);
		pid_t tgid = sender ? awaited_tgid(sender, ep->proto == TRACE_PIPE) : 0;
		struct reader_spell next;

		if (!tgid)
			break;
		next = longest_wait(s, tgid, (uint64_t)(IDLE_SHARE * (double)wait.ns), nothing_sent);
		if (next.endpoint < 0)
			break;
		wait = next;
	}
	return wait;
}
