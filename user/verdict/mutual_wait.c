// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/mutual_wait.h"

#include <stdlib.h>

#include "base/array.h"
#include "verdict/overlap.h"
#include "verdict/times.h"
#include "verdict/who.h"

/* Waits by turns do not overlap. Mutual waits do, though the first may begin a little sooner, and
 * the last end a little later. */
#define AT_ONCE_SHARE 0.9

/* A pipe or one-way socket pair: the process that writes to it, and the one that reads. */
struct one_way {
	pid_t writer, reader;
	uint64_t wait_ns;
	int at;
};

/* A pipe, or a socket pair that is used as one, such as a child's standard input in Node. */
static bool is_one_way(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *other = ep->peer >= 0 ? &s->ep[ep->peer] : ep;

	if (ep->proto == TRACE_PIPE)
		return true;
	return is_unix_connection(ep) && other != ep && other->tx_calls.bytes &&
	       !other->rx_calls.bytes && !ep->tx_calls.bytes;
}

static struct one_way one_way_at(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i],
				    *writes = ep->proto == TRACE_PIPE ? ep : &s->ep[ep->peer];

	return (struct one_way){ writes->tx_calls.tgid, ep->rx_calls.tgid, ep->rx.ns[RX_WAIT],
				 (int)i };
}

/* Several endpoints may lead back, such as a subprocess's output and its errors: takes the one with
 * the longest wait. */
static int search_back(const struct trace_snapshot *s, size_t i)
{
	struct one_way to = one_way_at(s, i);
	int back = -1;

	for (size_t k = 0; k < s->n && to.writer; k++) {
		struct one_way other;

		if (!is_one_way(s, &s->ep[k]))
			continue;
		other = one_way_at(s, k);
		if (other.reader == to.writer && other.writer == to.reader &&
		    (back < 0 || other.wait_ns > s->ep[back].rx.ns[RX_WAIT]))
			back = (int)k;
	}
	return back;
}

/* If no other socket pair leads back, a socket pair's own other end does. */
static int back_or_peer(const struct trace_endpoint *ep, int back)
{
	return back >= 0 || ep->proto == TRACE_PIPE ? back : ep->peer;
}

int reverse_endpoint(const struct trace_snapshot *s, size_t i)
{
	if (s->reverse_endpoints)
		return s->reverse_endpoints[i];
	return back_or_peer(&s->ep[i], is_one_way(s, &s->ep[i]) ? search_back(s, i) : -1);
}

int outgoing_endpoint_by(const struct trace_snapshot *s, size_t i, int back)
{
	if (!is_one_way(s, &s->ep[i]))
		return (int)i;
	return back < 0 || s->ep[back].proto == TRACE_PIPE ? back : s->ep[back].peer;
}

int outgoing_endpoint(const struct trace_snapshot *s, size_t i)
{
	return outgoing_endpoint_by(s, i, reverse_endpoint(s, i));
}

/* Between the same two processes the longest wait comes first. */
static int ways_order(const void *x, const void *y)
{
	const struct one_way *a = x, *b = y;

	return COMPARE(a->writer, b->writer) ?: COMPARE(a->reader, b->reader) ?:
	       COMPARE(b->wait_ns, a->wait_ns) ?: COMPARE(a->at, b->at);
}

static size_t list_ways(const struct trace_snapshot *s, struct one_way *v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (is_one_way(s, &s->ep[i]))
			v[n++] = one_way_at(s, i);
	qsort(v, n, sizeof(*v), ways_order);
	return n;
}

/* The first endpoint that leads from `writer` to `reader`; -1: there is none. */
static int first_between(const struct one_way *v, size_t n, pid_t writer, pid_t reader)
{
	struct one_way want = { writer, reader, UINT64_MAX, -1 };
	size_t lo = array_lower_bound(&want, v, n, sizeof(want), ways_order);

	return lo < n && v[lo].writer == writer && v[lo].reader == reader ? v[lo].at : -1;
}

static int find_back(const struct trace_snapshot *s, size_t i, const struct one_way *v, size_t n)
{
	struct one_way to;

	if (!is_one_way(s, &s->ep[i]))
		return -1;
	to = one_way_at(s, i);
	return to.writer ? first_between(v, n, to.reader, to.writer) : -1;
}

int *find_reverse_endpoints(const struct trace_snapshot *s)
{
	struct one_way *v = array_new(s->n, 0, sizeof(*v));
	int *back = array_new(s->n, 0, sizeof(*back));
	size_t n = v ? list_ways(s, v) : 0;

	for (size_t i = 0; v && back && i < s->n; i++)
		back[i] = back_or_peer(&s->ep[i], find_back(s, i, v, n));
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

	return (double)surely_overlap(a, x, b, y) >= AT_ONCE_SHARE * (double)smaller(x, y);
}

static struct who who_answers(const struct trace_snapshot *s, size_t i, size_t back)
{
	return who_was_last(&s->ep[outgoing_endpoint_by(s, i, (int)back)].tx_calls);
}

/* Is the reader the thread that answers? If nobody has sent yet, any thread of its process may
 * be. */
static bool sleeps_himself(const struct trace_snapshot *s, size_t i, size_t back)
{
	struct who reader = who_was_last(&s->ep[i].rx_calls), writer = who_answers(s, i, back);

	return !writer.tgid || who_is_same(&reader, &writer);
}

