// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/deadlock.h"

#include "verdict/overlap.h"
#include "verdict/who.h"

/* who writes what is read at this endpoint; NULL: not seen */
static const struct trace_beside *writer_of(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return &ep->txb;
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer].txb : NULL;
}

static bool was_at_once(const struct trace_snapshot *s, const struct finding *f, size_t other, uint64_t ns)
{
	return 2 * surely_at_once(&s->ep[f->endpoint], f->blamed_ns, &s->ep[other], ns) >= f->blamed_ns;
}

/* He sleeps in a read of what only the writer whom he keeps waiting can write. */
static bool waits_to_read(const struct trace_snapshot *s, const struct finding *f, size_t i, const struct party *held_up, const struct party *late)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_beside *writer = writer_of(s, ep);
	struct party reader = party_last(&ep->rxb), other;

	if (!writer || held_up->tgid == late->tgid)
		return false;
	other = party_last(writer);
	if (other.others || reader.others || !party_is_same(&other, held_up))	/* another thread of his may still write */
		return false;
	return party_is_same(&reader, late) && ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN && was_at_once(s, f, i, ep->rx.ns[RX_WAIT]);
}

/* He sleeps in a write to the writer whom he keeps waiting, who does not read either. */
static bool waits_to_write(const struct trace_snapshot *s, const struct finding *f, const struct finding *turn, const struct party *held_up,
			   const struct party *late)
{
	const struct trace_endpoint *ep = &s->ep[turn->endpoint];
	struct party writer = party_held_up(ep, turn->cause), reader;

	if (turn == f || turn->blamed != BLAME_PEER_READER || !party_late(s, ep, turn->cause, &reader))
		return false;
	return party_is_same(&writer, late) && party_is_same(&reader, held_up) && was_at_once(s, f, turn->endpoint, turn->blamed_ns);
}

static void find_ring(const struct trace_snapshot *s, const struct verdict *v, struct finding *f)
{
	struct party held_up = party_held_up(&s->ep[f->endpoint], f->cause), late;

	if (f->blamed != BLAME_PEER_READER || !party_late(s, &s->ep[f->endpoint], f->cause, &late) || !late.tgid || !held_up.tgid)
		return;
	for (size_t i = 0; i < v->n && f->ring < 0; i++)
		if (waits_to_write(s, f, &v->v[i], &held_up, &late))
			f->ring = (int)v->v[i].endpoint;
	for (size_t i = 0; i < s->n && f->ring < 0; i++)
		if (waits_to_read(s, f, i, &held_up, &late)) {
			f->ring = (int)i;
			f->ring_reads = true;
		}
}

void verdict_rings(const struct trace_snapshot *s, struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++)
		find_ring(s, v, &v->v[i]);
}
