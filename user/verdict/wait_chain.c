// SPDX-License-Identifier: GPL-2.0-only
/* The process that is awaited may itself wait for another: the end of such a chain, and which waits
 * count together as one. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#include "verdict/kept_output.h"
#include "verdict/unsampled_connections.h"
#include "verdict/limit.h"
#include "verdict/long_wait.h"
#include "verdict/mutual_wait.h"
#include "verdict/replies.h"
#include "verdict/requests.h"
#include "verdict/negligible.h"
#include "verdict/times.h"
#include "verdict/who.h"
#include "verdict/worker_pool.h"

/* share of a wait: data that lay unread for less was read as soon as it came */
#define AT_ONCE	  0.2

static bool same_name(const char *a, const char *b)
{
	return *a && !strcmp(a, b);
}

/* A server may fork for each connection. */
static bool same_awaited(const struct trace_snapshot *s, const struct trace_endpoint *a,
			 const struct trace_endpoint *b)
{
	const struct trace_call_stats *x = who_sends(s, a), *y = who_sends(s, b);

	return x && y ? x->tgid == y->tgid || same_name(x->comm, y->comm) : !x && !y;
}

/* A script may start one program after another, or many at a time: each has a connection of its
 * own. */
static bool same_waiters(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return same_client(a, b) ||
	       (a->proto == b->proto && same_name(a->rx_calls.comm, b->rx_calls.comm));
}

/* Helpers that are started anew for each request, each with a pipe of its own. The waits for the
 * output and the errors of one helper are at the same time. */
static bool same_helpers(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	const struct trace_call_stats *x = &a->tx_calls, *y = &b->tx_calls;

	return a->proto == TRACE_PIPE && b->proto == TRACE_PIPE && x->tgid && y->tgid &&
	       x->tgid != y->tgid && same_name(x->comm, y->comm);
}

/* Node gives each helper a socket pair. */
static bool same_helpers_by_pairs(const struct trace_snapshot *s, const struct trace_endpoint *a,
				  const struct trace_endpoint *b)
{
	const struct trace_call_stats *x = who_sends(s, a), *y = who_sends(s, b);

	return is_unix_connection(a) && is_unix_connection(b) && x && y && x->tgid &&
	       x->tgid != y->tgid && same_name(x->comm, y->comm);
}

/* ... or one for each connection */
static bool same_helper(const struct trace_snapshot *s, const struct trace_endpoint *a,
			const struct trace_endpoint *b)
{
	const struct trace_call_stats *x, *y;

	if (!is_unix_connection(a))
		return same_helpers(a, b);
	x = who_sends(s, a);
	y = who_sends(s, b);
	return x && y && same_name(x->comm, y->comm);
}

/* The process that ep's reader waits for is the reader of `next`: links of a chain, even of one
 * name. */
static bool is_waited_for_by(const struct trace_snapshot *s, const struct trace_endpoint *next,
			     const struct trace_endpoint *ep)
{
	const struct trace_call_stats *sender = who_sends(s, ep);

	return sender && sender->tgid && sender->tgid == next->rx_calls.tgid &&
	       ep->rx_calls.tgid != next->rx_calls.tgid;
}

static bool waits_are_alike(const struct trace_snapshot *s, const struct trace_endpoint *a,
			    const struct trace_endpoint *b)
{
	if (is_waited_for_by(s, a, b) || is_waited_for_by(s, b, a))
		return false;
	if (same_client(a, b) && same_helper(s, a, b))
		return true;
	return same_waiters(a, b) && same_awaited(s, a, b) &&
	       (same_server(a, b) || (is_unix_connection(a) && who_sends(s, a)));
}

/* if there are more kinds of waits, the shortest are left out */
enum { KINDS_OF_WAITS = 64 };

struct alike {
	struct reader_spell longest;
	uint64_t ns; /* of all these waits */
	uint64_t from, to; /* from the first one's beginning to the last one's end */
	bool helpers;
};

/* If connections wait at the same time, their sum is more than anybody waited. */
static uint64_t time_waited(const struct alike *a)
{
	return smaller(a->ns, a->to - a->from);
}

/* A shell's $(...): nobody notices a single one, but together they matter if they are most of the
 * run. */
#define MOST_OF_RUN 0.5

