// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/stall_chain.h"

#include <stdlib.h>

#include "base/array.h"
#include "verdict/overlap.h"
#include "verdict/pipeline.h"
#include "verdict/times.h"
#include "verdict/who.h"

/* ---- findings ---- */

/* ---- programs that pass on what they read, asleep in a send or not ---- */

#define PASSED_LEAST 65536 /* below this two conversations may have as much by chance */

static bool known_and_much(const struct trace_call_stats *b)
{
	return b->bytes_res != TRACE_UNKNOWN && b->bytes >= PASSED_LEAST;
}

/* The program may keep data that it reads ahead in a queue of its own: up to one part in
 * QUEUE_PART. */
#define QUEUE_PART 8

static bool as_much_but_queue(uint64_t a, uint64_t b)
{
	return QUEUE_PART * (larger(a, b) - smaller(a, b)) <= larger(a, b);
}

typedef bool compares(uint64_t, uint64_t);

/* May that process have moved as many bytes? Yes, if their number is unknown. */
static bool moved(const struct trace_call_stats *b, pid_t tgid, uint64_t bytes, compares *alike)
{
	return b->tgid == tgid &&
	       (b->bytes_res == TRACE_UNKNOWN || (b->bytes && alike(b->bytes, bytes)));
}

/* A program that passes on what it reads need not read sooner than it can send. The amounts show
 * that it passes them on: it sent here what it read there, and nothing else that it reads or sends
 * is as much, so each can only belong to the other. */
static bool passes_on(const struct trace_snapshot *s, const struct trace_endpoint *from,
		      const struct trace_endpoint *to, pid_t tgid, compares *alike)
{
	const struct trace_call_stats *in = who_reads(s, from);
	size_t read = 0, sent = 0;

	if (!in || s->counters.dropped || !known_and_much(in) || !known_and_much(&to->tx_calls))
		return false;
	if (!moved(in, tgid, in->bytes, alike) || !moved(&to->tx_calls, tgid, in->bytes, alike))
		return false;
	for (size_t i = 0; i < s->n; i++) {
		read += moved(&s->ep[i].rx_calls, tgid, in->bytes, alike);
		sent += moved(&s->ep[i].tx_calls, tgid, in->bytes, alike);
	}
	return read == 1 && sent == 1;
}

/* If one stall makes up most of both findings and is equally long, it is the same stall. */
#define ONE_LONG_NS 100000000

static bool longest_are_one(const struct finding *f, const struct finding *behind)
{
	return f->max_ns >= ONE_LONG_NS && 2 * f->max_ns >= f->ns &&
	       about_as_much(f->max_ns, smaller(behind->max_ns, behind->ns));
}

static bool lives_overlap(const struct trace_endpoint *a, const struct trace_endpoint *b)
{
	return surely_overlap(a, a->tx.lifetime_ns, b, b->tx.lifetime_ns);
}

/* If a reader's output is held up for nearly as long as its input lies unread, that is why it
 * does not read. */
#define NEARLY 0.8

static bool nearly_all_of_it(const struct finding *f, const struct trace_endpoint *to)
{
	return (double)ledger_stall_ns(&to->tx) >= NEARLY * (double)f->blamed_ns;
}

/* Was the reader's own output held up for at least half of the time that `f` blames on it? It
 * need not sleep in a send: it may use poll(). */
static bool held_up_passing_on(const struct trace_snapshot *s, const struct finding *f,
			       const struct who *reader, const struct finding *behind)
{
	const struct trace_endpoint *from = &s->ep[f->endpoint], *to = &s->ep[behind->endpoint];

	if (who_was_held_up(to, behind->cause).tgid != reader->tgid ||
	    behind->blamed == BLAME_OWN_WRITES)
		return false;
	if (nearly_all_of_it(f, to) && lives_overlap(from, to))
		return passes_on(s, from, to, reader->tgid, as_much_but_queue);
	return (2 * surely_overlap(from, f->blamed_ns, to, behind->ns) >= f->blamed_ns ||
		(longest_are_one(f, behind) && lives_overlap(from, to))) &&
	       passes_on(s, from, to, reader->tgid, about_as_much);
}

