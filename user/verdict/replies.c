// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/replies.h"

#include "verdict/mutual_wait.h"
#include "verdict/negligible.h"
#include "verdict/other_findings.h"
#include "verdict/times.h"

/* A program that computes for half of that time, or more, does not wait. */
#define BUSY_TIMES 2

static bool is_listened_on(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			   uint16_t port)
{
	for (size_t i = 0; i < s->listeners.n; i++)
		if (s->listeners.v[i].local.port == port && s->listeners.v[i].netns == ep->netns)
			return true;
	return false;
}

static uint64_t replies_of(const struct trace_call_stats *b)
{
	return b->reply_n + (b->open_reply_ns != 0);
}

/* A client that sends requests to several processes by pipes, and waits for all of them in epoll,
 * is timed from the last request to the first answer. Then the server's own time counts, if it
 * answers each request that it reads. */
static bool lacks_replies(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;

	return ep->proto == TRACE_PIPE && trace_messages_known(in) && trace_messages_known(out) &&
	       in->reply_n < in->messages && out->reply_n && out->reply_n == out->messages;
}

static bool is_ephemeral(const struct trace_addr *a)
{
	return a->port >= TRACE_EPHEMERAL_PORT;
}

/* A process this much older than the first sight of the endpoint may have used it before. */
#define AT_IT_NS 300000000

static bool was_at_it(const struct trace_endpoint *ep, uint64_t born_ns)
{
	return born_ns && born_ns + AT_IT_NS < began(ep);
}

/* When the process at the other end began; one that only sends there reads from another pair. */
static uint64_t other_born_ns(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_endpoint *peer;

	if (ep->proto == TRACE_PIPE)
		return ep->tx_calls.born_ns;
	peer = &s->ep[ep->peer];
	return peer->rx_calls.born_ns ? peer->rx_calls.born_ns : peer->tx_calls.born_ns;
}

/* If both processes used the endpoint before the session, nobody saw which one spoke first. A
 * helper is younger than its client. 1: the reader at i is the client, 0: the server, -1: not
 * known. */
static int asks_by_age(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	uint64_t own = ep->rx_calls.born_ns, other;

	if (!ep->joined_late || (ep->proto != TRACE_PIPE && (!is_unix_connection(ep) ||
	    ep->peer < 0 || ep->making.connected || ep->making.accepted)))
		return -1;
	other = other_born_ns(s, ep);
	if (!was_at_it(ep, own) || !was_at_it(ep, other) || own == other)
		return -1;
	return own < other;
}

/* The end that speaks first is answered before it answers. */
static bool spoke_first(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *b = lacks_replies(ep) ? &ep->tx_calls : &ep->rx_calls;
	int out = outgoing_endpoint(s, i), older = asks_by_age(s, i);
	uint64_t answered;

	if (out < 0 || !replies_of(b))
		return false;
	if (older >= 0)
		return older;
	answered = s->ep[out].tx_calls.first_reply_ns;
	return !answered || (b->first_reply_ns && b->first_reply_ns < answered);
}

static bool older_than(const struct trace_endpoint *ep, uint64_t born_ns)
{
	return born_ns && began(ep) < born_ns;
}

/* The process at ep made the socket pair, and gave the other end to a process that it started. */
static bool started_with(const struct trace_endpoint *ep, const struct trace_endpoint *other)
{
	return older_than(other, other->rx_calls.born_ns) && ep->rx_calls.born_ns &&
	       !older_than(ep, ep->rx_calls.born_ns);
}

/* A helper reports that it is ready, and then answers the process that started it: it sends the
 * first message and the last. A child that sends requests to its parent gets the last one. */
static bool is_greeted(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	int other = ep->proto == TRACE_PIPE ? -1 : reverse_endpoint(s, i);

	return other >= 0 && started_with(ep, &s->ep[other]) && ep->rx_calls.reply_n &&
	       ep->rx_calls.reply_n >= s->ep[other].rx_calls.reply_n;
}

static bool was_accepted(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return ep->making.accepted || ep->making.accept_ns ||
	       (ep->local.port && is_listened_on(s, ep, ep->local.port));
}

static bool has_connected(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return ep->making.connected || ep->making.connect_ns ||
	       (ep->remote.port && is_listened_on(s, ep, ep->remote.port));
}

/* A server may send first, to greet its client. Who connected is known for TCP, or the ports tell
 * it. */
bool sends_requests(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	bool ports = ep->local.port && ep->remote.port;

	if (was_accepted(s, ep))
		return false;
	if (has_connected(s, ep))
		return true;
	if (ports && is_ephemeral(&ep->local) != is_ephemeral(&ep->remote))
		return is_ephemeral(&ep->local);
	return spoke_first(s, i) || is_greeted(s, i);
}

