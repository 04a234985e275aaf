// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/deadlock.h"

#include "verdict/overlap.h"
#include "verdict/who.h"

/* The calls that write what is read at this endpoint; NULL: not seen. */
static const struct trace_call_stats *writer_of(const struct trace_snapshot *s,
						const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return &ep->tx_calls;
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer].tx_calls : NULL;
}

static bool did_overlap(const struct trace_snapshot *s, const struct finding *f, size_t other,
			uint64_t ns)
{
	return 2 * surely_overlap(&s->ep[f->endpoint], f->blamed_ns, &s->ep[other], ns) >=
	       f->blamed_ns;
}

/* The late reader sleeps in a read of data that only the writer that it delays can write. */
static bool waits_to_read(const struct trace_snapshot *s, const struct finding *f, size_t i,
			  const struct who *held_up, const struct who *late)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *writer = writer_of(s, ep);
	struct who reader = who_was_last(&ep->rx_calls), other;

	if (!writer || held_up->tgid == late->tgid)
		return false;
	if ((int)i == (ep->proto == TRACE_PIPE ? (int)f->endpoint : f->peer)) /* the endpoint that
										 is left unread */
		return false;
	other = who_was_last(writer);
	if (other.others || reader.others ||
	    !who_is_same(&other, held_up)) /* another thread may still write */
		return false;
	return who_is_same(&reader, late) && ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN &&
	       did_overlap(s, f, i, asleep_ns(ep));
}

/* The late reader sleeps in a write to the writer that it delays, and that does not read either. */
static bool waits_to_write(const struct trace_snapshot *s, const struct finding *f,
			   const struct finding *turn, const struct who *held_up,
			   const struct who *late)
{
	const struct trace_endpoint *ep = &s->ep[turn->endpoint];
	struct who writer = who_was_held_up(ep, turn->cause), reader;

	if (turn == f || turn->blamed != BLAME_PEER_READER ||
	    !who_is_late(s, ep, turn->cause, &reader))
		return false;
	return who_is_same(&writer, late) && who_is_same(&reader, held_up) &&
	       did_overlap(s, f, turn->endpoint, turn->blamed_ns);
}

static void find_deadlock(const struct trace_snapshot *s, const struct verdict *v,
			  struct finding *f)
{
	struct who held_up = who_was_held_up(&s->ep[f->endpoint], f->cause), late;

	if (f->blamed != BLAME_PEER_READER ||
	    !who_is_late(s, &s->ep[f->endpoint], f->cause, &late) || !late.tgid || !held_up.tgid)
		return;
	for (size_t i = 0; i < v->n && f->deadlock < 0; i++)
		if (waits_to_write(s, f, &v->v[i], &held_up, &late))
			f->deadlock = (int)v->v[i].endpoint;
	for (size_t i = 0; i < s->n && f->deadlock < 0; i++)
		if (waits_to_read(s, f, i, &held_up, &late)) {
			f->deadlock = (int)i;
			f->deadlock_reads = true;
		}
}

void verdict_deadlocks(const struct trace_snapshot *s, struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++)
		find_deadlock(s, v, &v->v[i]);
}
