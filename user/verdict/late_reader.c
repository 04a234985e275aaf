// SPDX-License-Identifier: GPL-2.0-only
/* Readers that leave data unread, mostly data of a sender that was not seen. */
#include <string.h>

#include "verdict/negligible.h"
#include "verdict/own_window.h"
#include "verdict/stopped_or_throttled.h"
#include "verdict/other_findings.h"
#include "verdict/replies.h"
#include "verdict/times.h"

/* It is normal that data lies unread for a smaller share of the time, or for less than LATE_NS
 * on average, each time or for each read: a server serves others too, and a reader that comes
 * back at once reads as fast as it can. */
#define LATE_SHARE 0.1
#define LATE_NS	   1000000
#define BUSY_SHARE 0.25 /* of its time: data for a busy reader waits its turn */

/* Samples count no reads; but each answer, of at least one segment, has a read before it. */
static uint64_t reads_at_least(const struct trace_endpoint *ep)
{
	if (trace_messages_known(&ep->rx_calls))
		return ep->rx_calls.messages;
	return is_sampled_only(ep) && ep->rx_calls.bytes ? ep->path.sent_segments : 0;
}

static uint64_t whiles(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	uint64_t reads = reads_at_least(ep);

	return reads > r->count ? reads : r->count;
}

/* A sender that was seen was not held up. It may still wait for an answer, if one message lay
 * unread this long. */
#define UNANSWERED_SHARE 0.5
#define UNANSWERED_NS	 100000000

/* Each of the sender's messages was answered, and soon: the server answers what it does not
 * read. */
static bool has_its_answers(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			    const struct reader_spell *r)
{
	const struct trace_endpoint *sender = ep->peer >= 0 ? &s->ep[ep->peer] : NULL;
	const struct trace_call_stats *b = sender ? &sender->rx_calls : NULL;

	return b && trace_messages_known(b) && trace_messages_known(&sender->tx_calls) &&
	       b->reply_n && !b->open_reply_ns && 2 * b->reply_max_ns < r->max_ns;
}

static bool lies_unanswered(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	return ep->proto != TRACE_PIPE && r->max_ns >= UNANSWERED_NS &&
	       (double)r->max_ns >= UNANSWERED_SHARE * (double)ep->rx.lifetime_ns;
}

/* At least half of the spell was not spent sending. */
static bool sent_little(const struct trace_endpoint *ep, uint64_t spell_ns)
{
	return ep->tx.lifetime_ns - ep->tx.ns[TX_IDLE] <= spell_ns / 2;
}

/* A sender that was seen waits for an answer while its message lies unread for long. Each message,
 * which may be two writes, has an answer (a stream with a few acknowledgements waits for none). The
 * longest unread time was not spent on the answer before, and the sender reads its answers. A
 * server that reads at once has no such time, however long its connections live. */
static bool holds_up_an_answer(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			       const struct reader_spell *r)
{
	const struct trace_endpoint *sender = ep->peer >= 0 ? &s->ep[ep->peer] : NULL;

	if (!sender || sender == ep || !trace_messages_known(&sender->tx_calls) ||
	    !trace_messages_known(&ep->tx_calls))
		return false;
	if (!sender->tx_calls.messages || 2 * ep->tx_calls.messages < sender->tx_calls.messages ||
	    r->max_ns < UNANSWERED_NS)
		return false;
	return sent_little(ep, r->max_ns) && sent_little(sender, r->max_ns) &&
	       sender->rx.ns[RX_UNREAD] <= r->max_ns / 2;
}

/* The part of the unread time after the sender had closed. */
static uint64_t after_its_sender(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *sender = ep->peer >= 0 ? &s->ep[ep->peer] : ep;

	return sender->closed && ep->rx.now == RX_UNREAD && ep->at_ns > sender->at_ns
		       ? smaller(ep->at_ns - sender->at_ns, ep->rx.ns[RX_UNREAD])
		       : 0;
}

