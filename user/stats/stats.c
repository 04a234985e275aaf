// SPDX-License-Identifier: GPL-2.0-only
#include "stats/stats.h"

#include <math.h>

const double stats_ks[STATS_KS] = { 3, 5, 10, 20, 50 };

/* As numpy does it: from the nearer end, so that equal neighbours give exactly themselves. */
static double lerp(double a, double b, double t)
{
	return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

double stats_quantile(const struct sample *s, double q)
{
	double pos;
	size_t i;

	if (!s->n || !(q >= 0 && q <= 1))
		return NAN;
	pos = (double)(s->n - 1) * q;
	i = (size_t)pos;
	if (i >= s->n - 1)
		return sample_at(s, s->n - 1);
	return lerp(sample_at(s, i), sample_at(s, i + 1), pos - (double)i);
}

double stats_median(double *v, size_t n)
{
	struct sample s = sample_f64(v, 0);

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[s.n++] = v[i];
	stats_sort_f64(v, s.n);
	return stats_quantile(&s, 0.5);
}

double stats_median_half_width(double mad, size_t n)
{
	return 1.96 * sqrt(M_PI / 2) * 1.4826 * mad / sqrt((double)n);
}

double stats_mean(const struct sample *s)
{
	long double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += sample_at(s, i);
	return s->n ? (double)(sum / s->n) : NAN;
}

static double stddev_about(const struct sample *s, double mean)
{
	long double sum = 0;

	if (s->n < 2)
		return NAN;
	for (size_t i = 0; i < s->n; i++) {
		double d = sample_at(s, i) - mean;

		sum += d * d;
	}
	return sqrt((double)(sum / (s->n - 1)));
}

/* First index whose value is >= x (or > x when after_equal). */
static size_t bound(const struct sample *s, double x, bool after_equal)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		double v = sample_at(s, mid);

		if (v < x || (after_equal && v == x))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The deviations from a centre form two ascending runs: outwards to the left, ending at x[0], and
 * outwards to the right. The one of rank k in their union is found by bisecting how many of the k+1
 * smallest come from the left. */
struct deviations {
	const struct sample *s;
	double centre;
	size_t split; /* first index of the right run */
};

static double left_dev(const struct deviations *d, size_t i)
{
	return d->centre - sample_at(d->s, d->split - 1 - i);
}

static double right_dev(const struct deviations *d, size_t i)
{
	return sample_at(d->s, d->split + i) - d->centre;
}

static double deviation_of_rank(const struct deviations *d, size_t k)
{
	size_t nl = d->split, nr = d->s->n - d->split, want = k + 1;
	size_t lo = want > nr ? want - nr : 0, hi = want < nl ? want : nl;

	/* the smallest number taken from the left such that no value left out there is below the
	 * largest one taken from the right */
	while (lo < hi) {
		size_t l = lo + (hi - lo) / 2;

		if (left_dev(d, l) < right_dev(d, want - l - 1))
			lo = l + 1;
		else
			hi = l;
	}
	if (!lo)
		return right_dev(d, want - 1);
	if (lo == want)
		return left_dev(d, lo - 1);
	return fmax(left_dev(d, lo - 1), right_dev(d, want - lo - 1));
}

double stats_mad(const struct sample *s)
{
	struct deviations d = { .s = s, .centre = stats_quantile(s, 0.5) };
	double hi;

	if (!s->n)
		return NAN;
	d.split = bound(s, d.centre, false);
	hi = deviation_of_rank(&d, s->n / 2);
	if (s->n % 2)
		return hi;
	return lerp(deviation_of_rank(&d, s->n / 2 - 1), hi, 0.5);
}

/* How many lie more than k * mad from the median. */
static size_t count_beyond(const struct sample *s, double median, double mad, double k)
{
	if (!(mad > 0))
		return 0;
	return bound(s, median - k * mad, false) + (s->n - bound(s, median + k * mad, true));
}

static void count_outliers(const struct sample *s, struct summary *out)
{
	double small = 0.005 * (double)s->n;
	int pick = STATS_KS - 1;

	for (int i = 0; i < STATS_KS; i++)
		out->outliers[i] = count_beyond(s, out->median, out->mad, stats_ks[i]);
	for (int i = STATS_KS - 2; i >= 0; i--)
		if ((double)(out->outliers[i] - out->outliers[i + 1]) < small)
			pick = i;
		else
			break;
	out->k_suggested = out->mad > 0 ? stats_ks[pick] : NAN;
	out->outliers_suggested = out->outliers[pick];
}

void stats_summarise(const struct sample *s, struct summary *out)
{
	*out = (struct summary){ .n = s->n };
	out->min = stats_quantile(s, 0);
	out->q1 = stats_quantile(s, 0.25);
	out->median = stats_quantile(s, 0.5);
	out->q3 = stats_quantile(s, 0.75);
	out->p90 = stats_quantile(s, 0.90);
	out->p95 = stats_quantile(s, 0.95);
	out->p99 = stats_quantile(s, 0.99);
	out->p999 = stats_quantile(s, 0.999);
	out->max = stats_quantile(s, 1);
	out->mean = stats_mean(s);
	out->stddev = stddev_about(s, out->mean);
	out->mad = stats_mad(s);
	out->uncertainty = s->n ? out->mad / sqrt((double)s->n) : NAN;
	count_outliers(s, out);
}
