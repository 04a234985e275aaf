/* SPDX-License-Identifier: GPL-2.0-only */
/* Several processes that take their work from one pipe, and put their results into another, as in
 * Python's multiprocessing.Pool. */
#ifndef IPCSTALL_VERDICT_WORKER_POOL_H
#define IPCSTALL_VERDICT_WORKER_POOL_H

#include "tracer/trace.h"

/* The pipe from which the workers take the work whose results go to `results`; NULL: there is
 * none. */
const struct trace_endpoint *pool_work(const struct trace_snapshot *s,
				       const struct trace_endpoint *results);
/* Do workers without work wait at this pipe? */
bool is_pool_work(const struct trace_snapshot *s, const struct trace_endpoint *ep);

#endif