#define SOME_SHARE 0.1

static bool is_some(uint64_t ns, const struct trace_endpoint *ep)
{
	return (double)ns >= SOME_SHARE * (double)ep->tx.lifetime_ns;
}

static bool has_other_input_or_output(const struct trace_snapshot *s,
				      const struct trace_endpoint *from,
				      const struct trace_endpoint *to, pid_t tgid)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		if (ep != from && ep->rx_calls.tgid == tgid && is_some(ep->rx.ns[RX_UNREAD], ep))
			return true;
		if (ep != to && ep->tx_calls.tgid == tgid && is_some(ledger_stall_ns(&ep->tx), ep))
			return true;
	}
	return false;
}

/* Samples count no bytes. But nothing else of the reader's is held up or lies unread, and its
 * output is surely held up for nearly as long as its input lies unread. */
static bool held_up_at_only_output(const struct trace_snapshot *s, const struct finding *f,
				   const struct who *reader, const struct finding *behind)
{
	const struct trace_endpoint *from = &s->ep[f->endpoint], *to = &s->ep[behind->endpoint];
	const struct trace_call_stats *in = who_reads(s, from);
	uint64_t both = surely_overlap(from, f->blamed_ns, to, ledger_stall_ns(&to->tx));

	return in && in->bytes_res == TRACE_UNKNOWN && behind->blamed != BLAME_OWN_WRITES &&
	       who_was_held_up(to, behind->cause).tgid == reader->tgid &&
	       (double)both >= NEARLY * (double)f->blamed_ns &&
	       !has_other_input_or_output(s, from, to, reader->tgid);
}

/* ---- who is asleep ---- */

/* A sample finds a pipe or Unix socket full if somebody sleeps in a write to it. */
static uint64_t asleep_in_send(const struct trace_endpoint *ep, const struct finding *behind)
{
	bool local = is_local_ipc(ep);

	if (ep->tx.resolution[TX_SNDBUF] == TRACE_BY_SAMPLES && local && behind->cause == TX_SNDBUF)
		return behind->ns;
	return ep->tx_calls.blocked_res == TRACE_UNKNOWN
		       ? 0
		       : smaller(behind->ns, trace_blocked_ns(&ep->tx_calls));
}

/* Was this thread asleep in a send there for at least half of the time that `f` blames on it?
 * tid 0: any thread of that process, none of which was seen to read. */
static bool kept_waiting(const struct trace_snapshot *s, const struct finding *f,
			 const struct who *reader, const struct finding *behind)
{
	const struct trace_endpoint *from = &s->ep[f->endpoint], *to = &s->ep[behind->endpoint];
	struct who sender = who_was_held_up(to, behind->cause);
	uint64_t asleep = asleep_in_send(to, behind);

	if (sender.tgid != reader->tgid || (reader->tid && sender.tid != reader->tid) ||
	    behind->blamed == BLAME_OWN_WRITES)
		return false;
	if (is_filter(s, reader->tgid) && lives_overlap(from, to) &&
	    2 * (behind->cause == TX_SNDBUF ? behind->ns : asleep) >= f->blamed_ns)
		return true; /* it may ask by poll() whether there is room */
	return 2 * surely_overlap(from, f->blamed_ns, to, asleep) >= f->blamed_ns;
}

typedef bool keeps_from_reading(const struct trace_snapshot *s, const struct finding *f,
				const struct who *reader, const struct finding *behind);

/* The largest finding that keeps the reader waiting. One that blames somebody comes first. -1:
 * there is none */
static int finding_behind(const struct trace_snapshot *s, const struct verdict *v,
			  const struct finding *of, const struct who *reader,
			  keeps_from_reading *keeps)
{
	int own = -1;

	for (size_t i = 0; i < v->n; i++) {
		const struct finding *f = &v->v[i];

		if (!keeps(s, of, reader, f))
			continue;
		if (f->blamed != BLAME_NOBODY)
			return (int)i;
		if (own < 0)
			own = (int)i;
	}
	return own;
}

