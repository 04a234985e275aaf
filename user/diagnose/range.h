/* SPDX-License-Identifier: GPL-2.0-only */
/* Several sizes of one test: where are dips, and how deep? Measured in rounds of all sizes in
 * random order, or read from a sweep. */
#ifndef IPCSTALL_DIAGNOSE_RANGE_H
#define IPCSTALL_DIAGNOSE_RANGE_H

#include "diagnose/measure.h"
#include "stats/dips.h"

enum { BANDS_MAX = 16, RANGE_LEAST = 4 };

/* What the diagnosis at a band's deepest size says of it. */
struct band {
	struct dip_band b;
	unsigned int cause; /* DIAG_CAUSES: none that was found */
	double excess_ns;   /* a message takes so much longer than the other sizes allow */
	double stall_ns;    /* of it, by the ledger */
	double explained, explained_lo;
};

struct range {
	enum test test;
	struct dip_size *sizes;
	double *costs;
	size_t n;
	bool judged;		      /* false: too few repeats for a test */
	struct band bands[BANDS_MAX]; /* the deepest first */
	size_t n_bands;
};

int range_measure(struct diagnosis_run *x, struct range *r, enum test test,
		  const struct size_list *sizes, struct err *e);
/* rounds: of any sizes, in any order. */
int range_of_rounds(struct range *r, const struct diag_round *rounds, size_t n, uint64_t seed,
		    struct err *e);
/* The workload at the band's deepest size has been diagnosed. */
void range_explain(const struct range *r, struct band *b, const struct diagnosed_workload *p);
void range_free(struct range *r);

#endif
