// SPDX-License-Identifier: GPL-2.0-only
#include "session/suspects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "stats/rng.h"
#include "verdict/negligible.h"

#define AGAIN	      FEWEST_SAMPLES
#define APART_NS      100000000ull /* on average: most episodes are shorter */
#define SUSPECTS_MOST 256

ORDER_BY(by_key, struct suspect_samples, key)

static int by_key_and_state(const void *a, const void *b)
{
	const struct trace_stalled *x = a, *y = b;

	return COMPARE(x->key, y->key) ?: COMPARE(x->state, y->state);
}

size_t suspects_group(struct trace_stalled *v, size_t n, struct suspect_samples *out)
{
	size_t groups = 0;

	qsort(v, n, sizeof(*v), by_key_and_state);
	for (size_t i = 0, first = 0; i < n; first = i) {
		struct suspect_samples one = { v[first].key, v[first].state };

		for (; i < n && !by_key_and_state(&v[first], &v[i]); i++)
			one.samples++;
		if (!groups || out[groups - 1].key != one.key)
			out[groups++] = one;
		else if (out[groups - 1].samples < one.samples)
			out[groups - 1] = one;
	}
	return groups;
}

/* Resets the times alone: samples count no episodes. */
static void begin_anew(struct trace_ledger *l, uint64_t lifetime_ns)
{
	memset(l->ns, 0, sizeof(l->ns));
	l->lifetime_ns = lifetime_ns;
	l->unaccounted_ns = 0;
}

static uint64_t part_of(uint64_t ns, uint64_t of, uint64_t all)
{
	return all ? (uint64_t)((double)of * fmin(1, (double)ns / (double)all)) : 0;
}

/* Scales the blame for a stall to the stall's new time, in proportion. */
static void scale_blame(struct trace_endpoint *ep, enum tx_state stall, uint64_t ns)
{
	for (unsigned int state = 0; state < TX_N; state++) {
		uint64_t all = ep->tx.ns[state], now = state == stall ? ns : 0;

		ep->blame.delack_ns[state] = part_of(ep->blame.delack_ns[state], now, all);
		ep->blame.unread_ns[state] = part_of(ep->blame.unread_ns[state], now, all);
	}
}

void suspects_set_window(struct trace_endpoint *ep, struct trace_samples *l,
			 const struct suspect_samples *f, const struct looked *looked)
{
	unsigned int found = f ? f->samples : 0;
	uint64_t life = MIN(looked->ns, ep->at_ns - ep->born_ns), n = MAX(looked->n, found),
		 ns = n ? life * found / n : 0;

	scale_blame(ep, f ? f->state : TX_IDLE, ns);
	begin_anew(&ep->tx, life);
	begin_anew(&ep->rx, life);
	ep->tx.ns[TX_IDLE] = life - ns;
	ep->rx.ns[ep->rx.now] = life;
	*l = (struct trace_samples){ .key = l->key, .n = n, .unevenness = 1 };
	l->tx_seen[TX_IDLE] = (uint32_t)n - found;
	l->rx_seen[ep->rx.now] = (uint32_t)n;
	if (f) {
		ep->tx.ns[f->state] = ns;
		l->tx_seen[f->state] = found;
	}
}

static int take(struct trace *t, const struct suspect_samples *v, size_t n,
		struct trace_snapshot *out, struct err *e)
{
	uint64_t keys[SUSPECTS_MOST];

	for (size_t i = 0; i < n; i++)
		keys[i] = v[i].key;
	return trace_snapshot_some(t, keys, n, out, e);
}

static struct looked looked_since(const struct trace_snapshot *since,
				  const struct trace_snapshot *now)
{
	return (struct looked){
		.ns = now->at_ns - since->at_ns,
		.n = (now->sampling.endpoint_samples - since->sampling.endpoint_samples) /
		     MAX(now->sampling.endpoints, 1),
	};
}

static int by_samples(const void *a, const void *b)
{
	const struct suspect_samples *x = a, *y = b;

	return COMPARE(y->samples, x->samples);
}

