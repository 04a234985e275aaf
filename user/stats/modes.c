// SPDX-License-Identifier: GPL-2.0-only
#include "stats/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/rng.h"

/* The distinct values, with the counts just before and just after each: the ends of the steps of
 * the distribution function. */
struct steps {
	double *x, *before, *after;
	size_t *hull[2]; /* indices of the vertices: of the minorant, of the majorant */
	size_t n_hull[2];
	size_t n;
};

static int steps_alloc(struct steps *s, size_t n)
{
	memset(s, 0, sizeof(*s));
	s->x = array_resize(NULL, 3 * n, 0, sizeof(double));
	s->hull[0] = array_resize(NULL, 2 * n, 0, sizeof(size_t));
	if (!s->x || !s->hull[0])
		return -1;
	s->before = s->x + n;
	s->after = s->before + n;
	s->hull[1] = s->hull[0] + n;
	return 0;
}

static void steps_free(struct steps *s)
{
	free(s->x);
	free(s->hull[0]);
}

static void steps_fill(struct steps *s, const double *sorted, size_t n)
{
	s->n = 0;
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && sorted[j] == sorted[i]; j++)
			;
		s->x[s->n] = sorted[i];
		s->before[s->n] = (double)i;
		s->after[s->n++] = (double)j;
	}
}

enum { MINORANT, MAJORANT };

static double height(const struct steps *s, int which, size_t i)
{
	return which == MINORANT ? s->before[i] : s->after[i];
}

/* The convex minorant of the steps' lower ends, or the concave majorant of their upper ends, from
 * `lo` to `hi`. */
static void hull_make(struct steps *s, int which, size_t lo, size_t hi)
{
	size_t *h = s->hull[which], n = 0;
	double sign = which == MINORANT ? 1 : -1;

	for (size_t i = lo; i <= hi; i++) {
		while (n >= 2) {
			size_t a = h[n - 2], b = h[n - 1];
			double cross =
				(s->x[b] - s->x[a]) * (height(s, which, i) - height(s, which, a)) -
				(height(s, which, b) - height(s, which, a)) * (s->x[i] - s->x[a]);

			if (sign * cross > 0)
				break;
			n--;
		}
		h[n++] = i;
	}
	s->n_hull[which] = n;
}

/* The vertex at or left of x that begins the hull's piece over it; x must lie within the hull. */
static size_t piece_over(const struct steps *s, int which, double x)
{
	size_t lo = 0, hi = s->n_hull[which] - 1;

	while (lo + 1 < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->x[s->hull[which][mid]] <= x)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static double hull_at(const struct steps *s, int which, double x)
{
	size_t k = piece_over(s, which, x), a = s->hull[which][k], b;

	if (k + 1 >= s->n_hull[which])
		return height(s, which, a);
	b = s->hull[which][k + 1];
	return height(s, which, a) +
	       (height(s, which, b) - height(s, which, a)) * (x - s->x[a]) / (s->x[b] - s->x[a]);
}

/* Where the two hulls are farthest apart, which is at a vertex of one; the modal interval is then
 * cut to the part around it. */
static double widest(const struct steps *s, size_t *lo, size_t *hi)
{
	size_t at[2] = { 0, 0 };
	double gap[2] = { -1, -1 };

	for (int w = 0; w < 2; w++) {
		for (size_t k = 0; k < s->n_hull[w]; k++) {
			double x = s->x[s->hull[w][k]],
			       d = hull_at(s, MAJORANT, x) - hull_at(s, MINORANT, x);

			if (d > gap[w]) {
				gap[w] = d;
				at[w] = s->hull[w][k];
			}
		}
	}
	if (gap[MINORANT] >= gap[MAJORANT]) {
		size_t k = piece_over(s, MAJORANT, s->x[at[MINORANT]]);

		*lo = at[MINORANT];
		*hi = s->hull[MAJORANT][k + 1 < s->n_hull[MAJORANT] ? k + 1 : k];
		return gap[MINORANT];
	}
	*lo = s->hull[MINORANT][piece_over(s, MINORANT, s->x[at[MAJORANT]])];
	*hi = at[MAJORANT];
	return gap[MAJORANT];
}

/* How far the steps stand off the hull that a unimodal function must follow outside the modal
 * interval. */
static double stand_off(const struct steps *s, size_t lo, size_t new_lo, size_t new_hi, size_t hi)
{
	double worst = 0;

	for (size_t i = lo; i <= new_lo; i++)
		worst = fmax(worst, s->after[i] - hull_at(s, MINORANT, s->x[i]));
	for (size_t i = new_hi; i <= hi; i++)
		worst = fmax(worst, hull_at(s, MAJORANT, s->x[i]) - s->before[i]);
	return worst;
}

/* Hartigan and Hartigan (1985), section 4: cut the modal interval until the hulls over it are no
 * farther apart than the largest distance found outside it. */
static double dip_of_steps(struct steps *s, size_t n)
{
	size_t lo = 0, hi = s->n - 1, new_lo, new_hi;
	double d = 1;

	while (hi > lo) {
		hull_make(s, MINORANT, lo, hi);
		hull_make(s, MAJORANT, lo, hi);
		if (widest(s, &new_lo, &new_hi) <= d)
			break;
		d = fmax(d, stand_off(s, lo, new_lo, new_hi, hi));
		if ((new_lo == lo && new_hi == hi) || new_hi < new_lo)
			break;
		lo = new_lo;
		hi = new_hi;
	}
	return d / (2 * (double)n);
}

double dip_statistic(const double *sorted, size_t n)
{
	struct steps s;
	double d = NAN;

	if (n && steps_alloc(&s, n) == 0) {
		steps_fill(&s, sorted, n);
		d = dip_of_steps(&s, n);
		steps_free(&s);
	}
	return d;
}

/* The sorted uniforms of a draw: partial sums of exponentials, scaled. */
static void draw_uniforms(double *v, size_t n, struct rng *rng)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = sum += rng_exponential(rng);
	sum += rng_exponential(rng);
	for (size_t i = 0; i < n; i++)
		v[i] /= sum;
}