/* The other end of a socket pair, or of two pipes, sent the first request. */
static bool other_spoke_first(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	int other = reverse_endpoint(s, i);

	return (ep->proto == TRACE_PIPE || is_unix_connection(ep)) && other >= 0 &&
	       other != (int)i && spoke_first(s, (size_t)other);
}

/* The requests as they were sent, if that was seen: a server may read each in two pieces. */
static const struct trace_call_stats *questions_to(const struct trace_snapshot *s,
						   const struct trace_endpoint *ep)
{
	const struct trace_call_stats *sent = ep->proto == TRACE_PIPE ? &ep->tx_calls
					      : ep->peer >= 0 ? &s->ep[ep->peer].tx_calls
							      : NULL;

	return sent && sent->messages && trace_messages_known(sent) ? sent : &ep->rx_calls;
}

/* The server waits only after it has answered, however many pieces a request is written in. */
#define AFTER_ANSWERS 0.8

static bool waits_after_answers(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *in = &ep->rx_calls;
	uint64_t wait = ep->rx.ns[RX_WAIT];

	return in->reply_n && wait &&
	       (double)(in->reply_ns + in->open_reply_ns) >= AFTER_ANSWERS * (double)wait;
}

/* If the session began in the middle of a wait, nobody saw whether that wait came after an answer.
 * But a server that answers at once owes nothing while it waits. */
static bool answers_at_once(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *out = &ep->tx_calls;

	return ep->joined_late && was_accepted(s, ep) && out->reply_n &&
	       (double)(out->reply_ns + out->open_reply_ns) <=
		       (1 - AFTER_ANSWERS) * (double)ep->rx.ns[RX_WAIT];
}

/* A server may speak first, to greet its client. */
static bool answers_requests_by_messages(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	int answers = outgoing_endpoint(s, i);
	const struct trace_call_stats *in, *out;

	if (answers < 0 || has_connected(s, ep) ||
	    (!was_accepted(s, ep) && (!other_spoke_first(s, i) || spoke_first(s, i))))
		return false;
	in = questions_to(s, ep);
	out = &s->ep[answers].tx_calls;
	return out->messages && trace_messages_known(out) && trace_messages_known(in) &&
	       (in->messages <= out->messages || waits_after_answers(ep) ||
		answers_at_once(s, ep));
}

bool is_sampled_only(const struct trace_endpoint *ep)
{
	return ep->rx.resolution[RX_IDLE] == TRACE_BY_SAMPLES;
}

bool is_servers_end(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return was_accepted(s, ep) || (!has_connected(s, ep) && ep->local.port &&
				       !is_ephemeral(&ep->local) && is_ephemeral(&ep->remote));
}

static bool is_socket_pair(const struct trace_endpoint *ep)
{
	return is_unix_connection(ep) && !ep->making.connected && !ep->making.accepted;
}

/* Samples do not tell who spoke first. A connection has its ports. A helper at two pipes or at a
 * socket pair was started by its client, and has the higher PID. */
static bool answers_requests_by_samples(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	int back = ep->proto == TRACE_PIPE || is_socket_pair(ep) ? reverse_endpoint(s, i) : -1;

	if (ep->proto == TRACE_PIPE)
		return back >= 0 && ep->rx_calls.tgid > ep->tx_calls.tgid;
	if (back >= 0)
		return ep->rx_calls.tgid > s->ep[back].rx_calls.tgid;
	return is_servers_end(s, i);
}

bool answers_requests(const struct trace_snapshot *s, size_t i)
{
	return is_sampled_only(&s->ep[i]) ? answers_requests_by_samples(s, i)
					  : answers_requests_by_messages(s, i);
}

static uint64_t all_writes(const struct trace_samples *l)
{
	return (uint64_t)l->earlier_writes + l->writes;
}

static bool wrote_after(const struct trace_samples *l, const struct trace_samples *other)
{
	return l->writes && (!other->writes || l->wrote_after_ns >= other->wrote_by_ns);
}

/* If a request follows an answer between the same two samples, or nothing was written since the
 * first sample, the writes since the pipes were made decide: each request but the last had its
 * answer. Writes that are never answered are no requests, except for the first. */
bool asked_last(const struct trace_snapshot *s, size_t i)
{
	bool by_samples = s->samples && is_sampled_only(&s->ep[i]) && s->ep[i].proto == TRACE_PIPE;
	int back = by_samples ? reverse_endpoint(s, i) : -1;
	const struct trace_samples *answers, *questions;

	if (back < 0)
		return false;
	answers = &s->samples[i];
	questions = &s->samples[back];
	if (!all_writes(answers))
		return all_writes(questions) && all_writes(questions) <= PIECES;
	if (wrote_after(answers, questions))
		return false;
	return wrote_after(questions, answers) || all_writes(questions) == all_writes(answers) + 1;
}

