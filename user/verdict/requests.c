// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/requests.h"

#include "verdict/mutual_wait.h"
#include "verdict/replies.h"
#include "verdict/times.h"

/* The endpoints through which requests go out, at which they come in, and through which answers go
 * out; NULL: not seen. */
struct ends {
	const struct trace_endpoint *asks, *asked, *answers;
};

static struct ends ends_of(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	int back = reverse_endpoint(s, i), out = outgoing_endpoint(s, i);

	if (back < 0 || out < 0)
		return (struct ends){ ep, NULL, NULL };
	return (struct ends){ &s->ep[out], &s->ep[back],
			      ep->proto == TRACE_PIPE ? ep : &s->ep[ep->peer] };
}

static bool are_known(const struct trace_call_stats *b)
{
	return b->messages && trace_messages_known(b);
}

/* Each request has one answer. If there are more of either, in pieces, the smaller number
 * counts. */
static uint64_t number_of(const struct trace_endpoint *ep, const struct ends *e)
{
	const struct trace_call_stats *asked = &e->asks->tx_calls,
				      *answered =
					      e->answers ? &e->answers->tx_calls : &ep->rx_calls;

	return are_known(asked) && are_known(answered)
		       ? smaller(asked->messages, answered->messages)
		       : 0;
}

/* The path, there and back for each request, and the time in which requests and answers were held
 * up, sent or read. */
static uint64_t on_the_way(const struct trace_endpoint *ep, const struct ends *e, uint64_t n)
{
	uint64_t path = round_trip_ns(ep) * n;

	if (!e->asked)
		return path;
	return path + ledger_stall_ns(&e->answers->tx) + e->answers->tx.ns[TX_WORK] +
	       e->asked->rx.ns[RX_WORK] + ledger_stall_ns(&e->asks->tx);
}

/* Is it known how long each answer took? Then a client that has no CPU when an answer comes does
 * not count as the server's thinking. Of an answer in pieces only the first piece is timed. */
static bool each_answer_is_whole(const struct trace_call_stats *b)
{
	return b->messages && trace_messages_known(b) && b->reply_n == b->messages;
}

/* The request of the first answer may have come before the session. */
static bool is_timed_from_its_request(const struct trace_endpoint *server)
{
	const struct trace_call_stats *b = &server->tx_calls;

	return each_answer_is_whole(b) || (server->joined_late && trace_messages_known(b) &&
					   b->reply_n && b->reply_n + 1 == b->messages);
}

/* Were the server's reads seen? Some calls (splice) are seen by no hook. */
static bool reads_seen(const struct ends *e)
{
	return e->asked && e->asked->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN;
}

static uint64_t unread_there(const struct ends *e)
{
	return reads_seen(e) ? e->asked->rx.ns[RX_UNREAD] : 0;
}

/* The time in which the server is in no receive call, or in one while another thread works. */
static uint64_t awaits_no_question_ns(const struct trace_snapshot *s,
				      const struct trace_endpoint *ep)
{
	uint64_t wait = ep->rx.ns[RX_WAIT];

	return ep->rx.ns[RX_IDLE] + wait - owed_to(s, (size_t)(ep - s->ep), wait);
}

/* A server that thinks waits for no request, and has none that is unread. A server that waits for
 * requests in epoll is in no call meanwhile: the result is an upper bound. */
static uint64_t may_have_thought(const struct trace_snapshot *s, const struct ends *e,
				 uint64_t wait)
{
	if (e->asked && e->asked->rx.resolution[RX_IDLE] != TRACE_UNKNOWN)
		wait = smaller(wait, awaits_no_question_ns(s, e->asked));
	if (e->answers && reads_seen(e) && each_answer_is_whole(&e->answers->tx_calls))
		wait = smaller(wait, e->answers->tx_calls.reply_ns +
					     e->answers->tx_calls.open_reply_ns);
	return wait;
}

