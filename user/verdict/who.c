// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/who.h"

#include "bpf/charge.h"

struct who who_was_last(const struct trace_call_stats *b)
{
	return (struct who){ .tgid = b->tgid, .tid = b->tid, .comm = b->comm, .others = b->others };
}

bool who_is_same(const struct who *a, const struct who *b)
{
	return a->tgid && a->tgid == b->tgid && (!a->tid || !b->tid || a->tid == b->tid);
}

struct who who_owns_fd(const struct trace_call_stats *b)
{
	return (struct who){ .tgid = b->fd_owner, .comm = b->fd_owner_comm, .left = b };
}

/* Of a phase its beginning counts, and not the endpoint's; and all that lies before may have been
 * part of the spell. */
bool who_left(const struct trace_call_stats *b, const struct trace_endpoint *ep, uint64_t ns)
{
	uint64_t start = ep->at_ns - ep->rx.lifetime_ns,
		 before = b->left_ns > start ? b->left_ns - start : 0;

	return b->left_ns && 2 * before < ns;
}

struct who who_is_not_reading(const struct trace_endpoint *ep, uint64_t ns)
{
	return who_left(&ep->rx_calls, ep, ns) ? who_owns_fd(&ep->rx_calls)
					       : who_was_last(&ep->rx_calls);
}

static struct who most_of(const struct trace_who *w, const struct trace_call_stats *b)
{
	if (!w->tgid)
		return who_was_last(b);
	if (!vote_is_sure(w->lead_ns, w->sum_ns, w->second))
		return (struct who){ .comm = w->mixed ? "" : w->comm, .others = true };
	if (w->tgid == TRACE_FD_OWNER)
		return b->left_ns ? who_owns_fd(b) : who_was_last(b);
	return (struct who){ .tgid = w->tgid,
			     .tid = w->tid,
			     .comm = w->comm,
			     .others = b->others || w->tgid != b->tgid };
}

/* Who was seen to read from a socket has it, and nobody was seen to send: a connection's SYN goes
 * out in connect(). A pipe's reader is another. */
static const struct trace_call_stats *sender(const struct trace_endpoint *ep)
{
	return ep->tx_calls.tgid || ep->proto == TRACE_PIPE ? &ep->tx_calls : &ep->rx_calls;
}

struct who who_was_held_up(const struct trace_endpoint *ep, enum tx_state cause)
{
	return most_of(&ep->blame.held_up[trace_vote(cause)], sender(ep));
}

const struct trace_call_stats *who_reads(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return &ep->rx_calls;
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer].rx_calls : NULL;
}

/* Likewise who was seen to send through a socket, and nobody to read from it. */
static const struct trace_call_stats *has_reading_end(const struct trace_snapshot *s,
						      const struct trace_endpoint *ep,
						      const struct trace_call_stats *reader)
{
	return reader->tgid || ep->proto == TRACE_PIPE ? reader : &s->ep[ep->peer].tx_calls;
}

/* Of all the time laid at its door it can have caused what lies after its birth. */
static bool was_born_after(const struct trace_call_stats *reader, uint64_t at_ns,
			   uint64_t blamed_ns)
{
	return reader->born_ns && reader->born_ns < at_ns &&
	       2 * (at_ns - reader->born_ns) < blamed_ns;
}

static void excuse_the_young(const struct trace_call_stats *reader, uint64_t at_ns,
			     uint64_t blamed_ns, struct who *late)
{
	if (!late->tgid || late->tgid != reader->tgid || !was_born_after(reader, at_ns, blamed_ns))
		return;
	*late = reader->parent ? (struct who){ .tgid = reader->parent,
					       .comm = reader->parent_comm,
					       .others = true }
			       : (struct who){ .too_young = reader };
}

bool who_is_late(const struct trace_snapshot *s, const struct trace_endpoint *ep,
		 enum tx_state cause, struct who *out)
{
	const struct trace_call_stats *reader = who_reads(s, ep);

	if (reader)
		*out = most_of(&ep->blame.late[trace_vote(cause)], has_reading_end(s, ep, reader));
	if (reader)
		excuse_the_young(reader,
				 ep->proto == TRACE_PIPE ? ep->at_ns : s->ep[ep->peer].at_ns,
				 ep->blame.unread_ns[cause], out);
	return reader;
}
