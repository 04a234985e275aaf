// SPDX-License-Identifier: GPL-2.0-only
#include "session/suspects.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "stats/rng.h"
#include "verdict/negligible.h"

#define AGAIN	      LOOKS_LEAST
#define APART_NS      100000000ull /* on average: most episodes are shorter */
#define SUSPECTS_MOST 256

static void stays(struct trace_ledger *l, uint64_t ns)
{
	unsigned int state = l->now;

	*l = (struct trace_ledger){ .now = state, .lifetime_ns = ns };
	l->ns[state] = ns;
}

static uint64_t part_of(uint64_t ns, uint64_t of, uint64_t all)
{
	return all ? (uint64_t)((double)of * fmin(1, (double)ns / (double)all)) : 0;
}

/* What explains a stall, in proportion to what it explained so far. */
static void scale_blame(struct trace_endpoint *ep, uint64_t ns)
{
	for (unsigned int state = 0; state < TX_N; state++) {
		uint64_t all = ep->tx.ns[state], now = state == ep->tx.now ? ns : 0;

		ep->blame.delack_ns[state] = part_of(ep->blame.delack_ns[state], now, all);
		ep->blame.unread_ns[state] = part_of(ep->blame.unread_ns[state], now, all);
	}
}

static void as_at_last_look(struct trace_endpoint *ep, struct trace_looks *l, uint64_t ns)
{
	scale_blame(ep, ns);
	stays(&ep->tx, ns);
	stays(&ep->rx, ns);
	*l = (struct trace_looks){ .key = l->key, .n = 1, .unevenness = 1 };
	l->tx_seen[ep->tx.now] = l->rx_seen[ep->rx.now] = 1;
}

int suspects_take(struct trace *t, uint64_t since_ns, struct trace_snapshot *out,
		  struct trace_error *te)
{
	uint64_t keys[TRACE_STALLED_KEPT];
	size_t n = trace_take_stalled(t, keys);

	if (trace_snapshot_some(t, keys, n < SUSPECTS_MOST ? n : SUSPECTS_MOST, out, te))
		return -1;
	for (size_t i = 0; i < out->n; i++)
		as_at_last_look(&out->ep[i], &out->looks[i], out->at_ns - since_ns);
	return 0;
}

struct suspect {
	size_t endpoint;
	struct trace_look found[AGAIN];
	unsigned int n;
};

/* which stall all looks found; TX_N: none */
static unsigned int only_stall(const struct trace_looks *l)
{
	for (unsigned int state = 0; state < TX_N; state++)
		if (tx_is_stall(state) && l->tx_seen[state] == l->n)
			return state;
	return TX_N;
}

static bool is_suspect(const struct trace_snapshot *s, size_t i)
{
	const struct trace_looks *l = &s->looks[i];

	return l->n && l->n < LOOKS_LEAST && !s->ep[i].closed && only_stall(l) < TX_N;
}

static size_t list_suspects(const struct trace_snapshot *s, struct suspect *v)
{
	size_t n = 0;

	for (size_t i = 0; s->looks && i < s->n && n < SUSPECTS_MOST; i++)
		if (is_suspect(s, i))
			v[n++] = (struct suspect){ .endpoint = i };
	return n;
}

/* Drops those of which it finds something else. */
static size_t look_once(struct trace *t, const struct trace_snapshot *s, struct suspect *v,
			size_t n)
{
	size_t left = 0;

	for (size_t k = 0; k < n; k++) {
		struct suspect *x = &v[k];
		struct trace_look *found = &x->found[x->n++];

		if (trace_look_again(t, s, x->endpoint, found) &&
		    found->tx == only_stall(&s->looks[x->endpoint]))
			v[left++] = *x;
	}
	return left;
}

static void count(struct trace_looks *l, const struct trace_look *found)
{
	l->n++;
	l->again++;
	l->tx_seen[found->tx]++;
	l->rx_seen[found->rx]++;
	for (unsigned int fact = 0; fact < TRACE_LOOK_FACTS; fact++)
		l->fact[fact] += found->facts >> fact & 1;
}

void suspects_confirm(struct trace *t, struct trace_snapshot *window, uint64_t deadline,
		      const struct zoom_stop *stop)
{
	struct suspect v[SUSPECTS_MOST];
	size_t n = list_suspects(window, v);
	struct rng rng;

	rng_seed(&rng, window->at_ns);
	for (int k = 0; k < AGAIN && n; k++) {
		uint64_t gap = (uint64_t)((0.5 + rng_unit(&rng)) * (double)APART_NS);

		if (stop->asked(stop->ctx) || now_ns() + gap > deadline)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = (long)gap }, NULL);
		n = look_once(t, window, v, n);
	}
	for (size_t i = 0; i < n; i++)
		for (unsigned int k = 0; k < v[i].n; k++)
			count(&window->looks[v[i].endpoint], &v[i].found[k]);
}
