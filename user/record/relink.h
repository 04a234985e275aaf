/* SPDX-License-Identifier: GPL-2.0-only */
/* Endpoints as they come from a file, with the serials of their peers; made into a snapshot, where a peer is an index. */
#ifndef IPCSTALL_RELINK_H
#define IPCSTALL_RELINK_H

#include "trace/trace.h"

struct endpoints {
	struct trace_endpoint *v;
	uint64_t *peer;		/* serial, 0: none */
	size_t n, room;
};

bool endpoints_add(struct endpoints *l, const struct trace_endpoint *ep, uint64_t peer);
void endpoints_clear(struct endpoints *l);
void endpoints_free(struct endpoints *l);
/* Both lists in s->ep, which is new memory; an endpoint that is in both counts as closed. -1: no memory. */
int endpoints_join(const struct endpoints *closed, const struct endpoints *live, struct trace_snapshot *s);

#endif
