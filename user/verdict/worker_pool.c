// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/worker_pool.h"

#include <string.h>

static bool several_write(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->tx_calls.others && ep->rx_calls.bytes;
}

static bool several_read(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->rx_calls.others && ep->rx_calls.bytes;
}

/* The process that reads the results hands out the work. */
static bool are_of_one_pool(const struct trace_endpoint *work, const struct trace_endpoint *results)
{
	return work != results && several_read(work) && several_write(results) &&
	       work->tx_calls.tgid && work->tx_calls.tgid == results->rx_calls.tgid &&
	       !work->tx_calls.others && !results->rx_calls.others;
}

const struct trace_endpoint *pool_work(const struct trace_snapshot *s,
				       const struct trace_endpoint *results)
{
	for (size_t i = 0; several_write(results) && i < s->n; i++)
		if (are_of_one_pool(&s->ep[i], results))
			return &s->ep[i];
	return NULL;
}

/* Several forks of the process that writes there. Nothing may have come back from them yet, or ever
 * will. */
static bool are_idle_forks(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;

	return ep->proto == TRACE_PIPE && in->others && !out->others && out->tgid &&
	       out->tgid != in->tgid && !strcmp(in->comm, out->comm);
}

bool is_pool_work(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (are_idle_forks(ep))
		return true;
	for (size_t i = 0; several_read(ep) && i < s->n; i++)
		if (are_of_one_pool(ep, &s->ep[i]))
			return true;
	return false;
}
