// SPDX-License-Identifier: GPL-2.0-only
#include "record/relink.h"

#include <stdlib.h>
#include <string.h>

struct place {
	uint64_t serial;
	size_t index;
};

bool endpoints_add(struct endpoints *l, const struct trace_endpoint *ep, uint64_t peer)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct trace_endpoint *v = realloc(l->v, room * sizeof(*v));
		uint64_t *p = v ? realloc(l->peer, room * sizeof(*p)) : NULL;

		l->v = v ? v : l->v;
		l->peer = p ? p : l->peer;
		if (!v || !p)
			return false;
		l->room = room;
	}
	l->v[l->n] = *ep;
	l->peer[l->n++] = peer;
	return true;
}

void endpoints_clear(struct endpoints *l)
{
	l->n = 0;
}

void endpoints_free(struct endpoints *l)
{
	free(l->v);
	free(l->peer);
	*l = (struct endpoints){};
}

static int by_serial(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static const struct place *find(const struct place *v, size_t n, uint64_t serial)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (v[mid].serial < serial)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && v[lo].serial == serial ? &v[lo] : NULL;
}

/* of those with one serial the first stays: the closed ones come first */
static size_t add_all(const struct endpoints *from, struct place *known, size_t n_known, struct trace_snapshot *s, uint64_t *peers)
{
	size_t added = 0;

	for (size_t i = 0; i < from->n; i++) {
		if (find(known, n_known, from->v[i].serial))
			continue;
		known[n_known + added++] = (struct place){ from->v[i].serial, s->n };
		peers[s->n] = from->peer[i];
		s->ep[s->n++] = from->v[i];
	}
	return n_known + added;
}

int endpoints_join(const struct endpoints *closed, const struct endpoints *live, struct trace_snapshot *s)
{
	size_t max = closed->n + live->n + 1, n;
	struct place *places = calloc(max, sizeof(*places));
	uint64_t *peers = calloc(max, sizeof(*peers));

	s->n = 0;
	s->ep = calloc(max, sizeof(*s->ep));
	if (!places || !peers || !s->ep) {
		free(places);
		free(peers);
		return -1;
	}
	n = add_all(closed, places, 0, s, peers);
	qsort(places, n, sizeof(*places), by_serial);
	n = add_all(live, places, n, s, peers);
	qsort(places, n, sizeof(*places), by_serial);
	for (size_t i = 0; i < s->n; i++) {
		const struct place *p = peers[i] ? find(places, n, peers[i]) : NULL;

		s->ep[i].peer = p ? (int)p->index : -1;
	}
	free(places);
	free(peers);
	return 0;
}
