// SPDX-License-Identifier: GPL-2.0-only
/* Threads that were ready to run and had to wait for a CPU: woken in a call; or outside of one, in
 * epoll or in the middle of their work, while the other end waited for them. No ledger calls that a
 * stall: the reader is in `wait` meanwhile, or its data in `unread`. */
#include "verdict/blame.h"
#include "verdict/other_findings.h"
#include "verdict/replies.h"
#include "verdict/times.h"

/* a smaller share of an endpoint's time is normal on a busy machine */
#define STARVED_SHARE 0.1
#define AWAITED_SHARE 0.2 /* time outside of calls is not told apart by wake-ups */

/* The direction whose time without a CPU counts, in calls or outside of them. The only thread of a
 * conversation has that time in both directions; a pipe's reader belongs to the other end. */
static const struct trace_call_stats *longer_without(const struct trace_endpoint *ep)
{
	return ep->proto != TRACE_PIPE && ep->rx_calls.no_cpu_ns > ep->tx_calls.no_cpu_ns
		       ? &ep->rx_calls
		       : &ep->tx_calls;
}

const struct trace_call_stats *starved_end(const struct trace_endpoint *ep,
					   const struct reader_spell *starved)
{
	if (starved->count)
		return blame_starved(&ep->rx_calls) > blame_starved(&ep->tx_calls) ? &ep->rx_calls
										   : &ep->tx_calls;
	return longer_without(ep);
}

/* Samples show that it answers a client that was not seen. A thread woken for a request is still in
 * its receive call while it has no CPU. */
#define ANSWERS_LEAST 100

static bool answers_by_samples(const struct trace_endpoint *ep)
{
	return is_sampled_only(ep) && ep->proto == TRACE_TCP &&
	       ep->path.sent_segments >= ANSWERS_LEAST &&
	       2 * ep->rx.ns[RX_WAIT] >= ep->rx.lifetime_ns;
}

/* How long the other end's reader waited for this end to send, or data lay unread at this end. */
static uint64_t awaited(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *other = ep->proto == TRACE_PIPE ? ep
					     : ep->peer >= 0	     ? &s->ep[ep->peer]
								     : NULL;

	if (!other && answers_by_samples(ep))
		return ep->rx_calls.cpu_ns + ep->rx_calls.no_cpu_ns;
	return larger(other ? other->rx.ns[RX_WAIT] : 0,
		      ep->proto == TRACE_PIPE ? 0 : ep->rx.ns[RX_UNREAD]);
}

/* It takes this long to wake a thread. One that is woken again and again, and waits no longer than
 * this each time, is not short of a CPU. */
#define TURN_NS 50000

static bool waits_at_every_turn(const struct trace_call_stats *b)
{
	return b->no_cpu_ns < TURN_NS * b->cpu_turns;
}

/* The time without a CPU, if it explains at least half of the time that the thread was awaited. */
static struct reader_spell awaited_without_cpu(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	uint64_t waited = awaited(s, ep), ns = smaller(longer_without(ep)->no_cpu_ns, waited);
	struct reader_spell one = { .endpoint = (int)i, .ns = ns, .share = ep->tx.lifetime_ns
		? (double)ns / (double)ep->tx.lifetime_ns : 0 };

	if (2 * ns < waited || one.share < AWAITED_SHARE || waits_at_every_turn(longer_without(ep)))
		one.ns = 0;
	return one;
}

static struct reader_spell starved(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	uint64_t writer = blame_starved(&ep->tx_calls), reader = blame_starved(&ep->rx_calls);

	return (struct reader_spell){
		.endpoint = (int)i,
		.ns = writer + reader,
		.max_ns = larger(writer ? ep->tx_calls.runq_max_ns : 0,
				 reader ? ep->rx_calls.runq_max_ns : 0),
		.count = (writer ? ep->tx_calls.wakeups : 0) + (reader ? ep->rx_calls.wakeups : 0),
		.share = ep->rx.lifetime_ns ? (double)(writer + reader) / (double)ep->rx.lifetime_ns
					    : 0,
	};
}

struct reader_spell find_starved(const struct trace_snapshot *s)
{
	struct reader_spell most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell one = starved(s, i), out = awaited_without_cpu(s, i);

		if (out.ns > DWARFS * one.ns)
			one = out;
		one.share = one.share > 1
				    ? 1
				    : one.share; /* it is the sum over all threads at one end */
		if (one.ns >= VERDICT_MIN_NS && one.ns > most.ns && one.share >= STARVED_SHARE)
			most = one;
	}
	return most;
}
