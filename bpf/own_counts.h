/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What TCP and UDP themselves count for a socket, whether it is traced or not: read at samples and
 * before a snapshot. Pure C.
 */
#ifndef IPCSTALL_OWN_COUNTS_H
#define IPCSTALL_OWN_COUNTS_H

#include "charge.h"

/* It existed before it was first seen, and no sample has noted yet where its counts begin. */
static __always_inline bool counts_are_to_begin(const struct endpoint *ep)
{
	return !ep->tx.samples.n && ep->flags & EP_JOINED_LATE;
}

/*
 * The socket does not say why it dropped a datagram: for lack of room, for a wrong checksum, or
 * because a filter of the program refused it. Drops are not counted while there is a filter. A
 * sample and a snapshot may count at once: each books the drops since the other.
 */
static __always_inline void drops_book(struct endpoint *ep, const struct own_counts *now)
{
	struct samples *l = &ep->tx.samples;
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
	struct samples *l = &ep->tx.samples;

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
