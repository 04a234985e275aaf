/* SPDX-License-Identifier: GPL-2.0-only */
/* Of thousands of endpoints each is looked at once in seconds. Of one that its only looks found
 * stalled some more, at once, tell whether that was chance. */
#ifndef IPCSTALL_SESSION_SUSPECTS_H
#define IPCSTALL_SESSION_SUSPECTS_H

#include "session/zoom.h"

/* The endpoints that looks found stalled since this was last asked, and their other ends: what
 * looks found since then. Nothing is read of the others. `since`: the time and the counts of then,
 * which become those of now. */
int suspects_take(struct trace *t, struct trace_snapshot *since, struct trace_snapshot *out,
		  struct trace_error *te);
/* Where looks are too few for a finding and all found one stall, and as many more all find it too,
 * those count in `window`, and its `again` says so. Takes a third of a second if there is any such
 * endpoint, unless that is after `deadline`. */
void suspects_confirm(struct trace *t, struct trace_snapshot *window, uint64_t deadline,
		      const struct zoom_stop *stop);

#endif
