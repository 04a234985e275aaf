// SPDX-License-Identifier: GPL-2.0-only
/* Against definitions and known distributions; tests/analysis/test_stats.py holds the same code
 * against scipy. */
#include "stats/rng.h"
#include "stats/stats.h"
#include "unit/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 100000

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.17g is not within %g of %.17g", got, tolerance, want);
}

static int cmp_f64(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Lengths about the insertion-sort limit and all widths of key, so that every pass is taken and
 * skipped. */
static void sorts_integers(void **state)
{
	static const size_t lengths[] = { 0, 1, 2, 63, 64, 65, 1000, 20000 };
	uint64_t *a = malloc(20000 * sizeof(*a)), *b = malloc(20000 * sizeof(*b));
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (size_t l = 0; l < 8; l++)
		for (unsigned int bits = 1; bits <= 64; bits += 7) {
			size_t n = lengths[l];

			for (size_t i = 0; i < n; i++)
				a[i] = b[i] = rng_u64(&r) >> (64 - bits);
			stats_sort_u64(a, n);
			qsort(b, n, sizeof(*b), cmp_u64);
			assert_true(!n || !memcmp(a, b, n * sizeof(*a)));
		}
	free(a);
	free(b);
}

static void sorts_reals(void **state)
{
	double *a = malloc(N * sizeof(*a)), *b = malloc(N * sizeof(*b));
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (int i = 0; i < N; i++)
		a[i] = b[i] = rng_normal(&r) * exp(rng_normal(&r) * 100);
	a[0] = b[0] = INFINITY;
	a[1] = b[1] = -INFINITY;
	stats_sort_f64(a, N);
	qsort(b, N, sizeof(*b), cmp_f64);
	assert_memory_equal(a, b, N * sizeof(*a));
	stats_sort_f64(a, 0);
	free(a);
	free(b);
}

static void quantile_definition(void **state)
{
	const uint64_t v[] = { 1, 2, 4, 8 };
	struct sample s = sample_u64(v, 4), one = sample_u64(v, 1), none = sample_u64(v, 0);

	(void)state;
	assert_near(stats_quantile(&s, 0), 1, 0);
	assert_near(stats_quantile(&s, 0.25), 1.75, 0);
	assert_near(stats_quantile(&s, 0.5), 3, 0);
	assert_near(stats_quantile(&s, 0.75), 5, 0);
	assert_near(stats_quantile(&s, 1), 8, 0);
	assert_near(stats_quantile(&one, 0.99), 1, 0);
	assert_true(isnan(stats_quantile(&none, 0.5)));
	assert_true(isnan(stats_quantile(&s, -0.1)) && isnan(stats_quantile(&s, 1.1)) &&
		    isnan(stats_quantile(&s, NAN)));
}

static double mad_by_definition(const double *v, size_t n)
{
	double *dev = malloc(n * sizeof(*dev)), mad;
	struct sample s = sample_f64(v, n), d = sample_f64(dev, n);

	for (size_t i = 0; i < n; i++)
		dev[i] = fabs(v[i] - stats_quantile(&s, 0.5));
	qsort(dev, n, sizeof(*dev), cmp_f64);
	mad = stats_quantile(&d, 0.5);
	free(dev);
	return mad;
}

/* Small n of both parities, with and without ties: every way the two runs of deviations can
 * interleave. */
static void mad_equals_its_definition(void **state)
{
	double v[40];
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (int round = 0; round < 20000; round++) {
		size_t n = 1 + rng_below(&r, 40);
		struct sample s = sample_f64(v, n);

		for (size_t i = 0; i < n; i++)
			v[i] = round % 2 ? (double)rng_below(&r, 6) : exp(rng_normal(&r));
		stats_sort_f64(v, n);
		assert_near(stats_mad(&s), mad_by_definition(v, n), 1e-12);
	}
}

static double *draw(size_t n, double (*from)(struct rng *), uint64_t seed)
{
	double *v = malloc(n * sizeof(*v));
	struct rng r;

	rng_seed(&r, seed);
	for (size_t i = 0; i < n; i++)
		v[i] = from(&r);
	return v;
}

static double *draw_sorted(size_t n, double (*from)(struct rng *), uint64_t seed)
{
	double *v = draw(n, from, seed);

	stats_sort_f64(v, n);
	return v;
}

/* Standard normal: quartiles at 0.6745, MAD 0.6745, p99 2.326. The tolerance is six standard
 * errors. */
static void normal_sample(void **state)
{
	double *v = draw_sorted(N, rng_normal, 4);
	struct sample s = sample_f64(v, N);
	struct summary m;

	(void)state;
	stats_summarise(&s, &m);
	assert_int_equal(m.n, N);
	assert_near(m.median, 0, 0.024);
	assert_near(m.q1, -0.67449, 0.026);
	assert_near(m.q3, 0.67449, 0.026);
	assert_near(m.p90, 1.28155, 0.033);
	assert_near(m.p95, 1.64485, 0.041);
	assert_near(m.p99, 2.32635, 0.072);
	assert_near(m.p999, 3.09023, 0.18);
	assert_near(m.mean, 0, 0.019);
	assert_near(m.stddev, 1, 0.014);
	assert_near(m.mad, 0.67449, 0.022);
	assert_near(m.uncertainty, m.mad / sqrt(N), 1e-15);
	assert_true(m.min == v[0] && m.max == v[N - 1]);
	/* beyond 3 MAD = 2.0235 sigma: 4.3 %; beyond 5: 0.074 %; so the verdict settles at 5 */
	assert_near((double)m.outliers[0] / N, 0.04302, 0.004);
	assert_near((double)m.outliers[1] / N, 0.00074, 0.0006);
	assert_near(m.k_suggested, 5, 0);
	assert_int_equal(m.outliers_suggested, m.outliers[1]);
	free(v);
}

static void exponential_sample(void **state)
{
	double *v = draw_sorted(N, rng_exponential, 5);
	struct sample s = sample_f64(v, N);
	struct summary m;

	(void)state;
	stats_summarise(&s, &m);
	assert_near(m.median, log(2), 0.02);
	assert_near(m.p99, log(100), 0.19);
	assert_near(m.mad, 0.4812, 0.02); /* the root of sinh(x) = 1/2 */
	free(v);
}

static void figures_that_cannot_be_had(void **state)
{
	const uint64_t same[] = { 5, 5, 5, 5, 900 };
	struct sample s = sample_u64(same, 5), none = sample_u64(same, 0),
		      one = sample_u64(same, 1);
	struct summary m;

	(void)state;
	stats_summarise(&none, &m);
	assert_true(isnan(m.min) && isnan(m.median) && isnan(m.mean) && isnan(m.mad) &&
		    isnan(m.uncertainty));
	stats_summarise(&one, &m);
	assert_true(m.min == 5 && m.max == 5 && m.mad == 0 && isnan(m.stddev));
	stats_summarise(&s, &m);
	assert_true(m.mad == 0 && isnan(m.k_suggested) && !m.outliers[0]);
}

/* 10 of 1000 at fifty times the MAD and more: k = 20 still sees them, and between 5 and 20 nothing
 * changes. */
static void outliers_on_both_sides(void **state)
{
	uint64_t v[1000];
	struct sample s = sample_u64(v, 1000);
	struct summary m;

	(void)state;
	for (int i = 0; i < 1000; i++)
		v[i] = i < 4 ? 1 : i < 994 ? 10000 + (uint64_t)(i % 21) : 99999;
	stats_sort_u64(v, 1000);
	stats_summarise(&s, &m);
	for (int i = 0; i < STATS_KS; i++)
		assert_int_equal(m.outliers[i], 10);
	assert_near(m.k_suggested, 3, 0);
}

/* The promise of a 95 % interval: over many samples of a known law it covers the truth 95 % of the
 * time. */
static double coverage(size_t n, double (*from)(struct rng *), double truth, double q)
{
	int hit = 0, rounds = SANITIZED ? 60 : 400;
	struct rng r;

	rng_seed(&r, 6);
	for (int i = 0; i < rounds; i++) {
		double *v = draw_sorted(n, from, 1000 + (uint64_t)i);
		struct sample s = sample_f64(v, n);
		struct interval ci = q < 0 ? stats_bootstrap_mean(&s, NULL, 0.95, &r)
					   : stats_bootstrap_quantile(&s, q, 0.95, &r);

		hit += ci.lo <= truth && truth <= ci.hi;
		free(v);
	}
	return hit / (double)rounds;
}

static void intervals_cover_the_truth(void **state)
{
	double near = SANITIZED ? 0.1 : 0.04;

	(void)state;
	/* even n: two order statistics; odd n: one */
	assert_near(coverage(100, rng_exponential, log(2), 0.5), 0.95, near);
	assert_near(coverage(101, rng_exponential, log(2), 0.5), 0.95, near);
	assert_near(coverage(501, rng_normal, 1.281552, 0.9), 0.95, near);
	assert_near(coverage(60, rng_normal, 0, -1), 0.95, near);
	assert_near(coverage(STATS_RESAMPLE_MAX + 1, rng_normal, 0, -1), 0.95, near);
}

/* A slow slice lasts longer, so it counts for more: the interval lies about what went through in
 * all the time, not about the slices' plain mean. */
static void weights_count(void **state)
{
	enum { LEN = 200 };
	double rates[STATS_RESAMPLE_MAX + 1], weights[STATS_RESAMPLE_MAX + 1];
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (size_t i = 0; i <= STATS_RESAMPLE_MAX; i++) {
		rates[i] = i % 2 ? 100 : 10;
		weights[i] = i % 2 ? 1 : 10;
	}
	for (size_t n = LEN; n <= STATS_RESAMPLE_MAX + 1; n += STATS_RESAMPLE_MAX + 1 - LEN) {
		struct sample s = sample_f64(rates, n);
		struct interval ci = stats_bootstrap_mean(&s, weights, 0.95, &r);

		assert_true(ci.lo < 200. / 11 && 200. / 11 < ci.hi && ci.hi < 22);
	}
}

/* Drawing order statistics through a beta deviate must give what plain resampling gives. */
static void shortcut_equals_resampling(void **state)
{
	enum { LEN = 30, ROUNDS = 20000 };
	double *v = draw_sorted(LEN, rng_exponential, 8), again[LEN],
	       *medians = malloc(ROUNDS * sizeof(double));
	struct sample s = sample_f64(v, LEN), a = sample_f64(again, LEN),
		      m = sample_f64(medians, ROUNDS);
	struct interval ci;
	struct rng r;

	(void)state;
	rng_seed(&r, 9);
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < LEN; j++)
			again[j] = v[rng_below(&r, LEN)];
		stats_sort_f64(again, LEN);
		medians[i] = stats_quantile(&a, 0.5);
	}
	stats_sort_f64(medians, ROUNDS);
	ci = stats_bootstrap_quantile(&s, 0.5, 0.95, &r);
	assert_near(ci.lo, stats_quantile(&m, 0.025), 0.06);
	assert_near(ci.hi, stats_quantile(&m, 0.975), 0.06);
	free(v);
	free(medians);
}

