/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_OVERLAP_H
#define IPCSTALL_VERDICT_OVERLAP_H

#include "tracer/trace.h"

/* For how long two waits surely were at once. When they were is not kept, but two that together
 * last longer than the time in which both can have been must have been at once for the rest. */
/* How long its reader slept in `wait`: not ready to run and without a CPU, which no sender can end.
 */
uint64_t asleep_ns(const struct trace_endpoint *ep);
uint64_t surely_overlap(const struct trace_endpoint *a, uint64_t a_ns,
			const struct trace_endpoint *b, uint64_t b_ns);

#endif
