/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What TCP and UDP count of a socket by themselves, whoever looks: read at looks and before a
 * snapshot. Pure C.
 */
#ifndef IPCSTALL_OWN_COUNTS_H
#define IPCSTALL_OWN_COUNTS_H

#include "charge.h"

/* It had a life before it was seen, and no look yet from which on its counts are told. */
static __always_inline bool counts_are_to_begin(const struct endpoint *ep)
{
	return !ep->tx.looks.n && ep->flags & EP_JOINED_LATE;
}

static __always_inline void counts_book(struct endpoint *ep, const struct own_counts *now,
					ns_t tick)
{
	struct looks *l = &ep->tx.looks;

	if (counts_are_to_begin(ep))
		l->then = *now;
	if (ep->id.proto == PROTO_UDP) {
		ep->drops[now->filtered ? DROP_OTHER : DROP_RCVBUF] = now->drops - l->then.drops;
		return;
	}
	for (int i = 0; i < CHRONO_N; i++)
		l->chrono[i] = (now->chrono[i] - l->then.chrono[i]) * tick;
	ep->retransmits = now->retransmits - l->then.retransmits;
}

#endif
