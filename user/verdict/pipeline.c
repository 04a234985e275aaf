// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/pipeline.h"

#include "verdict/processes.h"

bool is_filter(const struct trace_snapshot *s, pid_t tgid)
{
	struct process p = process_of(s, tgid);

	return p.reads == 1 && p.writes <= 1 && !p.uncounted && !s->counters.dropped;
}

#define BOTH_WAIT 0.2 /* of the time */

bool comes_in_bursts(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE &&
	       (double)ep->rx.ns[RX_WAIT] >= BOTH_WAIT * (double)ep->rx.lifetime_ns &&
	       (double)ep->tx.ns[TX_SNDBUF] >= BOTH_WAIT * (double)ep->tx.lifetime_ns;
}
