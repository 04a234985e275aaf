/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the dips over several sizes of one test, and their depth. The sizes are measured in rounds,
 * in random order, or are read from a sweep. */
#ifndef IPCSTALL_DIAGNOSE_RANGE_H
#define IPCSTALL_DIAGNOSE_RANGE_H

#include "diagnose/measure.h"
#include "stats/dips.h"

enum { BANDS_MAX = 16, RANGE_LEAST = 4 };

/* A dip, and what the diagnosis at its deepest size says about it. */
struct band {
	struct dip_band b;
	unsigned int cause; /* DIAG_CAUSES: no cause was found */
	double excess_ns;   /* time per message above that which the other sizes allow */
	double stall_ns;    /* stall per message, by the ledger */
	double explained, explained_lo; /* stall_ns over excess_ns, at most 1; lower bound */
};

struct range {
	enum test test;
	struct dip_size *sizes;
	double *costs;
	size_t n;
	bool judged;		      /* false: too few sizes or repeats */
	struct band bands[BANDS_MAX]; /* the largest excess first */
	size_t n_bands;
};

int range_measure(struct diagnosis_run *x, struct range *r, enum test test,
		  const struct size_list *sizes, struct err *e);
/* rounds: any sizes, in any order. */
int range_of_rounds(struct range *r, const struct diag_round *rounds, size_t n, uint64_t seed,
		    struct err *e);
/* p: the diagnosed workload at the band's deepest size. */
void range_explain(const struct range *r, struct band *b, const struct diagnosed_workload *p);
void range_free(struct range *r);

#endif
