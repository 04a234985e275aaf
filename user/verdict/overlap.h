/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_OVERLAP_H
#define IPCSTALL_VERDICT_OVERLAP_H

#include "tracer/trace.h"

/* How long the reader slept in `wait`, without the time that it was ready to run and had no CPU: no
 * sender can end that. */
uint64_t asleep_ns(const struct trace_endpoint *ep);

/* A lower bound of the time in which two waits overlapped. When they began is not kept. If their
 * sum exceeds the period in which both must lie, they overlapped for the excess. */
uint64_t surely_overlap(const struct trace_endpoint *a, uint64_t a_ns,
			const struct trace_endpoint *b, uint64_t b_ns);

#endif
