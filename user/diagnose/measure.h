/* SPDX-License-Identifier: GPL-2.0-only */
/* The measuring half of a diagnosis: rounds of the unchanged workload, and rounds that also run
 * every fix. */
#ifndef IPCSTALL_DIAGNOSE_MEASURE_H
#define IPCSTALL_DIAGNOSE_MEASURE_H

#include "bench/traced.h"
#include "diagnose/fixes.h"
#include "diagnose/observe.h"
#include "stats/modes.h"

/* The workload with some options changed, ready to run. If it uses a link, it has its own. */
struct variant {
	struct bench_options o;
	struct bench_plan plan;
	bool ready;
};

/* size: the only size to run, or 0 for the sizes of the options; sets: see struct proposal, "" for
 * none. */
int variant_open(struct variant *v, const struct bench_options *options, int64_t size,
		 const char *sets, struct err *e);
/* Makes only the plan, to propose fixes for rounds from a file. */
int variant_plan(struct variant *v, const struct bench_options *options, int64_t size,
		 const char *sets, struct err *e);

struct trial {
	struct proposal p;
	struct variant v;
	char why_not[256]; /* why it could not be run; "" if it could */
	struct diag_gain gain;
	bool judged;
	double wait_before,
		wait_after; /* ns per message of the wait that it may cure; NAN: not traced */
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
	size_t compared; /* number of fixes that could be run, for the level's correction */
	enum diag_outcome outcome;
	int culprit;	  /* index in stalls.v, -1 */
	double competing; /* share of CPU time that others took, median; NAN: unknown */
	bool disturbed;
	struct modes modes;
	double *samples; /* latencies in ns, from the untraced rounds */
	size_t n_samples;
};

struct diagnosis_run {
	const struct bench_options *options; /* options of the workload to diagnose */
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

/* Measures and judges the workload, tries the fixes and judges them. */
int diagnose_workload(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e);
/* Does the same for rounds that come from a file: begins at finding the stalls. */
int diagnose_from_stalls(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e);
/* Runs one untraced round at p->size; p->v is open. */
int diagnose_once(struct diagnosis_run *x, struct diagnosed_workload *p, struct diag_round *out,
		  struct err *e);
/* The size that its variants run; 0: the sizes of its options. */
int64_t diagnosed_workload_size(const struct diagnosed_workload *p);
void diagnosed_workload_free(struct diagnosed_workload *p);

#endif
