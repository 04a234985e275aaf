// SPDX-License-Identifier: GPL-2.0-only
/* Two samples, or two columns, side by side. */
#include "lib/rng.h"
#include "lib/stats.h"

#include <math.h>
#include <stdlib.h>

#define EXACT_MAX 8

/* What one walk over both sorted samples together yields. */
struct ties {
	double u;	 /* pairs a > b, ties one half */
	double cube_sum; /* of t^3 - t over groups of equal values */
};

/* Step past the values equal to x; returns how many there were. */
static size_t skip_equal(const struct sample *s, size_t *i, double x)
{
	size_t from = *i;

	while (*i < s->n && sample_at(s, *i) == x)
		(*i)++;
	return *i - from;
}

static struct ties count_ties(const struct sample *a, const struct sample *b)
{
	struct ties out = { 0, 0 };
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		size_t below = j, ea, eb;
		double t, x;

		if (j >= b->n || (i < a->n && sample_at(a, i) < sample_at(b, j)))
			x = sample_at(a, i);
		else
			x = sample_at(b, j);
		ea = skip_equal(a, &i, x);
		eb = skip_equal(b, &j, x);
		t = (double)(ea + eb);
		out.u += (double)ea * ((double)below + 0.5 * (double)eb);
		out.cube_sum += t * t * t - t;
	}
	return out;
}

/*
 * How many of the orders of n a's and m b's give each u: w[u] of (n, m) is w[u - m] of (n-1, m), where the largest is
 * an a, plus w[u] of (n, m-1). Kept as one row per n, updated over m.
 */
static double exact_tail(size_t n, size_t m, double u)
{
	double w[EXACT_MAX + 1][EXACT_MAX * EXACT_MAX + 1] = { { 0 } };
	double total = 0, tail = 0;

	for (size_t i = 0; i <= n; i++)
		w[i][0] = 1;
	for (size_t j = 1; j <= m; j++)
		for (size_t i = 1; i <= n; i++)
			for (size_t v = i * j; v >= j; v--)
				w[i][v] += w[i - 1][v - j];
	for (size_t v = 0; v <= n * m; v++) {
		total += w[n][v];
		tail += (double)v >= u ? w[n][v] : 0;
	}
	return tail / total;
}

static double normal_tail(double n, double m, double u, double cube_sum)
{
	double all = n + m;
	double var = n * m / 12 * (all + 1 - cube_sum / (all * (all - 1)));

	if (!(var > 0))
		return 0.5;
	return 0.5 * erfc((u - n * m / 2 - 0.5) / sqrt(var) / M_SQRT2);
}

struct mann_whitney stats_mann_whitney(const struct sample *a, const struct sample *b)
{
	struct mann_whitney out = { NAN, NAN, NAN, false };
	double pairs = (double)a->n * (double)b->n, larger;
	struct ties t;

	if (!a->n || !b->n)
		return out;
	t = count_ties(a, b);
	out.u = t.u;
	out.superiority = t.u / pairs;
	larger = fmax(t.u, pairs - t.u);
	out.exact = a->n <= EXACT_MAX && b->n <= EXACT_MAX && t.cube_sum == 0;
	out.p = 2 * (out.exact ? exact_tail(a->n, b->n, larger)
			       : normal_tail((double)a->n, (double)b->n, larger, t.cube_sum));
	out.p = fmin(out.p, 1);
	return out;
}

/* P(X >= k) of n fair coins is I_{1/2}(k, n - k + 1). */
static double sign_test(size_t wins, size_t losses)
{
	size_t n = wins + losses, k = wins > losses ? wins : losses;

	if (!n)
		return NAN;
	return fmin(1, 2 * stats_beta_inc((double)k, (double)(n - k) + 1, 0.5));
}

struct pairs stats_pairs(const double *a, const double *b, size_t n, double *ratios, double level, struct rng *r)
{
	struct pairs out = { .n = n };
	struct sample s = sample_f64(ratios, n);

	for (size_t i = 0; i < n; i++) {
		ratios[i] = a[i] / b[i];
		out.a_smaller += a[i] < b[i];
		out.b_smaller += a[i] > b[i];
	}
	out.ties = n - out.a_smaller - out.b_smaller;
	stats_sort_f64(ratios, n);
	out.median_ratio = stats_quantile(&s, 0.5);
	out.ratio = stats_bootstrap_quantile(&s, 0.5, level, r);
	out.sign_p = sign_test(out.a_smaller, out.b_smaller);
	return out;
}

static struct interval fisher_interval(double r, double variance, double level)
{
	double z = atanh(r), half = stats_normal_quantile((1 + level) / 2) * sqrt(variance);

	return (struct interval){ tanh(z - half), tanh(z + half), level, "Fisher z" };
}

/* Two-sided P(|T| >= |t|) for t = r * sqrt(df / (1 - r^2)): df / (df + t^2) is just 1 - r^2. */
static double t_test_of_r(double r, double df)
{
	return stats_beta_inc(df / 2, 0.5, 1 - r * r);
}

static struct correlation finish_correlation(double r, size_t n, double variance, double level)
{
	struct correlation out = { .n = n, .r = r, .p = NAN, .ci = { NAN, NAN, level, "none" } };

	if (isnan(r))
		return out;
	if (n > 2)
		out.p = t_test_of_r(r, (double)n - 2);
	if (n > 3)
		out.ci = fisher_interval(r, variance, level);
	return out;
}

static double pearson_r(const double *x, const double *y, size_t n)
{
	struct sample sx = sample_f64(x, n), sy = sample_f64(y, n);
	double mx = stats_mean(&sx), my = stats_mean(&sy);
	long double xx = 0, yy = 0, xy = 0;

	for (size_t i = 0; i < n; i++) {
		double dx = x[i] - mx, dy = y[i] - my;

		xx += dx * dx;
		yy += dy * dy;
		xy += dx * dy;
	}
	if (!(xx > 0 && yy > 0))
		return NAN;
	return fmax(-1, fmin(1, (double)(xy / sqrtl(xx * yy))));
}

struct correlation stats_pearson(const double *x, const double *y, size_t n, double level)
{
	return finish_correlation(pearson_r(x, y, n), n, 1 / ((double)n - 3), level);
}

struct ranked {
	double value;
	size_t at;
};

static int cmp_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* rank[i] of v[i], 1-based, equal values sharing the mean of their places. */
static void rank_all(const double *v, size_t n, struct ranked *tmp, double *rank)
{
	for (size_t i = 0; i < n; i++)
		tmp[i] = (struct ranked){ v[i], i };
	qsort(tmp, n, sizeof(*tmp), cmp_ranked);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && tmp[j].value == tmp[i].value; j++)
			;
		for (size_t k = i; k < j; k++)
			rank[tmp[k].at] = (double)(i + j + 1) / 2;
	}
}

struct correlation stats_spearman(const double *x, const double *y, size_t n, double level)
{
	struct ranked *tmp = calloc(n + 1, sizeof(*tmp));
	double *rx = calloc(n + 1, sizeof(*rx)), *ry = calloc(n + 1, sizeof(*ry));
	struct correlation out = { .r = NAN, .p = NAN, .ci = { NAN, NAN, level, "none" } };

	if (tmp && rx && ry) {
		double r;

		rank_all(x, n, tmp, rx);
		rank_all(y, n, tmp, ry);
		r = pearson_r(rx, ry, n);
		out = finish_correlation(r, n, (1 + r * r / 2) / ((double)n - 3), level);
	}
	free(tmp);
	free(rx);
	free(ry);
	return out;
}
