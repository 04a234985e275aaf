// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/reader_circle.h"

#include "verdict/mutual_wait.h"
#include "verdict/overlap.h"
#include "verdict/who.h"

/* the share of the shortest wait in which all wait at once; the share of a wait in which its reader
 * is asleep */
#define AT_ONCE 0.9

enum { CIRCLE_MAX = 16 };

struct period {
	uint64_t from, to;
};

/* The last wait there, if it has not ended and nothing was sent since it began. For a closed
 * endpoint it is unknown whether the wait lasted until the close, unless the longest wait is as
 * long as the time in which nothing was sent. */
static struct period last_wait(const struct trace_endpoint *ep)
{
	uint64_t quiet = ep->tx_calls.quiet_ns, longest = ep->rx.max[RX_WAIT],
		 open = ep->rx.now == RX_WAIT && ep->at_ns > ep->rx.since_ns
				? ep->at_ns - ep->rx.since_ns
				: 0;
	uint64_t ns = ep->closed ? longest : open;

	if (!is_quiet_known(ep) || (double)quiet < AT_ONCE * (double)ns ||
	    (ep->closed && (double)longest < AT_ONCE * (double)quiet))
		return (struct period){};
	ns = ns < quiet ? ns : quiet;
	return (struct period){ .from = ep->at_ns - ns, .to = ep->at_ns };
}

/* A ring that passes something on waits again and again, and no wait is much longer than the
 * others. */
static bool stands_still(const struct trace_endpoint *ep)
{
	struct period p = last_wait(ep);

	return p.to - p.from >= VERDICT_MIN_NS && has_one_long_wait(ep) &&
	       (double)asleep_ns(ep) >= AT_ONCE * (double)ep->rx.ns[RX_WAIT];
}

/* For a connection that nobody has accepted: the process that listens there. */
static struct who who_should_send(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = who_sends(s, ep);
	const struct trace_listener *l = b || ep->peer < 0 ? NULL
							    : listener_of(s, &s->ep[ep->peer]);

	if (b)
		return who_was_last(b);
	return l ? (struct who){ .tgid = l->tgid, .comm = l->comm } : (struct who){};
}

/* The endpoint at which the process that should send there waits itself; -1: none was seen. */
static int next_of(const struct trace_snapshot *s, size_t i, struct who *sender)
{
	*sender = who_should_send(s, &s->ep[i]);
	for (size_t k = 0; sender->tgid && k < s->n; k++) {
		struct who reader = who_was_last(&s->ep[k].rx_calls);

		if (k != i && who_is_same(&reader, sender) && stands_still(&s->ep[k]))
			return (int)k;
	}
	return -1;
}

static bool is_alone(const struct who *sender, const struct who *reader)
{
	return sender->tid && reader->tid && !sender->others && !reader->others;
}

static struct period both(struct period a, struct period b)
{
	return (struct period){ a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to };
}

static uint64_t length(struct period p)
{
	return p.to > p.from ? p.to - p.from : 0;
}

static bool are_at_once(struct period all, uint64_t shortest)
{
	return (double)length(all) >= AT_ONCE * (double)shortest;
}

static bool is_connection(const struct trace_endpoint *ep)
{
	return ep->peer >= 0 && (ep->proto == TRACE_TCP || is_unix_connection(ep));
}

/* A circle of two needs two connections, on each of which one sends requests to the other. Mutual
 * waits at the two ends of one connection, or of a parent and its child, are judged elsewhere
 * (waits_for_it_too()). */
static bool is_circle(const struct trace_snapshot *s, size_t first, const struct reader_circle *c)
{
	const struct trace_endpoint *a = &s->ep[first], *b = &s->ep[c->next];

	if (c->n != 2)
		return c->n > 2;
	return is_connection(a) && is_connection(b) && a->peer != c->next && a->tx_calls.bytes &&
	       b->tx_calls.bytes;
}

struct reader_circle reader_circle_at(const struct trace_snapshot *s, size_t first)
{
	struct reader_circle c = { .next = -1, .nobody_else = true };
	struct period all = { .to = UINT64_MAX };
	uint64_t shortest = UINT64_MAX;
	size_t i = first;

	if (!stands_still(&s->ep[first]))
		return (struct reader_circle){ .next = -1 };
	do {
		struct period p = last_wait(&s->ep[i]);
		struct who sender, reader;
		int next = next_of(s, i, &sender);

		if (next < 0 || c.n == CIRCLE_MAX)
			return (struct reader_circle){ .next = -1 };
		reader = who_was_last(&s->ep[next].rx_calls);
		c.next = c.n++ ? c.next : next;
		c.nobody_else &= is_alone(&sender, &reader);
		c.closed |= s->ep[i].closed;
		all = both(all, p);
		shortest = length(p) < shortest ? length(p) : shortest;
		i = (size_t)next;
	} while (i != first);
	return is_circle(s, first, &c) && are_at_once(all, shortest)
		       ? c
		       : (struct reader_circle){ .next = -1 };
}