static bool are_brief(const struct alike *a, uint64_t observed)
{
	return a->helpers && a->longest.ns < NOTICEABLE_NS &&
	       (double)a->ns < MOST_OF_RUN * (double)observed;
}

static struct alike alone(const struct trace_snapshot *s, struct reader_spell r)
{
	const struct trace_endpoint *ep = r.endpoint < 0 ? NULL : &s->ep[r.endpoint];

	return (struct alike){ .longest = r,
			       .ns = r.ns,
			       .from = ep ? began(ep) : 0,
			       .to = ep ? ep->at_ns : 0 };
}

static void add_alike(const struct trace_snapshot *s, const struct reader_spell *r,
		      struct alike v[KINDS_OF_WAITS])
{
	const struct trace_endpoint *ep = &s->ep[r->endpoint];
	struct alike *least = v;

	for (int k = 0; k < KINDS_OF_WAITS && v[k].ns; k++) {
		const struct trace_endpoint *other = &s->ep[v[k].longest.endpoint];

		if (!waits_are_alike(s, other, ep))
			continue;
		v[k].helpers |= same_helpers(other, ep) || same_helpers_by_pairs(s, other, ep);
		v[k].from = smaller(v[k].from, began(ep));
		v[k].to = larger(v[k].to, ep->at_ns);
		if (r->ns > v[k].longest.ns)
			v[k].longest = *r;
		v[k].ns += r->ns;
		return;
	}
	for (int k = 1; k < KINDS_OF_WAITS; k++)
		least = v[k].ns < least->ns ? &v[k] : least;
	if (r->ns > least->ns)
		*least = alone(s, *r);
}

static void add_unsampled(const struct trace_snapshot *s, struct alike v[KINDS_OF_WAITS])
{
	for (int k = 0; s->samples && k < KINDS_OF_WAITS && v[k].ns; k++) {
		struct unsampled b = unsampled_like(s, &s->ep[v[k].longest.endpoint]);

		v[k].ns += unsampled_part(&b, v[k].ns);
	}
}

struct reader {
	pid_t tgid;
	pid_t tid; /* the awaited thread, if there are several; 0: not known */
	const char *helpers; /* the name of helpers, any of which counts; NULL: only this process */
	bool for_others;     /* only waits for another process count */
	bool by_socket;	     /* only waits for an answer by socket count: orders come by pipes */
};

/* A server has a thread for each connection. This one waits for a request of its own client, which
 * was idle all the time: that does not explain why another thread has not answered yet. */
static bool is_another_thread(const struct trace_snapshot *s, const struct reader *r, size_t i)
{
	const struct trace_call_stats *b = &s->ep[i].rx_calls;

	return is_servers_end(s, i) && !b->bytes && b->tid && b->tid != b->tgid &&
	       b->tid != r->tid;
}

static bool is_reader(const struct trace_snapshot *s, const struct reader *r, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	const struct trace_call_stats *sender = r->for_others ? who_sends(s, ep) : NULL;

	if (is_another_thread(s, r, i))
		return false;
	if ((sender && sender->tgid == ep->rx_calls.tgid) ||
	    (r->by_socket &&
	     (ep->proto == TRACE_PIPE || !ep->tx_calls.bytes || answers_requests(s, i))))
		return false;
	return r->helpers ? same_name(r->helpers, ep->rx_calls.comm) : ep->rx_calls.tgid == r->tgid;
}

/* A proxy has a connection for each request: it waits as long as all those to one server, or to
 * helpers of one name, together. The longest of them stands for all. `reader` NULL: any. */
static struct alike longest_in_all(const struct trace_snapshot *s, is_wait *is,
				   const struct reader *reader, uint64_t least_ns,
				   bool nothing_sent)
{
	struct alike most = { .longest.endpoint = -1 }, v[KINDS_OF_WAITS] = {};
	uint64_t observed = reader ? 0 : observed_ns(s);

	for (size_t i = 0; i < s->n; i++) {
		struct reader_spell r = waited_at(s, i);

		if ((!reader || is_reader(s, reader, i)) && r.ns >= VERDICT_MIN_NS &&
		    is(s, i, nothing_sent))
			add_alike(s, &r, v);
	}
	add_unsampled(s, v);
	for (int k = 0; k < KINDS_OF_WAITS; k++)
		if (v[k].ns > most.ns && v[k].ns >= least_ns && !are_brief(&v[k], observed))
			most = v[k];
	return most;
}