/* The unread time while the sender was there. */
static struct reader_spell unread_at(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct reader_spell r = spell_of(s, i, RX_UNREAD);
	uint64_t after = after_its_sender(s, ep);

	r.ns -= after;
	r.max_ns = smaller(r.max_ns, r.ns);
	r.share = ep->rx.lifetime_ns > after
			  ? (double)r.ns / (double)(ep->rx.lifetime_ns - after)
			  : 0;
	return r;
}

/* The data lay unread longer after its sender had closed than before, and the sender waited for no
 * answer. */
static bool is_farewell(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			const struct reader_spell *r)
{
	const struct trace_endpoint *sender = ep->peer >= 0 ? &s->ep[ep->peer] : NULL;

	return sender && sender->closed && sender->at_ns + r->max_ns / 2 < ep->at_ns &&
	       2 * waited_at(s, (size_t)ep->peer).max_ns < r->max_ns;
}

/* The size of a pipe as it is made. Data in a pipe that has room keeps no writer waiting: tokens,
 * say, that nobody needs now. */
#define PIPE_DEF_BUFFERS 16

/* One long unread time among many short ones: a user who looks for a pause looks for this one, and
 * the short ones hide it from every average. It counts where an answer is expected: data that needs
 * none keeps nobody waiting. */
#define FREEZE_SHARE 0.05
#define FREEZE_TIMES 20 /* as long as the others are on average */

static bool is_freeze(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	uint64_t n = r->count, rest = r->ns > r->max_ns ? r->ns - r->max_ns : 0;

	if (n < 2 || r->max_ns < FREEZE_NS ||
	    (double)r->max_ns < FREEZE_SHARE * (double)ep->rx.lifetime_ns)
		return false;
	return r->max_ns >= FREEZE_TIMES * (rest / (n - 1));
}

/* For at least half of the longest unread time the sender got nothing: it slept in a call, or in
 * epoll, outside of calls. */
static bool was_awaited(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			const struct reader_spell *r)
{
	const struct trace_endpoint *sender = ep->peer >= 0 ? &s->ep[ep->peer] : NULL;

	if (!sender || sender == ep || !ep->tx_calls.bytes)
		return false;
	return 2 * sender->rx.max[RX_WAIT] >= r->max_ns || 2 * sender->rx.max[RX_IDLE] >= r->max_ns;
}

/* A client that checks for the answer now and then, instead of waiting for it, delays itself at
 * each request, while the other end waits for the next. A check each second, or less often, is a
 * heartbeat. A client that meanwhile waits for a third party, or computes, has a reason. */
#define ANSWERS	       5
#define ANSWERS_SHARE  0.5
#define SOON_NS	       5000000
#define HEARTBEAT_NS   500000000
#define BUSY_TIMES     4

static bool waits_elsewhere(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			    uint64_t ns)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *other = &s->ep[i];
		const struct trace_call_stats *in = &other->rx_calls;

		if (other != ep && in->tgid == ep->rx_calls.tgid &&
		    2 * (waited_at(s, i).ns + ledger_stall_ns(&other->tx)) >= ns)
			return true;
	}
	return false;
}

bool leaves_answers_unread(const struct trace_snapshot *s, const struct reader_spell *r)
{
	const struct trace_endpoint *ep = &s->ep[r->endpoint],
				    *other = ep->peer >= 0 ? &s->ep[ep->peer] : NULL;
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;

	if (!other || ep->proto == TRACE_PIPE || !trace_messages_known(in) ||
	    !trace_messages_known(out) || !sends_requests(s, (size_t)r->endpoint))
		return false;
	if (in->messages < ANSWERS || r->count < ANSWERS || 2 * out->messages < in->messages ||
	    r->share < ANSWERS_SHARE)
		return false;
	if (r->ns < SOON_NS * in->messages || r->ns > HEARTBEAT_NS * in->messages)
		return false;
	if (2 * r->max_ns > r->ns || stopped_or_throttled(s, in, r->ns) != HALT_NONE)
		return false; /* the reader was away once */
	return in->cpu_res != TRACE_UNKNOWN && BUSY_TIMES * in->cpu_ns < r->ns &&
	       2 * (other->rx.ns[RX_WAIT] + other->rx.ns[RX_IDLE]) >= r->ns &&
	       !waits_elsewhere(s, ep, r->ns);
}

