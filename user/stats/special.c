// SPDX-License-Identifier: GPL-2.0-only
/* The two special functions that the tests of hypotheses need. */
#include "stats/stats.h"

#include <float.h>
#include <math.h>

/* Bisection on erfc: 60-odd steps, exact to rounding, and called a handful of times per result. */
double stats_normal_quantile(double p)
{
	double lo = -40, hi = 40;

	if (!(p > 0 && p < 1))
		return NAN;
	while (hi - lo > 4 * DBL_EPSILON * fmax(fabs(lo), 1e-3)) {
		double mid = lo + (hi - lo) / 2;

		if (0.5 * erfc(-mid / M_SQRT2) < p)
			lo = mid;
		else
			hi = mid;
	}
	return lo + (hi - lo) / 2;
}

static double not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* Lentz's evaluation of the continued fraction (DLMF 8.17.22); converges fast for x <
 * (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		f *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 4 * DBL_EPSILON)
			break;
	}
	return f;
}

double stats_beta_inc(double a, double b, double x)
{
	double front;

	if (!(x > 0))
		return x == 0 ? 0 : NAN;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}