static double dip_p(double dip, size_t n, struct rng *rng)
{
	double v[MODES_SAMPLE];
	size_t as_large = 1;

	for (int k = 0; k < MODES_DRAWS; k++) {
		draw_uniforms(v, n, rng);
		as_large += dip_statistic(v, n) >= dip;
	}
	return (double)as_large / (MODES_DRAWS + 1);
}

/* The cut that leaves the least variance within the two groups, on logarithms. Returns how many are
 * below it. */
static size_t best_cut(const double *v, size_t n)
{
	double sum = 0, left = 0, best = -1;
	size_t cut = n;

	for (size_t i = 0; i < n; i++)
		sum += log(v[i]);
	for (size_t i = 1; i < n; i++) {
		double nl = (double)i, nr = (double)(n - i), d;

		left += log(v[i - 1]);
		d = left / nl - (sum - left) / nr;
		if (v[i] > v[i - 1] && nl * nr * d * d > best) {
			best = nl * nr * d * d;
			cut = i;
		}
	}
	return cut;
}

static double median(const double *v, size_t n)
{
	struct sample s = sample_f64(v, n);

	return stats_quantile(&s, 0.5);
}

void modes_find(double *v, size_t n, struct rng *rng, struct modes *out)
{
	double thin[MODES_SAMPLE];
	size_t m = n < MODES_SAMPLE ? n : MODES_SAMPLE, cut;

	*out = (struct modes){
		.dip = NAN, .p = NAN, .split = NAN, .fast = NAN, .slow = NAN, .slow_share = NAN
	};
	if (n < 4)
		return;
	stats_sort_f64(v, n);
	for (size_t i = 0; i < m; i++) {
		double x =
			v[m == n ? i
				 : (size_t)(((double)i + rng_unit(rng)) * (double)n / (double)m)];

		thin[i] = log(fmax(x + rng_unit(rng) - 0.5, 0.5));
	}
	stats_sort_f64(thin, m);
	out->dip = dip_statistic(thin, m);
	out->p = dip_p(out->dip, m, rng);
	out->several = out->p < 0.05;
	cut = best_cut(v, n);
	if (cut >= n)
		return;
	out->split = sqrt(v[cut - 1] * v[cut]);
	out->fast = median(v, cut);
	out->slow = median(v + cut, n - cut);
	out->slow_share = (double)(n - cut) / (double)n;
}
