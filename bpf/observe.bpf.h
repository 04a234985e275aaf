/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way from an input to a ledger: look the endpoint up, take the step, charge what ended. */
#ifndef IPCSTALL_OBSERVE_BPF_H
#define IPCSTALL_OBSERVE_BPF_H

#include "endpoint_table.bpf.h"
#include "timeline.bpf.h"
#include "charge.h"

/* Seldom gone. A global function, verified once: at each of its callers that made a session begin a
 * fifth later. */
SUBPROG int swap_late(struct ledger *l, struct input *in, __u32 dir)
{
	return l && in && swap_uncharged(l, in, dir & 1);
}

/* Take the step and book it; *t says what ended. False: the state is what it was. */
static __always_inline bool take_step(struct ledger *l, struct call_stats *b,
				      const struct input *in, enum dir dir, struct transition *t)
{
	struct turn turn = {};

	switch (swap_step(l, in, dir, t, &turn)) {
	case TAKEN_SAME: /* by a thread too many as well */
		if (t->unpaired)
			count(COUNT_UNPAIRED);
		return false;
	case TAKEN_NOT:
		if (LATEST(l->word)) { /* made by now */
			count(COUNT_CONTENDED);
			swap_late(l, (struct input *)in, dir);
		}
		gain_locked(&b->crowd, in);
		return false;
	case TAKEN_BOOKS:
		book(l, &b->own, &b->crowd, in, t, &turn);
		break;
	case TAKEN_PLAIN:
		break;
	}
	if (t->unpaired)
		count(COUNT_UNPAIRED);
	return t->ended;
}

#endif