/* Most samples found the queue full, though it is read: others send as soon as there is room, and a
 * send that does not wait is refused. No sender shows that, since it does not sleep. */
#define REFILLED_OFTEN 3

bool leaves_no_room(const struct trace_snapshot *s, size_t i)
{
	const struct trace_samples *l = s->samples ? &s->samples[i] : NULL;

	return l && l->n && 2ull * l->full >= l->n && l->refilled >= REFILLED_OFTEN;
}

static bool lies_too_long(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	return r->share >= LATE_SHARE && r->ns >= LATE_NS * whiles(ep, r);
}

/* The reader ran or waited for a CPU nearly all the time: a server that serves others meanwhile, as
 * fast as it can. */
#define AT_WORK 0.75

bool reader_is_at_work(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = &ep->rx_calls;

	return b->cpu_res != TRACE_UNKNOWN &&
	       (double)(b->cpu_ns + b->no_cpu_ns) >= AT_WORK * (double)ep->rx.lifetime_ns;
}

/* One thread of the process ran nearly all the time: perhaps the one that reads. */
static bool busiest_is_at_work(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = &ep->rx_calls;

	return b->cpu_res == TRACE_UNKNOWN &&
	       (double)b->busiest_cpu_ns >= AT_WORK * (double)ep->rx.lifetime_ns;
}

/* One thread of the process never rests, and data lies unread for less than half of the time: that
 * thread may be the reader. */
static bool may_be_at_work(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	return 2 * r->ns < ep->rx.lifetime_ns && busiest_is_at_work(ep);
}

/* The reader sleeps here for more data, runs, or waits for a CPU: the rest of its time is less than
 * half of the unread time. */
static bool sleeps_only_there(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	const struct trace_call_stats *b = &ep->rx_calls;
	uint64_t there = ep->rx.ns[RX_WAIT] + b->cpu_ns + b->no_cpu_ns,
		 elsewhere = ep->rx.lifetime_ns - smaller(ep->rx.lifetime_ns, there);

	return b->cpu_res != TRACE_UNKNOWN && ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN &&
	       2 * elsewhere < r->ns;
}

/* In a fast stream more data is there whenever the reader comes back. It is late only if it
 * stays away. */
#define STAYS_AWAY_NS 100000000

static bool is_fast_stream(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	return ep->proto == TRACE_TCP && !other_end_seen(ep) &&
	       rate_of_receiving(ep) >= FULL_SPEED &&
	       (is_sampled_only(ep) || r->max_ns < STAYS_AWAY_NS);
}

static bool keeps_its_sender_waiting(const struct trace_snapshot *s,
				     const struct trace_endpoint *ep, const struct reader_spell *r)
{
	return !is_farewell(s, ep, r) && !has_its_answers(s, ep, r) &&
	       (lies_unanswered(ep, r) || holds_up_an_answer(s, ep, r));
}

/* What lies at a client until it sends its next request, a fraction of a second later, delays
 * nobody: the server sent more than the answer, for example. */
static bool lies_until_next_request(const struct trace_snapshot *s, const struct trace_endpoint *ep,
				    const struct reader_spell *r)
{
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;

	if (ep->proto == TRACE_PIPE || other_end_seen(ep) || ep->making.other_full ||
	    r->max_ns >= NOTICEABLE_NS || !sends_requests(s, (size_t)(ep - s->ep)))
		return false;
	if (is_sampled_only(ep))
		return (uint64_t)ep->path.sent_segments * NOTICEABLE_NS >= ep->rx.lifetime_ns;
	return trace_messages_known(in) && trace_messages_known(out) && out->messages &&
	       2 * out->messages >= in->messages;
}