/* Adds the requests that came and were answered while the server was watched. */
static void add_whole_answers(const struct ends *e, struct requests *sum)
{
	const struct trace_call_stats *b = e->answers ? &e->answers->tx_calls : NULL;

	if (!b || !reads_seen(e) || !is_timed_from_its_request(e->answers))
		return;
	sum->whole_ns += b->reply_ns;
	sum->whole += b->reply_n;
	sum->first_may_be_cut |= e->answers->joined_late && b->reply_n == b->messages;
}

/* At most the client's longest wait, and the longest time that the server ever took to answer. */
static uint64_t longest_think(const struct ends *e, uint64_t wait_max)
{
	const struct trace_call_stats *b = e->answers ? &e->answers->tx_calls : NULL;

	if (!b || !reads_seen(e) || !trace_messages_known(b) || !b->reply_n)
		return wait_max;
	return smaller(wait_max, larger(b->reply_max_ns, b->open_reply_ns));
}

static void add_longest(const struct ends *e, uint64_t wait_max, uint64_t think, uint64_t unread,
			struct requests *sum)
{
	uint64_t unread_max = reads_seen(e) ? e->asked->rx.max[RX_UNREAD] : 0;

	sum->think_max_ns = larger(sum->think_max_ns, smaller(think, longest_think(e, wait_max)));
	sum->unread_max_ns =
		larger(sum->unread_max_ns, smaller(unread, smaller(unread_max, wait_max)));
}

/* The client has its answers and waits for more: most of the time is neither on the way, nor
 * thinking, nor unread. Only TCP knows its path; if the other end was not seen, nobody can tell. */
static bool waits_for_more(const struct trace_endpoint *ep, const struct ends *e, uint64_t n,
			   uint64_t wait, uint64_t explained)
{
	uint64_t way;

	if (!e->asked || ep->proto != TRACE_TCP)
		return false;
	way = on_the_way(ep, e, n) + e->answers->tx.ns[TX_FLIGHT] + e->asks->tx.ns[TX_FLIGHT] +
	      1000ull * ep->rtt_us * n;
	return 2 * (way + explained) < wait;
}

/* A client sends one message for each answer, or a fixed number of pieces; a greeting or a
 * handshake adds little. If both ends also send unasked, as HTTP/2 does for its windows and pings,
 * the bytes do not tell which message is a request. */
#define LITTLE 8 /* part */

static bool is_uneven(const struct ends *e)
{
	uint64_t a = e->asks->tx_calls.messages, b = e->answers ? e->answers->tx_calls.messages : a,
		 few = smaller(a, b), over = few ? (a + b - few) % few : 0;

	return e->answers && are_known(&e->answers->tx_calls) &&
	       smaller(over, few - over) > few / LITTLE + 1;
}

/* A pipe or a Unix socket has no path. Time that was neither unread nor thinking belongs to a
 * request that was still being written, as for a program that reads a whole stream and answers
 * once. */
static bool was_still_asked(const struct trace_endpoint *ep, uint64_t wait, uint64_t unread,
			    uint64_t think)
{
	uint64_t rest = wait - unread - think;

	return is_local_ipc(ep) && rest > unread && rest > think;
}

/* A streamed answer: its pieces are no requests, and a server that sends them bit by bit does not
 * think. */
#define IN_PIECES 3

static uint64_t pieces_of(const struct ends *e, uint64_t n, uint64_t think)
{
	const struct trace_call_stats *b = e->answers ? &e->answers->tx_calls : NULL;

	return b && are_known(b) && b->messages >= IN_PIECES * n && b->reply_n &&
			       2 * b->reply_ns < think
		       ? b->messages
		       : 0;
}

/* How many of n waits are about as long as the longest, if all others are short: window updates
 * and pings of HTTP/2, or answers from a cache. Otherwise n. */
#define LIKE_LONGEST	4 /* part */
#define SHORT_ONES_TIME 0.2
#define MOST_ARE_LONG	0.75

