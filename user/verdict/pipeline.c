// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/pipeline.h"

bool is_filter(const struct trace_snapshot *s, pid_t tgid)
{
	size_t in = 0, out = 0;

	for (size_t i = 0; i < s->n; i++) {
		in += s->ep[i].rx_calls.tgid == tgid && s->ep[i].rx_calls.bytes;
		out += s->ep[i].tx_calls.tgid == tgid && s->ep[i].tx_calls.bytes;
	}
	return tgid && in == 1 && out <= 1 && !s->counters.dropped;
}

#define BOTH_WAIT 0.2 /* of the time */

bool comes_in_bursts(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE &&
	       (double)ep->rx.ns[RX_WAIT] >= BOTH_WAIT * (double)ep->rx.lifetime_ns &&
	       (double)ep->tx.ns[TX_SNDBUF] >= BOTH_WAIT * (double)ep->tx.lifetime_ns;
}