/* If a program reads all there is and then works, or sleeps, one long time is most of `idle`:
 * nothing more was to come. */
#define ONE_WHILE 0.75

static bool comes_again_and_again(const struct trace_ledger *rx)
{
	return (double)rx->max[RX_IDLE] <= ONE_WHILE * (double)rx->ns[RX_IDLE];
}

/* How long nothing came. If this end sends requests, data is awaited from the request on. */
static struct reader_spell nothing_came(const struct trace_snapshot *s, size_t i)
{
	bool in_turns = sends_requests(s, i) && s->ep[i].rx_calls.reply_n;

	return in_turns ? unanswered_at(s, i) : spell_of(s, i, RX_IDLE);
}

/* A broker wraps the messages that it forwards: as many come as go, and the longest time without
 * one is the same, or the sum of these times. */
#define PASSED_LEAST 5	/* messages */
#define PUSHED_LEAST 50 /* if nobody sends it requests */

static bool about_as_many(uint64_t a, uint64_t b)
{
	return 8 * (larger(a, b) - smaller(a, b)) <= larger(a, b);
}

/* The messages as they were sent, if that was seen: each may be read in several calls. */
static const struct trace_call_stats *messages_that_come(const struct trace_snapshot *s,
							 const struct trace_endpoint *in)
{
	const struct trace_endpoint *source = awaited_end(s, in);
	bool seen = source && trace_messages_known(&source->tx_calls);

	return seen && source->tx_calls.messages ? &source->tx_calls : &in->rx_calls;
}

/* The work that it hands out comes back as often as it answers, and takes as long. Confirmations in
 * between, as those of AMQP, are messages too. */
static bool answers_as_often(const struct trace_call_stats *comes,
			     const struct trace_call_stats *goes)
{
	return comes->reply_n >= PASSED_LEAST && about_as_many(comes->reply_n, goes->reply_n) &&
	       about_as_much(comes->reply_ns, goes->reply_ns) &&
	       about_as_much(comes->reply_max_ns, goes->reply_max_ns);
}

static bool passes_as_many(const struct trace_snapshot *s, const struct trace_endpoint *in,
			   const struct trace_endpoint *out)
{
	const struct trace_call_stats *comes = &in->rx_calls, *goes = &out->tx_calls;

	if (answers_as_often(comes, goes))
		return true;

	if (!trace_messages_known(messages_that_come(s, in)) || !trace_messages_known(goes) ||
	    goes->messages < PASSED_LEAST ||
	    !about_as_many(messages_that_come(s, in)->messages, goes->messages))
		return false;
	if (2 * goes->reply_n < goes->messages)
		return goes->messages >= PUSHED_LEAST;
	return about_as_much(comes->reply_max_ns, goes->reply_max_ns) ||
	       about_as_much(comes->reply_ns, goes->reply_ns);
}

/*
 * Does the data that `out` sends come in at endpoint i? The program reads it as soon as it comes,
 * and waits for it among others, in poll() or epoll: no receive call shows that.
 */
static bool passes_on(const struct trace_snapshot *s, size_t i, const struct trace_endpoint *out,
		      double least_ns)
{
	const struct trace_endpoint *in = &s->ep[i], *source = awaited_end(s, in);
	uint64_t there = source ? source->tx.ns[TX_IDLE] : in->rx.ns[RX_IDLE];

	return in != out && in->rx_calls.tgid && in->rx_calls.tgid == out->tx_calls.tgid &&
	       in->rx_calls.bytes &&
	       (about_as_much(in->rx_calls.bytes, out->tx_calls.bytes) ||
		passes_as_many(s, in, out)) &&
	       comes_again_and_again(&in->rx) && (double)nothing_came(s, i).ns >= least_ns &&
	       (double)there >= least_ns && (double)in->rx.ns[RX_UNREAD] < AT_ONCE * least_ns;
}

/* Two clients of one server: the other client sends requests there, each of which the server may
 * read in pieces. That client waits longer for answers than the server waits for the client. */
#define PIECES_READ 4

