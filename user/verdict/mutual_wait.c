// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/mutual_wait.h"

#include <stdlib.h>

#include "base/array.h"
#include "verdict/overlap.h"
#include "verdict/who.h"

/* Of waits by turns nothing is at once; but that of two which are, the first began a little sooner,
 * or the last ended later, is no matter. */
#define AT_ONCE_SHARE 0.9

/* two pipes between two programs, one each way */
static bool answers(const struct trace_endpoint *ep, const struct trace_endpoint *back)
{
	return back->proto == TRACE_PIPE && ep->tx_calls.tgid &&
	       back->rx_calls.tgid == ep->tx_calls.tgid && back->tx_calls.tgid == ep->rx_calls.tgid;
}

/* There may be several that way, as a subprocess's output and its errors: it waits at the one where
 * it waits longest. */
static int pipe_back(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	int back = -1;

	for (size_t i = 0; i < s->n; i++)
		if (answers(ep, &s->ep[i]) &&
		    (back < 0 || s->ep[i].rx.ns[RX_WAIT] > s->ep[back].rx.ns[RX_WAIT]))
			back = (int)i;
	return back;
}

int way_back(const struct trace_snapshot *s, size_t i)
{
	if (s->ways_back)
		return s->ways_back[i];
	return s->ep[i].proto == TRACE_PIPE ? pipe_back(s, &s->ep[i]) : s->ep[i].peer;
}

struct pipe_users {
	pid_t writer, reader;
	uint64_t wait_ns;
	int at;
};

/* of those between the same two the longest wait comes first */
static int users_order(const void *x, const void *y)
{
	const struct pipe_users *a = x, *b = y;

	if (a->writer != b->writer)
		return a->writer < b->writer ? -1 : 1;
	if (a->reader != b->reader)
		return a->reader < b->reader ? -1 : 1;
	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	return a->at - b->at;
}

static size_t list_pipes(const struct trace_snapshot *s, struct pipe_users *v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->ep[i].proto == TRACE_PIPE)
			v[n++] = (struct pipe_users){ s->ep[i].tx_calls.tgid,
						      s->ep[i].rx_calls.tgid,
						      s->ep[i].rx.ns[RX_WAIT], (int)i };
	qsort(v, n, sizeof(*v), users_order);
	return n;
}

/* the first of those that lead from the one to the other; -1: there is none */
static int first_between(const struct pipe_users *v, size_t n, pid_t writer, pid_t reader)
{
	struct pipe_users want = { writer, reader, UINT64_MAX, -1 };
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (users_order(&v[mid], &want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && v[lo].writer == writer && v[lo].reader == reader ? v[lo].at : -1;
}

int *find_ways_back(const struct trace_snapshot *s)
{
	struct pipe_users *v = array_new(s->n, 0, sizeof(*v));
	int *back = array_new(s->n, 0, sizeof(*back));
	size_t n = v ? list_pipes(s, v) : 0;

	for (size_t i = 0; v && back && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		pid_t writer = ep->tx_calls.tgid;

		back[i] = ep->proto != TRACE_PIPE ? ep->peer
			  : writer ? first_between(v, n, ep->rx_calls.tgid, writer)
				   : -1;
	}
	if (!v) {
		free(back);
		back = NULL;
	}
	free(v);
	return back;
}

static bool do_overlap(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	uint64_t x = asleep_ns(a), y = asleep_ns(b);

	return (double)surely_overlap(a, x, b, y) >= AT_ONCE_SHARE * (double)(x < y ? x : y);
}

/* who writes what the one who sleeps at `ep` would answer with: at a socket the same end's writer
 */
static struct who writer_beside(const struct trace_endpoint *ep, const struct trace_endpoint *back)
{
	return who_was_last(ep->proto == TRACE_PIPE ? &back->tx_calls : &ep->tx_calls);
}

/* As far as was seen: who has not sent yet may be any thread of his. */
static bool sleeps_himself(const struct trace_endpoint *ep, const struct trace_endpoint *back)
{
	struct who reader = who_was_last(&ep->rx_calls), writer = writer_beside(ep, back);

	return !writer.tgid || who_is_same(&reader, &writer);
}

static bool sleeps_alone(const struct trace_endpoint *ep, const struct trace_endpoint *back)
{
	struct who reader = who_was_last(&ep->rx_calls), writer = writer_beside(ep, back);

	return reader.tid && writer.tid && !reader.others && !writer.others;
}

/* of its sender's last change of state: since when it has sent nothing, if nothing is under way */
static bool changed_during(const struct trace_ledger *tx, uint64_t at_ns, uint64_t wait_ns)
{
	uint64_t quiet = at_ns > tx->since_ns ? at_ns - tx->since_ns : 0;

	return tx->since_ns &&
	       (tx->now != TX_IDLE || (double)quiet < AT_ONCE_SHARE * (double)wait_ns);
}

bool is_quiet_known(const struct trace_endpoint *ep)
{
	return ep->tx_calls.quiet_ns && trace_messages_known(&ep->tx_calls);
}

bool waits_once(const struct trace_endpoint *ep)
{
	uint64_t wait = ep->rx.ns[RX_WAIT];

	return !is_quiet_known(ep) || 2 * ep->rx.max[RX_WAIT] >= wait ||
	       2 * ep->tx_calls.quiet_ns >= wait;
}

/* Looks see no message; but of a connection what came in all that time, and of a pipe that its ring
 * moved. */
static bool hears_nothing(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (ep->rx.resolution[RX_WAIT] != TRACE_BY_LOOKS)
		return true;
	return ep->proto == TRACE_PIPE ? !s->looks || !s->looks[i].writes
				       : ep->proto != TRACE_TCP || !ep->rx_calls.bytes;
}

bool waits_are_mutual(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[back];

	return do_overlap(a, b) && sleeps_himself(a, b) && sleeps_himself(b, a) && waits_once(a) &&
	       waits_once(b) && hears_nothing(s, i) && hears_nothing(s, back);
}

static enum wait_end end_at(const struct trace_endpoint *ep, uint64_t wait_ns)
{
	if (is_quiet_known(ep) && (double)ep->tx_calls.quiet_ns < AT_ONCE_SHARE * (double)wait_ns)
		return WAIT_SENT;
	if (is_quiet_known(ep) && ep->closed)
		return WAIT_CLOSED;
	if (is_quiet_known(ep))
		return ep->rx.now == RX_WAIT ? WAIT_GOES_ON : WAIT_GIVEN_UP;
	if (!changed_during(&ep->tx, ep->at_ns, wait_ns))
		return WAIT_GOES_ON;
	return ep->closed ? WAIT_ENDED : WAIT_SENT;
}

enum wait_end mutual_wait_end(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[back];
	uint64_t x = a->rx.max[RX_WAIT], y = b->rx.max[RX_WAIT], least = x < y ? x : y;
	enum wait_end at_a = end_at(a, least), at_b = end_at(b, least);

	return at_a > at_b ? at_a : at_b;
}

bool was_answered(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[back];

	return is_quiet_known(a) && is_quiet_known(b) && a->rx_calls.bytes && b->rx_calls.bytes &&
	       mutual_wait_end(s, i, back) == WAIT_SENT;
}

bool nobody_else_sends(const struct trace_snapshot *s, size_t i, size_t back)
{
	return sleeps_alone(&s->ep[i], &s->ep[back]) && sleeps_alone(&s->ep[back], &s->ep[i]);
}
