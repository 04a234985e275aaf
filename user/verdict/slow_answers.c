// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session of a server alone sees no client wait: the clients are on other hosts, or not traced.
 * But the server's own end tells when a request came, when it was read, and when the answer went
 * out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verdict/feed.h"
#include "verdict/negligible.h"
#include "verdict/other_findings.h"
#include "verdict/replies.h"
#include "verdict/times.h"

/* For this many answered messages, one more may be no request, but a window update or a ping. */
#define LITTLE 8

/* A shorter average answer is not slow: under load, clients wait most of the time even so. */
#define SLOW_NS 1000000
/* A server that runs all the time has too many requests, not too slow a disk. */
#define SLOW_AT_WORK_NS 10000000

/* of the time that its clients were connected */
#define ANSWERS_SHARE 0.5

/* the times of one connection's requests */
struct served {
	uint64_t answered_ns, unread_ns;
	uint64_t open_ns; /* since the last request was read, if it has no answer yet; 0: it has */
	bool since_before; /* the request is older than the session */
};

static bool are_counted(const struct trace_endpoint *ep)
{
	return trace_messages_known(&ep->rx_calls) && trace_messages_known(&ep->tx_calls);
}

/* A server that sends a ping now and then, as over WebSockets, gets an answer at once, and nothing
 * more until the next ping: no request. A client that sends a request as soon as it has an answer
 * looks the same, unless that goes on, or the messages are too large for pings. */
#define TURNS	  3
#define PING_MOST 40 /* bytes, with those that TLS adds */

static bool are_small(const struct trace_call_stats *b)
{
	return b->bytes <= PING_MOST * b->messages;
}

static bool may_be_asked(const struct trace_endpoint *ep)
{
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;

	return out->reply_n >= TURNS || in->messages > in->reply_n || !are_small(in) ||
	       !are_small(out);
}

static bool may_be_asked_by_samples(const struct trace_snapshot *s, size_t i)
{
	const struct trace_samples *l = s->samples ? &s->samples[i] : NULL;

	return s->ep[i].path.sent_segments >= TURNS ||
	       (l && 2 * l->fact[TRACE_FACT_UNPROMPTED] >= l->n);
}

/* The message that was read last is a request, if those before were: each had its answer. */
static bool has_request(const struct trace_endpoint *ep)
{
	uint64_t came = ep->rx_calls.messages, n = ep->tx_calls.reply_n;

	return ep->tx_calls.open_reply_ns && came &&
	       (came <= PIECES || (n && came <= n + n / LITTLE + 1));
}

/* Samples tell how long the server owed an answer, whether it had read the request or not. */
static void add_samples(const struct trace_endpoint *ep, struct served *x)
{
	uint64_t owed = ep->tx_calls.reply_ns;

	x->unread_ns = smaller(owed, ep->rx.ns[RX_UNREAD]);
	x->answered_ns = owed - x->unread_ns;
}

static bool talks(const struct trace_endpoint *ep)
{
	return ep->rx_calls.bytes && ep->tx_calls.bytes;
}

static void add_messages(const struct trace_endpoint *ep, struct served *x)
{
	uint64_t life = ep->rx.lifetime_ns;

	if (!x->since_before && !may_be_asked(ep))
		return;
	if (x->since_before || has_request(ep))
		x->open_ns = ep->tx_calls.open_reply_ns;
	if (x->since_before && !x->open_ns) /* a Unix socket does not tell when the request came */
		x->open_ns = life;
	if (!ep->tx_calls.reply_n && !x->open_ns)
		return;
	x->answered_ns = ep->tx_calls.reply_ns;
	x->unread_ns = smaller(ep->rx.ns[RX_UNREAD],
			       life - smaller(life, x->answered_ns + x->open_ns));
}

static struct served served_at(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];
	struct served x = { .since_before = was_asked_before(s, i) };

	if (!is_sampled_only(ep) && are_counted(ep))
		add_messages(ep, &x);
	else if (is_sampled_only(ep) &&
		 (x.since_before || (talks(ep) && may_be_asked_by_samples(s, i))))
		add_samples(ep, &x);
	return x;
}

