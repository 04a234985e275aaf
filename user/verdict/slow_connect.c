// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that took long to be made, though no request for one was sent again: the path is
 * long. Whoever makes a new one for each question pays that each time. And those that were refused,
 * of a program that tries again until somebody listens.
 */
#include <string.h>

#include "verdict/other_findings.h"
#include "verdict/trifle.h"

/* A network of this house answers sooner; and less of a connection's life is no matter. */
#define SLOW_NS	   10000000
#define SLOW_SHARE 0.1

/* One that was given up has no round trip. */
static bool was_answered(const struct trace_endpoint *ep)
{
	return !ep->making.connecting && ep->rtt_us;
}

static bool is_slow(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->making.connect_ns >= SLOW_NS && !ep->syn_retransmits &&
	       was_answered(ep);
}

static bool was_refused(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->tx_calls.refused_n;
}

const struct trace_call_stats *connecting_program(const struct trace_endpoint *ep)
{
	return ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
}

static bool same_address(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->family == b->family && a->remote.port == b->remote.port &&
	       !memcmp(a->remote.ip, b->remote.ip, sizeof(a->remote.ip));
}

static bool is_alike(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return is_slow(b) && connecting_program(a)->tgid == connecting_program(b)->tgid &&
	       same_address(a, b);
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

/* Of many that are alike the first one speaks for all. */
static bool is_first(const struct trace_snapshot *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_alike(&s->ep[i], &s->ep[k]))
			return false;
	return true;
}

static uint64_t born_ns(const struct trace_endpoint *ep)
{
	return ep->at_ns - ep->rx.lifetime_ns;
}

/* a loop of a shell starts a new process for each try, of one name */
static bool tries_again(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return !strcmp(connecting_program(a)->comm, connecting_program(b)->comm) &&
	       same_address(a, b);
}

/* From the first refusal to the last try, which may have had an answer. */
static struct slow_connect sum_refused(const struct trace_snapshot *s, size_t i)
{
	struct slow_connect sum = { .endpoint = (int)i, .refused = true };
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t k = 0; k < s->n; k++) {
		const struct trace_endpoint *ep = &s->ep[k];

		if (!ep->making.connect_ns || !tries_again(&s->ep[i], ep))
			continue;
		to = born_ns(ep) > to ? born_ns(ep) : to;
		if (!was_refused(ep))
			continue;
		sum.n++;
		from = born_ns(ep) < from ? born_ns(ep) : from;
	}
	sum.ns = sum.max_ns = to > from ? to - from : 0;
	sum.lifetime_ns = observed_ns(s);
	return sum;
}

/* One refusal is an answer: a name has several addresses. Who tries again waits. */
#define TRIES	 2
#define AGAIN_NS 100000000

static struct slow_connect find_refused(const struct trace_snapshot *s)
{
	struct slow_connect most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct slow_connect one;

		if (!was_refused(&s->ep[i]) ||
		    (most.endpoint >= 0 && tries_again(&s->ep[most.endpoint], &s->ep[i])))
			continue;
		one = sum_refused(s, i);
		if (one.n >= TRIES && one.ns >= AGAIN_NS && one.ns > most.ns &&
		    (double)one.ns >= SLOW_SHARE * (double)one.lifetime_ns)
			most = one;
	}
	return most;
}

struct slow_connect find_slow_connect(const struct trace_snapshot *s)
{
	struct slow_connect most = find_refused(s);

	for (size_t i = 0; i < s->n; i++) {
		struct slow_connect one;

		if (!is_slow(&s->ep[i]) || !is_first(s, i))
			continue;
		one = sum_alike(s, i);
		if (one.ns > most.ns && (double)one.ns >= SLOW_SHARE * (double)one.lifetime_ns)
			most = one;
	}
	return most;
}
