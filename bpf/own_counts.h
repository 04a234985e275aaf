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

/*
 * The socket does not say why it dropped a datagram: there was no room, or its checksum was wrong,
 * or a filter of the program refused it. What is dropped while there is a filter is not counted. A
 * look and a snapshot may count at once: each books what came since the other.
 */
static __always_inline void drops_book(struct endpoint *ep, const struct own_counts *now)
{
	struct looks *l = &ep->tx.looks;
	int more = now->drops - __sync_lock_test_and_set(&l->then.drops, now->drops);
	bool filtered = now->filtered || l->then.filtered;

	l->then.filtered = now->filtered;
	if (filtered)
		l->filtered = 1;
	else
		ADD_LOCKED(&ep->drops[DROP_OTHER], (long long)more);
}

static __always_inline void counts_book(struct endpoint *ep, const struct own_counts *now,
					ns_t tick)
{
	struct looks *l = &ep->tx.looks;

	if (counts_are_to_begin(ep))
		l->then = *now;
	if (ep->id.proto == PROTO_UDP) {
		drops_book(ep, now);
		return;
	}
	for (int i = 0; i < CHRONO_N; i++)
		l->chrono[i] = (now->chrono[i] - l->then.chrono[i]) * tick;
	ep->retransmits = now->retransmits - l->then.retransmits;
}

#endif
