// SPDX-License-Identifier: GPL-2.0-only
/* Where nothing stalls, a reader may still wait long: for another program that is slow, or has
 * nothing to send. */
#include <math.h>

#include "verdict/by_address.h"
#include "verdict/feed.h"
#include "verdict/kept_output.h"
#include "verdict/long_wait.h"
#include "verdict/mutual_wait.h"
#include "verdict/negligible.h"
#include "verdict/other_findings.h"
#include "verdict/reader_circle.h"
#include "verdict/requests.h"
#include "verdict/replies.h"
#include "verdict/times.h"
#include "verdict/worker_pool.h"

/*
 * It is normal that a reader waits for less than half of its time or, if it never sends a request,
 * for less than FEED_SHARE. A longer wait counts on two conditions. For most of it the sender was
 * not held up itself: it had nothing to send, or all was in flight. And the sender did not wait for
 * this reader in turn for more than half as long, as it does at the other end of a long path, where
 * it waits for the next request.
 */
#define WAIT_SHARE 0.5
#define FEED_SHARE (2.0 / 3)
#define SLOWER	   1.2 /* answers take this many times the client's pauses */
#define IDLE_SHARE 0.8
#define BY_TURNS   0.2
#define TURNS_HALF 0.5

const struct trace_endpoint *awaited_end(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep)
{
	if (ep->proto == TRACE_PIPE)
		return ep;
	return ep->peer >= 0 ? &s->ep[ep->peer] : NULL;
}

pid_t awaited_tgid(const struct trace_endpoint *sender, bool pipe)
{
	return sender->tx_calls.tgid || pipe ? sender->tx_calls.tgid : sender->rx_calls.tgid;
}

pid_t awaited_process(const struct trace_snapshot *s, int i)
{
	const struct trace_endpoint *sender = awaited_end(s, &s->ep[i]);
	int server = sender ? -1 : bound_where_it_sends(s, &s->ep[i]);

	if (server >= 0)
		return s->ep[server].rx_calls.tgid;
	return sender ? awaited_tgid(sender, s->ep[i].proto == TRACE_PIPE) : 0;
}

/* This end answered before anything that it had sent was answered: a server. */
static bool was_asked_first(const struct trace_endpoint *ep)
{
	uint64_t own = ep->tx_calls.first_reply_ns, others = ep->rx_calls.first_reply_ns;

	return own && (!others || own <= others);
}

/* A server's port is well known, or at least chosen by its program. */
static bool sends_to_server(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	int there = bound_where_it_sends(s, ep);

	return !ep->making.bound && (ep->remote.port < TRACE_EPHEMERAL_PORT ||
				     (there >= 0 && s->ep[there].making.bound));
}

#define SERVICE_PORTS 1024

/* A resolver may choose its port itself, against spoofed answers. */
static bool is_connected_to_service(const struct trace_endpoint *ep)
{
	return ep->remote.port && ep->remote.port < SERVICE_PORTS &&
	       ep->local.port >= SERVICE_PORTS;
}

/* Samples see no datagram leave. But the kernel gives an unbound socket its port when it first
 * sends. */
static bool is_udp_client_by_samples(const struct trace_endpoint *ep)
{
	return ep->rx.resolution[RX_WAIT] == TRACE_BY_SAMPLES && ep->local.port &&
	       (!ep->making.bound || is_connected_to_service(ep));
}

/* A UDP socket that takes datagrams from anybody awaits nobody. But one that sent to a single
 * address waits for that one, unless it is a server that answers there. */
static bool may_await_unseen(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	if (ep->proto != TRACE_UDP || is_udp_client_by_samples(ep))
		return true;
	if (!ep->remote.port || !(ep->tx_calls.messages || ep->tx_calls.bytes))
		return false;
	if (ep->joined_late && sends_to_server(s, ep)) /* an answer that was under way came first */
		return true;
	return !(ep->joined_late && ep->making.unconnected) && !was_asked_first(ep);
}

/* The part of the sender's `flight` in which the data had come: the reader's kernel withheld its
 * ACK. */
static uint64_t has_come(const struct trace_endpoint *sender, const struct trace_endpoint *reader)
{
	return smaller(sender->tx.ns[TX_FLIGHT], reader->ack_debt_ns);
}

