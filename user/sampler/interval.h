/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How sure is a share that was found by looks at random instants?
 *
 * The share is the part of the time observed in which the state held, not the chance that it holds.
 *Two errors make it up: what happens between two looks is not seen, and where a state turned in the
 *gap is not known. With X the state's indicator and r the correlation of one look with the next, of
 *a state that ends and begins again without memory
 *
 *	n Var(share - truth) = p (1 - p) L(-ln(r) / 2),   L(y) = coth(y) - 1 / y
 *
 * for n looks at equal gaps that are charged by halves (docs/OVERHEAD.md has the derivation). L is
 *1 where looks know nothing of one another, and goes to 0 where a state lasts for many of them:
 *then only the gaps in which it turned are in doubt. n / L is the effective number of looks, and
 *takes the place of n in Wilson's interval. Uneven gaps make it smaller: their third moment stands
 *for that.
 *
 * What turns quickly at times, and else stays, has a memory that one correlation does not show: L
 * of the two taken together is far less than that of each, weighed. With C1 and C2 the correlations
 * of a look with the next and with the one after, memory fades as C2 / C1, and what has such a
 * memory is the part C1 C1 / C2 of it; the rest is taken to have none. Without phases that part is
 * 1.
 */
#ifndef IPCSTALL_SAMPLER_INTERVAL_H
#define IPCSTALL_SAMPLER_INTERVAL_H

#include <stdint.h>

struct look_counts {
	uint64_t n;	      /* looks */
	uint64_t seen, again; /* that found the state; and that found it after a look that had found
				 it too */
	uint64_t later;	      /* and that found it two looks after one that had */
	double share;	      /* of the time, by halves of the gaps */
	double unevenness; /* the third moment of the gaps over the cube of their mean: 1 where all
			      are equal */
};

struct share_interval {
	double lo, hi;	  /* NaN: nobody looked */
	double effective; /* looks */
};

/* of one look with the next; 0 if it is unknown */
double looks_correlation(const struct look_counts *c);
/* coth(y) - 1 / y */
double looks_doubt(double y);
struct share_interval looks_interval(const struct look_counts *c);

#endif