/* Keeps the endpoints that most samples found stalled, sorted by key. */
static size_t keep_most(struct suspect_samples *v, size_t n)
{
	if (n <= SUSPECTS_MOST)
		return n;
	qsort(v, n, sizeof(*v), by_samples);
	qsort(v, SUSPECTS_MOST, sizeof(*v), by_key);
	return SUSPECTS_MOST;
}

unsigned int suspects_samples_since(const struct trace_stalled *v, size_t n,
				    const struct suspect_samples *of, uint64_t born_ns)
{
	unsigned int samples = 0;

	for (size_t i = 0; i < n; i++)
		samples += v[i].key == of->key && v[i].state == of->state && v[i].at_ns >= born_ns;
	return samples;
}

int suspects_take(struct trace *t, struct trace_snapshot *since, struct trace_snapshot *out,
		  struct err *e)
{
	struct trace_stalled stalled[TRACE_STALLED_KEPT];
	struct suspect_samples v[TRACE_STALLED_KEPT];
	size_t all = trace_take_stalled(t, stalled),
	       n = keep_most(v, suspects_group(stalled, all, v));
	struct trace_snapshot now;
	struct looked looked;

	if (take(t, v, n, out, e))
		return -1;
	now = (struct trace_snapshot){ .at_ns = out->at_ns,
				       .sampling = out->sampling,
				       .counters = out->counters };
	looked = looked_since(since, out);
	trace_counters_sub(&out->counters, &since->counters);
	*since = now;
	for (size_t i = 0; i < out->n; i++) {
		struct suspect_samples want = { .key = out->samples[i].key },
				       *f = bsearch(&want, v, n, sizeof(*v), by_key);

		if (f) /* an endpoint that is gone may have had the same key */
			f->samples = suspects_samples_since(stalled, all, f, out->ep[i].born_ns);
		suspects_set_window(&out->ep[i], &out->samples[i], f && f->samples ? f : NULL,
				    &looked);
	}
	return 0;
}

struct suspect {
	size_t endpoint;
	struct trace_one_sample found[AGAIN];
	unsigned int n;
};

/* The stall that all samples found; TX_N: none. */
static unsigned int only_stall(const struct trace_samples *l)
{
	for (unsigned int state = 0; state < TX_N; state++)
		if (tx_is_stall(state) && l->tx_seen[state] == l->n)
			return state;
	return TX_N;
}

static bool is_suspect(const struct trace_snapshot *s, size_t i)
{
	const struct trace_samples *l = &s->samples[i];

	return l->n && l->n < FEWEST_SAMPLES && !s->ep[i].closed && only_stall(l) < TX_N;
}

static size_t list_suspects(const struct trace_snapshot *s, struct suspect *v)
{
	size_t n = 0;

	for (size_t i = 0; s->samples && i < s->n && n < SUSPECTS_MOST; i++)
		if (is_suspect(s, i))
			v[n++] = (struct suspect){ .endpoint = i };
	return n;
}

/* Takes one more sample of each, and drops those that are no longer in the same stall. */
static size_t sample_once(struct trace *t, const struct trace_snapshot *s, struct suspect *v,
			  size_t n)
{
	size_t left = 0;

	for (size_t k = 0; k < n; k++) {
		struct suspect *x = &v[k];
		struct trace_one_sample *found = &x->found[x->n++];

		if (trace_sample_again(t, s, x->endpoint, found) &&
		    found->tx == only_stall(&s->samples[x->endpoint]))
			v[left++] = *x;
	}
	return left;
}

static void count(struct trace_samples *l, const struct trace_one_sample *found)
{
	l->n++;
	l->again++;
	l->tx_seen[found->tx]++;
	l->rx_seen[found->rx]++;
	for (unsigned int fact = 0; fact < TRACE_SAMPLE_FACTS; fact++)
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
		n = sample_once(t, window, v, n);
	}
	for (size_t i = 0; i < n; i++)
		for (unsigned int k = 0; k < v[i].n; k++)
			count(&window->samples[v[i].endpoint], &v[i].found[k]);
}