bool is_lifeline(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return s->samples && is_sampled_only(ep) && ep->proto == TRACE_PIPE &&
	       ep->tx_calls.others && !all_writes(&s->samples[i]);
}

/* The calls whose replies tell how long ep had no answer: its reads or, if no hook saw those
 * (splice), the sends of the other end. */
static const struct trace_call_stats *replies_to(const struct trace_snapshot *s,
						 const struct trace_endpoint *ep)
{
	bool seen = trace_messages_known(&ep->rx_calls) || is_sampled_only(ep);

	if (lacks_replies(ep))
		return &ep->tx_calls;
	return seen || ep->proto == TRACE_PIPE || ep->peer < 0 ? &ep->rx_calls
							       : &s->ep[ep->peer].tx_calls;
}

#define THROUGHOUT 0.9 /* share of the samples */

static bool found_throughout(const struct trace_samples *l, unsigned int fact)
{
	return l->n >= FEWEST_SAMPLES && (double)l->fact[fact] >= THROUGHOUT * (double)l->n;
}

/* Data that came as soon as this end had sent may be a mere reaction, as of HTTP/2. But a server
 * that does not wait for data there is at work on a request. */
static bool looked_asked_before(const struct trace_samples *l)
{
	return found_throughout(l, TRACE_FACT_OWES_ANSWER) &&
	       (found_throughout(l, TRACE_FACT_UNPROMPTED) ||
		found_throughout(l, TRACE_FACT_UNATTENDED));
}

static bool server_works(const struct trace_snapshot *s, size_t i)
{
	int peer = s->ep[i].peer;

	return s->ep[i].making.server_works || (peer >= 0 && s->ep[peer].making.server_works);
}

static bool looked_unanswered_before(const struct trace_snapshot *s, size_t i)
{
	const struct trace_samples *l = &s->samples[i];

	return found_throughout(l, TRACE_FACT_UNANSWERED) &&
	       (found_throughout(l, TRACE_FACT_UNPROMPTED) || server_works(s, i));
}

static bool nothing_went(const struct trace_endpoint *ep)
{
	return ep->joined_late && !ep->rx_calls.bytes && !ep->tx_calls.bytes &&
	       !ep->rx_calls.reply_n && !ep->tx_calls.reply_n;
}

bool sent_last_before(const struct trace_snapshot *s, size_t i)
{
	return nothing_went(&s->ep[i]) &&
	       (s->samples ? found_throughout(&s->samples[i], TRACE_FACT_UNANSWERED)
			   : s->ep[i].making.sent_last);
}

static size_t connections_of(const struct trace_snapshot *s, pid_t tgid)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->ep[i].proto != TRACE_PIPE && program_at(&s->ep[i])->tgid == tgid &&
		     is_servers_end(s, i);
	return n;
}

/* A Unix socket does not tell when it was last used. But a peer that sleeps in a receive call there
 * waits for something. If the process serves many, that may be news. */
static bool is_awaited_by_call(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return is_unix_connection(ep) && ep->making.other_receives && !s->samples &&
	       trace_messages_known(&ep->rx_calls) && trace_messages_known(&ep->tx_calls) &&
	       connections_of(s, program_at(ep)->tgid) == 1;
}

bool asked_before(const struct trace_snapshot *s, size_t i)
{
	return s->ep[i].proto == TRACE_TCP && nothing_went(&s->ep[i]) && sends_requests(s, i) &&
	       (s->samples ? looked_unanswered_before(s, i) : s->ep[i].rx_calls.open_reply_ns != 0);
}

bool was_asked_before(const struct trace_snapshot *s, size_t i)
{
	if (!nothing_went(&s->ep[i]) || !is_servers_end(s, i))
		return false;
	if (s->ep[i].proto != TRACE_TCP)
		return is_awaited_by_call(s, i);
	return s->samples ? looked_asked_before(&s->samples[i])
			  : s->ep[i].tx_calls.open_reply_ns != 0;
}

/* There were answers, or all samples found the last request unanswered: the first answer is yet to
 * come, or came to a request from before the session. */
static bool looked_like_question(const struct trace_snapshot *s, size_t i)
{
	const struct trace_call_stats *in = &s->ep[i].rx_calls, *out = &s->ep[i].tx_calls;

	if (in->bytes && out->bytes)
		return true;
	return (in->bytes || out->bytes) && s->samples &&
	       found_throughout(&s->samples[i], TRACE_FACT_UNANSWERED);
}

/* If nothing was answered yet, is it a request at all? Over a Unix socket, between two processes of
 * one program, news goes one way too. */
static bool may_be_question(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (asked_before(s, i))
		return true;
	if (is_sampled_only(ep))
		return ep->proto == TRACE_TCP && looked_like_question(s, i);
	return replies_to(s, ep)->reply_n ||
	       (ep->proto != TRACE_PIPE && !is_unix_connection(ep) &&
		ep->tx_calls.messages && ep->tx_calls.messages <= PIECES);
}

