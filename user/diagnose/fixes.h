/* SPDX-License-Identifier: GPL-2.0-only */
/* Which changes can end which wait: one row a fix (fixes.c). A fix is proposed only where it
 * changes something. */
#ifndef IPCSTALL_DIAGNOSE_FIXES_H
#define IPCSTALL_DIAGNOSE_FIXES_H

#include "bench/bench.h"
#include "diagnose/diagnosis.h"

enum { FIX_SETS = 320, FIXES_TRIED = 6 };

struct fix {
	const char *name;
	const char *said;    /* to a programmer: what to change where */
	unsigned int causes; /* 1 << enum tx_state or enum diag_cause */
	unsigned int blamed; /* 1 << enum blamed; 0: whoever */
	unsigned int needs;  /* WL_...: any of them; 0: every workload */
	/* "option=value option=value": what the benchmark changes to run it; false: it would change
	 * nothing here */
	bool (*sets)(const struct bench_plan *was, char *text, size_t len);
};

struct proposal {
	const struct fix *fix;
	size_t finding; /* the first it is for */
	char sets[FIX_SETS];
};

/* For every finding, in their order, the rows that fit; each fix once. Returns how many. */
size_t fixes_propose(const struct bench_plan *plan, const struct diag_stalls *s,
		     struct proposal out[FIXES_TRIED]);

/* Apply a proposal's text to options. */
int fix_apply(const char *sets, struct bench_options *o, struct err *e);

#endif
