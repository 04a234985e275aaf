// SPDX-License-Identifier: GPL-2.0-only
/* The cards of requests without an answer, of slow answers, and of connections that are made */
#include "render/card_parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "render/doing_text.h"
#include "verdict/by_address.h"
#include "verdict/other_findings.h"

void card_mutual(const struct making *m)
{
	const struct trace_endpoint *ep = &m->s->ep[m->v->wait.endpoint],
				    *other = &m->s->ep[m->v->mutual.endpoint];
	struct who awaited = who_was_last(&other->rx_calls), waiter = who_was_last(&ep->rx_calls);
	bool threads = awaited.tgid == waiter.tgid && !awaited.others;
	struct card *c = m->c;

	program_name(&ep->rx_calls, c->who, sizeof(c->who));
	awaited_name(&awaited, &waiter, c->whom, sizeof(c->whom));
	if (m->v->mutual.circle)
		SET(c->head, "%zu wait in a circle, %s for %s", m->v->mutual.circle, c->who,
		    c->whom);
	else
		SET(c->head,
		    threads ? "two threads of %s wait for each other"
			    : "%s and %s wait for each other",
		    c->who, c->whom);
	card_where_wait(m);
	SET(c->why, "%s", mutual_phrase(&m->v->mutual));
	card_set_surety(c, SEEN_BOTH_ENDS);
	card_take_fix(m);
}

/* If the program waits in no call, the time of its wait is unknown. */
static void where_unanswered(struct card *c, const struct trace_endpoint *ep,
			     const struct unanswered *u)
{
	if (u->ns)
		card_where(c, ep,
			   &(struct spent){ .connections = u->sockets,
					    .ns = u->ns,
					    .lifetime_ns = u->ns > ep->rx.lifetime_ns
								   ? u->ns
								   : ep->rx.lifetime_ns });
	else
		endpoint_short_name(ep, c->where, sizeof(c->where));
}

static void whom_it_asked(const struct making *m, const struct trace_endpoint *ep, int server,
			  char *buf, size_t len)
{
	if (server >= 0)
		program_name(&m->s->ep[server].rx_calls, buf, len);
	else
		address_of_peer(ep, buf, len);
}

/* "dig[7] waits for 192.0.2.1:53, through dnsmasq[8]" */
static void head_unanswered_chain(const struct making *m, const struct unanswered *u)
{
	const struct trace_endpoint *last = &m->s->ep[u->passed_on];
	struct card *c = m->c;
	char between[sizeof(c->whom)];

	SET(between, "%s", c->whom);
	whom_it_asked(m, last, bound_where_it_sends(m->s, last), c->whom, sizeof(c->whom));
	WAITS_FOR(c, "%s, through %s", c->whom, between);
}

void card_unanswered(const struct making *m)
{
	const struct unanswered *u = &m->v->unanswered;
	const struct trace_endpoint *ep = &m->s->ep[u->endpoint];
	struct card *c = m->c;

	program_name(&ep->tx_calls, c->who, sizeof(c->who));
	whom_it_asked(m, ep, u->server, c->whom, sizeof(c->whom));
	if (u->passed_on >= 0)
		head_unanswered_chain(m, u);
	else
		WAITS_FOR(c, "%s to answer", c->whom);
	where_unanswered(c, ep, u);
	if (u->answered)
		SET(c->why,
		    "%" PRIu64 " of %" PRIu64 " datagrams got no answer, and it waited for each",
		    u->n, u->n + u->answered);
	else if (u->others_answered && !u->refused)
		SET(c->why,
		    "%" PRIu64 " datagram%s went out, and nothing came back; %" PRIu64
		    " other socket%s of the program had an answer",
		    u->n, plural(u->n), u->others_answered, plural(u->others_answered));
	else
		SET(c->why, "%" PRIu64 " datagram%s went out, and %s", u->n, plural(u->n),
		    u->refused ? "no program listens there: ICMP port unreachable"
			       : "nothing came back");
	card_take_fix(m);
}

static void where_connects(struct card *c, const struct trace_endpoint *ep,
			   const struct slow_connect *x)
{
	static const char *const states[] = { [REJECTED_NOT] = "connect",
					      [REJECTED_REFUSED] = "refused",
					      [REJECTED_RESET] = "reset" };

	if (!x->ns) { /* it did not try again */
		endpoint_short_name(ep, c->where, sizeof(c->where));
		return;
	}
	card_where(c, ep,
		   &(struct spent){ .state = states[x->rejected],
				    .connections = x->n,
				    .ns = x->ns,
				    .lifetime_ns = x->lifetime_ns,
				    .count = x->n,
				    .max_ns = x->max_ns });
}

void card_connect(const struct making *m)
{
	const struct slow_connect *x = &m->v->connect;
	const struct trace_endpoint *ep = &m->s->ep[x->endpoint];
	char each[32];
	struct card *c = m->c;

	program_name(program_at(ep), c->who, sizeof(c->who));
	address_of_peer(ep, c->whom, sizeof(c->whom));
	where_connects(c, ep, x);
	card_take_fix(m);
	if (x->rejected == REJECTED_RESET) {
		peer_name(m->s, ep, c->whom, sizeof(c->whom));
		SET(c->head, "%s is reset by %s, and tries again", c->who, c->whom);
		SET(c->why, "%" PRIu64 " connections were reset before any answer came", x->n);
		return;
	}
	if (x->rejected == REJECTED_REFUSED) {
		WAITS_FOR(c, "a program to listen on %s", c->whom);
		SET(c->why, "connect() was refused %" PRIu64 " time%s: no program listened there",
		    x->n, plural(x->n));
		return;
	}
	WAITS_FOR(c, "connections to %s", c->whom);
	human_ns((double)x->ns / (double)x->n, each, sizeof(each));
	SET(c->why,
	    "each handshake takes %s and no SYN was retransmitted: the path has a long round trip",
	    each);
	card_set_surety(c, INFERRED);
}