static void bootstrap_is_seeded(void **state)
{
	double *v = draw_sorted(50, rng_normal, 1);
	struct sample s = sample_f64(v, 50), one = sample_f64(v, 1);
	struct interval a, b;
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	a = stats_bootstrap_mean(&s, NULL, 0.95, &r);
	rng_seed(&r, 1);
	b = stats_bootstrap_mean(&s, NULL, 0.95, &r);
	assert_true(a.lo == b.lo && a.hi == b.hi && a.lo < a.hi);
	a = stats_bootstrap_mean(&one, NULL, 0.95, &r);
	assert_true(isnan(a.lo) && isnan(a.hi));
	free(v);
}

static void pairs_by_hand(void **state)
{
	const double a[] = { 9, 9, 9, 9, 9, 9, 9, 9, 11, 10 }, b[] = { 10, 10, 10, 10, 10, 10, 10,
		10, 10, 10 };
	double ratios[10];
	struct rng r;
	struct pairs p;

	(void)state;
	rng_seed(&r, 1);
	p = stats_pairs(a, b, 10, ratios, 0.95, &r);
	assert_int_equal(p.a_smaller, 8);
	assert_int_equal(p.b_smaller, 1);
	assert_int_equal(p.ties, 1);
	assert_near(p.median_ratio, 0.9, 1e-12);
	assert_near(p.sign_p, 2 * 10 / 512.0, 1e-12); /* 8 or 9 heads of 9: 10 ways of 512 */
	assert_true(p.ratio.lo <= 0.9 && p.ratio.hi >= 0.9);
}

