/* SPDX-License-Identifier: GPL-2.0-only */
/* The ledger of one endpoint of a sampled session, for as long as the user watches its steps. */
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
	uint64_t here;	 /* its serial in the zoom; 0: it is not known there */
};

/* Reports the steps of `e` from now on, and no others; NULL: none. The programs at its other end
 * are followed too. False: no steps can be reported. */
bool zoom_steps_of(struct zoom_steps *z, const struct trace_digest *e,
		   const struct trace_digest *peer);
/* The ledgers of those programs, and the serial that `e` has in them. -1: there are none. */
int zoom_steps_ledgers(struct zoom_steps *z, struct trace_snapshot *s, uint64_t *serial);
void zoom_steps_end(struct zoom_steps *z);

#endif