static bool asks_there(const struct trace_snapshot *s, size_t in, const struct trace_endpoint *out)
{
	const struct trace_call_stats *asked = &s->ep[in].rx_calls, *answers = &s->ep[in].tx_calls;

	return s->ep[in].proto == out->proto && is_servers_end(s, in) &&
	       is_servers_end(s, (size_t)(out - s->ep)) && answers->reply_n &&
	       PIECES_READ * answers->reply_n >= asked->messages &&
	       answers->reply_ns + answers->open_reply_ns >
		       asked->reply_ns + asked->open_reply_ns;
}

static bool is_sent_by(const struct trace_snapshot *s, const struct trace_endpoint *in, pid_t tgid)
{
	const struct trace_endpoint *source = awaited_end(s, in);

	return source && awaited_tgid(source, in->proto == TRACE_PIPE) == tgid;
}

/* Where the data that `out` sends comes in, if that is a single endpoint. Data that `waiter` itself
 * sent there is a request, whose answer it waits for. */
static struct reader_spell comes_from(const struct trace_snapshot *s,
				      const struct trace_endpoint *out, double least_ns,
				      pid_t waiter)
{
	struct reader_spell from = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		if (!passes_on(s, i, out, least_ns) || is_sent_by(s, &s->ep[i], waiter) ||
		    asks_there(s, i, out))
			continue;
		if (from.endpoint >= 0)
			return (struct reader_spell){ .endpoint = -1 };
		from = nothing_came(s, i);
	}
	return from;
}

/* A broker gives the reader back, unasked, what the reader sends there by another connection. */
static bool feeds_itself(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i], *sender = awaited_end(s, ep);
	const struct trace_call_stats *goes = sender && sender != ep ? &sender->tx_calls : NULL;

	if (!goes || goes->messages < PUSHED_LEAST || 2 * goes->reply_n >= goes->messages)
		return false;
	for (size_t k = 0; k < s->n; k++)
		if (&s->ep[k] != sender && s->ep[k].rx_calls.tgid == goes->tgid &&
		    is_sent_by(s, &s->ep[k], ep->rx_calls.tgid) &&
		    passes_as_many(s, &s->ep[k], sender))
			return true;
	return false;
}

struct while_alive {
	uint64_t from, to;
};

static struct while_alive life_of(const struct trace_endpoint *ep)
{
	uint64_t life = ep->rx.lifetime_ns, from = ep->at_ns > life ? ep->at_ns - life : 0;

	return (struct while_alive){ from, from + life };
}

static uint64_t add_life(const struct trace_endpoint *ep, struct while_alive *all)
{
	uint64_t life = ep->rx.lifetime_ns, from = ep->at_ns > life ? ep->at_ns - life : 0;

	all->from = from < all->from ? from : all->from;
	all->to = ep->at_ns > all->to ? ep->at_ns : all->to;
	return life;
}

static void note_others(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			const struct trace_endpoint *like, struct waits_together *sum)
{
	const struct trace_call_stats *x = who_sends(s, ep), *y = who_sends(s, like);

	sum->others_wait |= ep->rx_calls.tgid != like->rx_calls.tgid;
	sum->others_awaited |= x && y && x->tgid != y->tgid;
}

static bool same_thread(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return a->rx_calls.tid && a->rx_calls.tid == b->rx_calls.tid && !a->rx_calls.others &&
	       !b->rx_calls.others;
}

/* A thread that reads from one connection after another waits at one of them at a time. */
static void count_once(struct waits_together *sum, const struct while_alive *all)
{
	uint64_t time = all->to - all->from;

	if (sum->lifetime_ns <= time)
		return;
	sum->ns = smaller(sum->ns, time);
	sum->lifetime_ns = time;
}

ORDER_BY(by_beginning, struct while_alive, from)

/* The time in which at least one of them existed. */
static uint64_t time_of_any(struct while_alive *v, size_t n)
{
	uint64_t sum = 0, until = 0;

	qsort(v, n, sizeof(*v), by_beginning);
	for (size_t i = 0; i < n; i++) {
		uint64_t from = larger(v[i].from, until);

		sum += v[i].to > from ? v[i].to - from : 0;
		until = larger(until, v[i].to);
	}
	return sum;
}

