/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of the sampled tier, as every command that has it takes them. */
#ifndef IPCSTALL_SESSION_SAMPLING_H
#define IPCSTALL_SESSION_SAMPLING_H

#include "session/session.h"

#define SAMPLING_BUDGET "0.5%" /* where none is given */

/* of a command that always samples */
#define BUDGET_OPTION \
	{ \
		OPT_STRING, 0, "budget", "PERCENT", \
			"of one CPU, for the looks (default " SAMPLING_BUDGET ")", \
			SESSION_OPT(budget) \
	}

#define SAMPLED_OPTIONS \
	{ OPT_FLAG, 0, "sampled", NULL, "look at every endpoint at random instants instead of " \
		"tracing every message: no message costs more, and " \
	  "shares come with a 95 % interval", SESSION_OPT(sampled) }, \
	{ OPT_STRING, 0, "budget", "PERCENT", "with --sampled: of one CPU, for the looks " \
		"(default " SAMPLING_BUDGET ")", SESSION_OPT(budget) }

/* "0.5%" as a share; `option` and `of` are for the error: "--budget", "of one CPU". */
int sampling_percent(const char *option, const char *of, const char *text, double *share,
		     struct err *e);
/* Sets filter->budget, and refuses what no look can see. Without --sampled: the ledger. */
int sampling_options(const struct session_opts *o, struct trace_options *filter, struct err *e);

#endif
