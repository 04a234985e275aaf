/* SPDX-License-Identifier: GPL-2.0-only */
/* `ipcstall try`: from a running program's stall to the fixes that were tried on it. */
#ifndef IPCSTALL_TRY_LIVE_CASE_H
#define IPCSTALL_TRY_LIVE_CASE_H

#include "session/session.h"
#include "try/guardian.h"
#include "try/live_trial.h"
#include "unwind/call_stack.h"

/* The session's options come first, so that their option rows fill this struct too. */
struct try_opts {
	struct session_opts live;
	int64_t look_ns, window_ns, for_ns, windows, seed;
	struct str_list fixes;
	bool yes, dry_run, with_new, irreversible;
};

enum case_outcome {
	CASE_TRIED,
	CASE_NOTHING_SEEN,
	CASE_NO_STALL,
	CASE_NO_FIX,
	CASE_DECLINED,
	CASE_OUTCOMES
};

struct live_case {
	const struct try_opts *o;
	struct session live;
	struct guardian guardian;
	struct trace_snapshot seen; /* the snapshot in which the stall was found */
	struct verdict verdict;
	const struct finding *finding; /* the stall to cure; NULL: none */
	struct call_stack stack; /* the stack of a send call that stalled */
	struct scope scope;
	uint64_t window_ns;
	bool unwatched; /* the ledger is detached */
	uint64_t deadline; /* the end of --for for the fix that is being tried */
	struct live_trial trials[LIVE_FIXES_MAX];
	size_t n;
	enum case_outcome outcome;
	bool undone; /* every option is as it was */
	bool interrupted;
	struct rng rng;
};

/* Looks until something stalls. */
int case_look(struct live_case *c, const struct trace_options *filter, struct err *e);
/* Finds the stalling line of the program: waits up to 3 s for the next send call that stalls. */
void case_sender_stack(struct live_case *c);
/* Plans which fixes to try on which descriptors; changes nothing. */
int case_plan(struct live_case *c, struct err *e);
/* Tries every fix that can be run, until one is proven. */
int case_run(struct live_case *c, const struct trace_options *filter, struct err *e);
void case_free(struct live_case *c);

#endif
