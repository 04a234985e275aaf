/* SPDX-License-Identifier: GPL-2.0-only */
/* Stalls behind stalls: A waits for B to read, and B cannot read because it waits for C. Two stalls
 * are linked if the thread that does not read sleeps in a send of its own. A proxy that uses poll()
 * does not sleep there; it is linked if it sends what it reads. */
#ifndef IPCSTALL_VERDICT_ROOT_CAUSE_H
#define IPCSTALL_VERDICT_ROOT_CAUSE_H

#include "verdict/stalls.h"
#include "verdict/verdict.h"

/* Sets `reader_waits` of every finding, by the same rule: asleep in a read elsewhere. */
void verdict_link_waits(const struct trace_snapshot *s, struct verdict *v);
/* Sets `root` of every finding. A link is taken when both its ends were seen, and the one who does
 * not read was surely asleep in his send during at least half of what is laid at his door; or
 * surely stalled there so long, awake or not, and sent there what he read here: within a sixteenth,
 * and nothing else that his process read or sent is as much. A ring has no root. */
void verdict_link(const struct trace_snapshot *s, struct verdict *v);

/* Single stalls by process and time. */
struct stall_order {
	const struct stall **v;
	size_t n;
};

/* -1: no memory */
int stall_order_make(struct stall_order *o, const struct stalls *l);
/* The stall of the one who did not read that covers at least half of st; NULL: none is known. */
const struct stall *stall_behind(const struct stall_order *o, const struct stall *st);
void stall_order_free(struct stall_order *o);

#endif
