// SPDX-License-Identifier: GPL-2.0-only
#include "top/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "top/row_names.h"

const char *const row_sort_names[] = { "stall", "rate", "messages", "rtt", "program", "age", NULL };

/* ---- from two readings to rows ---- */

/* Sorts only if it must: the digests are mostly in order of serials already. */
static void index_digests(struct row_key *k, const struct trace_digests *s)
{
	bool sorted = true;

	for (size_t i = 0; i < s->n; i++) {
		k[i] = (struct row_key){ s->v[i].serial, (uint32_t)i };
		sorted = sorted && (!i || k[i - 1].serial <= k[i].serial);
	}
	if (!sorted)
		qsort(k, s->n, sizeof(*k), row_key_order);
}

static bool make_room(struct rows *p, size_t n)
{
	struct row_key *k, *l;
	uint32_t *o;
	struct row *v;

	if (n <= p->room)
		return true;
	n += n / 4 + 64;
	v = array_resize(p->v, n, 0, sizeof(*v));
	p->v = v ? v : p->v;
	o = array_resize(p->order, n, 0, sizeof(*o));
	p->order = o ? o : p->order;
	k = array_resize(p->keys, n, 0, sizeof(*k));
	p->keys = k ? k : p->keys;
	l = array_resize(p->last_keys, n, 0, sizeof(*l));
	p->last_keys = l ? l : p->last_keys;
	if (v && o && k && l)
		p->room = n;
	return v && o && k && l;
}

/* A figure that went backwards was corrected by the kernel half. The correction is no event of this
 * interval. */
static uint64_t minus(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static const struct trace_digest no_digest;

/* The figures from which the interval is counted. Events before the very first reading belong to
 * no interval; nor do the figures of an older endpoint that the last reading missed. */
static const struct trace_digest *counted_from(const struct rows *p, const struct row *r)
{
	const struct trace_digest *now = &p->now.v[r->now];

	if (!p->interval_ns)
		return now;
	if (r->before != ROW_NEW)
		return &p->before.v[r->before];
	return now->born_ns < p->before.at_ns ? now : &no_digest;
}

static void find_cause(struct row *r, const struct trace_digest *a, const struct trace_digest *b)
{
	r->cause = ROW_NO_CAUSE;
	for (unsigned int i = 0; i < TX_N; i++) {
		uint64_t ns = tx_is_stall(i) ? minus(b->tx_ns[i], a->tx_ns[i]) : 0;

		r->stall_ns += ns;
		if (ns > r->cause_ns) {
			r->cause = (uint8_t)i;
			r->cause_ns = ns;
		}
	}
}

/* the rwnd episodes that ended in the interval, and the one that goes on at its end */
static uint64_t rwnd_episodes(const struct trace_digest *a, const struct trace_digest *b)
{
	return minus(b->rwnd_n, a->rwnd_n) + (b->tx_now == TX_RWND);
}

/* The record of a closed endpoint may not name its peer, but the last reading did. A pipe's
 * names its reader, once one was seen. */
static bool reader_seen(const struct trace_digest *a, const struct trace_digest *b)
{
	return b->proto == TRACE_PIPE ? b->rx_tgid : b->peer || a->peer;
}

static void find_blamed(struct row *r, const struct trace_digest *a, const struct trace_digest *b)
{
	uint64_t n = b->nagle_n - a->nagle_n, like = b->nagle_delack_n - a->nagle_delack_n;
	struct blame_judged j;

	if (r->cause == ROW_NO_CAUSE)
		return;
	j = blame_judge(&(struct blame_facts){
		.cause = r->cause,
		.ns = r->cause_ns,
		.delack_ns = minus(b->delack_ns[r->cause], a->delack_ns[r->cause]),
		.unread_ns = minus(b->unread_ns[r->cause], a->unread_ns[r->cause]),
		.starved_ns = minus(b->starved_ns[trace_vote(r->cause)],
				    a->starved_ns[trace_vote(r->cause)]),
		.gathered_ns = minus(b->gathered_ns, a->gathered_ns),
		.gathered_n = minus(b->gathered_n, a->gathered_n),
		.count = r->cause == TX_RWND	? rwnd_episodes(a, b)
			 : r->cause == TX_NAGLE ? n + (b->tx_now == TX_NAGLE)
						: 0,
		.rtt_ns = blame_round_trip(b->rtt_us, b->min_rtt_us),
		.both_ends = reader_seen(a, b),
		.local_ipc = b->proto == TRACE_PIPE || b->family == AF_UNIX,
		.like_delack = r->cause == TX_NAGLE && blame_like_delack(like, r->cause_ns),
	});
	r->blamed = j.blamed;
	r->surety = j.surety;
}

/* In the interval in which calls begin to go unseen, the difference also holds bytes that earlier
 * intervals lack. A TCP socket that was born in it has no earlier intervals. */
static enum row_gap gap_of(bool missed_before, bool missed, const struct trace_digest *d)
{
	uint8_t proto = d->proto;

	if (d->calls_unseen && proto != TRACE_TCP)
		return GAP_BYTES;
	if (missed && !missed_before)
		return GAP_BYTES;
	return missed && proto == TRACE_TCP ? GAP_MESSAGES : GAP_NONE;
}

/* Samples see no bytes; but they found data here, or a thread at work on it. */
static bool samples_found_work(const struct trace_digest *a, const struct trace_digest *b)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		ns += i == TX_IDLE ? 0 : minus(b->tx_ns[i], a->tx_ns[i]);
	return ns || minus(b->rx_ns[RX_WORK], a->rx_ns[RX_WORK]) ||
	       minus(b->rx_ns[RX_UNREAD], a->rx_ns[RX_UNREAD]);
}

