/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of recorded samples. Nothing here belongs in a timed loop: record first, sort once,
 * then ask.
 *
 * Quantile: the sample sorted is x[0..n-1]; the q-quantile is x at position (n-1)*q, linearly
 * interpolated between its two neighbours. That is numpy's default ('linear', type 7 of Hyndman and
 * Fan), and the median of an even n is the mean of the middle two. MAD: the median of |x - median|,
 * not scaled to a standard deviation. A figure that cannot be computed (no samples, no spread) is
 * NaN, never 0.
 */
#ifndef IPCSTALL_STATS_STATS_H
#define IPCSTALL_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng;

/* A view of samples, integers (ns) or reals (MB/s); it owns nothing. */
struct sample {
	const uint64_t *u; /* one of the two is set */
	const double *d;
	size_t n;
};

static inline struct sample sample_u64(const uint64_t *v, size_t n)
{
	return (struct sample){ .u = v, .n = n };
}

static inline struct sample sample_f64(const double *v, size_t n)
{
	return (struct sample){ .d = v, .n = n };
}

static inline double sample_at(const struct sample *s, size_t i)
{
	return s->u ? (double)s->u[i] : s->d[i];
}

/* Ascending radix sort with O(n) scratch; without memory for that, qsort. Reals must not be NaN. */
void stats_sort_u64(uint64_t *v, size_t n);
void stats_sort_f64(double *v, size_t n);

/* The median of the values that are not NaN, which are sorted to the front. */
double stats_median(double *v, size_t n);

/* Everything below that takes `sorted` wants an ascending sample. */
double stats_quantile(const struct sample *sorted, double q);
double stats_mean(const struct sample *s);
double stats_mad(const struct sample *sorted);

#define STATS_KS 5
extern const double stats_ks[STATS_KS]; /* 3, 5, 10, 20, 50 */

struct summary {
	size_t n;
	double min, q1, median, q3, max;
	double p90, p95, p99, p999;
	double mean, stddev;
	double mad, uncertainty;   /* MAD / sqrt(n) */
	size_t outliers[STATS_KS]; /* beyond median +- stats_ks[i] * MAD; all 0 while MAD is unknown
				      or 0 */
	/* The smallest k from which on the next larger k has fewer outliers by less than 0.5 % of
	 * all samples: from there on the choice of k hardly matters. NaN if MAD is 0: then no k
	 * means anything. */
	double k_suggested;
	size_t outliers_suggested;
};

void stats_summarise(const struct sample *sorted, struct summary *out);

struct interval {
	double lo, hi;
	double level; /* 0.95 */
	const char *method;
};

#define STATS_BOOTSTRAP_ROUNDS 2000

/* Percentile bootstrap of a quantile. Resampling n of n sorted values and taking order statistic k
 * is the same as drawing U from Beta(k+1, n-k) and taking x[floor(n*U)]; so each round costs two
 * gamma deviates instead of n draws, whatever n is, and the distribution is the bootstrap's own,
 * not an approximation. */
struct interval stats_bootstrap_quantile(const struct sample *sorted, double q, double level,
					 struct rng *r);

struct interval stats_median_interval(const double *sorted, size_t n, double level, struct rng *r);
/* Half the width of the 95 % interval of the median of n normal values: 1.96 * sqrt(pi / 2) *
 * sigma / sqrt(n), with sigma from the MAD, so that one outlier does not make the rest
 * unreadable. */
double stats_median_half_width(double mad, size_t n);

/* Percentile bootstrap of the mean: by resampling while that is cheap (n <= STATS_RESAMPLE_MAX),
 * for larger n by the normal distribution, to which the bootstrap distribution of a mean converges.
 * `method` says which. `weights`: one per value, above 0; NULL: all equal. */
#define STATS_RESAMPLE_MAX 10000
struct interval stats_bootstrap_mean(const struct sample *s, const double *weights, double level,
				     struct rng *r);

/* Back-to-back pairs: the median of the ratios a/b with its bootstrap interval, and how often a or
 * b was smaller. */
struct pairs {
	size_t n, a_smaller, b_smaller, ties;
	double median_ratio;
	struct interval ratio;
	double sign_p; /* two-sided sign test over the pairs that differ */
};

/* ratios: room for n, left sorted. All values must be positive. */
struct pairs stats_pairs(const double *a, const double *b, size_t n, double *ratios, double level,
			 struct rng *r);

/* Inverse of the standard normal's distribution function; p in (0, 1). */
double stats_normal_quantile(double p);

/* Regularised incomplete beta function I_x(a, b). */
double stats_beta_inc(double a, double b, double x);

#endif
