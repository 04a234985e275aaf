/* SPDX-License-Identifier: GPL-2.0-only */
/* By protocol: the sums of the closed endpoints that are no longer kept. One piece of memory, for
 * free(). */
#ifndef IPCSTALL_TRACER_REST_H
#define IPCSTALL_TRACER_REST_H

#include "tracer/trace.h"

/* NULL: no memory. */
struct trace_endpoint *rest_new(void);
struct trace_endpoint *rest_copy(const struct trace_endpoint *from);

#endif
