/* SPDX-License-Identifier: GPL-2.0-only */
/* Endpoints as they come from a file, with the serials of their peers; made into a snapshot, where
 * a peer is an index. */
#ifndef IPCSTALL_RECORDING_RELINK_H
#define IPCSTALL_RECORDING_RELINK_H

#include "tracer/trace.h"

#ifndef CLOSED_KEPT
#define CLOSED_KEPT 32768 /* at most so many that are gone */
#endif

typedef bool (*endpoint_filter)(void *ctx, const struct trace_endpoint *ep);

struct endpoints {
	struct trace_endpoint *v;
	uint64_t *peer; /* serial, 0: none */
	size_t n, room;
};

bool endpoints_add(struct endpoints *l, const struct trace_endpoint *ep, uint64_t peer);
/* As a live session does with what is gone (drop_least_stalled() of tracer/snapshot.c): the half
 * that stalled less goes, and what it had is added to *c. `want` (NULL: all): what nobody wants to
 * see, at neither end, goes before, uncounted. -1: no memory. */
int endpoints_drop(struct endpoints *l, endpoint_filter want, void *ctx, struct trace_counters *c);
void endpoints_clear(struct endpoints *l);
void endpoints_free(struct endpoints *l);
/* Both lists in s->ep, which is new memory; an endpoint that is in both counts as closed. -1: no
 * memory. */
int endpoints_join(const struct endpoints *closed, const struct endpoints *live,
		   struct trace_snapshot *s);

#endif