/* ---- who is asleep in a read ---- */

/* The server is on another host, or not traced. */
static bool asks_unseen_server(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->making.connected && ep->remote.port;
}

/* Most of the time this end has unsent data, and may sleep until it can send more. Data in
 * flight does not count: the ACK of a request may come with the answer. */
static bool sends_meanwhile(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->tx.resolution[TX_IDLE] != TRACE_UNKNOWN &&
	       2 * (ep->tx.ns[TX_IDLE] + ep->tx.ns[TX_FLIGHT]) < ep->tx.lifetime_ns;
}

/* Did the reader wait there for a process other than the one that it keeps waiting, for at least
 * half of the time that `f` blames on it? */
static bool waited_there(const struct trace_snapshot *s, const struct finding *f,
			 const struct who *reader, const struct trace_endpoint *ep)
{
	struct who waits = who_was_last(&ep->rx_calls),
		   held_up = who_was_held_up(&s->ep[f->endpoint], f->cause);
	const struct trace_call_stats *sender = who_sends(s, ep);

	if (ep->rx.resolution[RX_WAIT] == TRACE_UNKNOWN || !who_is_same(&waits, reader) ||
	    sends_meanwhile(ep))
		return false;
	if (sender ? sender->tgid == held_up.tgid || sender->tgid == reader->tgid
		   : !asks_unseen_server(ep))
		return false;
	return 2 * surely_overlap(&s->ep[f->endpoint], f->blamed_ns, ep, asleep_ns(ep)) >=
	       f->blamed_ns;
}

/* A finding may be only suspected for want of samples. With one end alone it would be inferred. */
static bool sees_both_ends(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint],
				    *reader = ep->proto == TRACE_PIPE ? ep
					      : ep->peer >= 0	      ? &s->ep[ep->peer]
								      : NULL;

	return f->surety == SEEN_BOTH_ENDS || (f->surety == SUSPECTED && reader &&
					       reader->rx.resolution[RX_UNREAD] != TRACE_UNKNOWN);
}

static int where_reader_waits(const struct trace_snapshot *s, const struct finding *f)
{
	struct who reader;
	int at = -1;

	if (f->blamed != BLAME_PEER_READER || !sees_both_ends(s, f) ||
	    !who_is_late(s, &s->ep[f->endpoint], f->cause, &reader) || !reader.tgid)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (waited_there(s, f, &reader, &s->ep[i]) &&
		    (at < 0 || asleep_ns(&s->ep[i]) > asleep_ns(&s->ep[at])))
			at = (int)i;
	return at;
}

/* The process that the reader waits for cannot go on either. For example ssh, whose output is
 * not read, does not open the window of its channel further. */
static int behind_reader_waits(const struct trace_snapshot *s, const struct verdict *v,
			       const struct finding *f)
{
	int at = where_reader_waits(s, f);
	const struct trace_call_stats *sender = at < 0 ? NULL : who_sends(s, &s->ep[at]);

	for (size_t i = 0; sender && sender->tgid && i < v->n; i++) {
		const struct finding *behind = &v->v[i];
		const struct trace_endpoint *ep = &s->ep[behind->endpoint];

		if (behind != f && who_was_held_up(ep, behind->cause).tgid == sender->tgid &&
		    behind->blamed == BLAME_PEER_READER &&
		    (double)behind->ns >= NEARLY * (double)f->blamed_ns &&
		    lives_overlap(&s->ep[f->endpoint], ep))
			return (int)i;
	}
	return -1;
}

/* The finding that keeps the reader of this one from reading; -1: none. Sets *by_amounts if the
 * link is inferred from amounts. */
