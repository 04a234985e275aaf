// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/worker_pool.h"

static bool several_write(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->tx_calls.others && ep->rx_calls.bytes;
}

static bool several_read(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->rx_calls.others && ep->rx_calls.bytes;
}

/* The one who reads the results hands out the work. */
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

bool is_pool_work(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	for (size_t i = 0; several_read(ep) && i < s->n; i++)
		if (are_of_one_pool(ep, &s->ep[i]))
			return true;
	return false;
}
