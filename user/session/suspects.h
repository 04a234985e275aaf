/* SPDX-License-Identifier: GPL-2.0-only */
/* With thousands of endpoints the samples of each are seconds apart. If the few samples of one
 * found it stalled, some more at once tell whether that was chance. */
#ifndef IPCSTALL_SESSION_SUSPECTS_H
#define IPCSTALL_SESSION_SUSPECTS_H

#include "session/zoom.h"

/* An endpoint that samples of some period found in a stall, and how many of them found it. */
struct suspect_samples {
	uint64_t key;
	enum tx_state state;
	unsigned int samples;
};

/* That period, and how many samples the average endpoint had in it. */
struct looked {
	uint64_t ns, n;
};

/* Finds the stall that most samples of each endpoint found. Sorts `v`. Returns the number of
 * endpoints in `out`, which is sorted by key. */
size_t suspects_group(struct trace_stalled *v, size_t n, struct suspect_samples *out);
/* How many samples of that key found that state since `born_ns`. Older ones are of another
 * endpoint. */
unsigned int suspects_samples_since(const struct trace_stalled *v, size_t n,
				    const struct suspect_samples *of, uint64_t born_ns);
/* Replaces an endpoint's figures, which cover its life, by those of that period. f NULL: no
 * sample found it stalled. */
void suspects_set_window(struct trace_endpoint *ep, struct trace_samples *l,
			 const struct suspect_samples *f, const struct looked *looked);
/* Takes the endpoints that samples found stalled since the last call, and their other ends, with
 * what samples found since then. No others are read. `since` holds the time and the counts of
 * the last call, and is updated. */
int suspects_take(struct trace *t, struct trace_snapshot *since, struct trace_snapshot *out,
		  struct err *e);
/* If an endpoint has too few samples for a finding and all found the same stall, FEWEST_SAMPLES
 * more are taken. If all of these find it too, they count in `window` and in its `again`. This
 * takes a third of a second, and is skipped if it would end after `deadline`. */
void suspects_confirm(struct trace *t, struct trace_snapshot *window, uint64_t deadline,
		      const struct zoom_stop *stop);

#endif
