// SPDX-License-Identifier: GPL-2.0-only
#include "model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "model/verdict.h"

static bool grow(struct timeline *t)
{
	size_t room = t->room ? 2 * t->room : 4096;
	struct trace_transition *p;

	room = room < t->max ? room : t->max;
	if (room <= t->room)
		return false;
	p = realloc(t->v, room * sizeof(*p));
	if (!p)
		return false;
	t->v = p;
	t->room = room;
	return true;
}

void timeline_add(struct timeline *t, const struct trace_transition *tr)
{
	if (t->n < t->room || (!t->oldest && grow(t))) {
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

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	if (x->rx != y->rx)
		return x->rx < y->rx ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* each step says what ended and how long it had lasted: nothing hangs on the order in which processors reported */
static void add_ended(const struct timeline *t, struct spans *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_transition *tr = &t->v[i];

		if (!tr->mark && tr->ns)
			out->v[out->n++] = (struct span){ tr->serial, tr->at_ns - tr->ns, tr->at_ns, tr->rx, tr->from, false };
	}
}

static void add_open(const struct trace_endpoint *ep, const struct trace_ledger *l, bool rx, struct spans *out)
{
	if (!ep->closed && ep->at_ns > l->since_ns)
		out->v[out->n++] = (struct span){ ep->serial, l->since_ns, ep->at_ns, rx, (uint8_t)l->now, false };
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* listening sockets and such: a ledger that was idle all its life */
static void drop_idle(struct spans *s, const struct trace_snapshot *end, uint64_t *serials)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < end->n; i++)
		if (!endpoint_did_anything(&end->ep[i]))
			serials[n++] = end->ep[i].serial;
	if (n)
		qsort(serials, n, sizeof(*serials), by_number);
	for (size_t i = 0; i < s->n; i++)
		if (!n || !bsearch(&s->v[i].serial, serials, n, sizeof(*serials), by_number))
			s->v[kept++] = s->v[i];
	s->n = kept;
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
	uint64_t *serials = calloc(end->n + 1, sizeof(*serials));

	*out = (struct spans){ .v = calloc(t->n + 2 * end->n + 1, sizeof(*out->v)) };
	if (!out->v || !serials) {
		free(serials);
		spans_free(out);
		return -1;
	}
	add_ended(t, out);
	for (size_t i = 0; i < end->n; i++) {
		add_open(&end->ep[i], &end->ep[i].tx, false, out);
		add_open(&end->ep[i], &end->ep[i].rx, true, out);
	}
	drop_idle(out, end, serials);
	free(serials);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_ledger);
	join(out);
	return 0;
}

void spans_free(struct spans *s)
{
	free(s->v);
	*s = (struct spans){};
}
