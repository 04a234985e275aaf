// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/feed.h"

#include "verdict/replies.h"
#include "verdict/who.h"

/* Samples count only segments that were sent: one for each message, as long as messages fill less
 * than half a segment. A server that sends longer ones may have got fewer requests than that. */
#define HALF_A_SEGMENT 700

static bool fills_segments(const struct trace_endpoint *ep)
{
	return ep->tx_calls.bytes > HALF_A_SEGMENT * ep->path.sent_segments;
}

/* Is the number of the client's messages known? `asks` has them, at either end. */
static bool are_counted(const struct trace_endpoint *ep, const struct trace_call_stats *asks)
{
	return trace_messages_known(asks) ||
	       (ep->proto == TRACE_TCP && (asks == &ep->tx_calls || !fills_segments(ep)));
}

static uint64_t messages(const struct trace_endpoint *ep, const struct trace_call_stats *asks)
{
	return trace_messages_known(asks) ? asks->messages : ep->path.sent_segments;
}

bool may_be_feed(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *asks = is_servers_end(s, i) ? &ep->rx_calls : &ep->tx_calls;

	return (ep->proto == TRACE_TCP || is_unix_connection(ep)) && are_counted(ep, asks) &&
	       !never_spoke(ep, asks) && asks->bytes <= TRACE_ACK_MOST * messages(ep, asks);
}

bool is_feed(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	bool idle = ep->making.server_polls ||
		    (ep->peer >= 0 && s->ep[ep->peer].making.server_polls);

	return idle && may_be_feed(s, i);
}
