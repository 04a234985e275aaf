// SPDX-License-Identifier: GPL-2.0-only
/* Two samples side by side. */
#include "stats/rng.h"
#include "stats/stats.h"

#include <math.h>

/* P(X >= k) of n fair coins is I_{1/2}(k, n - k + 1). */
static double sign_test(size_t wins, size_t losses)
{
	size_t n = wins + losses, k = wins > losses ? wins : losses;

	if (!n)
		return NAN;
	return fmin(1, 2 * stats_beta_inc((double)k, (double)(n - k) + 1, 0.5));
}

struct pairs stats_pairs(const double *a, const double *b, size_t n, double *ratios, double level,
			 struct rng *r)
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
