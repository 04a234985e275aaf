/* SPDX-License-Identifier: GPL-2.0-only */
/* One fix, tried on the running program. A round has a window without the fix, another without it
 * and one with it, in random order. */
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

/* w: 0 and 1 are without the fix, 2 is with it. order: the order in which they ran. */
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
	char before[40]; /* the option's old value at the first descriptor */
	bool messages_known;
	struct trial_round rounds[TRIAL_ROUNDS_MAX];
	size_t n;
	/* rounds after the ledger was detached, so without its cost */
	struct trial_round unwatched[TRIAL_ROUNDS_MAX];
	size_t n_unwatched;
	struct diag_gain rate, stall; /* gain in time per byte, and in stall per byte delivered */
	double per_s[2], bytes_per_s[2],
		stall_share[2]; /* medians without and with the fix; per_s NAN: unknown */
	bool by_stall; /* proven by the stall alone: data arrives no faster, as the program sends no
			  more */
};

struct window window_between(const struct mark *a, const struct mark *b);
/* tested: the number of fixes that are tried. Fills `outcome`, and `rate` and all below it. */
void trial_judge(struct live_trial *t, size_t tested, struct rng *rng);
/* Whether the process writes nothing else, so that its write count is what it sends. */
bool trial_sends_all_it_writes(const struct live_trial *t);
/* Judges a proven fix again by the windows without the ledger: its gain, or that it is none. */
void trial_judge_unwatched(struct live_trial *t, size_t tested, struct rng *rng);

#endif
