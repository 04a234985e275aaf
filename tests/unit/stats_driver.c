// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads two samples on stdin ("n m", then n + m numbers) and prints what stats/stats.h says of them
 * as JSON, for tests/analysis/test_stats.py to hold against numpy and scipy.
 */
#include "stats/rng.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void number(const char *key, double v, const char *end)
{
	if (isfinite(v))
		printf("\"%s\": %.17g%s", key, v, end);
	else
		printf("\"%s\": null%s", key, end);
}

static void interval(const char *key, struct interval ci)
{
	printf("\"%s\": {", key);
	number("lo", ci.lo, ", ");
	number("hi", ci.hi, "}, ");
}

static void print_summary(const struct summary *m)
{
	number("min", m->min, ", ");
	number("q1", m->q1, ", ");
	number("median", m->median, ", ");
	number("q3", m->q3, ", ");
	number("max", m->max, ", ");
	number("p90", m->p90, ", ");
	number("p95", m->p95, ", ");
	number("p99", m->p99, ", ");
	number("p999", m->p999, ", ");
	number("mean", m->mean, ", ");
	number("stddev", m->stddev, ", ");
	number("mad", m->mad, ", ");
	number("uncertainty", m->uncertainty, ", ");
	number("k_suggested", m->k_suggested, ", ");
	for (int i = 0; i < STATS_KS; i++)
		printf("\"outliers%g\": %zu, ", stats_ks[i], m->outliers[i]);
}

static void print_intervals(const struct sample *s)
{
	struct rng r;

	rng_seed(&r, 1);
	interval("ci_median", stats_bootstrap_quantile(s, 0.5, 0.95, &r));
	interval("ci_p99", stats_bootstrap_quantile(s, 0.99, 0.95, &r));
	interval("ci_mean", stats_bootstrap_mean(s, NULL, 0.95, &r));
}

/* of pairs, who is smaller how often: the values need not be positive for that */
static void print_sign_test(const double *x, const double *y, size_t n)
{
	double *ratios = calloc(n + 1, sizeof(*ratios));
	struct rng r;

	if (!ratios)
		exit(2);
	rng_seed(&r, 1);
	number("sign_p", stats_pairs(x, y, n, ratios, 0.95, &r).sign_p, ", ");
	free(ratios);
}

static double *read_numbers(size_t n)
{
	double *v = calloc(n + 1, sizeof(*v));

	for (size_t i = 0; v && i < n; i++)
		if (scanf("%lf", &v[i]) != 1)
			exit(2);
	return v ? v : (exit(2), v);
}

int main(void)
{
	struct summary sum;
	struct sample a;
	double *x, *y;
	size_t n, m;

	if (scanf("%zu %zu", &n, &m) != 2)
		return 2;
	x = read_numbers(n);
	y = read_numbers(m);
	printf("{");
	if (n == m)
		print_sign_test(x, y, n);
	stats_sort_f64(x, n);
	a = sample_f64(x, n);
	stats_summarise(&a, &sum);
	print_summary(&sum);
	print_intervals(&a);
	printf("\"n\": %zu}\n", sum.n);
	free(x);
	free(y);
	return 0;
}
