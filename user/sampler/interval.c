// SPDX-License-Identifier: GPL-2.0-only
#include "sampler/interval.h"

#include <math.h>

#define Z95 1.959964

static double correlation(const struct sample_counts *c, uint64_t both, uint64_t apart)
{
	double p, r;

	if (c->n <= apart || !c->seen || c->seen >= c->n)
		return 0;
	p = (double)c->seen / (double)c->n;
	r = ((double)both / (double)(c->n - apart) - p * p) / (p * (1 - p));
	return r < 0 ? 0 : r;
}

static double samples_correlation(const struct sample_counts *c)
{
	return correlation(c, c->again, 1);
}

static double samples_doubt(double y)
{
	return y < 1e-4 ? y / 3 : 1 / tanh(y) - 1 / y;
}

/* How much uneven gaps widen the interval: by their second moment if samples are independent, by
 * their third if states are long. */
static double unevenness(const struct sample_counts *c, double r)
{
	double third = c->unevenness > 1 ? c->unevenness : 1, second = 1 + (third - 1) / 6;

	return second * (1 - r) + third * r;
}

/*
 * A correlation near 0 may be only the samples' own noise, and would make them seem to know more: L
 * is steep there. So the size that noise exceeds one time in fifteen is subtracted. A correlation
 * near 1 has no noise: how often the state changed was counted.
 */
#define NOISE	     1.5
#define PHASES_NOISE 1.0

static double sure(const struct sample_counts *c, double r)
{
	double most = 1 - 1 / (double)c->n;

	r -= (1 - r) * NOISE / sqrt((double)c->n);
	return r < most ? r : most;
}

static double doubt(double r)
{
	return r <= 0 ? 1 : samples_doubt(-log(r) / 2);
}

/* For a state that changes quickly in some phases: see interval.h. Noise alone would look like such
 * phases, so its share is taken off. */
static double doubt_of_phases(const struct sample_counts *c, double r)
{
	double later = correlation(c, c->later, 2), fades, lasts;

	later = fmin(later - PHASES_NOISE / sqrt((double)c->n), r);
	if (later <= r * r)
		return 0;
	fades = later / r;
	lasts = r / fades;
	return 1 - lasts + lasts * doubt(sure(c, fades));
}

static double effective_samples(const struct sample_counts *c)
{
	double n = (double)c->n, r = samples_correlation(c), known = sure(c, r);
	double l = doubt(known);

	if (known > 0)
		l = fmax(l, doubt_of_phases(c, r));
	return n / (l * unevenness(c, known > 0 ? known : 0));
}

/*
 * The state before the first sample and after the last, up to a gap each, is not known: this time
 * is charged to what these two samples found. An error that is uniform up to 1/n has a mean square
 * of a third of 1/n^2, and every second time there is no error.
 */
static double with_ends(const struct sample_counts *c, double half)
{
	double n = (double)c->n, ends = 1.0 / 3 / (n * n) * unevenness(c, 1);

	return sqrt(half * half + Z95 * Z95 * ends);
}

struct share_interval samples_interval(const struct sample_counts *c)
{
	struct share_interval i = { NAN, NAN, 0 };
	double n, p = c->share, z2 = Z95 * Z95, middle, half;

	if (!c->n)
		return i;
	n = i.effective = effective_samples(c);
	middle = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = Z95 / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
	half = with_ends(c, half);
	i.lo = fmax(0, fmin(p, middle - half));
	i.hi = fmin(1, fmax(p, middle + half));
	return i;
}
