/* SPDX-License-Identifier: GPL-2.0-only */
/* Has a sample one mode or several? Hartigan and Hartigan's dip: the largest distance between the
 * sample's distribution function and the nearest unimodal one. Its significance is found by drawing
 * samples of the same size from the uniform distribution, the least favourable unimodal one. */
#ifndef IPCSTALL_STATS_MODES_H
#define IPCSTALL_STATS_MODES_H

#include "stats/stats.h"

enum { MODES_DRAWS = 500, MODES_SAMPLE = 1000 };

/* sorted, ascending, n > 0; NAN without memory. */
double dip_statistic(const double *sorted, size_t n);

struct modes {
	double dip, p;
	bool several; /* p < 0.05 */
	/* the best cut into two groups (Otsu, on logarithms), and the groups */
	double split, fast, slow; /* the cut; the medians of the groups */
	double slow_share;
};

/* v: positive values; it gets sorted. For the test, samples larger than MODES_SAMPLE are thinned,
 * and whole numbers are spread over their unit, because the steps of a clock are not modes. */
void modes_find(double *v, size_t n, struct rng *rng, struct modes *out);

#endif