/* With TCP_DEFER_ACCEPT the other end begins when the first data comes, or seconds later. */
static uint64_t before_it_began(const struct trace_endpoint *sender,
				const struct trace_endpoint *reader)
{
	return sender == reader || began(sender) <= began(reader)
		       ? 0
		       : smaller(began(sender) - began(reader), reader->rx.ns[RX_WAIT]);
}

static uint64_t has_nothing_to_send(const struct trace_endpoint *sender,
				    const struct trace_endpoint *reader)
{
	return sender->tx.ns[TX_IDLE] + has_come(sender, reader) +
	       before_it_began(sender, reader);
}

/* Samples count no messages; but on a long path all of `flight` is the path's. */
static bool is_looked_at_over_long_path(const struct trace_endpoint *ep)
{
	return ep->rx.resolution[RX_WAIT] == TRACE_BY_SAMPLES && is_far(ep);
}

/* The path's time is known for each request and answer, and is reported apart from the wait
 * (requests.h). */
static uint64_t round_trips_ns(const struct trace_endpoint *sender,
			       const struct trace_endpoint *reader)
{
	uint64_t flight = sender->tx.ns[TX_FLIGHT] - has_come(sender, reader);

	if (is_looked_at_over_long_path(reader))
		return flight;
	if (!trace_messages_known(&sender->tx_calls))
		return 0;
	return smaller(flight, 2000ull * sender->min_rtt_us * sender->tx_calls.messages);
}

/* Threads of one program that talk over a connection treat each other as other programs. What only
 * wakes up a helper does not count. */
static bool talks_to_itself(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	bool conversation =
		ep->proto == TRACE_TCP ||
		(is_unix_connection(ep) && (sends_requests(s, i) || answers_requests(s, i)));

	return conversation && (ep->tx_calls.bytes || ep->rx_calls.bytes) &&
	       (waits_out_of_calls(s, i) || ep->rx_calls.tid != s->ep[ep->peer].rx_calls.tid);
}

/* A Unix datagram socket that never sends takes messages from anybody: a system's log. */
static bool is_log(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UNIX_DGRAM && !ep->tx_calls.messages && !ep->tx_calls.bytes;
}

/* Several processes take tokens from a pipe, and put them back: one of the others has the token. */
bool is_token_pipe(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->rx_calls.others && ep->tx_calls.others &&
	       ep->rx.max[RX_WAIT] >= NOTICEABLE_NS &&
	       2 * ep->rx.max[RX_WAIT] >= ep->rx.lifetime_ns;
}

/* A server that is slow to answer may be held up at each answer as well, which is reported apart.
 * That time still counts if it is little beside the time in which the server had nothing to
 * send. */
#define HELD_BESIDE 0.5

static uint64_t held_beside(const struct trace_endpoint *sender)
{
	uint64_t held = sender->tx.ns[TX_NAGLE] + sender->tx.ns[TX_CORK];

	return (double)held <= HELD_BESIDE * (double)sender->tx.ns[TX_IDLE] ? held : 0;
}

/* The wait of a server without work, or of a program's own helper, does not count. */
static bool awaits_another(const struct trace_snapshot *s, size_t i, uint64_t wait)
{
	const struct trace_endpoint *ep = &s->ep[i], *sender = awaited_end(s, ep);
	bool other;

	if (is_log(ep) || is_feed(s, i))
		return false;
	if (!sender)
		return may_await_unseen(s, ep);
	other = awaited_tgid(sender, ep->proto == TRACE_PIPE) != ep->rx_calls.tgid ||
		pool_work(s, ep) || is_token_pipe(ep);
	return (double)(has_nothing_to_send(sender, ep) + round_trips_ns(sender, ep) +
			held_beside(sender)) >= IDLE_SHARE * (double)wait &&
	       (other || talks_to_itself(s, i));
}

/* Two processes talk through pipes, and the last request has no answer yet. */
static bool is_question_open(const struct trace_snapshot *s, size_t i)
{
	int at = s->ep[i].proto == TRACE_PIPE && answers_requests(s, i) ? reverse_endpoint(s, i)
									: (int)i;

	return at >= 0 && asked_last(s, (size_t)at);
}

