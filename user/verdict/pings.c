// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/pings.h"

#include "verdict/judge.h"

#define LOOKS_LEAST_FOR_PINGS 5

/* By samples nobody counts messages; each has a segment of its own. */
static uint64_t messages(const struct trace_endpoint *ep, const struct trace_call_stats *b)
{
	return trace_messages_known(b) ? b->messages : ep->path.sent_segments;
}

static bool are_small(const struct trace_endpoint *ep, const struct trace_call_stats *b)
{
	return b->bytes && b->bytes <= PING_MOST * messages(ep, b);
}

static bool are_pings(const struct verdict *v, const struct trace_snapshot *s)
{
	const struct trace_endpoint *ep = &s->ep[v->answers.endpoint];

	return v->doing && v->doing->looks >= LOOKS_LEAST_FOR_PINGS &&
	       asleep_for_events_only(v->doing) && are_small(ep, &ep->tx_calls) &&
	       are_small(ep, &ep->rx_calls);
}

void verdict_strike_pings(struct verdict *v, const struct trace_snapshot *s)
{
	if (v->kind != KIND_ANSWERS || !are_pings(v, s))
		return;
	v->answers.endpoint = -1;
	v->doing = NULL;
	judge(v);
}
