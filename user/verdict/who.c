// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/who.h"

#include "bpf/charge.h"
#include "verdict/by_address.h"
#include "verdict/times.h"
#include "verdict/worker_pool.h"

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

/* In a phase its beginning counts, not the endpoint's. All the time before may have been part of
 * the spell. */
bool who_left(const struct trace_call_stats *b, const struct trace_endpoint *ep, uint64_t ns)
{
	uint64_t start = began(ep), before = b->left_ns > start ? b->left_ns - start : 0;

	return b->left_ns && 2 * before < ns;
}

/* `part` of a time `ns` had passed when the endpoint was given to the process named in `b`: is most
 * of it the giver's? Time before a phase does not count. */
static bool is_givers(const struct trace_call_stats *b, const struct trace_endpoint *ep,
		      uint64_t part, uint64_t ns)
{
	uint64_t start = began(ep), before = b->given_ns > start ? b->given_ns - start : 0;

	return b->giver && b->giver != b->tgid && 2 * smaller(part, before) > ns;
}

static struct who who_gave(const struct trace_call_stats *b)
{
	return (struct who){ .tgid = b->giver, .comm = b->giver_comm };
}

struct who who_is_not_reading(const struct trace_endpoint *ep, uint64_t ns)
{
	const struct trace_call_stats *b = &ep->rx_calls;

	if (who_left(b, ep, ns))
		return who_owns_fd(b);
	return is_givers(b, ep, b->giver_unread_ns, ns) ? who_gave(b) : who_was_last(b);
}

const struct trace_call_stats *who_sends(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep)
{
	int peer = ep->peer >= 0 ? ep->peer : bound_where_it_sends(s, ep);
	const struct trace_endpoint *other = ep->proto == TRACE_PIPE ? ep
					     : peer >= 0	     ? &s->ep[peer]
								     : NULL;
	const struct trace_endpoint *work;

	if (other && other->tx_calls.tgid == ep->rx_calls.tgid) {
		work = pool_work(s, ep);
		if (work) /* it wrote there too, to end the workers */
			return &work->rx_calls;
	}
	if (other && other->tx_calls.tgid)
		return &other->tx_calls;
	return other && other != ep && other->rx_calls.tgid ? &other->rx_calls : NULL;
}

struct who who_does_not_send(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			     uint64_t ns)
{
	const struct trace_call_stats *b = who_sends(s, ep);
	const struct trace_endpoint *there = ep->peer >= 0 ? &s->ep[ep->peer] : ep;
	uint64_t part = there->tx_calls.giver_thought_ns + there->rx_calls.giver_unread_ns;

	if (!b)
		return (struct who){};
	return there != ep && is_givers(b, there, part, ns) ? who_gave(b) : who_was_last(b);
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
			     .others = b->others || (w->tgid != b->tgid && w->tgid != b->giver) };
}

/* If nobody was seen to send through a socket, its reader owns it: a connection's SYN goes out in
 * connect(). A pipe's reader is another process. */
static const struct trace_call_stats *sender(const struct trace_endpoint *ep)
{
	return ep->tx_calls.tgid || ep->proto == TRACE_PIPE ? &ep->tx_calls : &ep->rx_calls;
}

struct who who_was_held_up(const struct trace_endpoint *ep, enum tx_state cause)
{
	return most_of(&trace_detail(ep)->held_up[trace_vote(cause)], sender(ep));
}

const struct trace_call_stats *who_reads(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return &ep->rx_calls;
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer].rx_calls : NULL;
}

/* Likewise, if nobody was seen to read from a socket, its sender owns it. */
static const struct trace_call_stats *has_reading_end(const struct trace_snapshot *s,
						      const struct trace_endpoint *ep,
						      const struct trace_call_stats *reader)
{
	return reader->tgid || ep->proto == TRACE_PIPE ? reader : &s->ep[ep->peer].tx_calls;
}

/* The process can have caused only the part of the blamed time after its birth. */
static bool was_born_after(const struct trace_call_stats *reader, uint64_t at_ns,
			   uint64_t blamed_ns)
{
	return reader->born_ns && reader->born_ns < at_ns &&
	       2 * (at_ns - reader->born_ns) < blamed_ns;
}

static void excuse_the_given(const struct trace_endpoint *ep, uint64_t blamed_ns, struct who *late)
{
	const struct trace_call_stats *reader = &ep->rx_calls;

	if (late->tgid && late->tgid == reader->tgid &&
	    is_givers(reader, ep, reader->giver_unread_ns, blamed_ns))
		*late = who_gave(reader);
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
	const struct trace_endpoint *there = ep->proto == TRACE_PIPE ? ep
					     : reader		     ? &s->ep[ep->peer]
								     : NULL;
	uint64_t blamed_ns = ep->blame.unread_ns[cause];

	if (!reader)
		return false;
	*out = most_of(&trace_detail(ep)->late[trace_vote(cause)], has_reading_end(s, ep, reader));
	excuse_the_given(there, blamed_ns, out);
	excuse_the_young(reader, there->at_ns, blamed_ns, out);
	return true;
}

bool never_spoke(const struct trace_endpoint *ep, const struct trace_call_stats *asks)
{
	return ep->closed && !ep->joined_late && !asks->bytes;
}
