/* SPDX-License-Identifier: GPL-2.0-only */
/* Several processes that take their work from one pipe, and put what they made into another, as
 * Python's multiprocessing.Pool has them. */
#ifndef IPCSTALL_VERDICT_WORKER_POOL_H
#define IPCSTALL_VERDICT_WORKER_POOL_H

#include "tracer/trace.h"

/* the pipe from which the workers take what they answer through pipe i; NULL: there is none */
const struct trace_endpoint *pool_work(const struct trace_snapshot *s,
				       const struct trace_endpoint *results);
/* Workers without work wait there. */
bool is_pool_work(const struct trace_snapshot *s, const struct trace_endpoint *ep);

#endif
