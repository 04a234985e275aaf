// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that took long to be made, though no SYN was retransmitted: the path is long. A
 * program that makes a new connection for each request pays that each time.
 */
#include <string.h>

#include "verdict/other_findings.h"
#include "verdict/negligible.h"
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

/* A script starts a program, of the same name, for each connection. */
static bool is_alike(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return is_slow(b) && !strcmp(program_at(a)->comm, program_at(b)->comm) &&
	       !address_order(a, b);
}

static struct slow_connect sum_alike(const struct trace_snapshot *s, size_t i)
{
	struct slow_connect sum = { .endpoint = (int)i };

	for (size_t k = 0; k < s->n; k++) {
		if (!is_alike(&s->ep[i], &s->ep[k]))
			continue;
		sum.n++;
		sum.ns += s->ep[k].making.connect_ns;
		sum.lifetime_ns += s->ep[k].rx.lifetime_ns;
		if (s->ep[k].making.connect_ns > sum.max_ns)
			sum.max_ns = s->ep[k].making.connect_ns;
	}
	return sum;
}

/* The first of those that are alike stands for all of them. */
static bool is_first(const struct trace_snapshot *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_alike(&s->ep[i], &s->ep[k]))
			return false;
	return true;
}

struct slow_connect find_slow_connect(const struct trace_snapshot *s)
{
	struct slow_connect most = find_rejected(s);

	for (size_t i = 0; i < s->n; i++) {
		struct slow_connect one;

		if (!is_slow(&s->ep[i]) || !is_first(s, i))
			continue;
		one = sum_alike(s, i);
		if (one.ns > most.ns && slow_connect_matters(&one))
			most = one;
	}
	return most.endpoint < 0 ? find_reset(s) : most;
}
