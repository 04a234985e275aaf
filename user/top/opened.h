/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The endpoint whose details are open: the verdict on it and its other end, for the time since the
 * details were opened. The card is the same as that of `attach`.
 */
#ifndef IPCSTALL_TOP_OPENED_H
#define IPCSTALL_TOP_OPENED_H

#include "render/card.h"

enum { OPENED_LEAST_NS = 300000000 }; /* a shorter time is not judged */

struct opened {
	struct trace_packed since; /* both ends when opened; at_ns 0: not read yet */
	bool attaching;		   /* the ledger's programs are being loaded */
	bool judged;		     /* `card` and `over_ns` are valid */
	uint64_t over_ns;
	struct card card;
};

/* Judges the endpoint anew; now: the ledgers of every endpoint. -1: no memory, and the card stays.
 */
int opened_look(struct opened *o, const struct trace_snapshot *now, uint64_t serial);
/* Forgets the endpoint: another one is opened, or none. */
void opened_clear(struct opened *o);

#endif
