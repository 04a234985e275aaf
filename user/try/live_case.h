/* SPDX-License-Identifier: GPL-2.0-only */
/* `ipcstall try`: from a running program's stall to the fixes that were tried on it. */
#ifndef IPCSTALL_TRY_LIVE_CASE_H
#define IPCSTALL_TRY_LIVE_CASE_H

#include "session/session.h"
#include "try/guardian.h"
#include "try/live_trial.h"
#include "unwind/call_stack.h"

/* The session's options come first, so that their rows fill this struct as they are. */
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
	struct trace_snapshot seen; /* in which the stall was found */
	struct verdict verdict;
	const struct finding *finding; /* NULL: there is none */
	struct call_stack stack; /* of a send call that stalled */
	struct scope scope;
	uint64_t window_ns;
	bool unwatched; /* the ledger has ended */
	uint64_t deadline; /* of the fix that is being tried: its --for */
	struct live_trial trials[LIVE_FIXES_MAX];
	size_t n;
	enum case_outcome outcome;
	bool undone; /* every option is as it was */
	bool interrupted;
	struct rng rng;
};

/* Look until something stalls. */
int case_look(struct live_case *c, const struct trace_options *filter, struct err *e);
/* Where in the program: waits for the next send call that stalls, a moment at the most. */
void case_sender_stack(struct live_case *c);
/* Which fixes fit, on which descriptors; nothing is changed. */
int case_plan(struct live_case *c, struct err *e);
/* Every fix that can be run, until one is proven. */
int case_run(struct live_case *c, const struct trace_options *filter, struct err *e);
void case_free(struct live_case *c);

#endif
