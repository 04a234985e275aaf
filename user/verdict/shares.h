/* SPDX-License-Identifier: GPL-2.0-only */
/* The shares of an endpoint's states, from its looks. */
#ifndef IPCSTALL_VERDICT_SHARES_H
#define IPCSTALL_VERDICT_SHARES_H

#include "sampler/interval.h"
#include "tracer/trace.h"

/* of the endpoint's time; NaN where nobody looked, or the state cannot be found */
struct share_interval shares_of(const struct trace_looks *l, const struct trace_endpoint *ep,
				bool rx, unsigned int state);
/* of something else that looks find or do not (enum look_fact): of the looks */
struct share_interval shares_of_fact(const struct trace_looks *l, unsigned int fact);

#endif