static uint64_t served_ns(const struct served *x)
{
	return x->answered_ns + x->unread_ns + x->open_ns;
}

static bool serves_unseen_client(const struct trace_snapshot *s, size_t i)
{
	const struct trace_endpoint *ep = &s->ep[i];

	return (ep->proto == TRACE_TCP || is_unix_connection(ep)) && !other_end_seen(ep) &&
	       program_at(ep)->tgid && ep->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN &&
	       is_servers_end(s, i) && !is_feed(s, i);
}

/* A request without an answer counts once it takes longer than any before: nobody knows how long it
 * will take. */
static uint64_t open_that_counts(const struct trace_endpoint *ep, const struct served *x)
{
	return !ep->tx_calls.reply_n || x->open_ns > ep->tx_calls.reply_max_ns ? x->open_ns : 0;
}

static void add_requests_of(const struct trace_endpoint *ep, const struct served *x,
			    struct requests *r)
{
	uint64_t open = open_that_counts(ep, x);

	if (x->since_before || is_sampled_only(ep)) /* neither their number nor their length is
						       known */
		return;
	r->n += ep->tx_calls.reply_n + (open != 0);
	r->cut += (uint64_t)(ep->joined_late + (open != 0));
	r->unfinished += open != 0;
	r->uncounted_ns += x->open_ns - open;
	r->think_ns += x->answered_ns + open;
	r->unread_ns += x->unread_ns;
	r->think_max_ns = larger(r->think_max_ns, larger(ep->tx_calls.reply_max_ns, open));
	r->unread_max_ns = larger(r->unread_max_ns, ep->rx.max[RX_UNREAD]);
}

/* Samples count no requests, but each answer takes at least one segment. */
static uint64_t answers_at_most(const struct trace_endpoint *ep)
{
	return is_sampled_only(ep) ? ep->path.sent_segments : ep->tx_calls.reply_n;
}

static uint64_t slow_ns(const struct trace_endpoint *ep)
{
	return reader_is_at_work(ep) ? SLOW_AT_WORK_NS : SLOW_NS;
}

/* One thread may read the request, and another compute. */
static uint64_t cpu_meanwhile(const struct trace_endpoint *ep, uint64_t ns)
{
	const struct trace_call_stats *in = &ep->rx_calls, *out = &ep->tx_calls;
	uint64_t reads = in->cpu_res == TRACE_UNKNOWN ? 0 : in->cpu_ns,
		 writes = out->cpu_res == TRACE_UNKNOWN ? 0 : out->cpu_ns;

	return smaller(ns, larger(reads, writes));
}

static void add_connection(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			   struct slow_answers *sum)
{
	struct served x = served_at(s, (size_t)(ep - s->ep));
	uint64_t ns = served_ns(&x);

	if (!ns || ns > ep->rx.lifetime_ns || ns < slow_ns(ep) * answers_at_most(ep))
		return;
	if (sum->endpoint < 0)
		sum->endpoint = (int)(ep - s->ep);
	sum->several |= program_at(ep)->tgid != program_at(&s->ep[sum->endpoint])->tgid;
	sum->connections++;
	sum->closed |= ep->closed;
	sum->ns += ns;
	sum->requests_most += answers_at_most(ep) + 1; /* the last one may have no answer yet */
	sum->cpu_ns += cpu_meanwhile(ep, ns);
	sum->lifetime_ns += ep->rx.lifetime_ns;
	sum->goes_on |= !ep->closed && (x.since_before || x.open_ns);
	sum->suspected |= x.since_before;
	add_requests_of(ep, &x, &sum->requests);
}

/* A server may have a process for each connection. */
static int server_order(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return COMPARE(a->proto, b->proto) ?: COMPARE(a->netns, b->netns) ?:
	       COMPARE(a->local.port, b->local.port) ?:
	       strcmp(program_at(a)->comm, program_at(b)->comm);
}

/* Puts the connections of one server together, in the order of the snapshot. */
static int full_order(const void *x, const void *y)
{
	const struct trace_endpoint *a = *(const struct trace_endpoint *const *)x,
				    *b = *(const struct trace_endpoint *const *)y;

	return server_order(a, b) ?: COMPARE(a, b);
}

