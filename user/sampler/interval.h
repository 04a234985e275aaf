/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How sure is a share that was found by samples at random instants?
 *
 * The share is the part of the observed time in which the state held, not the probability that it
 * holds. It has two errors: what happens between two samples is not seen, and it is not known where
 * in a gap the state changed. Let X be the state's indicator and r the correlation of one sample
 *with the next. For a state that ends and begins again without memory
 *
 *	n Var(share - truth) = p (1 - p) L(-ln(r) / 2),   L(y) = coth(y) - 1 / y
 *
 * for n samples at equal gaps, half of each gap charged to each of its two samples
 *(docs/OVERHEAD.md has the derivation). L is 1 if samples are independent, and goes to 0 if the
 *state lasts for many samples: then only the gaps in which it changed are in doubt. n / L is the
 *effective number of samples, and replaces n in Wilson's interval. Uneven gaps make it smaller,
 *according to their third moment.
 *
 * A state that changes quickly in some phases and not at all in others has a memory that one
 * correlation does not show: L of both together is far less than the weighted L of each. With C1
 * and C2 the correlations of a sample with the next and with the one after it, memory fades as C2 /
 * C1. The part C1 C1 / C2 of the state has such a memory; the rest is taken to have none. Without
 * phases that part is 1.
 */
#ifndef IPCSTALL_SAMPLER_INTERVAL_H
#define IPCSTALL_SAMPLER_INTERVAL_H

#include <stdint.h>

struct sample_counts {
	uint64_t n;	      /* samples */
	uint64_t seen, again; /* that found the state; of these, one sample after a sample that
				 found it too */
	uint64_t later;	      /* of `seen`: two samples after a sample that found it */
	double share;	      /* of the time, by halves of the gaps */
	double unevenness; /* the third moment of the gaps over the cube of their mean: 1 if all are
			      equal */
};

struct share_interval {
	double lo, hi;	  /* NaN: no samples */
	double effective; /* number of samples */
};

struct share_interval samples_interval(const struct sample_counts *c);

#endif