/* If many wait at a time, the sum of their waits is more than the time that passed. */
static uint64_t time_together(const struct trace_snapshot *s, const struct reader_spell *wait)
{
	const struct trace_endpoint *first = &s->ep[wait->endpoint];
	struct while_alive *v = array_new(s->n, 0, sizeof(*v));
	size_t n = 0;
	uint64_t ns;

	for (size_t i = 0; v && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		if (ep == first || waits_are_alike(s, first, ep))
			v[n++] = life_of(ep);
	}
	ns = v ? time_of_any(v, n) : first->rx.lifetime_ns;
	free(v);
	return ns;
}

/* A program that forwards data which comes unasked sends few requests, and waits mostly for data
 * that is no answer. */
#define RELATED 4 /* part */

static bool are_unrelated(const struct requests *r, uint64_t wait_ns)
{
	return RELATED * (r->think_ns + r->unread_ns + r->way_ns + r->given_up_ns) < wait_ns;
}

/* Samples count no requests; a single one that is still open is known to be one. */
static bool are_uncounted(const struct trace_snapshot *s, const struct waits_together *sum)
{
	return s->samples && sum->connections > 1;
}

static void count_unaccepted(const struct trace_endpoint *ep, struct waits_together *sum)
{
	bool open = !ep->closed && ep->peer < 0;

	sum->open += open;
	sum->unaccepted += open && ep->making.other_unaccepted;
}

/* On many short connections each wait is short: those of one program for the same server count as
 * one. A program that starts a helper again and again does other things in between. */
struct waits_together sum_waits(const struct trace_snapshot *s, const struct reader_spell *wait,
				bool nothing_sent)
{
	struct waits_together sum = { .connections = 1, .ns = wait->ns };
	struct while_alive all = { .from = UINT64_MAX };
	struct unsampled unsampled;
	bool one_thread = true;

	if (wait->endpoint < 0)
		return (struct waits_together){};
	sum.lifetime_ns = add_life(&s->ep[wait->endpoint], &all);
	add_requests(s, (size_t)wait->endpoint, &sum.requests);
	count_unaccepted(&s->ep[wait->endpoint], &sum);
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		uint64_t ns;

		if (i == (size_t)wait->endpoint || !waits_are_alike(s, &s->ep[wait->endpoint], ep))
			continue;
		count_unaccepted(ep, &sum);
		ns = waited_at(s, i).ns;
		if (ns < VERDICT_MIN_NS || !waits_at_times(s, i, nothing_sent))
			continue;
		sum.connections++;
		sum.ns += ns;
		sum.lifetime_ns += add_life(ep, &all);
		sum.helpers |= same_helpers(&s->ep[wait->endpoint], ep);
		one_thread &= same_thread(&s->ep[wait->endpoint], ep);
		note_others(s, &s->ep[wait->endpoint], ep, &sum);
		add_requests(s, i, &sum.requests);
	}
	if (one_thread && sum.connections > 1)
		count_once(&sum, &all);
	sum.together_ns = time_together(s, wait);
	unsampled = unsampled_like(s, &s->ep[wait->endpoint]);
	sum.estimated = unsampled.n;
	sum.connections += unsampled.n;
	sum.ns += unsampled_part(&unsampled, sum.ns);
	sum.lifetime_ns += unsampled.lifetime_ns;
	if (are_uncounted(s, &sum) || are_unrelated(&sum.requests, sum.ns))
		sum.requests = (struct requests){};
	if (sum.helpers && all.to - all.from > sum.lifetime_ns)
		sum.lifetime_ns = all.to - all.from;
	return sum;
}

/* A wait does not explain another one that gets one answer after another meanwhile: a worker's wait
 * on the channel to its supervisor. */
#define OUTLASTS	 4 /* times */
#define OUTLASTS_BY_PIPE 2 /* a helper's pipe lasts as long as its answer */

static bool outlasts(const struct trace_snapshot *s, const struct reader_spell *next,
		     const struct reader_spell *wait)
{
	bool by_pipe = s->ep[next->endpoint].proto == TRACE_PIPE &&
		       s->ep[wait->endpoint].proto != TRACE_PIPE;

	return wait->max_ns &&
	       next->max_ns > (by_pipe ? OUTLASTS_BY_PIPE : OUTLASTS) * wait->max_ns;
}

/* A helper that is started anew for each request has to start first. */
#define HELPERS_TIME 0.6

