/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the other ends of a snapshot's endpoints by their addresses in the kernel. One address may
 * have been that of several endpoints, one after the other. */
#ifndef IPCSTALL_TRACER_PEERS_H
#define IPCSTALL_TRACER_PEERS_H

#include "tracer/internal.h"

struct keyed {
	uint64_t key, peer, born, end;
	uint64_t stalled, peer_unread; /* how long its present stall has lasted, 0: none; the
					  peer's `unread` when the stall began */
	size_t index;
};

/* Adds an endpoint to the snapshot, and its address to k. */
void peers_put(struct trace_snapshot *s, struct keyed *k, const struct endpoint *ep,
	       const struct trace *t);
/* Can these be the two ends of one connection, by their ports? */
bool may_be_ends(const struct trace_endpoint *a, const struct trace_endpoint *b);
void peers_join(struct trace_snapshot *s, struct keyed *k);

#endif
