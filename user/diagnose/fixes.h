/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes that can end a wait: one row for each fix (fixes.c). A fix is proposed only if it
 * would change something. */
#ifndef IPCSTALL_DIAGNOSE_FIXES_H
#define IPCSTALL_DIAGNOSE_FIXES_H

#include "bench/bench.h"
#include "diagnose/diagnosis.h"

enum { FIX_SETS = 320, FIXES_TRIED = 6 };

struct fix {
	const char *name;
	const char *said;    /* for programmers: what to change and where */
	unsigned int causes; /* 1 << enum tx_state or enum diag_cause */
	unsigned int blamed; /* 1 << enum blamed; 0: any */
	unsigned int needs;  /* WL_...: the workload has all of them; 0: any workload */
	/* "option=value option=value": the benchmark's options that run the fix; false: it would
	 * change nothing here */
	bool (*sets)(const struct bench_plan *was, char *text, size_t len);
};

struct proposal {
	const struct fix *fix;
	size_t finding; /* the first finding that it may cure */
	char sets[FIX_SETS];
};

/* Lists the fixes that fit the findings, in the findings' order, each once. Returns how many. */
size_t fixes_propose(const struct bench_plan *plan, const struct diag_stalls *s,
		     struct proposal out[FIXES_TRIED]);

/* Applies a proposal's text to options. */
int fix_apply(const char *sets, struct bench_options *o, struct err *e);

#endif
