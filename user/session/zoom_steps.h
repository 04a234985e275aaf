/* SPDX-License-Identifier: GPL-2.0-only */
/* The ledger of one endpoint of a sampled session, for as long as somebody looks at its steps. */
#ifndef IPCSTALL_SESSION_ZOOM_STEPS_H
#define IPCSTALL_SESSION_ZOOM_STEPS_H

#include "session/zoom.h"
#include "tracer/digest.h"

struct zoom_steps {
	const struct trace_options *filter; /* of the sampled session */
	void (*step)(void *ctx, const struct trace_transition *tr);
	void *ctx;
	struct zoom zoom;
	bool loaded, on;
	uint64_t serial; /* of the endpoint in the sampled session; its steps carry it */
	uint64_t here;	 /* and in the zoom's own; 0: it is not known there */
};

/* From now on the steps of `e`, and of no other; NULL: of none. Its other end's programs are
 * followed too. False: they cannot be had. */
bool zoom_steps_of(struct zoom_steps *z, const struct trace_digest *e,
		   const struct trace_digest *peer);
/* The ledgers of those programs, and the serial that `e` has in them. -1: there are none. */
int zoom_steps_ledgers(struct zoom_steps *z, struct trace_snapshot *s, uint64_t *serial);
void zoom_steps_end(struct zoom_steps *z);

#endif
