/* SPDX-License-Identifier: GPL-2.0-only */
/* With thousands of endpoints the samples of each are seconds apart. If the few samples of one
 * found it stalled, some more at once tell whether that was chance. */
#ifndef IPCSTALL_SESSION_SUSPECTS_H
#define IPCSTALL_SESSION_SUSPECTS_H

#include "session/zoom.h"

/* An endpoint that looks of some time found in a stall, and how many of them did. */
struct suspect_looks {
	uint64_t key;
	enum tx_state state;
	unsigned int looks;
};

/* That time, and how many looks the average endpoint had in it. */
struct looked {
	uint64_t ns, n;
};

/* For each endpoint the stall that most of its looks found; sorts `v`. Returns how many endpoints
 * there are, by key. */
size_t suspects_group(struct trace_stalled *v, size_t n, struct suspect_looks *out);
/* How many of the looks at that key found this endpoint, which was born then, in that state. */
unsigned int suspects_looks_since(const struct trace_stalled *v, size_t n,
				  const struct suspect_looks *of, uint64_t born_ns);
/* Makes the figures of an endpoint, which are of its life, those of that time. f NULL: no look
 * found it stalled. */
void suspects_set_window(struct trace_endpoint *ep, struct trace_looks *l,
			 const struct suspect_looks *f, const struct looked *looked);
/* The endpoints that looks found stalled since this was last asked, and their other ends: what
 * looks found since then. Nothing is read of the others. `since`: the time and the counts of then,
 * which become those of now. */
int suspects_take(struct trace *t, struct trace_snapshot *since, struct trace_snapshot *out,
		  struct err *e);
/* If an endpoint has too few looks for a finding and all of them found the same stall, it takes as
 * many again. If all of these find it too, they count in `window`, and its `again` says so. That
 * takes a third of a second, and is left out if it would end after `deadline`. */
void suspects_confirm(struct trace *t, struct trace_snapshot *window, uint64_t deadline,
		      const struct zoom_stop *stop);

#endif