static uint64_t slow_ones(const struct trace_endpoint *ep, enum rx_state state, uint64_t n)
{
	const uint32_t *hist = trace_detail(ep)->rx_hist[state];
	uint64_t slow = 0, short_ns = 0;

	for (int k = 0; k < TRACE_HIST; k++) {
		uint64_t each = 1000ull << k, many = hist[k];

		if (LIKE_LONGEST * each < ep->rx.max[state])
			short_ns += each * many;
		else
			slow += many;
	}
	return slow && (double)slow < MOST_ARE_LONG * (double)n &&
			       (double)short_ns <= SHORT_ONES_TIME * (double)ep->rx.ns[state]
		       ? slow
		       : n;
}

/* How many of n requests may have begun before the session, or end after it. */
static uint64_t cut_at(const struct trace_endpoint *ep, uint64_t n)
{
	bool waits = ep->rx_calls.open_reply_ns ||
		     (ep->rx.now == RX_WAIT && ep->tx_calls.messages >= ep->rx_calls.messages);

	return smaller(n,
		       (uint64_t)(ep->joined_late + (!ep->closed && (ep->joined_late || waits))));
}

static uint64_t until_reply(const struct trace_endpoint *ep, const struct ends *e, uint64_t n,
			    uint64_t ns)
{
	const struct trace_call_stats *b = e->answers ? &e->answers->tx_calls : NULL;

	if (b && reads_seen(e) && trace_messages_known(b))
		return smaller(ns, b->reply_ns + b->open_reply_ns);
	return ns - smaller(ns, round_trip_ns(ep) * n);
}

/* Splits a wait that is known by replies: they tell how long the server took for each answer. */
static void add_replies(const struct trace_snapshot *s, size_t i, const struct ends *e,
			struct requests *sum)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct reader_spell r = unanswered_at(s, i);
	uint64_t unread = smaller(r.ns, unread_there(e)), think = r.ns - unread,
		 pieces = pieces_of(e, r.count, think);

	sum->pieces += pieces;
	if (pieces)
		sum->pieces_max_ns = larger(sum->pieces_max_ns, ep->rx.max[RX_IDLE]);
	else
		think = until_reply(ep, e, r.count, think);
	if (was_still_asked(ep, r.ns, unread, think))
		return;
	sum->n += r.count;
	sum->cut += cut_at(ep, r.count);
	sum->unfinished += ep->rx_calls.open_reply_ns != 0;
	sum->slow += slow_ones(ep, RX_IDLE, r.count);
	if (!ep->closed && !ep->rx_calls.reply_n && !ep->rx_calls.messages)
		sum->open += r.count;
	sum->unread_ns += unread;
	sum->way_ns += r.ns - unread - think;
	sum->think_ns += think;
	add_longest(e, r.max_ns, think, unread, sum);
	add_whole_answers(e, sum);
	sum->bounded |= !e->answers;
	sum->uneven |= is_uneven(e);
}

/* The number of waits that lasted about as long as the longest. */
static uint64_t longest_waits(const struct trace_endpoint *ep)
{
	const uint32_t *hist = trace_detail(ep)->rx_hist[RX_WAIT];

	for (int i = TRACE_HIST - 1; i >= 0; i--)
		if (hist[i])
			return hist[i];
	return 0;
}

/* The answered requests were answered soon. A program that only checks for data after each
 * message may find an answer at any time until the next message. */
#define SOON 10 /* part of the timer */

static bool answers_come_soon(const struct trace_endpoint *ep, uint64_t timer_ns)
{
	const struct trace_call_stats *b = &ep->rx_calls;

	return b->reply_n && b->reply_n == b->messages &&
	       SOON * (b->reply_ns / b->reply_n) < timer_ns;
}

uint64_t questions_unanswered(const struct trace_endpoint *ep)
{
	bool is_open = ep->proto == TRACE_TCP && !ep->closed && ep->rx_calls.open_reply_ns;
	uint64_t sent = ep->tx_calls.messages, came = ep->rx_calls.messages + is_open,
		 each = ep->rx.max[RX_WAIT];
	uint64_t missing = smaller(sent > came ? sent - came : 0, longest_waits(ep));

	if ((ep->proto != TRACE_UDP && ep->proto != TRACE_TCP) ||
	    2 * missing * each < ep->rx.ns[RX_WAIT])
		return 0;
	if ((ep->proto == TRACE_TCP || missing >= came) && !answers_come_soon(ep, each))
		return 0;
	/* on a stream each answer may belong to two writes */
	return ep->proto == TRACE_TCP && 2 * missing > came ? 0 : missing;
}

