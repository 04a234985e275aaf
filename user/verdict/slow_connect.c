// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that took long to be made, though no request for one was sent again: the path is
 * long. Whoever makes a new one for each question pays that each time. And those that were refused,
 * of a program that tries again until somebody listens.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verdict/other_findings.h"
#include "verdict/negligible.h"
#include "verdict/times.h"

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

const struct trace_call_stats *program_at(const struct trace_endpoint *ep)
{
	return ep->tx_calls.tgid ? &ep->tx_calls : &ep->rx_calls;
}

static int address_order(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	int c = memcmp(a->remote.ip, b->remote.ip, sizeof(a->remote.ip));

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return c ? c : a->remote.port - b->remote.port;
}

static bool is_alike(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return is_slow(b) && program_at(a)->tgid == program_at(b)->tgid &&
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

/* Of many that are alike the first one speaks for all. */
static bool is_first(const struct trace_snapshot *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_alike(&s->ep[i], &s->ep[k]))
			return false;
	return true;
}

/* ---- refused ---- */

/* A loop of a shell starts a new process for each try, of one name. */
static int place_order(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	int c = strcmp(program_at(a)->comm, program_at(b)->comm);

	return c ? c : address_order(a, b);
}

/* those of one program to one address together, in the order of time */
static int try_order(const void *x, const void *y)
{
	const struct trace_endpoint *a = *(const struct trace_endpoint *const *)x,
				    *b = *(const struct trace_endpoint *const *)y;
	int c = place_order(a, b);

	if (c)
		return c;
	return began(a) < began(b) ? -1 : began(a) > began(b);
}

static size_t collect_tries(const struct trace_snapshot *s, const struct trace_endpoint **v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->ep[i].proto == TRACE_TCP && s->ep[i].making.connect_ns)
			v[n++] = &s->ep[i];
	qsort(v, n, sizeof(*v), try_order);
	return n;
}

/* Of the tries from v[i] on that are alike: from each refusal to the next try, which may have an
 * answer. Returns how many they are. */
static size_t sum_refused(const struct trace_snapshot *s, const struct trace_endpoint **v, size_t n,
			  struct slow_connect *out)
{
	struct slow_connect sum = { .endpoint = -1, .refused = true };
	size_t i = 0;

	for (; i < n && !place_order(v[0], v[i]); i++) {
		bool again = i + 1 < n && !place_order(v[i], v[i + 1]);

		if (!was_refused(v[i]))
			continue;
		if (sum.endpoint < 0)
			sum.endpoint = (int)(v[i] - s->ep);
		sum.n++;
		sum.ns += again ? began(v[i + 1]) - began(v[i]) : 0;
	}
	sum.max_ns = sum.ns;
	sum.lifetime_ns = observed_ns(s);
	*out = sum;
	return i;
}

/* One refusal is an answer: a name has several addresses. Who tries again waits. */
#define TRIES	 2
#define AGAIN_NS 100000000

static bool is_long(const struct slow_connect *c)
{
	return (double)c->ns >= SLOW_SHARE * (double)c->lifetime_ns;
}

static struct slow_connect find_refused(const struct trace_snapshot *s)
{
	const struct trace_endpoint **v = array_new(s->n, 0, sizeof(*v));
	size_t n = v ? collect_tries(s, v) : 0;
	struct slow_connect most = { .endpoint = -1 };

	for (size_t i = 0; i < n;) {
		struct slow_connect one;

		i += sum_refused(s, v + i, n - i, &one);
		if (one.n >= TRIES && one.ns >= AGAIN_NS && one.ns > most.ns && is_long(&one))
			most = one;
	}
	free(v);
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
		if (one.ns > most.ns && is_long(&one))
			most = one;
	}
	return most;
}
