/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way from an input to a ledger: look the endpoint up, take the step, charge what ended. */
#ifndef IPCSTALL_OBSERVE_BPF_H
#define IPCSTALL_OBSERVE_BPF_H

#include "endpoint_table.bpf.h"
#include "timeline.bpf.h"
#include "charge.h"

/* Seldom used. A global function, verified once: verifying it at each of its callers made a session
 * begin a fifth later. */
SUBPROG int swap_late(struct ledger *l, struct input *in, __u32 dir)
{
	return l && in && swap_uncharged(l, in, dir & 1);
}

/* One function for both directions, verified once; so is book_step(). */
SUBPROG int swap_in(struct ledger *l, const struct input *in, __u32 dir, struct transition *t,
		    struct turn *turn)
{
	return l && in && t && turn ? swap_step(l, in, dir & 1, t, turn) : TAKEN_SAME;
}

SUBPROG int book_step(struct ledger *l, struct call_stats *b, const struct input *in,
		      const struct transition *t, const struct turn *turn)
{
	if (l && b && in && t && turn)
		book(l, &b->own, &b->crowd, in, t, turn);
	return 0;
}

/* Take the step and book it; *t says what ended. False: the state is unchanged. */
static __always_inline bool take_step(struct ledger *l, struct call_stats *b,
				      const struct input *in, enum dir dir, struct transition *t)
{
	struct turn turn = {};
	int taken = swap_in(l, in, dir, t, &turn);

	if (taken == TAKEN_NOT) {
		if (LATEST(l->word)) { /* it is not being made */
			count(COUNT_CONTENDED);
			swap_late(l, (struct input *)in, dir);
		}
		gain_locked(&b->crowd, in);
		return false;
	}
	if (taken == TAKEN_BOOKS)
		book_step(l, b, in, t, &turn);
	if (t->unpaired)
		count(COUNT_UNPAIRED);
	return taken != TAKEN_SAME && t->ended;
}

#endif