static void find_traffic(struct row *r, const struct trace_digest *a, const struct trace_digest *b)
{
	bool born = a == &no_digest && b->proto == TRACE_TCP; /* TCP counts its bytes itself */

	r->tx_gap = gap_of(born || a->tx_missed, b->tx_missed, b);
	r->rx_gap = gap_of(born || a->rx_missed, b->rx_missed, b);
	r->may_move = (r->tx_gap == GAP_BYTES || r->rx_gap == GAP_BYTES) &&
		      (!b->calls_unseen || samples_found_work(a, b));
	r->tx_bytes = r->tx_gap < GAP_BYTES ? minus(b->tx_bytes, a->tx_bytes) : 0;
	r->rx_bytes = r->rx_gap < GAP_BYTES ? minus(b->rx_bytes, a->rx_bytes) : 0;
	r->tx_messages = r->tx_gap == GAP_NONE ? minus(b->tx_messages, a->tx_messages) : 0;
	r->rx_messages = r->rx_gap == GAP_NONE ? minus(b->rx_messages, a->rx_messages) : 0;
}

static void make_row(struct rows *p, struct row *r)
{
	const struct trace_digest *b = &p->now.v[r->now], *a = counted_from(p, r);

	r->ns = minus(b->at_ns, r->before == ROW_NEW ? b->born_ns : a->at_ns);
	find_traffic(r, a, b);
	r->drops = b->drops_known ? minus(b->drops, a->drops) : 0;
	find_cause(r, a, b);
	find_blamed(r, a, b);
}

static void sum_add(struct row_sum *s, uint64_t n, bool known)
{
	s->n += n;
	s->lacks |= !known;
}

static void add_up(struct rows *p, const struct row *r)
{
	p->sum.endpoints++;
	p->sum.active += row_active(r);
	sum_add(&p->sum.tx_bytes, r->tx_bytes, r->tx_gap < GAP_BYTES);
	sum_add(&p->sum.rx_bytes, r->rx_bytes, r->rx_gap < GAP_BYTES);
	sum_add(&p->sum.messages, r->tx_messages, r->tx_gap == GAP_NONE);
	p->sum.stall_ns += r->stall_ns;
	if (r->tx_bytes || r->stall_ns)
		p->sum.sender_ns += r->ns;
}

static void make_rows(struct rows *p)
{
	size_t j = 0;

	memset(&p->sum, 0, sizeof(p->sum));
	for (size_t i = 0; i < p->now.n; i++) {
		struct row *r = &p->v[p->keys[i].index];

		*r = (struct row){ .now = p->keys[i].index, .before = ROW_NEW };
		while (j < p->before.n && p->last_keys[j].serial < p->keys[i].serial)
			j++;
		if (j < p->before.n && p->last_keys[j].serial == p->keys[i].serial)
			r->before = p->last_keys[j].index;
		make_row(p, r);
		add_up(p, r);
	}
}

static void interval_counters(struct trace_counters *out, const struct trace_counters *a,
			      const struct trace_counters *b)
{
	out->observed = minus(b->observed, a->observed);
	out->lost = minus(b->lost, a->lost);
	out->unpaired = minus(b->unpaired, a->unpaired);
	out->overflow = minus(b->overflow, a->overflow);
	out->missed = minus(b->missed, a->missed);
	out->blind = minus(b->blind, a->blind);
	out->opened = minus(b->opened, a->opened);
	out->closed = minus(b->closed, a->closed);
	out->dropped = minus(b->dropped, a->dropped);
}

