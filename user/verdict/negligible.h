/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_NEGLIGIBLE_H
#define IPCSTALL_VERDICT_NEGLIGIBLE_H

#include "tracer/trace.h"

/* One wait of so long somebody notices. */
#define NOTICEABLE_NS 250000000

/* From the first endpoint's beginning to the snapshot, or the last one's end. */
uint64_t observed_ns(const struct trace_snapshot *s);

/* What a pipe of a few milliseconds waited is nearly all of its life, and nothing to whoever
 * watched for ten seconds. */
bool is_negligible(uint64_t ns, uint64_t observed);

#endif
