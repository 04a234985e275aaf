/* SPDX-License-Identifier: GPL-2.0-only */
/* The endpoints of a snapshot by their addresses, of which one may have been several endpoints' in
 * turn. */
#ifndef IPCSTALL_TRACER_PEERS_H
#define IPCSTALL_TRACER_PEERS_H

#include "tracer/internal.h"

struct keyed {
	uint64_t key, peer, born, end;
	uint64_t stalled, peer_unread; /* how long the stall it is in has lasted, 0: in none; the
					  peer's `unread` when that began */
	size_t index;
};

/* one more endpoint, and its place among the addresses */
void peers_put(struct trace_snapshot *s, struct keyed *k, const struct endpoint *ep,
	       const struct trace *t);
/* by their ports */
bool may_be_ends(const struct trace_endpoint *a, const struct trace_endpoint *b);
void peers_join(struct trace_snapshot *s, struct keyed *k);

#endif