/* The wait that explains `wait`, if its sender waits in turn; endpoint -1: it does not. */
static struct alike next_of_chain(const struct trace_snapshot *s, const struct alike *wait,
				  bool nothing_sent)
{
	const struct trace_endpoint *ep = &s->ep[wait->longest.endpoint],
				    *sender = awaited_end(s, ep);
	struct reader reader = { .tgid = awaited_process(s, wait->longest.endpoint),
				 .tid = sender ? sender->rx_calls.tid : 0 };
	uint64_t least_ns = (uint64_t)((wait->helpers ? HELPERS_TIME : SAME_TIME) *
				       (double)time_waited(wait));
	struct alike next = { .longest.endpoint = -1 };

	if (!reader.tgid)
		return next;
	if (wait->helpers || (ep->proto == TRACE_PIPE && ep->tx_calls.others))
		reader.helpers = who_sends(s, ep)->comm;
	for (int i = 0; i < 3 && next.longest.endpoint < 0; i++) {
		reader.by_socket = i < 1;
		reader.for_others = i < 2; /* a proxy may ask itself first */
		next = longest_in_all(s, waits_at_times, &reader, least_ns, nothing_sent);
	}
	if (next.longest.endpoint < 0 && !wait->helpers && sender)
		next = alone(s, comes_from(s, sender, (double)least_ns, ep->rx_calls.tgid));
	if (next.longest.endpoint >= 0 && outlasts(s, &next.longest, &wait->longest))
		next = (struct alike){ .longest.endpoint = -1 };
	return next;
}

/* Threads of one program that wait for one another are named once. */
static void add_link(struct wait_chain *chain, const struct trace_snapshot *s, int by, int next)
{
	if (s->ep[by].rx_calls.tgid != s->ep[next].rx_calls.tgid)
		chain->by[chain->n++] = by;
}

/* A broker's client waits for the broker, too: that does not explain the broker's own wait. */
static bool comes_back(const struct trace_snapshot *s, const struct wait_chain *chain, int wait,
		       int next)
{
	pid_t tgid = awaited_process(s, next);

	for (size_t k = 0; tgid && k < chain->n; k++)
		if (s->ep[chain->by[k]].rx_calls.tgid == tgid)
			return true;
	return tgid && s->ep[wait].rx_calls.tgid == tgid;
}

/* The process that is awaited may itself only wait, for about as long: the last wait of such a
 * chain is the one to look at. A chain without an end is a circle. */
static struct reader_spell last_of_chain(const struct trace_snapshot *s, struct alike wait,
					 bool nothing_sent, struct wait_chain *chain)
{
	for (int hops = 0; wait.longest.endpoint >= 0 && hops < CHAIN_MAX; hops++) {
		struct alike next;

		if (waits_mutually(s, (size_t)wait.longest.endpoint, nothing_sent))
			break;
		if (kept_input(s, (size_t)wait.longest.endpoint) >= 0)
			return wait.longest;
		next = next_of_chain(s, &wait, nothing_sent);
		if (next.longest.endpoint < 0 ||
		    comes_back(s, chain, wait.longest.endpoint, next.longest.endpoint))
			return wait.longest;
		add_link(chain, s, wait.longest.endpoint, next.longest.endpoint);
		wait = next;
	}
	chain->n = 0;
	return wait.longest;
}

#define MUCH_TRAFFIC 1000 /* messages */

static uint64_t messages_of(const struct trace_endpoint *ep, pid_t tgid)
{
	return (ep->tx_calls.tgid == tgid ? ep->tx_calls.messages : 0) +
	       (ep->rx_calls.tgid == tgid ? ep->rx_calls.messages : 0);
}

/* The process has conversations of its own, and waits at none of them for about as long. */
static bool is_at_work(const struct trace_snapshot *s, pid_t tgid, uint64_t wait, bool nothing_sent)
{
	uint64_t messages = 0;

	for (size_t i = 0; tgid && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		if (ep->proto == TRACE_PIPE)
			continue;
		messages += messages_of(ep, tgid);
		if (ep->rx_calls.tgid == tgid &&
		    (double)waited_at(s, i).ns >= SAME_TIME * (double)wait &&
		    waits_long(s, i, nothing_sent))
			return false;
	}
	return messages >= MUCH_TRAFFIC;
}

/* A benchmark writes its report when it ends: a reader such as tail(1) waits as long as the
 * benchmark lasts. */
