/* SPDX-License-Identifier: GPL-2.0-only */
/* Dips of throughput over a range of message sizes. A message with a fixed cost and a cost per byte
 * takes no longer than a larger one, and no longer per byte than a smaller one. A size that breaks
 * one of these two laws by more than repeats of the same size vary is in a dip. Chance is
 * simulated: many draws from a curve that keeps both laws, with the measured residuals, give the
 * largest breach over all sizes. So the level holds for all sizes together. */
#ifndef IPCSTALL_STATS_DIPS_H
#define IPCSTALL_STATS_DIPS_H

#include "stats/stats.h"

enum { DIPS_DRAWS = 2000, DIPS_REPEATS_LEAST = 3 };

struct dip_size {
	int64_t size;
	const double *cost; /* time per message, one value per repeat */
	size_t n;
	/* found: */
	double median;
	double lawful;	 /* the longest time that the other sizes allow */
	double depth;	 /* share of the throughput that is missing; below 0: none */
	double breach;	 /* log of time over lawful time; 0 if it keeps the laws */
	double critical; /* the largest breach that chance gives, at the level */
	double p;
	bool dip;
};

struct dip_band {
	size_t first, last, deepest; /* indices of sizes */
};

/* v: by ascending size, each with DIPS_REPEATS_LEAST repeats. Returns 0, or -1: too few repeats, or
 * no memory. */
int dips_find(struct dip_size *v, size_t n, double level, struct rng *rng);
/* Is only one of two neighbours in a dip, or is one much deeper: by more than chance, and by more
 * than 1.5 times the excess time? */
bool dips_edge(const struct dip_size *a, const struct dip_size *b);
/* Neighbouring sizes in dips, without an edge between them, form one band. Returns the number of
 * bands, at most max. */
size_t dips_bands(const struct dip_size *v, size_t n, struct dip_band *out, size_t max);

#endif