static void add_unanswered(const struct trace_endpoint *ep, struct requests *sum)
{
	uint64_t n = questions_unanswered(ep);

	if (!n)
		return;
	sum->unanswered += n;
	sum->retry_ns = larger(sum->retry_ns, ep->rx.max[RX_WAIT]);
	sum->may_be_lost |= ep->proto == TRACE_UDP;
}

/* A few requests, and the connection was closed without an answer. */
static bool is_given_up(const struct trace_endpoint *ep)
{
	uint64_t asked = ep->tx_calls.messages;

	return ep->proto != TRACE_PIPE && ep->proto != TRACE_UDP && ep->closed && asked &&
	       asked <= QUESTIONS && trace_messages_known(&ep->tx_calls) &&
	       trace_messages_known(&ep->rx_calls) && !ep->rx_calls.messages;
}

/* Without a second pipe that leads back, the writers of a pipe get no requests. */
static bool lacks_answers(const struct trace_endpoint *ep, const struct ends *e)
{
	return ep->proto == TRACE_PIPE && !e->answers;
}

/* A client that polls with a short timeout waits for one answer in many short waits. */
#define PIECES_A_MESSAGE 4

static uint64_t longest_wait(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = &ep->rx_calls;
	uint64_t wait = ep->rx.ns[RX_WAIT], max = ep->rx.max[RX_WAIT];

	if (!b->reply_n || ep->rx.count[RX_WAIT] < PIECES_A_MESSAGE * b->messages ||
	    4 * b->reply_ns > 5 * wait)
		return max;
	return larger(max, smaller(wait, larger(b->reply_max_ns, b->open_reply_ns)));
}

void add_requests(const struct trace_snapshot *s, size_t i, struct requests *sum)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct ends e = ends_of(s, i);
	uint64_t n = number_of(ep, &e), wait = ep->rx.ns[RX_WAIT], think, unread, pieces;

	if (is_given_up(ep)) {
		sum->given_up += ep->tx_calls.messages;
		sum->given_up_ns += waited_at(s, i).ns;
		sum->bounded |= !e.asked;
		return;
	}
	if (waits_out_of_calls(s, i)) {
		add_replies(s, i, &e, sum);
		return;
	}
	if (!n || lacks_answers(ep, &e))
		return;
	unread = smaller(wait, unread_there(&e));
	think = wait - unread - smaller(wait - unread, on_the_way(ep, &e, n));
	think = may_have_thought(s, &e, think);
	if (!questions_unanswered(ep) && (waits_for_more(ep, &e, n, wait, unread + think) ||
					  was_still_asked(ep, wait, unread, think)))
		return;
	sum->n += n;
	sum->cut += cut_at(ep, n);
	sum->slow += slow_ones(ep, RX_WAIT, n);
	if (!ep->closed && !ep->rx_calls.messages)
		sum->open += n;
	sum->unread_ns += unread;
	sum->way_ns += wait - unread - think;
	sum->think_ns += think;
	add_longest(&e, longest_wait(ep), think, unread, sum);
	add_whole_answers(&e, sum);
	pieces = pieces_of(&e, n, think);
	sum->pieces += pieces;
	if (pieces)
		sum->pieces_max_ns = larger(sum->pieces_max_ns, ep->rx.max[RX_WAIT]);
	sum->uneven |= !pieces && is_uneven(&e);
	sum->bounded |= !reads_seen(&e);
	add_unanswered(ep, sum);
}

#define ANSWERED_SOON 5 /* part of its wait */

bool was_answered_soon(const struct trace_endpoint *ep, uint64_t wait_ns)
{
	const struct trace_call_stats *b = &ep->rx_calls;

	return ep->proto != TRACE_PIPE && ep->tx_calls.messages && b->reply_n &&
	       !b->open_reply_ns && ANSWERED_SOON * b->reply_ns <= wait_ns;
}

