// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP queries that nobody answers, or that another host refuses. No sender is held up, and this
 * host knows of no loss. A program that never tries to read expects no answer.
 */
#include <stdlib.h>

#include "base/array.h"
#include "verdict/by_address.h"
#include "verdict/other_findings.h"
#include "verdict/requests.h"
#include "verdict/unsampled_connections.h"

/* share of the time in which the client waited */
#define MOST_OF_WAIT 0.8

static bool was_refused(const struct trace_endpoint *ep)
{
	return ep->tx_calls.refused_n || ep->rx_calls.refused_n;
}

/* A program that names the address in each call may send news that needs no answer. */
static bool is_connected(const struct trace_endpoint *ep)
{
	return ep->remote.port && !ep->making.unconnected;
}

static bool expects_an_answer(const struct trace_endpoint *ep)
{
	return ep->rx.ns[RX_WAIT] >= VERDICT_MIN_NS || (is_connected(ep) && ep->rx.ns[RX_WORK]) ||
	       was_refused(ep);
}

/* A client in poll() or epoll is in no call. It counts as waiting if its request lay unread at
 * the server for LIES_NS. */
#define LIES_NS	  500000000

static bool lies_unread(const struct trace_snapshot *s, const struct trace_endpoint *ep, int server)
{
	const struct trace_endpoint *at = server >= 0 ? &s->ep[server] : NULL;

	return at && is_connected(ep) && ep->tx_calls.messages <= QUESTIONS &&
	       at->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN &&
	       at->rx.max[RX_UNREAD] >= LIES_NS && !at->tx_calls.messages;
}

/* A client that sent so few, and closed after LIES_NS without an answer, gave up. */
static bool gave_up(const struct trace_endpoint *ep)
{
	return ep->closed && is_connected(ep) && ep->tx_calls.messages <= QUESTIONS &&
	       ep->rx_calls.open_reply_ns >= LIES_NS;
}

static bool is_counted(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_UDP && ep->rx.resolution[RX_WAIT] != TRACE_UNKNOWN &&
	       ep->tx_calls.messages && trace_messages_known(&ep->tx_calls) &&
	       trace_messages_known(&ep->rx_calls);
}

/* An unconnected client, such as a resolver, asks several servers and waits for a timeout at
 * each that is silent. Returns how many were silent, if the timeouts make up most of its wait. */
static uint64_t missing_answers(const struct trace_endpoint *ep)
{
	uint64_t sent = ep->tx_calls.messages, came = ep->rx_calls.messages,
		 n = sent > came ? sent - came : 0;

	return !is_connected(ep) && came &&
			       (double)(n * ep->rx.max[RX_WAIT]) >=
				       MOST_OF_WAIT * (double)ep->rx.ns[RX_WAIT]
		       ? n
		       : 0;
}

static uint64_t unanswered_datagrams(const struct trace_endpoint *ep)
{
	if (!is_counted(ep))
		return 0;
	return ep->rx_calls.messages ? missing_answers(ep) : ep->tx_calls.messages;
}

static bool waits(const struct trace_snapshot *s, const struct trace_endpoint *ep, int server)
{
	return expects_an_answer(ep) || gave_up(ep) || lies_unread(s, ep, server);
}

/* How long the client waited: by its own call, or by the unread time at the server. 0: not
 * known. */
static uint64_t waited_ns(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			  int server)
{
	if (expects_an_answer(ep) && ep->rx.ns[RX_WAIT])
		return ep->rx.ns[RX_WAIT];
	if (was_refused(ep)) /* at once */
		return 0;
	if (expects_an_answer(ep) || gave_up(ep))
		return ep->rx_calls.open_reply_ns;
	return s->ep[server].rx.ns[RX_UNREAD];
}

static bool is_read_only(const struct trace_endpoint *ep, uint64_t n)
{
	return ep->proto == TRACE_UDP && ep->rx_calls.messages >= n &&
	       trace_messages_known(&ep->rx_calls) && trace_messages_known(&ep->tx_calls) &&
	       !ep->tx_calls.messages;
}

/* The number of other sockets of the program that asked the same server and got an answer. */
static uint64_t others_answered(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *other = &s->ep[i];

		n += other != ep && other->proto == TRACE_UDP && other->rx_calls.messages &&
		     same_client(other, ep) && same_server(other, ep);
	}
	return n;
}

/* If each question has its own socket, the answer to the last one may only be late. */
static bool may_be_late(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return !ep->closed && others_answered(s, ep);
}

struct question {
	size_t endpoint;
	int server; /* see struct unanswered */
};

