// SPDX-License-Identifier: GPL-2.0-only
/* The cards of findings that are no stall of a sender that was seen */
#include "render/card_parts.h"

#include "base/text.h"
#include "render/doing_text.h"
#include "verdict/other_clients.h"
#include "verdict/other_findings.h"
#include "verdict/stopped_or_throttled.h"

void card_undelivered(const struct making *m)
{
	const struct reader_spell *u = &m->v->undelivered;
	const struct trace_endpoint *ep = &m->s->ep[u->endpoint];
	struct card *c = m->c;

	program_name(&ep->tx_calls, c->who, sizeof(c->who));
	address_of_peer(ep, c->whom, sizeof(c->whom));
	WAITS_FOR(c, "this host's device to send to %s", c->whom);
	card_where_spell(m, u, "device", ep->tx.lifetime_ns);
	SET(c->why, "its data had not left this host when the retransmission timer fired");
	card_take_fix(m);
}

void card_withheld(const struct making *m)
{
	const struct withheld_ack *w = &m->v->withheld;
	const struct trace_endpoint *ep = &m->s->ep[w->endpoint];
	struct card *c = m->c;

	address_of_peer(ep, c->who, sizeof(c->who));
	program_name(ep->rx_calls.tgid ? &ep->rx_calls : &ep->tx_calls, c->whom, sizeof(c->whom));
	WAITS_FOR(c, "an ACK from %s", c->whom);
	card_where(c, ep,
		   &(struct spent){ .state = "ACKs withheld",
				    .ns = w->ns,
				    .lifetime_ns = ep->rx.lifetime_ns,
				    .count = w->count,
				    .max_ns = w->ns / w->count });
	SET(c->why,
	    "its delayed ACKs held up the other end: more data came one round trip after each");
	card_set_surety(c, INFERRED);
	card_take_fix(m);
}

/* The reader reads its answers late, which delays only the reader itself. */
static void card_of_late_answers(const struct making *m)
{
	const struct reader_spell *late = &m->v->late;
	const struct trace_endpoint *ep = &m->s->ep[late->endpoint];
	struct card *c = m->c;
	char each[32];

	program_name(&ep->rx_calls, c->who, sizeof(c->who));
	peer_name(m->s, ep, c->whom, sizeof(c->whom));
	SET(c->head, "%s %s the answers of %s late", c->who, verb_of(c->who, "reads", "read"),
	    c->whom);
	card_where_spell(m, late, "unread", ep->rx.lifetime_ns);
	human_ns((double)late->ns / (double)late->count, each, sizeof(each));
	SET(c->why, "each lay unread for %s on average, though nothing else kept the reader busy",
	    each);
	card_set_surety(c, SEEN_BOTH_ENDS);
	card_take_fix(m);
}

/* "redis-server[7] was busy with another client: redis-cli[9], 1.02 s"; false: it was not */
static bool why_busy_with_others(const struct making *m, const struct reader_spell *late)
{
	struct other_clients o = other_clients_meanwhile(m->s, (size_t)late->endpoint, late->ns);
	char client[PARTY_TEXT], ns[32];
	struct card *c = m->c;

	if (!o.n)
		return false;
	peer_name(m->s, &m->s->ep[o.one], client, sizeof(client));
	human_ns((double)o.ns, ns, sizeof(ns));
	SET(c->why, "%s %s busy with ", c->whom, verb_of(c->whom, "was", "were"));
	if (m->v->late_all.connections > 1)
		ADD(c->why, "other clients meanwhile");
	else if (o.n == 1)
		ADD(c->why, "another client: %s, %s", client, ns);
	else
		ADD(c->why, "%zu other clients for %s", o.n, ns);
	card_set_fix(c, card_serve_more_fix);
	return true;
}

static void why_not_accepted(struct card *c)
{
	SET(c->why,
	    "its data lay unread in the listener's queue: accept() was not called, or failed");
	card_set_fix(c, card_accept_fix);
}

/* The process that does not read. For a connection that is not accepted yet it is the listener. */
static struct who late_reader(const struct making *m, const struct trace_endpoint *ep, uint64_t ns)
{
	struct who reader = who_is_not_reading(ep, ns);
	const struct trace_listener *l =
		reader.tgid || reader.others ? NULL : listener_of(m->s, ep);

	return l ? (struct who){ .tgid = l->tgid, .comm = l->comm } : reader;
}

/* The read calls of that process at any endpoint; those of `ep` if it reads at none. */
static const struct trace_call_stats *process_of(const struct making *m,
						 const struct trace_endpoint *ep, pid_t tgid)
{
	for (size_t i = 0; ep->rx_calls.tgid != tgid && i < m->s->n; i++)
		if (m->s->ep[i].rx_calls.tgid == tgid)
			return &m->s->ep[i].rx_calls;
	return &ep->rx_calls;
}

