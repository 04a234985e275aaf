// SPDX-License-Identifier: GPL-2.0-only
#include "recording/relink.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/smaller_half.h"
#include "tracer/endpoint_detail.h"
#include "tracer/peers.h"
#include "verdict/verdict.h"

struct place {
	uint64_t serial;
	size_t index;
};

bool endpoints_add(struct endpoints *l, const struct trace_endpoint *ep, uint64_t peer)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct trace_endpoint *v = array_resize(l->v, room, 0, sizeof(*v));
		uint64_t *p = v ? array_resize(l->peer, room, 0, sizeof(*p)) : NULL;

		l->v = v ? v : l->v;
		l->peer = p ? p : l->peer;
		if (!v || !p)
			return false;
		l->room = room;
	}
	l->v[l->n] = *ep;
	l->peer[l->n] = peer;
	return detail_unshare(&l->details, &l->v[l->n++]);
}

void endpoints_clear(struct endpoints *l)
{
	l->n = 0;
	details_free(&l->details);
}

void endpoints_free(struct endpoints *l)
{
	free(l->v);
	free(l->peer);
	details_free(&l->details);
	*l = (struct endpoints){};
}

static int by_serial(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return COMPARE(x->serial, y->serial) ?: COMPARE(x->index, y->index);
}

static const struct place *find(const struct place *v, size_t n, uint64_t serial)
{
	struct place want = { .serial = serial };
	size_t lo = array_lower_bound(&want, v, n, sizeof(want), by_serial);

	return lo < n && v[lo].serial == serial ? &v[lo] : NULL;
}

/* If endpoints have the same serial, the first one is kept. The closed ones come first. */
static size_t add_all(const struct endpoints *from, struct place *known, size_t n_known,
		      struct trace_snapshot *s, uint64_t *peers)
{
	size_t added = 0;

	for (size_t i = 0; i < from->n; i++) {
		if (find(known, n_known, from->v[i].serial))
			continue;
		known[n_known + added++] = (struct place){ from->v[i].serial, s->n };
		peers[s->n] = from->peer[i];
		s->ep[s->n] = from->v[i];
		detail_unshare(&s->details, &s->ep[s->n++]);
	}
	return n_known + added;
}

static void move(struct endpoints *l, size_t to, size_t from)
{
	l->v[to] = l->v[from];
	l->peer[to] = l->peer[from];
}

static int drop_unwanted(struct endpoints *l, endpoint_filter want, void *ctx)
{
	struct place *wanted = array_new(2 * l->n, 1, sizeof(*wanted));
	size_t n = 0, kept = 0;

	if (!wanted)
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		if (!want(ctx, &l->v[i]))
			continue;
		wanted[n++].serial = l->v[i].serial;
		if (l->peer[i])
			wanted[n++].serial = l->peer[i];
	}
	qsort(wanted, n, sizeof(*wanted), by_serial);
	for (size_t i = 0; i < l->n; i++)
		if (find(wanted, n, l->v[i].serial) || (l->peer[i] && find(wanted, n, l->peer[i])))
			move(l, kept++, i);
	l->n = kept;
	free(wanted);
	return 0;
}

static void count_dropped(struct trace_counters *c, const struct trace_endpoint *ep, uint64_t stall)
{
	c->dropped++;
	c->dropped_tx_bytes += ep->tx_calls.bytes;
	c->dropped_rx_bytes += ep->rx_calls.bytes;
	c->dropped_stall_ns += stall;
	if (ep->tx_calls.bytes || stall)
		c->dropped_lifetime_ns += ep->at_ns - ep->born_ns;
}

static int drop_least_stalled(struct endpoints *l, struct trace_counters *c)
{
	uint64_t *stall = array_new(l->n, 0, sizeof(*stall));
	struct smaller_half less;
	size_t kept = 0;

	if (!stall)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		stall[i] = ledger_stall_ns(&l->v[i].tx);
	smaller_half_begin(&less, stall, l->n);
	for (size_t i = 0; i < l->n; i++) {
		uint64_t ns = ledger_stall_ns(&l->v[i].tx);

		if (smaller_half_goes(&less, ns))
			count_dropped(c, &l->v[i], ns);
		else
			move(l, kept++, i);
	}
	l->n = kept;
	free(stall);
	return 0;
}

/* Frees the details of those that were dropped. */
static int keep_own_details(struct endpoints *l)
{
	struct trace_details own = {};

	for (size_t i = 0; i < l->n; i++)
		detail_unshare(&own, &l->v[i]);
	details_free(&l->details);
	l->details = own;
	return own.no_memory ? -1 : 0;
}

int endpoints_drop(struct endpoints *l, endpoint_filter want, void *ctx, struct trace_counters *c)
{
	size_t half = l->n / 2;

	if (want && drop_unwanted(l, want, ctx))
		return -1;
	if (l->n > half && drop_least_stalled(l, c))
		return -1;
	return keep_own_details(l);
}

/* When one end was written, another endpoint may have had the address of its other end already. */
static void join_back(struct trace_snapshot *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int peer = s->ep[i].peer;

		if (peer >= 0 && s->ep[peer].peer < 0 && s->ep[i].proto == TRACE_TCP)
			s->ep[peer].peer = (int)i;
	}
}

int endpoints_join(const struct endpoints *closed, const struct endpoints *live,
		   struct trace_snapshot *s)
{
	size_t max = closed->n + live->n + 1, n;
	struct place *places = array_new(max, 0, sizeof(*places));
	uint64_t *peers = array_new(max, 0, sizeof(*peers));

	s->n = 0;
	s->ep = array_new(max, 0, sizeof(*s->ep));
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

		s->ep[i].peer = p && may_be_ends(&s->ep[i], &s->ep[p->index]) ? (int)p->index : -1;
	}
	join_back(s);
	free(places);
	free(peers);
	if (!s->details.no_memory)
		return 0;
	trace_snapshot_free(s);
	return -1;
}