static size_t collect(const struct trace_snapshot *s, const struct trace_endpoint **v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (serves_unseen_client(s, i))
			v[n++] = &s->ep[i];
	qsort(v, n, sizeof(*v), full_order);
	return n;
}

/* Most requests are quick, but some take so long that the client notices; all of them together take
 * a tenth of the time. */
#define PAUSE_TIMES 10 /* the average */

static bool have_pauses(const struct slow_answers *a)
{
	const struct requests *r = &a->requests;

	return r->think_max_ns >= LONG_PAUSE_NS &&
	       PAUSE_TIMES * r->think_ns <= r->think_max_ns * r->n &&
	       (double)a->ns >= LONG_PAUSE_SHARE * (double)a->lifetime_ns;
}

static bool are_long(const struct slow_answers *a)
{
	const struct requests *r = &a->requests;

	return r->n && r->think_ns + r->unread_ns >= SLOW_ANSWER_NS * r->n &&
	       (double)a->ns >= LONG_PAUSE_SHARE * (double)a->lifetime_ns;
}

static bool are_slow(const struct slow_answers *a, uint64_t observed)
{
	return a->ns && !is_unnoticeable(a->ns, observed) &&
	       ((double)a->ns >= ANSWERS_SHARE * (double)a->lifetime_ns || have_pauses(a) ||
		are_long(a));
}

pid_t find_server_that_may_pause(const struct trace_snapshot *s)
{
	uint64_t observed = observed_ns(s);

	for (size_t i = 0; s->samples && i < s->n; i++) {
		struct served x = { 0 };

		if (!serves_unseen_client(s, i) || !is_sampled_only(&s->ep[i]) || !talks(&s->ep[i]))
			continue;
		add_samples(&s->ep[i], &x);
		if ((double)served_ns(&x) >= LONG_PAUSE_SHARE * (double)s->ep[i].rx.lifetime_ns &&
		    !is_negligible(served_ns(&x), observed))
			return program_at(&s->ep[i])->tgid;
	}
	return 0;
}

/* A program that forwards each request, as a broker does, takes as long as the one that answers it:
 * so nearly that the pauses of another client do not match. */
#define AS_LONG	     0.05
#define AS_LONG_ONCE 0.01 /* if there is one request alone */

static bool is_answered_meanwhile(const struct trace_endpoint *there,
				  const struct trace_endpoint *here)
{
	uint64_t took = here->tx_calls.reply_ns, waited = there->rx_calls.reply_ns,
		 n = here->tx_calls.reply_n, m = there->rx_calls.reply_n;

	return n && larger(n, m) - smaller(n, m) <= 1 && waited <= took &&
	       (double)(took - waited) <= (n > 1 ? AS_LONG : AS_LONG_ONCE) * (double)took;
}

static int waits_meanwhile(const struct trace_snapshot *s, const struct trace_endpoint *here)
{
	int found = -1;

	for (size_t i = 0; i < s->n && !is_sampled_only(here); i++) {
		const struct trace_endpoint *there = &s->ep[i];

		if (there == here || there->proto == TRACE_PIPE || !are_counted(there) ||
		    there->tx_calls.tgid != program_at(here)->tgid ||
		    !is_answered_meanwhile(there, here))
			continue;
		if (found >= 0) /* it is unknown for which of them */
			return -1;
		found = (int)i;
	}
	return found;
}

struct slow_answers find_slow_answers(const struct trace_snapshot *s)
{
	const struct trace_endpoint **v = array_new(s->n, 0, sizeof(*v));
	size_t n = v ? collect(s, v) : 0;
	struct slow_answers most = { .endpoint = -1 };
	uint64_t observed = observed_ns(s);

	for (size_t i = 0, first = 0; i < n; first = i) {
		struct slow_answers one = { .endpoint = -1 };

		for (; i < n && !server_order(v[first], v[i]); i++)
			add_connection(s, v[i], &one);
		if (one.ns > most.ns && are_slow(&one, observed))
			most = one;
	}
	free(v);
	most.behind = most.endpoint < 0 ? -1 : waits_meanwhile(s, &s->ep[most.endpoint]);
	return most;
}
