/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a snapshot, in which a peer is an index, of endpoints from a file, in which a peer is a
 * serial. */
#ifndef IPCSTALL_RECORDING_RELINK_H
#define IPCSTALL_RECORDING_RELINK_H

#include "tracer/trace.h"

#ifndef CLOSED_KEPT
#define CLOSED_KEPT 32768 /* closed endpoints, at most */
#endif

typedef bool (*endpoint_filter)(void *ctx, const struct trace_endpoint *ep);

struct endpoints {
	struct trace_endpoint *v;
	uint64_t *peer; /* serial, 0: none */
	size_t n, room;
	struct trace_details details;
};

/* Copies the endpoint with its detail. */
bool endpoints_add(struct endpoints *l, const struct trace_endpoint *ep, uint64_t peer);
/* Drops the half of the endpoints that stalled less, and adds their sums to *c, as a live session
 * does with closed ones (drop_least_stalled() of tracer/records.c). If `want` is set, endpoints
 * that it wants at neither end are dropped before, uncounted. -1: no memory. */
int endpoints_drop(struct endpoints *l, endpoint_filter want, void *ctx, struct trace_counters *c);
void endpoints_clear(struct endpoints *l);
void endpoints_free(struct endpoints *l);
/* Copies both lists into s->ep, which is new memory. An endpoint in both lists counts as closed.
 * -1: no memory. */
int endpoints_join(const struct endpoints *closed, const struct endpoints *live,
		   struct trace_snapshot *s);

#endif
