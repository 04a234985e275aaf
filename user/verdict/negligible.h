/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_NEGLIGIBLE_H
#define IPCSTALL_VERDICT_NEGLIGIBLE_H

#include "tracer/trace.h"

/* One wait of so long somebody notices. */
#define NOTICEABLE_NS 250000000

/* By samples: what fewer of them found may be chance. */
#define LOOKS_LEAST 3

/* Of several among many short ones: each of so long, where slot 18 of a histogram begins, and all
 * of them for such a share of the time. */
#define LONG_PAUSE_NS	 131072000
#define LONG_PAUSE_SLOT	 18
#define LONG_PAUSE_SHARE 0.1

/* From the first endpoint's beginning to the snapshot, or the last one's end. */
uint64_t observed_ns(const struct trace_snapshot *s);

/* What a pipe of a few milliseconds waited is nearly all of its life, and nothing to whoever
 * watched for ten seconds. */
bool is_negligible(uint64_t ns, uint64_t observed);

#endif