#define ALL_OF_IT 0.9

static bool wrote_little(const struct trace_snapshot *s, size_t i, uint64_t most)
{
	const struct trace_endpoint *ep = &s->ep[i];

	if (s->samples && is_sampled_only(ep))
		return !s->samples[i].writes;
	return trace_messages_known(&ep->tx_calls) && ep->tx_calls.messages <= most;
}

static bool waited_once(const struct trace_endpoint *ep)
{
	return is_sampled_only(ep) ||
	       (double)ep->rx.max[RX_WAIT] >= ALL_OF_IT * (double)ep->rx.ns[RX_WAIT];
}

/* The process has answered clients of its own. */
static bool serves_clients(const struct trace_snapshot *s, pid_t tgid)
{
	for (size_t i = 0; tgid && i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		const struct trace_call_stats *who = program_at(ep);

		if (ep->proto != TRACE_PIPE && who->tgid == tgid && is_servers_end(s, i) &&
		    ep->rx_calls.bytes && ep->tx_calls.bytes)
			return true;
	}
	return false;
}

/* A server's parent, or its logger, hears from it when something happens, and has asked nothing. */
static bool hears_of_server(const struct trace_snapshot *s, size_t i)
{
	int back = reverse_endpoint(s, i);

	return serves_clients(s, s->ep[i].tx_calls.tgid) &&
	       (back < 0 || wrote_little(s, (size_t)back, 0));
}

static bool waits_for_report(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return ep->proto == TRACE_PIPE && wrote_little(s, i, PIECES) && waited_once(ep) &&
	       (is_at_work(s, ep->tx_calls.tgid, ep->rx.ns[RX_WAIT], nothing_sent) ||
		hears_of_server(s, i));
}

/* A server at work has a thread that waits for orders, and seldom gets any. */
#define FEW_ORDERS 10
#define IDLE_CPU   0.2 /* share of a CPU that the sender of the orders has */

static bool waits_for_orders(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return ep->proto == TRACE_PIPE && trace_messages_known(&ep->tx_calls) &&
	       ep->tx_calls.messages <= FEW_ORDERS &&
	       sender_cpu_share(&ep->tx_calls, ep) < IDLE_CPU &&
	       is_at_work(s, ep->rx_calls.tgid, ep->rx.ns[RX_WAIT], nothing_sent);
}

/* A server's end of a connection that is kept for later: nothing went through it meanwhile. */
static bool is_unused(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return ep->joined_late && !ep->rx_calls.bytes && !ep->tx_calls.bytes &&
	       is_servers_end(s, i);
}

/* A server's wait for the next request is not reported, unless somebody waits for that server. */
static bool waits_for_news(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	return !answers_requests(s, i) && !is_unused(s, i) && !is_pool_work(s, &s->ep[i]) &&
	       waits_long(s, i, nothing_sent) && !waits_for_report(s, i, nothing_sent) &&
	       !waits_for_orders(s, i, nothing_sent) && !keeps_from_another(s, i) &&
	       !feeds_itself(s, i);
}

static bool waits_for_answers(const struct trace_snapshot *s, size_t i, bool nothing_sent)
{
	return s->ep[i].proto != TRACE_PIPE && s->ep[i].tx_calls.messages &&
	       waits_for_news(s, i, nothing_sent);
}

/* A reader that never sent a request may be a worker that waits for work, for orders by a pipe, or
 * for a sender that seldom sends. A reader that waits for an answer, of that worker or of another,
 * is reported instead, unless it is the one that the first waits for. */
static struct alike of_clients(const struct trace_snapshot *s, struct alike any, bool nothing_sent)
{
	const struct trace_endpoint *ep = any.longest.endpoint < 0 ? NULL
								    : &s->ep[any.longest.endpoint];
	struct alike asked;

	if (!ep || (ep->proto != TRACE_PIPE &&
		    (ep->tx_calls.messages || !trace_messages_known(&ep->tx_calls))))
		return any;
	asked = longest_in_all(s, waits_for_answers, NULL, any.ns / 2, nothing_sent);
	if (asked.longest.endpoint < 0 ||
	    awaited_process(s, any.longest.endpoint) == s->ep[asked.longest.endpoint].rx_calls.tgid)
		return any;
	return asked;
}

