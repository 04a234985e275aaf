/* SPDX-License-Identifier: GPL-2.0-only */
/* The shares of an endpoint's states, from its samples. */
#ifndef IPCSTALL_VERDICT_SHARES_H
#define IPCSTALL_VERDICT_SHARES_H

#include "sampler/interval.h"
#include "tracer/trace.h"

/* The share of the endpoint's time; NaN if no sample was taken, or samples cannot tell the
 * state. */
struct share_interval shares_of(const struct trace_samples *l, const struct trace_endpoint *ep,
				bool rx, unsigned int state);
/* The share of the samples that found a fact (enum sample_fact). */
struct share_interval shares_of_fact(const struct trace_samples *l, unsigned int fact);

#endif
