/* SPDX-License-Identifier: GPL-2.0-only */
/* By protocol: the sums of the closed endpoints that are no longer kept. One piece of memory, for
 * free(). */
#ifndef IPCSTALL_TRACER_CLOSED_SUMS_H
#define IPCSTALL_TRACER_CLOSED_SUMS_H

#include "tracer/trace.h"

/* NULL: no memory. */
struct trace_endpoint *closed_sums_new(void);
struct trace_endpoint *closed_sums_copy(const struct trace_endpoint *from);

#endif