static double busy_answering(const struct slow_answers *a, const struct trace_endpoint *ep)
{
	return fmax((double)a->cpu_ns / (double)a->ns, card_busy_share(program_at(ep), ep));
}

/* The server waits at no connection, so it computes or sleeps. */
static void next_answers(const struct making *m, const struct trace_endpoint *ep)
{
	const struct trace_call_stats *b = program_at(ep);

	if (busy_answering(&m->v->answers, ep) >= BUSY)
		SET(m->c->next, "see where it computes: sudo perf top -p %d", b->tgid);
	else if (doing_of(m->v->doing) != DOING_UNKNOWN)
		doing_next(m->v->doing, m->c->next, sizeof(m->c->next));
	else
		SET(m->c->next, "a lock, a disk or a timer may hold it: sudo strace -f -p %d",
		    b->tgid);
}

/* Says that the server was stopped, throttled or without a CPU; false: it could run. */
static bool why_it_could_not_run(const struct making *m, const struct trace_call_stats *b,
				 uint64_t ns)
{
	struct card *c = m->c;

	if (card_why_halted(m, c->whom, b, ns))
		return true;
	if (b->no_cpu_res == TRACE_UNKNOWN || 2 * b->no_cpu_ns < ns)
		return false;
	SET(c->why, "%s %s waiting for a CPU for %s of that time", c->whom,
	    verb_of(c->whom, "was", "were"),
	    human_time(fmin((double)b->no_cpu_ns, (double)ns)).text);
	card_set_fix(c, starved_fix);
	return true;
}

/* The server passes each request on, and waits for another server. */
static void answers_behind(const struct making *m, const struct slow_answers *a)
{
	const struct trace_endpoint *behind = &m->s->ep[a->behind];
	const struct trace_call_stats *sender = who_sends(m->s, behind);
	const struct requests *r = &a->requests;
	struct card *c = m->c;
	char between[sizeof(c->whom)], each[32];

	SET(between, "%s", c->whom);
	peer_name(m->s, behind, c->whom, sizeof(c->whom));
	SET(c->head, "%s %s for %s, through %s", c->who, a->connections > 1 ? "wait" : "waits",
	    c->whom, between);
	human_ns((double)r->think_ns / (double)r->n, each, sizeof(each));
	SET(c->why, "%s answers after %s, and waits as long and as often for ", between, each);
	ADD(c->why, "%s", c->whom);
	card_append_doing(m);
	card_set_surety(c, INFERRED);
	card_next_wait(m, behind, sender ? sender->tgid : 0);
}

static void why_samples(const struct making *m, const struct slow_answers *a)
{
	SET(m->c->why,
	    "a request takes %s or more on average: %.0f %% of the samples found one that had no "
	    "answer yet",
	    human_time((double)a->ns / (double)a->requests_most).text, 100 * m->v->share);
}

void card_answers(const struct making *m)
{
	const struct slow_answers *a = &m->v->answers;
	const struct trace_endpoint *ep = &m->s->ep[a->endpoint];
	struct who server = who_was_last(program_at(ep));
	struct card *c = m->c;

	if (a->connections > 1 && a->closed)
		SET(c->who, "clients");
	else if (a->connections > 1)
		SET(c->who, "%zu clients", a->connections);
	else
		address_of_peer(ep, c->who, sizeof(c->who));
	card_someone(&server, a->several, c->whom, sizeof(c->whom));
	SET(c->head, "%s %s for %s to answer", c->who, a->connections > 1 ? "wait" : "waits",
	    c->whom);
	card_where(c, ep,
		   &(struct spent){ .connections = a->connections,
				    .ns = a->ns,
				    .lifetime_ns = a->lifetime_ns,
				    .goes_on = a->goes_on });
	if (a->behind >= 0) {
		answers_behind(m, a);
		return;
	}
	if (why_it_could_not_run(m, program_at(ep), a->ns))
		return;
	if (has_requests(&a->requests))
		card_why_requests(m, &a->requests, program_at(ep), ep);
	else if (a->suspected && ep->making.other_receives)
		SET(c->why, "%s %s sent nothing, while %s %s in a call to receive", c->whom,
		    verb_of(c->whom, "has", "have"), c->who, a->connections > 1 ? "wait" : "waits");
	else if (a->suspected)
		SET(c->why, "%s has sent nothing since the last request came", c->whom);
	else
		why_samples(m, a);
	card_fix_doing(m, false);
	if (busy_answering(a, ep) < BUSY)
		card_append_doing(m);
	else if (card_busy_share(program_at(ep), ep) < BUSY)
		card_append_share_of_cpu(c, busy_answering(a, ep));
	card_set_surety(c, a->suspected ? SUSPECTED : INFERRED);
	next_answers(m, ep);
}