static bool is_late(const struct trace_snapshot *s, const struct trace_endpoint *ep,
		    const struct reader_spell *r)
{
	if (ep->proto == TRACE_UDP ||
	    ep->rx.resolution[RX_UNREAD] == TRACE_UNKNOWN) /* a UDP sender waits for no reader */
		return false;
	if (ep->proto == TRACE_PIPE && (!ep->rx_calls.tgid || ep->queue_max < PIPE_DEF_BUFFERS ||
					ep->making.no_writer))
		return false;
	if (is_freeze(ep, r) &&
	    (!other_end_seen(ep) || (was_awaited(s, ep, r) && !is_farewell(s, ep, r))))
		return true;
	if (leaves_answers_unread(s, r) || leaves_no_room(s, (size_t)r->endpoint))
		return true;
	if (other_end_seen(ep) && !keeps_its_sender_waiting(s, ep, r))
		return false;
	return lies_too_long(ep, r) && !reader_is_at_work(ep) && !may_be_at_work(ep, r) &&
	       !sleeps_only_there(ep, r) && !is_fast_stream(ep, r) &&
	       !lies_until_next_request(s, ep, r);
}

/* Connections of the same server, whichever of its processes reads. */
static bool is_same_server(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->proto == TRACE_TCP && b->proto == TRACE_TCP && a->netns == b->netns &&
	       a->local.port == b->local.port;
}

/* Connections of one client to the same server */
static bool is_same_client(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->proto == TRACE_TCP && b->proto == TRACE_TCP &&
	       a->rx_calls.tgid == b->rx_calls.tgid &&
	       !memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

static pid_t sender_at(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return ep->peer >= 0 ? s->ep[ep->peer].tx_calls.tgid : 0;
}

struct totals sum_late(const struct trace_snapshot *s, const struct reader_spell *late)
{
	const struct trace_endpoint *ep = late->endpoint < 0 ? NULL : &s->ep[late->endpoint];
	struct totals sum = {};

	for (size_t i = 0; ep && i < s->n; i++) {
		const struct trace_endpoint *other = &s->ep[i];
		struct reader_spell r = unread_at(s, i);

		if (other != ep && !((is_same_server(ep, other) || is_same_client(ep, other)) &&
				     is_late(s, other, &r)))
			continue;
		sum.connections++;
		sum.ns += r.ns;
		sum.lifetime_ns += other->rx.lifetime_ns - after_its_sender(s, other);
		sum.count += r.count;
		sum.max_ns = larger(sum.max_ns, r.max_ns);
		sum.several_senders |= sender_at(s, other) != sender_at(s, ep);
		sum.several_blamed |= other->rx_calls.tgid && ep->rx_calls.tgid &&
				      other->rx_calls.tgid != ep->rx_calls.tgid;
	}
	return sum;
}

/* The reader runs, and data for it waits its turn. */
static bool waits_its_turn(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			   const struct reader_spell *r)
{
	if (ep->rx.resolution[RX_UNREAD] == TRACE_UNKNOWN || r->share < BUSY_SHARE)
		return false;
	return reader_is_at_work(ep) || (ep->proto == TRACE_UDP && busiest_is_at_work(ep));
}

typedef bool spell_test(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			const struct reader_spell *r);

static struct reader_spell longest_unread(const struct trace_snapshot *s, spell_test *test)
{
	struct reader_spell longest = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell r = unread_at(s, i);

		if (r.ns >= VERDICT_MIN_NS && r.ns > longest.ns && test(s, &s->ep[i], &r))
			longest = r;
	}
	return longest;
}

struct reader_spell find_late_reader(const struct trace_snapshot *s)
{
	return longest_unread(s, is_late);
}

struct reader_spell find_busy_reader(const struct trace_snapshot *s)
{
	return longest_unread(s, waits_its_turn);
}
