/* SPDX-License-Identifier: GPL-2.0-only */
/* A timeline: which state each ledger was in, when, and what else happened. Steps and marks are
 * kept as they come; if there is no room for all, the newest. Spans are made of them afterwards. */
#ifndef IPCSTALL_VERDICT_TIMELINE_H
#define IPCSTALL_VERDICT_TIMELINE_H

#include "tracer/trace.h"

struct timeline {
	struct trace_transition *v;
	size_t n, room, max; /* max: how many are kept; set before the first is added */
	size_t oldest;	     /* where the ring begins, once it is full */
	uint64_t dropped;    /* dropped to make room */
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
	uint64_t end; /* the end of the last span */
};

void timeline_add(struct timeline *t, const struct trace_transition *tr);
/* The i-th oldest. */
const struct trace_transition *timeline_at(const struct timeline *t, size_t i);
void timeline_free(struct timeline *t);

/* Sorted by ledger, and by time within each. `end` gives the states that had not ended, and tells
 * which endpoints are left out. -1: no memory. */
int timeline_spans(const struct timeline *t, const struct trace_snapshot *end, struct spans *out);
void spans_free(struct spans *s);

#endif
