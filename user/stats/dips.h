/* SPDX-License-Identifier: GPL-2.0-only */
/* Dips over a range of sizes. A message that costs something fixed and something for each byte
 * takes no longer than a larger one, and no longer for each byte than a smaller one. A size that
 * breaks one of the two laws, beyond what repeats of the same size vary, is in a dip. How far
 * beyond chance: the largest breach over all sizes, drawn many times from a curve that keeps both
 * laws with the measured residuals on it; so the level holds for all sizes together. */
#ifndef IPCSTALL_STATS_DIPS_H
#define IPCSTALL_STATS_DIPS_H

#include "stats/stats.h"

enum { DIPS_DRAWS = 2000, DIPS_REPEATS_LEAST = 3 };

struct dip_size {
	int64_t size;
	const double *cost; /* time per message, one a repeat */
	size_t n;
	/* found: */
	double median;
	double lawful;	 /* the most that the other sizes allow it to take */
	double depth;	 /* share of the throughput that is missing; below 0: none */
	double breach;	 /* log of time over lawful time, 0 where it keeps the law */
	double critical; /* the largest breach by chance, at the level */
	double p;
	bool dip;
};

struct dip_band {
	size_t first, last, deepest; /* indices of sizes */
};

/* v: by ascending size, each with DIPS_REPEATS_LEAST repeats. Returns 0, or -1: too few repeats, or
 * no memory. */
int dips_find(struct dip_size *v, size_t n, double level, struct rng *rng);
/* Is one of two neighbours in a dip and the other not, or one much deeper: by more than chance, and
 * half as much time again? */
bool dips_edge(const struct dip_size *a, const struct dip_size *b);
/* Neighbouring sizes in a dip, without an edge between them, are one band. Returns how many, at
 * most max. */
size_t dips_bands(const struct dip_size *v, size_t n, struct dip_band *out, size_t max);

#endif
