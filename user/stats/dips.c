// SPDX-License-Identifier: GPL-2.0-only
#include "stats/dips.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "stats/rng.h"

enum { REPEATS_MAX = 64 };

static const double MUCH = 1.5; /* more than this many times the excess is another dip */

/* logs: logarithms of times. Sets breach, which has room for n: the log of the time over the
 * longest time that the laws allow, which may be negative. */
static void breaches(const struct dip_size *v, const double *logs, size_t n, double *breach)
{
	double larger = INFINITY, per_byte = INFINITY;

	for (size_t i = n; i-- > 0;) {
		breach[i] = logs[i] - larger;
		larger = fmin(larger, logs[i]);
	}
	for (size_t i = 0; i < n; i++) {
		double size = log((double)v[i].size);

		breach[i] = fmax(breach[i], logs[i] - (per_byte + size));
		per_byte = fmin(per_byte, logs[i] - size);
	}
}

static double log_median(const struct dip_size *v)
{
	double w[REPEATS_MAX];
	size_t n = v->n < REPEATS_MAX ? v->n : REPEATS_MAX;

	for (size_t i = 0; i < n; i++)
		w[i] = log(v->cost[i]);
	return stats_median(w, n);
}

struct work {
	double *logs, *breach, *lawful, *draw, *pool;
	size_t n_pool;
};

/* Collects how the repeats of each size differ from their median, for all sizes together. */
static int fill_pool(const struct dip_size *v, size_t n, struct work *w)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += v[i].n;
	w->pool = array_resize(NULL, total, 0, sizeof(double));
	for (size_t i = 0; w->pool && i < n; i++)
		for (size_t k = 0; k < v[i].n; k++)
			w->pool[w->n_pool++] = log(v[i].cost[k]) - w->logs[i];
	return w->pool ? 0 : -1;
}

static double drawn_median(const struct work *w, size_t n, struct rng *rng)
{
	double x[REPEATS_MAX];

	n = n < REPEATS_MAX ? n : REPEATS_MAX;
	for (size_t i = 0; i < n; i++)
		x[i] = w->pool[rng_below(rng, w->n_pool)];
	return stats_median(x, n);
}

/* The largest breach of one draw from the lawful curve. */
static double largest_by_chance(const struct dip_size *v, size_t n, struct work *w, struct rng *rng)
{
	double most = -INFINITY;

	for (size_t i = 0; i < n; i++)
		w->draw[i] = w->lawful[i] + drawn_median(w, v[i].n, rng);
	breaches(v, w->draw, n, w->breach);
	for (size_t i = 0; i < n; i++)
		most = fmax(most, w->breach[i]);
	return most;
}

static void judge(struct dip_size *v, size_t n, double level, struct work *w, struct rng *rng)
{
	double chance[DIPS_DRAWS];
	struct sample s = sample_f64(chance, DIPS_DRAWS);

	for (int k = 0; k < DIPS_DRAWS; k++)
		chance[k] = largest_by_chance(v, n, w, rng);
	stats_sort_f64(chance, DIPS_DRAWS);
	for (size_t i = 0; i < n; i++) {
		size_t as_large = 1;

		for (int k = 0; k < DIPS_DRAWS; k++)
			as_large += chance[k] >= v[i].breach;
		v[i].critical = stats_quantile(&s, level);
		v[i].p = (double)as_large / (DIPS_DRAWS + 1);
		v[i].dip = v[i].breach > 0 && v[i].p < 1 - level;
	}
}

/* The time beyond the lawful time, as a multiple of the lawful time. */
static double excess(const struct dip_size *s)
{
	return expm1(s->breach);
}

/* A stall that a timer ends (a delayed ACK: jiffies) varies more from repeat to repeat than the
 * curve without it, from which the critical breach comes. */
static bool much_deeper(const struct dip_size *a, const struct dip_size *b)
{
	return a->breach - b->breach > fmax(a->critical, 0) && excess(a) > MUCH * excess(b);
}

bool dips_edge(const struct dip_size *a, const struct dip_size *b)
{
	return a->dip != b->dip || (a->dip && (much_deeper(a, b) || much_deeper(b, a)));
}

static void fill_lawful(struct dip_size *v, size_t n, struct work *w)
{
	breaches(v, w->logs, n, w->breach);
	for (size_t i = 0; i < n; i++) {
		w->lawful[i] = w->logs[i] - fmax(0, w->breach[i]);
		v[i].median = exp(w->logs[i]);
		v[i].lawful = exp(w->logs[i] - (isinf(w->breach[i]) ? 0 : w->breach[i]));
		v[i].breach = fmax(0, log(v[i].median / v[i].lawful));
		v[i].depth = 1 - v[i].lawful / v[i].median;
	}
}

static int find(struct dip_size *v, size_t n, double level, double *room, struct rng *rng)
{
	struct work w = { .logs = room, .breach = room + n, .lawful = room + 2 * n,
		.draw = room + 3 * n };

	for (size_t i = 0; i < n; i++) {
		if (v[i].n < DIPS_REPEATS_LEAST)
			return -1;
		w.logs[i] = log_median(&v[i]);
	}
	if (fill_pool(v, n, &w))
		return -1;
	fill_lawful(v, n, &w);
	judge(v, n, level, &w, rng);
	free(w.pool);
	return 0;
}

int dips_find(struct dip_size *v, size_t n, double level, struct rng *rng)
{
	double *room = array_new(4 * (n + 1), 0, sizeof(double));
	int rc = room && n ? find(v, n, level, room, rng) : -1;

	free(room);
	return rc;
}

size_t dips_bands(const struct dip_size *v, size_t n, struct dip_band *out, size_t max)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k < max; i++) {
		struct dip_band b = { i, i, i };

		if (!v[i].dip)
			continue;
		for (; i + 1 < n && !dips_edge(&v[i], &v[i + 1]); i++) {
			b.last = i + 1;
			if (v[i + 1].depth > v[b.deepest].depth)
				b.deepest = i + 1;
		}
		out[k++] = b;
	}
	return k;
}
