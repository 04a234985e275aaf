/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The endpoint whose details are open: what the one judge says of it and its other end, of the time
 * since they were opened. The card is that of `attach`.
 */
#ifndef IPCSTALL_TOP_OPENED_H
#define IPCSTALL_TOP_OPENED_H

#include "render/card.h"

enum { OPENED_LEAST_NS = 300000000 }; /* a shorter time decides nothing */

struct opened {
	struct trace_packed since; /* the two ends at first; at_ns 0: not looked at yet */
	bool attaching;		   /* the ledger's programs are being loaded */
	bool judged;		     /* `card` and `over_ns` hold */
	uint64_t over_ns;
	struct card card;
};

/* The ledgers of every endpoint as they are now. -1: no memory, the card stays as it was. */
int opened_look(struct opened *o, const struct trace_snapshot *now, uint64_t serial);
/* Another endpoint is opened, or none. */
void opened_clear(struct opened *o);

#endif