static int next_link(const struct trace_snapshot *s, const struct verdict *v, size_t i,
		     bool *by_amounts)
{
	const struct finding *f = &v->v[i];
	struct who reader;
	int behind;

	if (f->blamed != BLAME_PEER_READER || !sees_both_ends(s, f) ||
	    !who_is_late(s, &s->ep[f->endpoint], f->cause, &reader) || !reader.tgid)
		return -1;
	behind = finding_behind(s, v, f, &reader, kept_waiting);
	if (behind >= 0)
		return behind;
	behind = finding_behind(s, v, f, &reader, held_up_passing_on);
	if (behind < 0)
		behind = finding_behind(s, v, f, &reader, held_up_at_only_output);
	*by_amounts |= behind >= 0;
	return behind >= 0 ? behind : behind_reader_waits(s, v, f);
}

void verdict_link_waits(const struct trace_snapshot *s, struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++)
		v->v[i].reader_waits = where_reader_waits(s, &v->v[i]);
}

enum { DEADLOCK_OF_TWO = 2 }; /* see deadlock.c */

/* *circle: the number of links that lead back to finding i; 0: they do not, or there are only
 * two */
static int root_of(const struct trace_snapshot *s, const struct verdict *v, size_t i,
		   bool *by_amounts, size_t *circle)
{
	int at = (int)i, next;

	for (size_t links = 0; links <= v->n; links++) {
		next = next_link(s, v, (size_t)at, by_amounts);
		if (next < 0)
			return at == (int)i ? -1 : at;
		if (next == (int)i) {
			*circle = links + 1 > DEADLOCK_OF_TWO ? links + 1 : 0;
			return -1;
		}
		at = next;
	}
	return -1;
}

void verdict_link(const struct trace_snapshot *s, struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++) {
		bool by_amounts = false;

		v->v[i].root = root_of(s, v, i, &by_amounts, &v->v[i].circle);
		v->v[i].root_by_amounts = by_amounts && v->v[i].root >= 0;
	}
}

/* ---- single stalls ---- */

static int by_process(const void *a, const void *b)
{
	const struct trace_stall *x = &(*(const struct stall *const *)a)->s,
				 *y = &(*(const struct stall *const *)b)->s;

	return COMPARE(x->tgid, y->tgid) ?: COMPARE(x->from_ns, y->from_ns);
}

int stall_order_make(struct stall_order *o, const struct stalls *l)
{
	*o = (struct stall_order){ .v = array_new(l->n, 1, sizeof(*o->v)), .n = l->n };
	if (!o->v)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		o->v[i] = stalls_at(l, i);
	if (l->n)
		qsort(o->v, l->n, sizeof(*o->v), by_process);
	return 0;
}

/* The number of stalls of processes with a smaller PID, or of this one that began before `ns`. */
static size_t before(const struct stall_order *o, pid_t tgid, uint64_t ns)
{
	const struct stall want = { .s = { .tgid = tgid, .from_ns = ns } }, *v = &want;

	return array_lower_bound(&v, o->v, o->n, sizeof(v), by_process);
}

static uint64_t overlap(const struct trace_stall *a, const struct trace_stall *b)
{
	uint64_t from = larger(a->from_ns, b->from_ns), to = smaller(a->to_ns, b->to_ns);

	return to > from ? to - from : 0;
}

/* The stalls of one thread follow one another, so only the last few before the end can cover
 * half of it. Several threads need some more. */
enum { TRIED = 64 };

const struct stall *stall_behind(const struct stall_order *o, const struct stall *st)
{
	const struct trace_stall *s = &st->s;
	size_t end;

	if (stall_blamed(s) != BLAME_PEER_READER || !s->peer_tgid)
		return NULL;
	end = before(o, s->peer_tgid, s->to_ns);
	for (size_t i = end; i-- > 0 && end - i <= TRIED && o->v[i]->s.tgid == s->peer_tgid;)
		if (o->v[i] != st && 2 * overlap(s, &o->v[i]->s) >= s->to_ns - s->from_ns)
			return o->v[i];
	return NULL;
}

void stall_order_free(struct stall_order *o)
{
	free(o->v);
	*o = (struct stall_order){};
}