/* The reader is no process of the session, but a program of the session inherited the pipe and
 * never used it: a log. */
static bool is_others_business(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_PIPE && ep->rx_calls.outsider;
}

/* The reader has written, by another pipe, to the process that should write here. */
static bool has_asked_by_pipe(const struct trace_snapshot *s, size_t i)
{
	int out = s->ep[i].proto == TRACE_PIPE ? outgoing_endpoint(s, i) : -1;

	return out >= 0 && s->ep[out].tx_calls.bytes;
}

#define ALL_ITS_TIME 0.9

static bool sleeps_there_always(const struct trace_endpoint *ep)
{
	return ep->rx_calls.tgid &&
	       (double)ep->rx.ns[RX_WAIT] >= ALL_ITS_TIME * (double)ep->rx.lifetime_ns;
}

static bool sends_anywhere(const struct trace_snapshot *s, pid_t tgid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ep[i].tx_calls.tgid == tgid &&
		    (s->ep[i].tx_calls.messages || s->ep[i].tx_calls.bytes))
			return true;
	return false;
}

/* The reader does nothing but wait for the other end's first message. The other end accepted its
 * connection (clients come for something), or waits likewise. */
static bool waits_for_greeting(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *a = &s->ep[i], *b = a->peer < 0 ? a : &s->ep[a->peer];

	if (a == b || a->rx_calls.tgid == b->rx_calls.tgid || !sleeps_there_always(a) ||
	    sends_anywhere(s, a->rx_calls.tgid))
		return false;
	return sends_requests(s, i) ||
	       (sleeps_there_always(b) && !sends_anywhere(s, b->rx_calls.tgid));
}

/* A socket for one question, as to a name server. Samples count no datagrams. */
static bool was_for_a_question(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UDP && is_udp_client_by_samples(ep) && ep->closed &&
	       is_connected_to_service(ep);
}

/* A reader of a connection through which nothing passes waits for work, as servers do. That
 * matters only if there is nothing else to see. */
static bool may_matter(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (nothing_sent && !is_others_business(ep) && !is_lifeline(s, i))
		return true;
	return ep->rx_calls.bytes || ep->tx_calls.bytes || was_for_a_question(ep) ||
	       is_question_open(s, i) || asked_before(s, i) || has_asked_by_pipe(s, i) ||
	       waits_for_greeting(s, i) || kept_input(s, i) >= 0;
}

/* One wait makes up at least half of the time: the others do not matter. */
static bool is_one_long(const struct reader_spell *r)
{
	return r->max_ns >= NOTICEABLE_NS && 2 * r->max_ns >= r->ns;
}

/* A service that mostly answers at once may pause now and then, for garbage collection for
 * example. */
#define MANY 10

static bool pauses_again(const struct trace_endpoint *ep, const struct reader_spell *r)
{
	const uint32_t *hist = trace_detail(ep)->rx_hist[RX_WAIT];
	uint64_t n = 0, ns = 0;

	for (int k = LONG_PAUSE_SLOT; k < TRACE_HIST; k++) {
		n += hist[k];
		ns += hist[k] * (1000ull << (k - 1));
	}
	return n && r->count >= MANY * n &&
	       (double)ns >= LONG_PAUSE_SHARE * (double)ep->rx.lifetime_ns;
}

/* From samples: a wait is found again so often that waits must be long. `corr` is the correlation
 * of two successive samples. If waits are memoryless, and a share p of the samples finds one, their
 * mean length is gap / -log(corr) / (1 - p). */
#define SAMPLES_ENOUGH 20

/* 0: unknown */
static double mean_wait_ns(const struct trace_snapshot *s, size_t i)
{
	const struct trace_samples *l = s->samples ? &s->samples[i] : NULL;
	double p, corr, gap;

	if (!l || l->n < SAMPLES_ENOUGH || !l->rx_seen[RX_WAIT])
		return 0;
	p = (double)l->rx_seen[RX_WAIT] / (double)l->n;
	if (p >= 1)
		return 0;
	corr = ((double)l->rx_again[RX_WAIT] / l->rx_seen[RX_WAIT] - p) / (1 - p);
	gap = (double)s->ep[i].rx.lifetime_ns / (double)l->n;
	return corr > 0 && corr < 1 ? gap / -log(corr) / (1 - p) : 0;
}