/* A server with a pool of connections to another waits at none of them for most of its time, but at
 * all of them together for as long as its clients wait for it. */
static struct alike of_server(const struct trace_snapshot *s, const struct slow_answers *answers,
			      bool nothing_sent)
{
	const struct reader server = { .tgid = program_at(&s->ep[answers->endpoint])->tgid,
				       .for_others = true,
				       .by_socket = true };

	return longest_in_all(s, waits_at_times, &server,
			      (uint64_t)(SAME_TIME * (double)answers->ns), nothing_sent);
}

/* A mutual wait never ends by itself, any other wait ends by an answer. So a mutual wait comes
 * first, unless another one dwarfs it. */
struct reader_spell find_long_wait(const struct trace_snapshot *s,
				   const struct slow_answers *answers, bool nothing_sent,
				   struct wait_chain *chain)
{
	struct reader_spell mutual = longest_wait(s, waits_mutually, nothing_sent);
	struct alike any = longest_in_all(s, waits_for_news, NULL, VERDICT_MIN_NS, nothing_sent);

	any = of_clients(s, any, nothing_sent);
	if (any.longest.endpoint < 0 && answers->endpoint >= 0)
		any = of_server(s, answers, nothing_sent);
	*chain = (struct wait_chain){};
	return mutual.endpoint >= 0 && any.ns <= DWARFS * mutual.ns
		       ? mutual
		       : last_of_chain(s, any, nothing_sent, chain);
}

/* The one late answer came as another client's first request was answered: a broker had nothing for
 * the first client until the other one brought it. A request that lay unread meanwhile waited too,
 * for a server that was busy. */
#define BROUGHT_NS	5000000
#define BROUGHT_SHARE	0.01 /* share of the wait: the time between the two answers */
#define ANSWERED_SOONER 20   /* times as soon: the other client's answers */

static bool brings_answer(const struct trace_endpoint *in, const struct trace_endpoint *out)
{
	const struct trace_call_stats *a = &in->tx_calls, *b = &out->tx_calls;
	uint64_t apart = larger(a->first_reply_ns, b->first_reply_ns) -
			 smaller(a->first_reply_ns, b->first_reply_ns);

	return in != out && in->proto == out->proto && in->rx_calls.tgid &&
	       in->rx_calls.tgid == b->tgid && b->reply_n == 1 &&
	       a->reply_n && in->rx.max[RX_UNREAD] <= BROUGHT_NS &&
	       ANSWERED_SOONER * a->reply_max_ns <= b->reply_ns &&
	       apart <= BROUGHT_NS && (double)apart <= BROUGHT_SHARE * (double)b->reply_ns;
}

int who_brings_answer(const struct trace_snapshot *s, const struct reader_spell *wait)
{
	const struct trace_endpoint *out =
		wait->endpoint < 0 ? NULL : awaited_end(s, &s->ep[wait->endpoint]);
	int from = -1;

	for (size_t i = 0; out && out->proto != TRACE_PIPE && i < s->n; i++) {
		if (s->ep[i].peer < 0 || !brings_answer(&s->ep[i], out))
			continue;
		if (from >= 0) /* it is unknown which of them */
			return -1;
		from = (int)i;
	}
	return from;
}

/* A shorter wait than this part of the longest is not reported beside it. */
#define FELLOW_PART 4

static bool is_fellow(const struct trace_snapshot *s, const struct reader_spell *wait, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[wait->endpoint], *other = &s->ep[i];
	const struct trace_call_stats *server = who_sends(s, ep);

	return server && server->tgid && ep->proto == other->proto &&
	       strcmp(ep->rx_calls.comm, other->rx_calls.comm) && same_awaited(s, ep, other);
}

struct reader_spell find_fellow(const struct trace_snapshot *s, const struct reader_spell *wait,
				bool nothing_sent)
{
	struct reader_spell longest = { .endpoint = -1 };

	for (size_t i = 0; wait->endpoint >= 0 && i < s->n; i++) {
		struct reader_spell r = waited_at(s, i);

		if (r.ns > longest.ns && r.ns >= NOTICEABLE_NS && FELLOW_PART * r.ns >= wait->ns &&
		    is_fellow(s, wait, i) && waits_for_news(s, i, nothing_sent))
			longest = r;
	}
	return longest;
}