static bool sleeps_alone(const struct trace_snapshot *s, size_t i, size_t back)
{
	struct who reader = who_was_last(&s->ep[i].rx_calls), writer = who_answers(s, i, back);

	return reader.tid && writer.tid && !reader.others && !writer.others;
}

/* Did the sender's state change during the wait? A sender that is idle has sent nothing since its
 * last change. */
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

#define FEW 4 /* waits, each until somebody gives up */

bool has_one_long_wait(const struct trace_endpoint *ep)
{
	uint64_t wait = ep->rx.ns[RX_WAIT];

	return !is_quiet_known(ep) || FEW * ep->rx.max[RX_WAIT] >= wait ||
	       2 * ep->tx_calls.quiet_ns >= wait;
}

#define GREETING_BYTES 700 /* about half a segment */

/* The client never spoke, and nothing but the server's first words came. */
static bool was_only_greeted(const struct trace_endpoint *ep)
{
	return never_spoke(ep, &ep->tx_calls) && ep->rx_calls.bytes <= GREETING_BYTES;
}

/* Samples see no messages. But of a TCP connection they see the bytes that came, and of a pipe that
 * its ring moved. */
static bool hears_nothing(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (ep->rx.resolution[RX_WAIT] != TRACE_BY_SAMPLES)
		return true;
	if (ep->proto == TRACE_TCP)
		return !ep->rx_calls.bytes || was_only_greeted(ep);
	return ep->proto != TRACE_PIPE || !s->samples || !s->samples[i].writes;
}

static bool is_thread_beside(const struct trace_call_stats *a, const struct trace_call_stats *b)
{
	return a->tgid == b->tgid && a->tid && b->tid && a->tid != b->tid;
}

/* Nobody was seen to send what the reader of `i` would send, and another thread of its process
 * waits for a third process. That thread may pass on what comes from there. */
static bool may_be_fed(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_call_stats *reader = &s->ep[i].rx_calls;

	if (who_answers(s, i, back).tid)
		return false;
	for (size_t k = 0; k < s->n; k++) {
		const struct trace_endpoint *ep = &s->ep[k];
		const struct trace_call_stats *from;

		if (k == i || k == back || !is_thread_beside(&ep->rx_calls, reader) ||
		    !do_overlap(ep, &s->ep[i]))
			continue;
		from = who_sends(s, ep);
		if (from && from->tgid != reader->tgid &&
		    from->tgid != s->ep[back].rx_calls.tgid)
			return true;
	}
	return false;
}

bool waits_are_mutual(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[back];

	return do_overlap(a, b) && sleeps_himself(s, i, back) && sleeps_himself(s, back, i) &&
	       has_one_long_wait(a) && has_one_long_wait(b) && hears_nothing(s, i) &&
	       hears_nothing(s, back) && !may_be_fed(s, i, back) && !may_be_fed(s, back, i);
}

static enum wait_end end_at(const struct trace_endpoint *ep, uint64_t wait_ns)
{
	if (is_quiet_known(ep) && (double)ep->tx_calls.quiet_ns < AT_ONCE_SHARE * (double)wait_ns)
		return WAIT_SENT;
	if (is_quiet_known(ep) && ep->closed)
		return WAIT_CLOSED;
	if (is_quiet_known(ep))
		return ep->rx.now == RX_WAIT ? WAIT_GOES_ON : WAIT_GIVEN_UP;
	if (ep->rx_calls.bytes && was_only_greeted(ep))
		return WAIT_SENT;
	if (!changed_during(&ep->tx, ep->at_ns, wait_ns))
		return WAIT_GOES_ON;
	return ep->closed ? WAIT_ENDED : WAIT_SENT;
}

/* A filter that keeps its output until the end of its input answers only when its client gives up
 * and closes. */
static bool was_closed_in_vain(const struct trace_endpoint *ep, uint64_t wait_ns)
{
	return ep->proto == TRACE_PIPE && ep->closed && is_quiet_known(ep) &&
	       (double)ep->tx_calls.quiet_ns >= AT_ONCE_SHARE * (double)wait_ns;
}

/* The request was never answered. With MSG_WAITALL the other end gets a request that is too short
 * when this end closes. */
static bool was_left_unanswered(const struct trace_endpoint *ep, uint64_t wait_ns)
{
	return ep->proto != TRACE_PIPE && ep->closed && trace_messages_known(&ep->rx_calls) &&
	       (double)ep->rx_calls.open_reply_ns >= AT_ONCE_SHARE * (double)wait_ns;
}

enum wait_end mutual_wait_end(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_endpoint *a = &s->ep[i], *b = &s->ep[back];
	uint64_t x = a->rx.max[RX_WAIT], y = b->rx.max[RX_WAIT], least = smaller(x, y);
	enum wait_end at_a = end_at(a, least), at_b = end_at(b, least);

	if (was_closed_in_vain(a, least) || was_closed_in_vain(b, least) ||
	    was_left_unanswered(a, least) || was_left_unanswered(b, least))
		return WAIT_CLOSED;
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
	return sleeps_alone(s, i, back) && sleeps_alone(s, back, i);
}
