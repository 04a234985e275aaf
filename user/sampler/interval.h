/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How sure is a share that was found by looks (samples) at random instants?
 *
 * The share is the part of the observed time in which the state held, not the probability that it
 * holds. It has two errors: what happens between two looks is not seen, and it is not known where
 * in a gap the state changed. Let X be the state's indicator and r the correlation of one look with
 * the next. For a state that ends and begins again without memory
 *
 *	n Var(share - truth) = p (1 - p) L(-ln(r) / 2),   L(y) = coth(y) - 1 / y
 *
 * for n looks at equal gaps, half of each gap charged to each of its two looks (docs/OVERHEAD.md
 * has the derivation). L is 1 if looks are independent, and goes to 0 if the state lasts for many
 * looks: then only the gaps in which it changed are in doubt. n / L is the effective number of
 * looks, and replaces n in Wilson's interval. Uneven gaps make it smaller, according to their third
 * moment.
 *
 * A state that changes quickly in some phases and not at all in others has a memory that one
 * correlation does not show: L of both together is far less than the weighted L of each. With C1
 * and C2 the correlations of a look with the next and with the one after it, memory fades as C2 /
 * C1. The part C1 C1 / C2 of the state has such a memory; the rest is taken to have none. Without
 * phases that part is 1.
 */
#ifndef IPCSTALL_SAMPLER_INTERVAL_H
#define IPCSTALL_SAMPLER_INTERVAL_H

#include <stdint.h>

struct look_counts {
	uint64_t n;	      /* looks */
	uint64_t seen, again; /* that found the state; of these, one look after a look that found it
				 too */
	uint64_t later;	      /* of `seen`: two looks after a look that found it */
	double share;	      /* of the time, by halves of the gaps */
	double unevenness; /* the third moment of the gaps over the cube of their mean: 1 if all are
			      equal */
};

struct share_interval {
	double lo, hi;	  /* NaN: no looks */
	double effective; /* number of looks */
};

struct share_interval looks_interval(const struct look_counts *c);

#endif