uint64_t owed_to(const struct trace_snapshot *s, size_t i, uint64_t wait_ns)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *b = &ep->rx_calls;

	if (ep->proto == TRACE_TCP && is_sampled_only(ep)) /* what it sent last had no answer */
		return smaller(wait_ns, b->reply_ns);
	if (ep->proto == TRACE_PIPE || is_sampled_only(ep) || !b->reply_n ||
	    !trace_messages_known(b))
		return wait_ns;
	return smaller(wait_ns, b->reply_ns + b->open_reply_ns);
}

static bool was_at_work(const struct trace_call_stats *b, uint64_t ns)
{
	return b->cpu_res != TRACE_UNKNOWN && BUSY_TIMES * b->cpu_ns >= ns;
}

/* An answer is timed until it is read. If answers come whole, one has come while data lies unread
 * here. */
static uint64_t came_but_unread(const struct trace_endpoint *ep, const struct trace_call_stats *b)
{
	return b == &ep->rx_calls && ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN &&
			       trace_messages_known(b) && b->messages <= 2 * replies_of(b)
		       ? ep->rx.ns[RX_UNREAD]
		       : 0;
}

/* An answer in many pieces, with pauses between them: the first piece is the reply, and the rest
 * comes without a request. The time until the client's next request, or since the last piece, is
 * the client's own. */
#define STREAM_PIECES 3

static uint64_t streamed_ns(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;
	uint64_t own = out->quiet_ns + out->reply_ns, idle = ep->rx.ns[RX_IDLE];

	if (ep->proto == TRACE_PIPE || is_sampled_only(ep) || !trace_messages_known(in) ||
	    !trace_messages_known(out) || !in->reply_n || in->reply_n > out->messages ||
	    in->messages < STREAM_PIECES * out->messages)
		return 0;
	return idle > own ? idle - own : 0;
}

struct reader_spell unanswered_at(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *b = replies_to(s, ep);
	struct reader_spell r = { .endpoint = (int)i, .count = replies_of(b) };
	uint64_t ns = b->reply_ns + b->open_reply_ns, unread = came_but_unread(ep, b);

	ns -= unread < ns ? unread : ns;
	ns = larger(ns, streamed_ns(ep));
	if ((!trace_messages_known(b) && !is_sampled_only(ep)) || !ep->rx.lifetime_ns ||
	    !may_be_question(s, i) || !sends_requests(s, i) || was_at_work(&ep->rx_calls, ns))
		return r;
	r.ns = ns < ep->rx.lifetime_ns ? ns : ep->rx.lifetime_ns;
	r.max_ns = b->reply_max_ns > b->open_reply_ns ? b->reply_max_ns : b->open_reply_ns;
	r.max_ns = r.max_ns < r.ns ? r.max_ns : r.ns;
	r.share = (double)r.ns / (double)ep->rx.lifetime_ns;
	return r;
}

/* If waits in calls are at least half of the time, the calls tell it: the reader does not wait in
 * epoll. */
#define MOST_IN_CALLS 0.5

bool waits_out_of_calls(const struct trace_snapshot *s, size_t i)
{
	return (double)s->ep[i].rx.ns[RX_WAIT] < MOST_IN_CALLS * (double)unanswered_at(s, i).ns;
}

/* Output of a child that has ended: its parent had no other reason to read. The parent waits in
 * poll() for output and errors at once, and the output came late, shortly before the end. */
#define MOST_OF_LIFE 0.5
#define READ_AT_ONCE 0.1

static bool is_childs_output(const struct trace_endpoint *ep)
{
	uint64_t idle = ep->rx.ns[RX_IDLE], life = ep->rx.lifetime_ns;

	if (ep->proto != TRACE_PIPE || !ep->closed || ep->joined_late || !ep->rx_calls.bytes ||
	    !ep->tx_calls.tgid || ep->tx_calls.born_ns <= ep->at_ns - life)
		return false;
	return (double)ep->rx.max[RX_IDLE] >= MOST_OF_LIFE * (double)life &&
	       (double)(ep->rx.ns[RX_UNREAD] + ep->rx.ns[RX_WAIT]) <=
		       READ_AT_ONCE * (double)idle &&
	       ep->tx_calls.quiet_ns && 2 * ep->tx_calls.quiet_ns < life &&
	       !was_at_work(&ep->rx_calls, idle);
}

struct reader_spell waited_at(const struct trace_snapshot *s, size_t i)
{
	if (is_childs_output(&s->ep[i]))
		return spell_of(s, i, RX_IDLE);
	return waits_out_of_calls(s, i) ? unanswered_at(s, i) : spell_of(s, i, RX_WAIT);
}