/* any further ones are left out: each is compared with each */
#define QUESTIONS_MOST 2048

struct asked {
	const struct trace_snapshot *s;
	size_t *silent; /* sockets that only read */
	size_t n_silent;
	struct question v[QUESTIONS_MOST];
	size_t n;
};

/* The only socket seen that reads and never answers: the datagrams may have gone there. -1:
 * there is none, or several. */
static int silent_server(const struct asked *a, const struct trace_endpoint *ep, uint64_t n)
{
	int found = -1;

	for (size_t k = 0; k < a->n_silent; k++) {
		const struct trace_endpoint *other = &a->s->ep[a->silent[k]];

		if (other == ep || !is_read_only(other, n) || other->netns != ep->netns)
			continue;
		if (found >= 0)
			return -1;
		found = (int)a->silent[k];
	}
	return found;
}

static int server_of(const struct asked *a, const struct trace_endpoint *ep)
{
	return ep->rx_calls.messages ? silent_server(a, ep, missing_answers(ep))
				     : bound_where_it_sends(a->s, ep);
}

static void add_if_it_matters(struct asked *a, size_t i)
{
	const struct trace_endpoint *ep = &a->s->ep[i];
	int server = unanswered_datagrams(ep) ? server_of(a, ep) : -1;

	if (unanswered_datagrams(ep) && waits(a->s, ep, server) &&
	    (ep->rx_calls.messages || !may_be_late(a->s, ep)))
		a->v[a->n++] = (struct question){ i, server };
}

static struct unanswered one_unanswered(const struct trace_snapshot *s, const struct question *q)
{
	const struct trace_endpoint *ep = &s->ep[q->endpoint];
	int server = q->server;

	return (struct unanswered){ .endpoint = (int)q->endpoint,
				    .server = server,
				    .sockets = 1,
				    .n = unanswered_datagrams(ep),
				    .answered = ep->rx_calls.messages,
				    .passed_on = -1,
				    .ns = waited_ns(s, ep, server),
				    .refused = was_refused(ep) };
}

/* A program may make a socket for each question. */
static void add_alike(const struct asked *a, struct unanswered *sum)
{
	const struct trace_endpoint *ep = &a->s->ep[sum->endpoint];

	for (size_t k = 0; k < a->n; k++) {
		const struct trace_endpoint *other = &a->s->ep[a->v[k].endpoint];

		if (other == ep || !same_client(other, ep) || !same_server(other, ep))
			continue;
		sum->sockets++;
		sum->n += unanswered_datagrams(other);
		sum->ns += waited_ns(a->s, other, a->v[k].server);
		sum->refused |= was_refused(other);
	}
}

/* A resolver forwards what it is asked through a socket of its own. Returns one that got no
 * answer; -1: none. */
static int asked_in_vain_by(const struct trace_snapshot *s, int server)
{
	pid_t tgid = server >= 0 ? s->ep[server].rx_calls.tgid : 0;

	for (size_t i = 0; tgid && i < s->n; i++)
		if ((int)i != server && s->ep[i].tx_calls.tgid == tgid && is_counted(&s->ep[i]) &&
		    s->ep[i].remote.port && !s->ep[i].rx_calls.messages)
			return (int)i;
	return -1;
}

static void find_all(struct asked *a)
{
	for (size_t i = 0; i < a->s->n; i++)
		if (is_read_only(&a->s->ep[i], 1))
			a->silent[a->n_silent++] = i;
	for (size_t i = 0; i < a->s->n && a->n < QUESTIONS_MOST; i++)
		add_if_it_matters(a, i);
}

static struct unanswered most_of(const struct asked *a)
{
	struct unanswered most = { .endpoint = -1, .server = -1, .passed_on = -1 };

	for (size_t k = 0; k < a->n; k++) {
		struct unanswered one = one_unanswered(a->s, &a->v[k]);

		add_alike(a, &one);
		if (most.endpoint < 0 || one.ns > most.ns)
			most = one;
	}
	return most;
}

struct unanswered find_unanswered(const struct trace_snapshot *s)
{
	struct unanswered most = { .endpoint = -1, .server = -1, .passed_on = -1 };
	struct asked a = { .s = s, .silent = array_new(s->n, 0, sizeof(*a.silent)) };

	if (a.silent) {
		find_all(&a);
		most = most_of(&a);
	}
	free(a.silent);
	most.passed_on = asked_in_vain_by(s, most.server);
	if (most.endpoint >= 0)
		most.others_answered = others_answered(s, &s->ep[most.endpoint]);
	return most;
}
