/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_NEGLIGIBLE_H
#define IPCSTALL_VERDICT_NEGLIGIBLE_H

#include "tracer/trace.h"

/* A single wait this long is reported. */
#define NOTICEABLE_NS 250000000

#define NOTICEABLE_SHARE 0.1 /* of all that was watched, however short each is */

/* A finding needs at least this many samples: what fewer found may be chance. */
#define FEWEST_SAMPLES 3

/* Long pauses among many short ones: each takes at least LONG_PAUSE_NS, where slot 18 of a
 * histogram begins, and all of them together take at least LONG_PAUSE_SHARE of the time. */
#define LONG_PAUSE_NS	 131072000
#define LONG_PAUSE_SLOT	 18
#define LONG_PAUSE_SHARE 0.1

/* An answer that takes so long on average is reported, if the answers take LONG_PAUSE_SHARE of the
 * time. */
#define SLOW_ANSWER_NS 100000000

/* From the first endpoint's beginning to the snapshot, or the last one's end. */
uint64_t observed_ns(const struct trace_snapshot *s);

/* Too little beside the time that was observed: a pipe that lived for a few milliseconds may have
 * waited for nearly all of its life. */
bool is_negligible(uint64_t ns, uint64_t observed);
/* Waits of so little in all: a shell's $(...) at the start of a long run, or short connections of
 * which a sample found one or two. */
bool is_unnoticeable(uint64_t ns, uint64_t observed);

#endif
