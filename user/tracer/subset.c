// SPDX-License-Identifier: GPL-2.0-only
/* The part of a snapshot that is some processes' own business: their endpoints, and the other ends
 * of these. */
#include <stdlib.h>

#include "base/array.h"
#include "host/proc.h"
#include "tracer/trace.h"

/* A server's UDP socket takes datagrams from anybody. */
static bool takes_from_anybody(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UDP && (ep->making.unconnected || !ep->remote.port);
}

static bool is_theirs(const struct trace_endpoint *ep, const pid_t *pids, size_t n)
{
	return (!ep->tx_calls.tgid && !ep->rx_calls.tgid) || takes_from_anybody(ep) ||
	       process_is_in(ep->tx_calls.tgid, pids, n) ||
	       process_is_in(ep->rx_calls.tgid, pids, n);
}

void trace_keep_ends_of(struct trace_snapshot *s, const pid_t *pids, size_t n)
{
	int *now = array_new(s->n, 0, sizeof(*now));
	size_t kept = 0;

	if (!now)
		return;
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		bool stays = is_theirs(ep, pids, n) ||
			     (ep->peer >= 0 && is_theirs(&s->ep[ep->peer], pids, n));

		now[i] = stays ? (int)kept++ : -1;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (now[i] < 0)
			continue;
		s->ep[now[i]] = s->ep[i];
		if (s->samples)
			s->samples[now[i]] = s->samples[i];
	}
	s->n = kept;
	for (size_t i = 0; i < kept; i++)
		if (s->ep[i].peer >= 0)
			s->ep[i].peer = now[s->ep[i].peer];
	free(now);
}
