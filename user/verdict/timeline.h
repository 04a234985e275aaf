/* SPDX-License-Identifier: GPL-2.0-only */
/* A timeline: which state each ledger was in, when, and what happened beside that. Steps and marks
 * are kept as they come, the newest where there is no room for all; spans are made of them
 * afterwards. */
#ifndef IPCSTALL_VERDICT_TIMELINE_H
#define IPCSTALL_VERDICT_TIMELINE_H

#include "tracer/trace.h"

struct timeline {
	struct trace_transition *v;
	size_t n, room, max; /* max: how many are kept; set before the first is added */
	size_t oldest;	     /* where the ring begins, once it is full */
	uint64_t dropped;    /* had to go to make room */
};

/* a ledger in one state from start to end */
struct span {
	uint64_t serial, start, end;
	uint8_t rx, state;
	bool joined; /* the next span of this ledger begins where this one ends */
	bool lasts;  /* it had not ended when its endpoint was read */
};

struct spans {
	struct span *v;
	size_t n;
	uint64_t end; /* the last moment that any of them knows */
};

void timeline_add(struct timeline *t, const struct trace_transition *tr);
/* the i-th oldest */
const struct trace_transition *timeline_at(const struct timeline *t, size_t i);
void timeline_free(struct timeline *t);

/* By ledger, and in order of time within each; `end` gives the states that had not ended, and the
 * endpoints that are not to be shown. -1: no memory. */
int timeline_spans(const struct timeline *t, const struct trace_snapshot *end, struct spans *out);
void spans_free(struct spans *s);

#endif
