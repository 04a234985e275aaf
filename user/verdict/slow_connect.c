// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that took long to be made, though no SYN was retransmitted: the path is long. A
 * program that makes a new connection for each request pays that each time.
 */
#include "verdict/negligible.h"
#include "verdict/other_findings.h"
#include "verdict/rejected.h"
#include "verdict/times.h"

/* A local network answers sooner. */
#define SLOW_NS 10000000

/* A connection that was given up has no round trip. */
static bool was_answered(const struct trace_endpoint *ep)
{
	return !ep->making.connecting && ep->rtt_us;
}

static bool is_slow(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->making.connect_ns >= SLOW_NS && !ep->syn_retransmits &&
	       was_answered(ep);
}

static void keep_slow(const struct trace_snapshot *s, const struct trace_endpoint **v, size_t n,
		      struct slow_connect *most)
{
	struct slow_connect sum = { .endpoint = (int)(v[0] - s->ep), .n = n };

	for (size_t i = 0; i < n; i++) {
		sum.ns += v[i]->making.connect_ns;
		sum.lifetime_ns += v[i]->rx.lifetime_ns;
		sum.max_ns = larger(sum.max_ns, v[i]->making.connect_ns);
	}
	if (sum.ns > most->ns && slow_connect_matters(&sum))
		*most = sum;
}

struct slow_connect find_slow_connect(const struct trace_snapshot *s)
{
	struct slow_connect rejected = find_rejected(s),
			    slow = most_of_alike(s, is_slow, keep_slow);

	if (slow.ns > rejected.ns)
		return slow;
	return rejected.endpoint < 0 ? find_reset(s) : rejected;
}
