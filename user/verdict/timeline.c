// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/timeline.h"

#include <stdlib.h>

#include "base/array.h"
#include "verdict/verdict.h"

void timeline_add(struct timeline *t, const struct trace_transition *tr)
{
	if (t->n < t->room ||
	    (!t->oldest && array_grow_to(&t->v, t->n, &t->room, t->max, sizeof(*t->v)))) {
		t->v[t->n++] = *tr;
		return;
	}
	t->dropped++;
	if (!t->n)
		return;
	t->v[t->oldest] = *tr;
	t->oldest = (t->oldest + 1) % t->n;
}

const struct trace_transition *timeline_at(const struct timeline *t, size_t i)
{
	return &t->v[(t->oldest + i) % t->n];
}

void timeline_free(struct timeline *t)
{
	free(t->v);
	*t = (struct timeline){ .max = t->max };
}

static int by_ledger(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return COMPARE(x->serial, y->serial) ?: COMPARE(x->rx, y->rx) ?:
	       COMPARE(x->start, y->start) ?:
	       COMPARE(y->end, x->end); /* a span within another comes after it */
}

/* How far the last snapshot's figures of an endpoint reach: a step that ends a state later belongs
 * to none of them. */
struct bound {
	uint64_t serial, until[2]; /* tx, rx */
	uint64_t lost_until;	   /* a part of a flight that goes on may have been lost */
};

ORDER_BY(by_serial, struct bound, serial)

static struct bound bound_of(const struct trace_endpoint *ep)
{
	if (ep->closed)
		return (struct bound){ ep->serial, { UINT64_MAX, UINT64_MAX }, UINT64_MAX };
	return (struct bound){ ep->serial,
			       { ep->tx.since_ns, ep->rx.since_ns },
			       ep->tx.now == TX_FLIGHT ? ep->at_ns : ep->tx.since_ns };
}

static bool within(const struct bound *b, const struct trace_transition *tr)
{
	return tr->at_ns <= (!tr->rx && tr->from == TX_RECOVERY ? b->lost_until : b->until[tr->rx]);
}

/* Leaves out listening sockets and others whose ledgers were idle all their life. */
static size_t list_bounds(const struct trace_snapshot *end, struct bound *v)
{
	size_t n = 0;

	for (size_t i = 0; i < end->n; i++) {
		const struct trace_endpoint *ep = &end->ep[i];

		if (endpoint_did_anything(ep))
			v[n++] = bound_of(ep);
	}
	if (n)
		qsort(v, n, sizeof(*v), by_serial);
	return n;
}

/* Each step tells which state ended and how long it had lasted: the order in which CPUs reported
 * does not matter. */
static void add_ended(const struct timeline *t, const struct bound *bounds, size_t n,
		      struct spans *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_transition *tr = &t->v[i];
		struct bound key = { .serial = tr->serial };
		const struct bound *b = tr->mark || !tr->ns || !n
						? NULL
						: bsearch(&key, bounds, n, sizeof(key), by_serial);

		if (b && within(b, tr))
			out->v[out->n++] = (struct span){ .serial = tr->serial,
							  .start = tr->at_ns - tr->ns,
							  .end = tr->at_ns,
							  .rx = tr->rx,
							  .state = tr->from };
	}
}

static void add_open(const struct trace_endpoint *ep, const struct trace_ledger *l, bool rx,
		     struct spans *out)
{
	if (!ep->closed && ep->at_ns >= l->since_ns && endpoint_did_anything(ep))
		out->v[out->n++] = (struct span){ .serial = ep->serial,
						  .start = l->since_ns,
						  .end = ep->at_ns,
						  .rx = rx,
						  .state = (uint8_t)l->now,
						  .lasts = true };
}

static bool lies_in(const struct span *in, const struct span *out)
{
	return in->serial == out->serial && in->rx == out->rx && in->start >= out->start &&
	       in->end <= out->end && !in->lasts;
}

/* `in` is the more exact account of its time: `out` keeps the time before it, `rest` the time
 * after. */
static void cut_out(const struct span *in, struct span *out, struct span *rest)
{
	*rest = *out;
	rest->start = in->end;
	out->end = in->start;
	out->lasts = false;
}

/* A loss is found out later than its flight ended (probe_goes_out()): its span then lies in another
 * one. Each came with a step of no length as well, which leaves room for the rest of the other
 * span. */
static void correct(struct spans *s, size_t room)
{
	size_t n = s->n;

	for (size_t i = 0, outer = 0; i < n; i++) {
		if (i && lies_in(&s->v[i], &s->v[outer]) && s->n < room) {
			cut_out(&s->v[i], &s->v[outer], &s->v[s->n]);
			outer = s->n++;
		} else {
			outer = i;
		}
	}
	if (s->n > n)
		qsort(s->v, s->n, sizeof(*s->v), by_ledger);
}

static void drop_empty(struct spans *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].end > s->v[i].start || s->v[i].lasts)
			s->v[n++] = s->v[i];
	s->n = n;
}

static void join(struct spans *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct span *a = &s->v[i], *b = i + 1 < s->n ? a + 1 : NULL;

		a->joined = b && b->serial == a->serial && b->rx == a->rx && b->start == a->end;
		s->end = a->end > s->end ? a->end : s->end;
	}
}

int timeline_spans(const struct timeline *t, const struct trace_snapshot *end, struct spans *out)
{
	struct bound *bounds = array_new(end->n, 1, sizeof(*bounds));
	size_t room = t->n + 2 * end->n + 1;

	*out = (struct spans){ .v = array_new(room, 0, sizeof(*out->v)) };
	if (!out->v || !bounds) {
		free(bounds);
		spans_free(out);
		return -1;
	}
	add_ended(t, bounds, list_bounds(end, bounds), out);
	free(bounds);
	for (size_t i = 0; i < end->n; i++) {
		add_open(&end->ep[i], &end->ep[i].tx, false, out);
		add_open(&end->ep[i], &end->ep[i].rx, true, out);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_ledger);
	correct(out, room);
	drop_empty(out);
	join(out);
	return 0;
}

void spans_free(struct spans *s)
{
	free(s->v);
	*s = (struct spans){};
}
