// SPDX-License-Identifier: GPL-2.0-only
#include "stats/rng.h"
#include "stats/stats.h"

#include <math.h>

static struct interval unknown_interval(double level)
{
	return (struct interval){ NAN, NAN, level, "none" };
}

/* The middle `level` of the rounds' results. */
static struct interval percentile(double *rounds, double level, const char *method)
{
	struct sample s = sample_f64(rounds, STATS_BOOTSTRAP_ROUNDS);

	stats_sort_f64(rounds, STATS_BOOTSTRAP_ROUNDS);
	return (struct interval){ stats_quantile(&s, (1 - level) / 2),
				  stats_quantile(&s, (1 + level) / 2), level, method };
}

static double at_uniform(const struct sample *s, double u)
{
	size_t i = (size_t)((double)s->n * u);

	return sample_at(s, i < s->n ? i : s->n - 1);
}

/* Order statistics k and k+1 of n uniforms: the upper one is Beta(k+2, n-k-1) distributed, and
 * given it the lower is the largest of k+1 uniforms below it. */
static double resampled_quantile(const struct sample *s, size_t k, double frac, struct rng *r)
{
	double n = (double)s->n, kk = (double)k, hi, lo;

	if (frac == 0)
		return at_uniform(s, rng_beta(r, kk + 1, n - kk));
	hi = rng_beta(r, kk + 2, n - kk - 1);
	lo = hi * pow(1 - rng_unit(r), 1 / (kk + 1));
	return (1 - frac) * at_uniform(s, lo) + frac * at_uniform(s, hi);
}

struct interval stats_bootstrap_quantile(const struct sample *s, double q, double level,
					 struct rng *r)
{
	double rounds[STATS_BOOTSTRAP_ROUNDS], pos;
	size_t k;

	if (s->n < 2 || !(q >= 0 && q <= 1))
		return unknown_interval(level);
	pos = (double)(s->n - 1) * q;
	k = (size_t)pos;
	for (int i = 0; i < STATS_BOOTSTRAP_ROUNDS; i++)
		rounds[i] = resampled_quantile(s, k, pos - (double)k, r);
	return percentile(rounds, level, "bootstrap of order statistics");
}

struct interval stats_median_interval(const double *sorted, size_t n, double level, struct rng *r)
{
	struct sample s = sample_f64(sorted, n);

	return stats_bootstrap_quantile(&s, 0.5, level, r);
}

static double weight_of(const double *weights, size_t i)
{
	return weights ? weights[i] : 1;
}

/* A value is drawn together with its weight: how long a slice was and what went through it belong
 * together. */
static double resampled_mean(const struct sample *s, const double *weights, struct rng *r)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t at = rng_below(r, s->n);

		sum += weight_of(weights, at) * sample_at(s, at);
		weight += weight_of(weights, at);
	}
	return sum / weight;
}

/* The bootstrap's own standard error: that of a ratio of two sums, to the first order. With equal
 * weights it is the root of the plain variance over n. */
static struct interval normal_mean(const struct sample *s, const double *weights, double level)
{
	double sum = 0, weight = 0, squares = 0, mean, se,
	       z = stats_normal_quantile((1 + level) / 2);

	for (size_t i = 0; i < s->n; i++) {
		sum += weight_of(weights, i) * sample_at(s, i);
		weight += weight_of(weights, i);
	}
	mean = sum / weight;
	for (size_t i = 0; i < s->n; i++)
		squares += pow(weight_of(weights, i) * (sample_at(s, i) - mean), 2);
	se = sqrt(squares) / weight;
	return (struct interval){ mean - z * se, mean + z * se, level,
				  "normal limit of the bootstrap" };
}

struct interval stats_bootstrap_mean(const struct sample *s, const double *weights, double level,
				     struct rng *r)
{
	double rounds[STATS_BOOTSTRAP_ROUNDS];

	if (s->n < 2)
		return unknown_interval(level);
	if (s->n > STATS_RESAMPLE_MAX)
		return normal_mean(s, weights, level);
	for (int i = 0; i < STATS_BOOTSTRAP_ROUNDS; i++)
		rounds[i] = resampled_mean(s, weights, r);
	return percentile(rounds, level, "bootstrap by resampling");
}