static bool looked_pausing(const struct trace_snapshot *s, size_t i, const struct reader_spell *r)
{
	return r->share >= LONG_PAUSE_SHARE && mean_wait_ns(s, i) >= LONG_PAUSE_NS &&
	       sends_requests(s, i);
}

/* Between short waits, long ones lower the mean. In epoll nothing tells how long one is. */
#define BETWEEN_SHORT_ONES 0.25

static double may_wait_share(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	double life = (double)ep->rx.lifetime_ns, in_calls = (double)ep->rx.ns[RX_WAIT],
	       asked = (double)ep->rx_calls.reply_ns;

	if (!life || !is_sampled_only(ep) || !sends_requests(s, i))
		return 0;
	if (2 * in_calls < asked)
		return asked / life;
	return mean_wait_ns(s, i) >= BETWEEN_SHORT_ONES * LONG_PAUSE_NS ? in_calls / life : 0;
}

pid_t find_client_that_may_wait(const struct trace_snapshot *s)
{
	double most = LONG_PAUSE_SHARE, share;
	pid_t client = 0;

	for (size_t i = 0; s->samples && i < s->n; i++) {
		if (s->samples[i].n < SAMPLES_ENOUGH || !s->ep[i].rx_calls.tgid)
			continue;
		share = may_wait_share(s, i);
		if (share < most)
			continue;
		most = share;
		client = s->ep[i].rx_calls.tgid;
	}
	return client;
}

/* The client mostly does something else, but each of its requests takes long, on the path's time
 * too. */
static bool gets_slow_answers(const struct trace_snapshot *s, size_t i,
			      const struct reader_spell *r)
{
	const struct trace_call_stats *answers = &s->ep[i].rx_calls;
	uint64_t least = SLOW_ANSWER_NS + 1000ull * s->ep[i].min_rtt_us;

	return r->share >= LONG_PAUSE_SHARE && sends_requests(s, i) && !answers_requests(s, i) &&
	       answers->reply_n && answers->reply_ns >= least * answers->reply_n &&
	       2 * answers->reply_ns >= r->ns && 2 * r->ns >= answers->reply_ns;
}

static bool pauses(const struct trace_snapshot *s, size_t i, const struct reader_spell *r)
{
	if (looked_pausing(s, i, r) || gets_slow_answers(s, i, r))
		return true;
	return r->count >= MANY && r->share >= LONG_PAUSE_SHARE &&
	       (is_one_long(r) || pauses_again(&s->ep[i], r)) && sends_requests(s, i);
}

bool has_asked(const struct trace_snapshot *s, size_t i)
{
	const struct trace_call_stats *out = &s->ep[i].tx_calls;

	return s->ep[i].proto == TRACE_PIPE ? has_asked_by_pipe(s, i)
					    : out->messages || out->bytes;
}

static double least_share(const struct trace_snapshot *s, size_t i)
{
	return has_asked(s, i) ? WAIT_SHARE : FEED_SHARE;
}

/* Many short pauses: a stream. If it comes from another host, or from a program that is not
 * traced, the number of requests does not tell: the window updates that ssh sends meanwhile ask
 * for nothing. */
#define STREAM_PAUSES	      1000
#define STREAM_PAUSE_NS	      200000
#define STREAM_LONGEST	      0.25 /* of all pauses */
#define FAR_PAUSE_NS	      2000000
#define FAR_BYTES_A_SECOND    50e6

static bool pauses_are_short(const struct trace_ledger *rx, uint64_t pause_ns)
{
	return rx->ns[RX_WAIT] <= pause_ns * rx->count[RX_WAIT] &&
	       (double)rx->max[RX_WAIT] <= STREAM_LONGEST * (double)rx->ns[RX_WAIT];
}

static bool is_fast_stream_from_afar(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->peer < 0 &&
	       1e9 * (double)ep->rx_calls.bytes >=
		       FAR_BYTES_A_SECOND * (double)ep->rx.lifetime_ns &&
	       pauses_are_short(&ep->rx, FAR_PAUSE_NS);
}

