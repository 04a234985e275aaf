/* SPDX-License-Identifier: GPL-2.0-only */
/* Stalls behind stalls: A waits for B to read, and B cannot read because it waits for C. Two stalls
 * are linked if the thread that does not read sleeps in a send of its own. A proxy that uses poll()
 * does not sleep there; it is linked if it sends what it reads. */
#ifndef IPCSTALL_VERDICT_STALL_CHAIN_H
#define IPCSTALL_VERDICT_STALL_CHAIN_H

#include "verdict/stalls.h"
#include "verdict/verdict.h"

/* Sets `reader_waits` of every finding: where the thread that does not read slept in a read. */
void verdict_link_waits(const struct trace_snapshot *s, struct verdict *v);
/* Sets `root` of every finding. A link needs both ends seen and, for at least half of the time
 * blamed on the reader, one of two: the reader surely slept in a send of its own; or its send was
 * surely stalled, asleep or not, and sent what it read here: as much within a sixteenth, and
 * nothing else that its process read or sent is as much. A circle has no root. */
void verdict_link(const struct trace_snapshot *s, struct verdict *v);

/* Single stalls, sorted by process and time. */
struct stall_order {
	const struct stall **v;
	size_t n;
};

/* -1: no memory */
int stall_order_make(struct stall_order *o, const struct stalls *l);
/* A stall of the process that did not read, if it covers at least half of st; NULL: none is
 * known. */
const struct stall *stall_behind(const struct stall_order *o, const struct stall *st);
void stall_order_free(struct stall_order *o);

#endif
