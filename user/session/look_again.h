/* SPDX-License-Identifier: GPL-2.0-only */
/* Of thousands of endpoints each is looked at once in seconds. Of one that its only looks found
 * stalled some more, at once, tell whether that was chance. */
#ifndef IPCSTALL_SESSION_LOOK_AGAIN_H
#define IPCSTALL_SESSION_LOOK_AGAIN_H

#include "session/zoom.h"

/* Where looks are too few for a finding and all found one stall, and AGAIN more all find it too,
 * those count in `window`, and its `again` says so. Takes a third of a second if there is any such
 * endpoint, unless that is after `deadline`. */
void look_again(struct trace *t, struct trace_snapshot *window, uint64_t deadline,
		const struct zoom_stop *stop);

#endif