static bool is_steady_stream(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return !has_asked(s, i) && ep->rx.count[RX_WAIT] >= STREAM_PAUSES &&
	       pauses_are_short(&ep->rx, STREAM_PAUSE_NS);
}

static bool waits_so_long(const struct trace_snapshot *s, size_t i, bool nothing_sent,
			  double least)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct reader_spell r = waited_at(s, i);

	return (r.share >= least || pauses(s, i, &r)) &&
	       (ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN || waits_out_of_calls(s, i)) &&
	       may_matter(s, i, nothing_sent) && awaits_another(s, i, r.ns) &&
	       !is_fast_stream_from_afar(ep) && !is_steady_stream(s, i);
}

static bool waits_in_vain(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	return waits_so_long(s, i, nothing_sent, least_share(s, i));
}

static bool is_much_of(uint64_t wait, uint64_t other)
{
	return (double)wait > BY_TURNS * (double)other;
}

/* A server waits for the next request whenever it has answered: that does not explain why an answer
 * takes long. */
#define LONG_ANSWER_NS 1000000

static bool awaits_slow_answers(const struct trace_snapshot *s, size_t i, size_t back,
				const struct reader_spell *r)
{
	const struct trace_call_stats *answers = &s->ep[i].rx_calls;

	return answers_requests(s, back) && !answers_requests(s, i) && sends_requests(s, i) &&
	       answers->reply_n &&
	       (double)answers->reply_ns >= SLOWER * (double)s->ep[i].tx_calls.reply_ns &&
	       answers->reply_ns / answers->reply_n >= LONG_ANSWER_NS &&
	       2 * answers->reply_ns >= r->ns;
}

/* The server is back in its receive call, and has left a request unanswered. */
static bool is_left_unanswered(const struct trace_snapshot *s, size_t i)
{
	return sends_requests(s, i) && trace_messages_known(&s->ep[i].tx_calls) &&
	       trace_messages_known(&s->ep[i].rx_calls) && questions_unanswered(&s->ep[i]);
}

/* The endpoint at which the awaited process waits for this reader in turn, sooner or later; -1: it
 * does not. A thread of that process may be back in a receive call while another works on the
 * answer: this reader owes nothing then. */
static int waits_back(const struct trace_snapshot *s, size_t i)
{
	int back = reverse_endpoint(s, i);
	struct reader_spell r = waited_at(s, i), there;
	uint64_t own = r.ns, others;

	if (back < 0 || (size_t)back >= s->n || (size_t)back == i)
		return -1;
	there = waited_at(s, (size_t)back);
	if (((is_one_long(&r) || pauses_again(&s->ep[i], &r)) && 2 * there.max_ns < r.max_ns) ||
	    gets_slow_answers(s, i, &r) || awaits_slow_answers(s, i, (size_t)back, &r) ||
	    is_left_unanswered(s, i))
		return -1;
	others = there.ns;
	if (2 * owed_to(s, i, own) > own)
		others = owed_to(s, (size_t)back, others);
	return (double)others > TURNS_HALF * (double)own ? back : -1;
}

/* The reader does nothing but wait. The process that it waits for has nothing to send, and no
 * request is in flight. */
#define MUTUAL_SHARE 0.9

static bool is_silent(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i], *sender = awaited_end(s, ep);

	return sender && spell_of(s, i, RX_WAIT).share >= MUTUAL_SHARE &&
	       (double)has_nothing_to_send(sender, ep) >=
		       IDLE_SHARE * (double)ep->rx.ns[RX_WAIT];
}

/* The client sent more messages than were answered, had no answer before its longest wait was over,
 * and got one soon after: it had sent a part of its request, and then sent the rest. */
static bool sent_the_rest(const struct trace_snapshot *s, size_t i, size_t back)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *answers = &ep->rx_calls,
				      *questions = &s->ep[outgoing_endpoint_by(s, i, (int)back)]
							    .tx_calls;
	uint64_t wait = ep->rx.max[RX_WAIT]; /* the first of them, if there were several */

	return sends_requests(s, i) && questions->messages > answers->messages &&
	       answers->reply_n && 2 * answers->reply_max_ns < wait &&
	       answers->first_reply_ns >= began(ep) + wait;
}