static void where_late(const struct making *m)
{
	const struct totals *a = &m->v->late_all;

	card_where(m->c, &m->s->ep[m->v->late.endpoint],
		   &(struct spent){ .state = "unread",
				    .connections = a->connections,
				    .ns = a->ns,
				    .lifetime_ns = a->lifetime_ns,
				    .count = a->count,
				    .max_ns = a->max_ns });
}

static void card_of_late_reader(const struct making *m)
{
	const struct reader_spell *late = &m->v->late;
	const struct trace_endpoint *ep = &m->s->ep[late->endpoint];
	struct who reader = late_reader(m, ep, late->ns);
	bool not_accepted = lay_in_queue(ep, late->ns) ||
			    (reader.tgid && !ep->rx_calls.tgid && listener_of(m->s, ep));
	struct card *c = m->c;

	peer_name(m->s, ep, c->who, sizeof(c->who));
	if (m->v->late_all.several_senders)
		ADD(c->who, OTHERS);
	who_name(&reader, c->whom, sizeof(c->whom));
	if (m->v->late_all.several_blamed && !reader.others)
		ADD(c->whom, OTHERS);
	WAITS_FOR(c, "%s to read", c->whom);
	where_late(m);
	if (not_accepted)
		WAITS_FOR(c, "%s to accept the connection", c->whom);
	if (card_why_halted(m, c->whom, process_of(m, ep, reader.tgid), card_longest_of(late)))
		return;
	if (why_busy_with_others(m, late))
		return;
	if (not_accepted) {
		why_not_accepted(c);
		return;
	}
	if (m->v->late_is_full)
		SET(c->why, "%s %s unread data, and its sender's buffer is full", c->whom,
		    verb_of(c->whom, "has", "have"));
	else
		SET(c->why, "%s %s unread data; the sender %smay wait for %s", c->whom,
		    verb_of(c->whom, "has", "have"),
		    other_end_seen(ep) ? "" : "was not traced, and ",
		    ep->proto == TRACE_PIPE ? "room" : "an answer");
	append_busy_thread(&ep->rx_calls, late->ns, c->why, sizeof(c->why));
	card_take_fix(m);
	if (doing_of(m->v->doing) != DOING_COMPUTES)
		card_append_doing(m);
}

static void card_no_room(const struct making *m)
{
	const struct reader_spell *late = &m->v->late;
	const struct trace_endpoint *ep = &m->s->ep[late->endpoint];
	struct card *c = m->c;

	program_name(&ep->rx_calls, c->whom, sizeof(c->whom));
	SET(c->head, "%s reads its datagrams too slowly", c->whom);
	card_where_spell(m, late, "unread", ep->rx.lifetime_ns);
	SET(c->why, "%s", no_room_phrase);
	card_take_fix(m);
}

void card_late(const struct making *m)
{
	if (m->v->no_room) {
		card_no_room(m);
		return;
	}
	(m->v->late_answers ? card_of_late_answers : card_of_late_reader)(m);
}

void card_starved(const struct making *m)
{
	const struct reader_spell *st = &m->v->starved;
	const struct trace_endpoint *ep = &m->s->ep[st->endpoint];
	struct card *c = m->c;

	program_name(starved_end(ep, st), c->who, sizeof(c->who));
	SET(c->whom, "a CPU");
	WAITS_FOR(c, "a CPU");
	card_where_spell(m, st, "no CPU", ep->rx.lifetime_ns);
	if (stopped_or_throttled(m->s, starved_end(ep, st), st->ns) == HALT_THROTTLED &&
	    card_why_halted(m, "it", starved_end(ep, st), st->ns))
		return;
	SET(c->why, st->count ? "after being woken, it waited for a CPU"
			      : "it was waiting for a CPU while others waited for it");
	card_take_fix(m);
}

void card_loss(const struct making *m)
{
	const struct datagram_loss *l = &m->v->loss;
	const struct trace_endpoint *ep = &m->s->ep[l->endpoint];
	struct card *c = m->c;

	loss_party(ep, l, c->who, sizeof(c->who));
	SET(c->head,
	    l->kind == TRACE_DROP_QDISC ? "datagrams from %s are lost" : "datagrams to %s are lost",
	    c->who);
	endpoint_name(ep, c->where, sizeof(c->where));
	append_loss(l, c->why, sizeof(c->why));
	if (l->sent || l->over_ns)
		card_set_surety(c, INFERRED);
	card_take_fix(m);
}

void card_scattered(const struct making *m)
{
	const struct scattered *sum = &m->v->scattered;
	struct card *c = m->c;

	SET(c->head, "many small stalls, or many short connections");
	SET(c->where, "all senders: %s of %s", human_time(sum->ns).text,
	    human_time(m->v->lifetime_ns).text);
	if (sum->cause_ns)
		SET(c->why, "%s: %.1f %% of it", trace_tx_names[sum->cause],
		    100.0 * (double)sum->cause_ns / (double)sum->ns);
	append_main_writer(m->s, sum, c->why, sizeof(c->why));
	card_take_fix(m);
}
