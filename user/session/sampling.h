/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of the sampled tier, as every command that has it takes them. */
#ifndef IPCSTALL_SESSION_SAMPLING_H
#define IPCSTALL_SESSION_SAMPLING_H

#include "session/session.h"

#define SAMPLING_BUDGET "0.5%" /* the default */
#define ZOOM_BUDGET	"1%"

/* The option of a command that always samples. */
#define BUDGET_OPTION \
	{ \
		OPT_STRING, 0, "budget", "PERCENT", \
			"CPU limit of the sampling, in percent of one CPU " \
			"(default " SAMPLING_BUDGET ")", \
			SESSION_OPT(budget) \
	}

#define ZOOM_BUDGET_OPTION                                                                 \
	{                                                                                  \
		OPT_STRING, 0, "zoom-budget", "PERCENT",                                   \
			"share of the time in which exact tracing may run to prove a "      \
			"suspected stall (a zoom) (default " ZOOM_BUDGET "; 0: never)",    \
			SESSION_OPT(zoom_budget)                                           \
	}

/* The options of a command that samples by default. */
#define SAMPLED_OPTIONS \
	{ OPT_FLAG, 0, "exact", NULL, "trace every message: exact times, single stalls and " \
				      "histograms, at a cost for each message " \
				      "(docs/OVERHEAD.md)", \
	  SESSION_OPT(exact) }, \
	{ OPT_FLAG, 0, "sampled", NULL, "sample every endpoint at random instants (default): no " \
					"cost per message, and shares with a 95 % interval", \
	  SESSION_OPT(sampled) }, \
	BUDGET_OPTION

/* Sets o->sampled, unless --exact or another option asks for the ledger. Refuses options that
 * contradict each other. */
int sampling_choose(struct session_opts *o, struct err *e);
/* The budget of zooms as a share of the time; 0: none. */
int sampling_zoom_budget(const struct session_opts *o, double *share, struct err *e);
/* Sets filter->budget if the session samples. */
int sampling_options(const struct session_opts *o, struct trace_options *filter, struct err *e);

#endif