/* The answer ended the wait, and not the rest of the request. */
static bool answer_ended_it(const struct trace_snapshot *s, size_t i, size_t back)
{
	return was_answered(s, i, back) && !sent_the_rest(s, i, back) && !sent_the_rest(s, back, i);
}

int waits_for_it_too(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	int back = waits_back(s, i);

	if (back < 0 || !is_silent(s, i) || !is_silent(s, (size_t)back) ||
	    !is_much_of(s->ep[i].rx.ns[RX_WAIT], s->ep[back].rx.ns[RX_WAIT]) ||
	    !waits_in_vain(s, (size_t)back, nothing_sent))
		return -1;
	return waits_are_mutual(s, i, (size_t)back) && !answer_ended_it(s, i, (size_t)back)
		       ? back
		       : -1;
}

bool waits_mutually(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	return waits_in_vain(s, i, nothing_sent) &&
	       (waits_for_it_too(s, i, nothing_sent) >= 0 || reader_circle_at(s, i).n);
}

/* The number of requests that were answered; 0: not counted. */
static uint64_t turns_taken(const struct trace_endpoint *ep)
{
	return trace_messages_known(&ep->tx_calls) && trace_messages_known(&ep->rx_calls)
		       ? smaller(ep->tx_calls.messages, ep->rx_calls.messages)
		       : 0;
}

/* Two ends that take turns over a long path wait about equally long. The wait that counts is the
 * client's, for the answer. */

static bool asks_over_long_path(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	uint64_t path = 1000ull * ep->min_rtt_us;

	return ep->proto == TRACE_TCP && ep->peer >= 0 && is_far(ep) &&
	       answers_requests(s, (size_t)ep->peer) && !answers_requests(s, i) &&
	       (is_looked_at_over_long_path(ep) ||
		2 * path * turns_taken(ep) >= waited_at(s, i).ns);
}

static bool is_not_by_turns(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	return waits_back(s, i) < 0 || asks_over_long_path(s, i) ||
	       waits_for_it_too(s, i, nothing_sent) >= 0;
}

bool waits_long(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	return waits_in_vain(s, i, nothing_sent) && is_not_by_turns(s, i, nothing_sent);
}

/* A connection of a pool rests between its requests. */
#define POOL_SHARE 0.1

bool waits_at_times(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	bool out = waits_out_of_calls(s, i),
	     asks_server = s->ep[i].peer >= 0 && sends_requests(s, i) &&
			   answers_requests(s, (size_t)s->ep[i].peer);
	double least = out || asks_server ? POOL_SHARE : least_share(s, i);

	return waits_so_long(s, i, nothing_sent, least) &&
	       ((out && asks_server) || is_not_by_turns(s, i, nothing_sent));
}

struct reader_spell longest_wait(const struct trace_snapshot *s, is_wait *is, bool nothing_sent)
{
	struct reader_spell longest = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell r = waited_at(s, i);

		if (r.ns >= VERDICT_MIN_NS && r.ns > longest.ns && is(s, i, nothing_sent))
			longest = r;
	}
	return longest;
}

/* A peer may withhold an ACK for half a second (RFC 1122), to send it with a late answer: only what
 * takes longer was spent in a queue. */
#define ON_WAY_NS    500000000
#define ON_WAY_TIMES 4

bool waits_in_queue_on_path(const struct trace_endpoint *ep, const struct reader_spell *wait)
{
	uint64_t now = 1000ull * ep->rtt_us, least = 1000ull * ep->min_rtt_us;

	return ep->proto == TRACE_TCP && ep->peer < 0 && least && now >= least + ON_WAY_NS &&
	       now >= ON_WAY_TIMES * least && 2 * now >= wait->max_ns && wait->max_ns >= ON_WAY_NS;
}

/* For an endpoint whose other end was not seen: one round trip for each request that was answered,
 * as long as the path takes by itself. */
struct round_trips wait_on_path(const struct trace_endpoint *ep, uint64_t wait_ns)
{
	struct round_trips r = { .each_ns = round_trip_ns(ep) };

	if (ep->proto != TRACE_TCP || ep->peer >= 0)
		return r;
	r.n = turns_taken(ep);
	if (2 * r.n * r.each_ns < wait_ns)
		r.n = 0;
	return r;
}