int rows_take(struct rows *p, struct trace_digests *fresh)
{
	struct trace_digests spare = p->before;
	struct row_key *keys;

	if (!make_room(p, fresh->n))
		return -1;
	keys = p->last_keys;
	p->last_keys = p->keys;
	p->keys = keys;
	p->before = p->now;
	p->now = *fresh;
	*fresh = spare;
	p->interval_ns = p->before.at_ns ? minus(p->now.at_ns, p->before.at_ns) : 0;
	index_digests(p->keys, &p->now);
	make_rows(p);
	interval_counters(&p->sum.counters, &p->before.counters, &p->now.counters);
	return 0;
}

void rows_free(struct rows *p)
{
	trace_digests_free(&p->now);
	trace_digests_free(&p->before);
	free(p->v);
	free(p->order);
	free(p->keys);
	free(p->last_keys);
	*p = (struct rows){};
}

/* ---- questions about a row ---- */

void row_states(const struct rows *p, const struct row *r, uint64_t tx[TX_N], uint64_t rx[RX_N])
{
	const struct trace_digest *b = &p->now.v[r->now], *a = counted_from(p, r);

	for (unsigned int i = 0; i < TX_N; i++)
		tx[i] = minus(b->tx_ns[i], a->tx_ns[i]);
	for (unsigned int i = 0; i < RX_N; i++)
		rx[i] = minus(b->rx_ns[i], a->rx_ns[i]);
}

/* Endpoints are read one after the other, so an endpoint's own interval may be a little longer
 * than that of the reading. */
double row_share(const struct rows *p, const struct row *r)
{
	uint64_t ns = r->ns > p->interval_ns ? r->ns : p->interval_ns;

	return ns ? (double)r->stall_ns / (double)ns : 0;
}

/* ---- what is shown ---- */

static bool holds_word(const char *text, const char *word, size_t len)
{
	for (; *text; text++)
		if (strncasecmp(text, word, len) == 0)
			return true;
	return false;
}

static bool row_matches(const struct rows *p, const struct row *r, const char *filter)
{
	char text[512];

	if (!filter || !*filter)
		return true;
	row_text(p, r, text, sizeof(text));
	while (*filter) {
		size_t blank = strspn(filter, " "), len = strcspn(filter + blank, " ");

		if (len && !holds_word(text, filter + blank, len))
			return false;
		filter += blank + len;
	}
	return true;
}

static int compare(const struct rows *p, enum row_sort by, const struct row *a, const struct row *b)
{
	const struct trace_digest *x = &p->now.v[a->now], *y = &p->now.v[b->now];

	switch (by) {
	case SORT_STALL: return COMPARE(b->stall_ns, a->stall_ns);
	case SORT_MESSAGES:
		return COMPARE(b->tx_messages + b->rx_messages, a->tx_messages + a->rx_messages);
	case SORT_RTT: return COMPARE(y->rtt_us, x->rtt_us);
	case SORT_PROGRAM: return strncmp(digest_program(x), digest_program(y), 16);
	case SORT_AGE: return COMPARE(x->born_ns, y->born_ns);
	default: return COMPARE(b->tx_bytes + b->rx_bytes, a->tx_bytes + a->rx_bytes);
	}
}

struct how {
	const struct rows *p;
	enum row_sort by;
	bool reverse;
};

/* Rows that compare equal are ordered by age, the oldest first, so that they keep their places. */
static int row_order(const void *a, const void *b, void *how)
{
	const struct how *h = how;
	const struct row *x = &h->p->v[*(const uint32_t *)a], *y = &h->p->v[*(const uint32_t *)b];
	int c = compare(h->p, h->by, x, y);

	if (!c && h->by != SORT_RATE)
		c = compare(h->p, SORT_RATE, x, y);
	if (!c)
		c = COMPARE(h->p->now.v[x->now].serial, h->p->now.v[y->now].serial);
	return h->reverse ? -c : c;
}

void rows_order(struct rows *p, enum row_sort by, bool reverse, bool active_only,
		const char *filter)
{
	struct how h = { p, by, reverse };

	p->shown = 0;
	for (size_t i = 0; i < p->now.n; i++)
		if ((!active_only || row_active(&p->v[i])) && row_matches(p, &p->v[i], filter))
			p->order[p->shown++] = (uint32_t)i;
	if (p->shown)
		qsort_r(p->order, p->shown, sizeof(*p->order), row_order, &h);
}
