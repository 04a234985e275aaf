// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/who.h"

#include "bpf/ledger.h"

struct party party_last(const struct trace_beside *b)
{
	return (struct party){ .tgid = b->tgid, .tid = b->tid, .comm = b->comm, .others = b->others };
}

bool party_is_same(const struct party *a, const struct party *b)
{
	return a->tgid && a->tgid == b->tgid && (!a->tid || !b->tid || a->tid == b->tid);
}

struct party party_heir(const struct trace_beside *b)
{
	return (struct party){ .tgid = b->heir, .comm = b->heir_comm, .left = b };
}

/* Of a phase its beginning counts, and not the endpoint's; and all that lies before may have been part of the spell. */
bool party_left(const struct trace_beside *b, const struct trace_endpoint *ep, uint64_t ns)
{
	uint64_t start = ep->at_ns - ep->rx.lifetime_ns, before = b->left_ns > start ? b->left_ns - start : 0;

	return b->left_ns && 2 * before < ns;
}

struct party party_not_reading(const struct trace_endpoint *ep, uint64_t ns)
{
	return party_left(&ep->rxb, ep, ns) ? party_heir(&ep->rxb) : party_last(&ep->rxb);
}

static struct party most_of(const struct trace_who *w, const struct trace_beside *b)
{
	if (!w->tgid)
		return party_last(b);
	if (!vote_is_sure(w->lead_ns, w->sum_ns, w->second))
		return (struct party){ .comm = w->mixed ? "" : w->comm, .others = true };
	if (w->tgid == TRACE_HEIR)
		return b->left_ns ? party_heir(b) : party_last(b);
	return (struct party){ .tgid = w->tgid, .tid = w->tid, .comm = w->comm, .others = b->others || w->tgid != b->tgid };
}

/* Who was seen to read from a socket has it, and nobody was seen to send: a connection's SYN goes out in connect(). A pipe's reader is another. */
static const struct trace_beside *sender(const struct trace_endpoint *ep)
{
	return ep->txb.tgid || ep->proto == TRACE_PIPE ? &ep->txb : &ep->rxb;
}

struct party party_held_up(const struct trace_endpoint *ep, enum tx_state cause)
{
	return most_of(&ep->blame.held_up[trace_vote(cause)], sender(ep));
}

const struct trace_beside *party_reader(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return &ep->rxb;
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer].rxb : NULL;
}

/* Likewise who was seen to send through a socket, and nobody to read from it. */
static const struct trace_beside *has_reading_end(const struct trace_snapshot *s, const struct trace_endpoint *ep, const struct trace_beside *reader)
{
	return reader->tgid || ep->proto == TRACE_PIPE ? reader : &s->ep[ep->peer].txb;
}

bool party_late(const struct trace_snapshot *s, const struct trace_endpoint *ep, enum tx_state cause, struct party *out)
{
	const struct trace_beside *reader = party_reader(s, ep);

	if (reader)
		*out = most_of(&ep->blame.late[trace_vote(cause)], has_reading_end(s, ep, reader));
	return reader;
}
