/* SPDX-License-Identifier: GPL-2.0-only */
/* The measuring half of a diagnosis: rounds of the workload as it is, and rounds in which every fix
 * runs beside it. */
#ifndef IPCSTALL_DIAGNOSE_MEASURE_H
#define IPCSTALL_DIAGNOSE_MEASURE_H

#include "bench/traced.h"
#include "diagnose/fixes.h"
#include "diagnose/observe.h"
#include "stats/modes.h"

/* The workload with some options changed, ready to run: a link of its own, if it has one. */
struct variant {
	struct bench_options o;
	struct bench_plan plan;
	bool ready;
};

/* size: the one to run, 0 for those of the options; sets: as in struct proposal, "" for none. */
int variant_open(struct variant *v, const struct bench_options *options, int64_t size,
		 const char *sets, struct err *e);
/* The plan without running anything: for what is proposed from a file. */
int variant_plan(struct variant *v, const struct bench_options *options, int64_t size,
		 const char *sets, struct err *e);

struct trial {
	struct proposal p;
	struct variant v;
	char why_not[256]; /* it could not be run; "" when it could */
	struct diag_gain gain;
	bool judged;
	double wait_before,
		wait_after; /* ns per message of the wait it is for, traced; NAN: not traced */
};

enum { BASE_ROUNDS = 5, PAIRS_LEAST = 9, ROUNDS_ROOM = 64 };

/* One test at one size. */
struct diagnosed_workload {
	enum test test;
	int64_t size;
	struct variant v;
	struct diag_round rounds[ROUNDS_ROOM];
	size_t n_rounds;
	struct diag_stalls stalls;
	struct trial trials[FIXES_TRIED];
	size_t n_trials;
	size_t pairs;
	size_t compared; /* fixes that could be run: the level is corrected for so many */
	enum diag_outcome outcome;
	int culprit;	  /* index in stalls.v, -1 */
	double competing; /* CPU that others took, share, median; NAN: unknown */
	bool disturbed;
	struct modes modes;
	double *samples; /* ns, of the untraced rounds */
	size_t n_samples;
};

struct diagnosis_run {
	const struct bench_options *options; /* of the workload to diagnose */
	bool trace, run_fixes, quiet, from_file;
	int colour; /* enum colour_when */
	int backend;
	size_t base_rounds, pairs;
	uint64_t seed;
	/* progress */
	uint64_t began_ns;
	size_t done, planned;
	/* out */
	json_t *trace_json;
	char why_untraced[512];
};

/* Measure, judge, try the fixes, judge those. */
int diagnose_workload(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e);
/* From the stalls on: where the rounds come from a file. */
int diagnose_from_stalls(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e);
/* One undisturbed round at p->size; p->v is open. */
int diagnose_once(struct diagnosis_run *x, struct diagnosed_workload *p, struct diag_round *out,
		  struct err *e);
/* What its variants are to run; 0: the sizes of its options. */
int64_t diagnosed_workload_size(const struct diagnosed_workload *p);
void diagnosed_workload_free(struct diagnosed_workload *p);

#endif
