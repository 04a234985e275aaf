// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/feed.h"

#include "verdict/replies.h"

#define ACK_MOST 64 /* bytes: with what TLS or ssh adds */

/* By samples nobody counts messages; each has a segment of its own. */
static uint64_t messages(const struct trace_endpoint *ep, const struct trace_call_stats *b)
{
	return trace_messages_known(b) ? b->messages : ep->path.sent_segments;
}

bool may_be_feed(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *asks = is_servers_end(s, i) ? &ep->rx_calls : &ep->tx_calls;

	return (ep->proto == TRACE_TCP || is_unix_connection(ep)) &&
	       asks->bytes <= ACK_MOST * messages(ep, asks);
}

bool is_feed(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	bool idle = ep->making.server_polls ||
		    (ep->peer >= 0 && s->ep[ep->peer].making.server_polls);

	return idle && may_be_feed(s, i);
}