bool has_requests(const struct requests *r)
{
	return r->n || r->given_up;
}

bool mostly_given_up(const struct requests *r)
{
	return r->given_up_ns > r->think_ns + r->unread_ns + r->way_ns;
}

enum request_part longest_part(const struct requests *r)
{
	if (r->unread_ns > r->think_ns && r->unread_ns > r->way_ns)
		return REQUEST_UNREAD;
	return r->way_ns > r->think_ns ? REQUEST_WAY : REQUEST_THINK;
}

/* A wait that began before the session, or goes on, does not cover a whole request. If the
 * server's own times make up about all of the wait, they tell how long a request takes. */
#define ABOUT_ALL 0.8

bool are_some_slow(const struct requests *r)
{
	return r->slow && r->slow < r->n &&
	       r->think_ns <= (r->slow + 1 + smaller(r->cut, r->slow)) * r->think_max_ns;
}

static bool are_own_times_told(const struct requests *r)
{
	return r->whole && !r->first_may_be_cut && !are_some_slow(r) &&
	       (double)r->whole_ns >= ABOUT_ALL * (double)r->think_ns &&
	       (double)r->think_ns >= ABOUT_ALL * (double)r->whole_ns;
}

/* In a steady state, the missing part of the requests that began before the session equals the
 * seen part of those that end after it. So the average is all the time divided by the number of
 * answered requests. */
static uint64_t average_of_cut(const struct requests *r)
{
	uint64_t answered = r->n > r->unfinished ? r->n - r->unfinished : 1;

	return smaller((r->think_ns + r->uncounted_ns) / answered, r->think_max_ns);
}

uint64_t average_thinking(const struct requests *r)
{
	if (are_own_times_told(r))
		return r->whole_ns / r->whole;
	if (are_some_slow(r))
		return smaller(r->think_ns / r->slow, r->think_max_ns);
	return r->cut ? average_of_cut(r) : r->think_ns / r->n;
}

/* Is the longest request about what the average would be without the requests that were cut off,
 * whose time was seen only in part? */
#define MANY_CUT 10 /* part of them */
#define A_LITTLE 1.05

bool average_is_low(const struct requests *r)
{
	uint64_t n = are_some_slow(r) ? r->slow : r->n, uncut = n > r->cut ? n - r->cut : 1;
	double longest = (double)r->think_max_ns;

	return MANY_CUT * r->cut >= n && !longest_request(r) && !are_own_times_told(r) &&
	       longest >= A_LITTLE * (double)average_thinking(r) &&
	       longest <= A_LITTLE * (double)r->think_ns / (double)uncut;
}

bool are_all_cut(const struct requests *r)
{
	return r->cut >= r->n && !are_own_times_told(r);
}

bool is_longest_typical(const struct requests *r)
{
	return (double)r->think_max_ns * (double)r->n <= 2 * (double)r->think_ns;
}

/* The longest of two makes most if it is three quarters of the sum; of more, if it is half. */
static bool makes_most(uint64_t one, uint64_t sum, uint64_t n)
{
	return 2 * one > sum && 2 * n * one >= 3 * sum;
}

uint64_t longest_request(const struct requests *r)
{
	enum request_part part = longest_part(r);
	bool unread = part == REQUEST_UNREAD;
	uint64_t one = unread ? r->unread_max_ns : r->think_max_ns,
		 sum = unread ? r->unread_ns : r->think_ns;

	if (r->n < 2 || r->pieces || part == REQUEST_WAY)
		return 0;
	return makes_most(one, sum, r->n) ? one : 0;
}

uint64_t unread_meanwhile(const struct trace_snapshot *s, size_t i, uint64_t wait_ns)
{
	struct ends e = ends_of(s, i);
	uint64_t ns;

	ns = smaller(wait_ns, unread_there(&e));
	return 2 * ns > wait_ns ? ns : 0;
}
