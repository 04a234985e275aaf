/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_OVERLAP_H
#define IPCSTALL_VERDICT_OVERLAP_H

#include "tracer/trace.h"

/* How long its reader slept in `wait`: not ready to run and without a CPU, which no sender can end.
 */
uint64_t asleep_ns(const struct trace_endpoint *ep);

/* A lower bound of the time in which two waits overlapped. Their dates are not kept. If together
 * they last longer than the period in which both can lie, they overlapped for the rest. */
uint64_t surely_overlap(const struct trace_endpoint *a, uint64_t a_ns,
			const struct trace_endpoint *b, uint64_t b_ns);

#endif