static void special_functions(void **state)
{
	(void)state;
	assert_near(stats_normal_quantile(0.5), 0, 1e-14);
	assert_near(stats_normal_quantile(0.975), 1.959963984540054, 1e-13);
	assert_near(stats_normal_quantile(1e-9), -5.997807015008182, 1e-12);
	assert_true(isnan(stats_normal_quantile(0)) && isnan(stats_normal_quantile(1)));
	assert_near(stats_beta_inc(2, 3, 0.4), 0.5248, 1e-13); /* 1 - sum of binomials, by hand */
	assert_near(stats_beta_inc(1, 1, 0.3), 0.3, 1e-13);
	assert_true(stats_beta_inc(2, 3, 0) == 0 && stats_beta_inc(2, 3, 1) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_integers), cmocka_unit_test(sorts_reals),
		cmocka_unit_test(quantile_definition), cmocka_unit_test(mad_equals_its_definition),
		cmocka_unit_test(normal_sample), cmocka_unit_test(exponential_sample),
		cmocka_unit_test(figures_that_cannot_be_had),
		cmocka_unit_test(outliers_on_both_sides),
		cmocka_unit_test(intervals_cover_the_truth), cmocka_unit_test(weights_count),
		cmocka_unit_test(shortcut_equals_resampling), cmocka_unit_test(bootstrap_is_seeded),
		cmocka_unit_test(pairs_by_hand), cmocka_unit_test(special_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
