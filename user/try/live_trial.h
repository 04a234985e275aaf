/* SPDX-License-Identifier: GPL-2.0-only */
/* One fix, tried on the running program: windows without it, without it again and with it, in
 * random order, and what they say. */
#ifndef IPCSTALL_TRY_LIVE_TRIAL_H
#define IPCSTALL_TRY_LIVE_TRIAL_H

#include "stats/rng.h"
#include "diagnose/diagnosis.h"
#include "try/setting.h"
#include "verdict/live_fix.h"
#include "try/scope.h"

enum { TRIAL_ROUNDS_MAX = 64, TRIAL_WINDOWS = 3 };

enum trial_outcome { TRIAL_PROVEN, TRIAL_REFUTED, TRIAL_NOISY, TRIAL_NOT_RUN, TRIAL_OUTCOMES };
extern const char *const trial_outcome_names[TRIAL_OUTCOMES];

struct window {
	uint64_t from_ns, to_ns;
	uint64_t messages, bytes, delivered, stall_ns, cause_ns, time_ns;
	uint64_t written; /* by all write calls of the process */
};

/* By kind: 0 and 1 without the fix, 2 with it. */
struct trial_round {
	struct window w[TRIAL_WINDOWS];
	int order[TRIAL_WINDOWS];
};

struct live_trial {
	const struct live_fix *fix;
	const struct setting *setting;
	enum trial_outcome outcome;
	char why_not[200]; /* TRIAL_NOT_RUN */
	size_t descriptors, gone;
	char before[40]; /* what the option was, at the first */
	bool messages_known;
	struct trial_round rounds[TRIAL_ROUNDS_MAX];
	size_t n;
	/* once more after the ledger has ended: its price is in none of these */
	struct trial_round unwatched[TRIAL_ROUNDS_MAX];
	size_t n_unwatched;
	struct diag_gain rate, stall; /* of what arrives in a time; of the stall for what arrives */
	double per_s[2], bytes_per_s[2],
		stall_share[2]; /* medians without and with it; messages: NAN where unknown */
	bool by_stall; /* it arrives no faster, since the program asks for no more, but without the
			  stall */
};

struct window window_between(const struct mark *a, const struct mark *b);
/* tested: how many fixes stand trial. Fills the outcome and all that is below it. */
void trial_judge(struct live_trial *t, size_t tested, struct rng *rng);
/* Did the process write nothing else? Then what it writes is what it sends. */
bool trial_sends_all_it_writes(const struct live_trial *t);
/* What is proven, by the windows without the ledger: how much it gains, or that it is not so. */
void trial_judge_unwatched(struct live_trial *t, size_t tested, struct rng *rng);

#endif
