// SPDX-License-Identifier: GPL-2.0-only
/* From the kernel's records to trace.h: every endpoint settled, read until it is of one moment, joined to its peer. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"
#include "ledger.h"
#include "lib/half.h"
#include "lib/text.h"

#define READ_TRIES 16
#define RING_HOLDS 512	/* records of an end: a fifth of the ring */

static uint64_t stalled_ns(const struct endpoint *ep)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TX_N; i++)
		if (TX_STALLS >> i & 1)
			sum += ep->tx.ns[i];
	return sum;
}

/* the half that stalled less */
static bool less_stalled(const struct closed_list *l, struct half *h)
{
	uint64_t *v = malloc(l->n * sizeof(*v));

	for (size_t i = 0; v && i < l->n; i++)
		v[i] = stalled_ns(&l->ep[i]);
	if (!v)
		return false;
	half_begin(h, v, l->n);
	free(v);
	return true;
}

static uint64_t bytes_of(const struct beside *b)
{
	return b->own.bytes + b->crowd.bytes;
}

static void add_to_rest(struct trace *t, const struct endpoint *ep)
{
	struct closed_list *l = &t->closed;
	struct trace_endpoint e;

	if (!l->rest && !(l->rest = rest_new()))
		return;
	reader_endpoint(&e, ep, t);
	rest_add(l->rest, &e);
}

static void drop(struct trace *t, const struct endpoint *ep, uint64_t stall)
{
	struct closed_list *l = &t->closed;

	add_to_rest(t, ep);
	l->dropped++;
	l->tx_bytes += bytes_of(&ep->txb);
	l->rx_bytes += bytes_of(&ep->rxb);
	l->stall_ns += stall;
	if (bytes_of(&ep->txb) || stall)
		l->lifetime_ns += ep->closed - ep->born;
}

/* a session of days must not grow without bound: of those that are gone, the half that stalled more stays */
static void drop_least_stalled(struct trace *t)
{
	struct closed_list *l = &t->closed;
	size_t kept = 0, shown = 0;
	struct half less;

	if (!less_stalled(l, &less))
		return;
	for (size_t i = 0; i < l->n; i++) {
		uint64_t stall = stalled_ns(&l->ep[i]);

		if (half_goes(&less, stall)) {
			drop(t, &l->ep[i], stall);
			continue;
		}
		shown += i < l->shown;
		l->ep[kept++] = l->ep[i];
	}
	l->n = kept;
	l->shown = shown;
}

/* what the kernel half had not booked yet when the copy was taken */
static void book_rest(struct endpoint *ep)
{
	pending_book(&ep->tx);
	pending_book(&ep->rx);
}

static bool keep_closed(struct trace *t, const struct endpoint *ep)
{
	struct closed_list *l = &t->closed;

	if (l->n >= t->opts.max_closed)
		drop_least_stalled(t);
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct endpoint *p = realloc(l->ep, room * sizeof(*p));

		if (!p)
			return false;
		l->ep = p;
		l->room = room;
	}
	l->ep[l->n] = *ep;
	book_rest(&l->ep[l->n++]);
	return true;
}

static void fill_held(struct trace_held *out, const struct held *in)
{
	*out = (struct trace_held){ in->head != 0, in->queued, in->unacked, in->small, in->mss, in->cwnd, in->in_flight, in->window,
				    in->nonagle & 1, in->nonagle & 2 };
}

static void report_stall(const struct trace *t, const struct record_stall *r)
{
	struct trace_stall s = {
		.serial = r->serial, .from_ns = r->from, .to_ns = r->to, .state = r->state, .by_delack = (enum trace_delack)r->by_delack, .goes_on = r->goes_on,
		.peer_unread_ns = r->peer_unread, .tgid = r->tgid, .peer_tgid = r->peer_tgid, .kstack = r->kstack,
		.peer_serial = r->peer_serial, .ack_owed_ns = r->ack_owed, .ack_went_ns = r->ack_went, .ack_at_ns = r->ack.at,
		.ack_bytes = r->ack.acked, .ack_payload = r->ack.payload, .ustack = r->ustack, .peer_kstack = r->peer_kstack, .peer_ustack = r->peer_ustack,
	};

	fill_held(&s.held, &r->held);
	text_comm(s.comm, r->comm);
	text_comm(s.peer_comm, r->peer_comm);
	if (t->opts.on_stall)
		t->opts.on_stall(t->opts.ctx, &s);
}

static void report_event(const struct trace *t, const struct record_event *r)
{
	struct trace_transition tr = { .serial = r->serial, .at_ns = r->at };

	if (!t->opts.on_transition)
		return;
	if (r->head.type == RECORD_MARK) {
		tr.mark = r->what;
		tr.bytes = r->value;
	} else {
		tr.ns = r->value;
		tr.rx = r->what & 1;
		tr.from = r->what >> 4 & 15;
		tr.to = r->what >> 8 & 15;
		tr.closes = r->what >> 12 & 1;
	}
	t->opts.on_transition(t->opts.ctx, &tr);
}

int on_record(void *ctx, void *data, size_t size)
{
	const struct record_head *head = data;
	struct trace *t = ctx;

	if (head->type == RECORD_CLOSE) {
		const struct endpoint *ep = &((struct record_close *)data)->ep;

		t->n_closed++;
		if (!is_strangers(ep->flags, ep->peer) && !keep_closed(t, ep))
			t->lost++;
	} else if (head->type == RECORD_STALL) {
		report_stall(t, data);
	} else if (head->type == RECORD_STEP || head->type == RECORD_MARK) {
		report_event(t, data);
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

size_t reader_unique(uint64_t *keys, size_t n)
{
	size_t out = 0;

	qsort(keys, n, sizeof(*keys), by_number);
	for (size_t i = 0; i < n; i++)
		if (!out || keys[out - 1] != keys[i])
			keys[out++] = keys[i];
	return out;
}

#define RESTARTS 8	/* of a walk in a map that others change without end */

/*
 * All keys first. Where the one before was deleted meanwhile, htab_map_get_next_key() begins again at the first bucket: what was met
 * already comes once more, and is to be there once.
 */
static size_t list_keys(int fd, uint64_t *keys, size_t max)
{
	uint64_t prev, key, *from = NULL;
	size_t n = 0;

	for (size_t steps = 0; steps < RESTARTS * max && !bpf_map_get_next_key(fd, from, &key); steps++) {
		n = n < max ? n : reader_unique(keys, n);
		if (n == max)
			break;
		keys[n++] = prev = key;
		from = &prev;
	}
	return reader_unique(keys, n);
}

/* one of the programs that are run by user space; < 0: it is not loaded */
static void run_for(int program, uint64_t key, uint64_t at)
{
	uint64_t args[2] = { key, at };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (program >= 0)
		bpf_prog_test_run_opts(program, &o);
}

/* have the kernel half look at the endpoint once more, so that nothing it finds later reaches back before this moment */
static void settle(const struct trace *t, uint64_t key)
{
	run_for(t->settle_fd, key, 0);
}

static uint64_t ended_ns(const struct ledger *l, unsigned int states)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < states; i++)
		sum += l->ns[i];
	return sum;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* `since` on the full clock: the word holds the lower bits of it, and whoever settles sees to it that it is near (SPLIT_NS) */
static uint64_t full_since(const struct endpoint *ep, word_t w)
{
	return word_began(w, ep->closed ? ep->closed : later(ep->tx.seen, ep->rx.seen));
}

static int64_t unaccounted(const struct endpoint *ep, const struct ledger *l, unsigned int states)
{
	return (int64_t)(full_since(ep, l->word) - ep->born - ended_ns(l, states));
}

/* a copy; of one that goes meanwhile the place may be another's already */
bool reader_copy(const struct trace *t, uint64_t key, struct endpoint *ep)
{
	uint32_t place;

	if (t->hashed)
		return !bpf_map_lookup_elem(t->endpoints_fd, &key, ep);
	return !bpf_map_lookup_elem(t->keys_fd, &key, &place) && !bpf_map_lookup_elem(t->endpoints_fd, &place, ep) && ep->key == key;
}

/* the kernel swaps the word first and adds the time after: a copy taken in between is taken again */
static bool read_endpoint(const struct trace *t, uint64_t key, struct endpoint *ep)
{
	for (int i = 0; i < READ_TRIES; i++) {
		if (!reader_copy(t, key, ep) || !ep->tx.word || !ep->rx.word)
			return false;
		book_rest(ep);
		if (!unaccounted(ep, &ep->tx, TX_N) && !unaccounted(ep, &ep->rx, RX_N))
			return true;
	}
	return true;
}

static void fill_ledger(struct trace_ledger *out, const struct endpoint *ep, const struct ledger *in, enum dir dir, uint64_t at)
{
	unsigned int states = dir == DIR_TX ? TX_N : RX_N;
	uint64_t since = full_since(ep, in->word);

	memcpy(out->ns, in->ns, sizeof(out->ns));
	memcpy(out->max, in->max, sizeof(out->max));
	for (unsigned int i = 0; i < states; i++)
		for (unsigned int k = 0; k < HIST_SLOTS; k++)
			out->count[i] += in->hist[i][k];
	memcpy(out->hist, in->hist, sizeof(out->hist));
	out->now = word_state(in->word, dir);
	out->since_ns = since;
	if (at > since) {
		out->ns[out->now] += at - since;
		out->count[out->now]++;
		if (at - since > out->max[out->now])
			out->max[out->now] = at - since;
	}
	out->lifetime_ns = (at > since ? at : since) - ep->born;
	out->unaccounted_ns = (int64_t)out->lifetime_ns;
	for (unsigned int i = 0; i < states; i++)
		out->unaccounted_ns -= out->ns[i];
}

/* A sleep is booked when it ends; one that goes on has lasted at least since the state began that has its name. */
static void add_open_sleep(struct trace_endpoint *out, const struct endpoint *ep)
{
	uint64_t lasts = out->at_ns > out->tx.since_ns ? out->at_ns - out->tx.since_ns : 0;

	if (out->tx.now != TX_SNDBUF || !word_asleep(ep->tx.word) || ep->refused)
		return;
	out->txb.open_sleep_ns = lasts;
	out->txb.blocked_max_ns = later(out->txb.blocked_max_ns, lasts);
}

static void fill_beside(struct trace_beside *out, const struct beside *in)
{
	const struct flow *own = &in->own, *crowd = &in->crowd;

	out->bytes = own->bytes + crowd->bytes;
	out->messages = own->messages + crowd->messages;
	out->blocked_ns = own->blocked_ns + crowd->blocked_ns;
	out->blocked_max_ns = later(own->blocked_max, crowd->blocked_max);
	out->runq_ns = own->runq_ns + crowd->runq_ns;
	out->runq_max_ns = later(own->runq_max, crowd->runq_max);
	out->wakeups = own->wakeups + crowd->wakeups;
	out->tgid = in->tgid;
	out->tid = in->tid;
	out->cgroup_id = in->cgroup;
	out->others = in->others;
	text_comm(out->comm, in->comm);
}

static void fill_identity(struct trace_endpoint *out, const struct identity *id)
{
	out->serial = id->serial;
	out->inode = id->inode;
	out->netns = id->netns;
	out->proto = (enum trace_proto)id->proto;
	out->family = id->family;
	memcpy(out->local.ip, id->local.ip, sizeof(out->local.ip));
	memcpy(out->remote.ip, id->remote.ip, sizeof(out->remote.ip));
	out->local.port = id->local.port;
	out->remote.port = id->remote.port;
}

/* up to the last look: settled a moment ago, or the end */
static uint64_t truth(const struct endpoint *ep)
{
	uint64_t at = later(ep->tx.seen, ep->rx.seen);

	if (ep->closed)
		return ep->closed;
	at = later(at, full_since(ep, ep->tx.word));
	return later(at, full_since(ep, ep->rx.word));
}

/* TCP itself counts what goes through a socket; for other protocols the calls are all there is */
uint8_t reader_moved(uint64_t *bytes, uint64_t moved)
{
	if (moved <= *bytes)
		return TRACE_UNKNOWN;
	*bytes = moved;
	return TRACE_BOUNDED;
}

/* minmax_reset() with nothing measured: all bits */
uint32_t reader_min_rtt(uint32_t us)
{
	return us == UINT32_MAX ? 0 : us;
}

/* a call that is under way is counted when it ends; what TCP has taken of it is there already */
uint64_t reader_under_way(uint64_t bytes, uint64_t moved, word_t word)
{
	return word_working(word) && moved > bytes + SYN_AND_FIN ? moved - SYN_AND_FIN : bytes;
}

/* a call's end went by unseen, and with it what the call moved and how it slept */
static void end_missed(struct trace_beside *out, uint64_t moved)
{
	out->bytes_res = reader_moved(&out->bytes, moved);
	out->blocked_res = out->runq_res = TRACE_UNKNOWN;
}

/*
 * What was in the ring of a pipe when it was first seen, or is still: as much as F_SETPIPE_SZ allows any user (pipe-max-size), or what
 * was found in the ring of one that may have more (CAP_SYS_RESOURCE), a page in each buffer.
 */
static uint64_t ring_room(const struct trace_endpoint *ep)
{
	return later(1 << 20, ep->queue_max * 4096);
}

/* some of the reads, or all: how long the queue was in between, nobody looked */
static void reads_missed(struct trace_endpoint *out, uint64_t at_least)
{
	resolution_unseen(out, false, true);
	end_missed(&out->rxb, at_least);
	out->queue_res = TRACE_UNKNOWN;
}

/*
 * What is read from a pipe was written to it, and what is written and not there any more was read. Where the calls seen at one end fall
 * short of that, the others were made in ways that no hook sees (io_uring), or by a process that nobody asked for: what that end did is unknown, not nothing. A call under way
 * is counted when it ends.
 */
static void pipe_audit(struct trace_endpoint *out)
{
	uint64_t in = out->txb.bytes, through = out->rxb.bytes, room = ring_room(out);

	if (!out->closed && (out->tx.now == TX_WORK || out->tx.now == TX_SNDBUF || out->rx.now == RX_WORK))
		return;
	if (out->dequeued && !through)
		reads_missed(out, 0);
	if (through > in + (out->joined_late ? room : 0)) {
		resolution_unseen(out, true, false);
		end_missed(&out->txb, through);
	} else if (in > through + room) {
		reads_missed(out, in - room);
	}
}

static void forget_who(struct trace_beside *b)
{
	b->tgid = 0;
	b->cgroup_id = 0;
	b->others = false;
	memset(b->comm, 0, sizeof(b->comm));
}

/* those of a pipe, and the votes that were for them */
static void forget_mere_holders(struct trace_endpoint *out, const struct endpoint *ep)
{
	if (is_mere_holder(&ep->txb, &ep->rxb)) {
		forget_who(&out->txb);
		memset(out->blame.held_up, 0, sizeof(out->blame.held_up));
	}
	if (is_mere_holder(&ep->rxb, &ep->txb)) {
		forget_who(&out->rxb);
		memset(out->blame.late, 0, sizeof(out->blame.late));
	}
}

static void fill_blame(struct trace_blame *out, const struct blame *in)
{
	memcpy(out, in, sizeof(*out));
	for (int i = 0; i < VOTES; i++) {
		text_comm(out->held_up[i].comm, in->held_up[i].comm);
		text_comm(out->late[i].comm, in->late[i].comm);
	}
}

void reader_endpoint(struct trace_endpoint *out, const struct endpoint *ep, const struct trace *t)
{
	memset(out, 0, sizeof(*out));
	fill_identity(out, &ep->id);
	out->peer = -1;
	out->born_ns = ep->born;
	out->at_ns = truth(ep);
	out->closed = ep->closed;
	out->joined_late = ep->flags & EP_JOINED_LATE;
	out->paired = ep->peer || ep->id.proto == PROTO_PIPE;
	fill_ledger(&out->tx, ep, &ep->tx, DIR_TX, out->at_ns);
	fill_ledger(&out->rx, ep, &ep->rx, DIR_RX, out->at_ns);
	fill_beside(&out->txb, &ep->txb);
	fill_beside(&out->rxb, &ep->rxb);
	add_open_sleep(out, ep);
	fill_blame(&out->blame, &ep->blame);
	memcpy(out->drops, ep->drops, sizeof(out->drops));
	out->delack_ns = ep->delack_ns;
	out->delack_fires = ep->delack_fires;
	out->ack_debt_ns = ep->ack_debt_ns;
	memcpy(&out->answers, &ep->answers, sizeof(out->answers));
	out->retransmits = ep->retransmits;
	out->syn_retransmits = ep->syn_retransmits;
	out->timeouts = ep->timeouts;
	out->zero_windows = ep->zero_windows;
	out->rtt_us = ep->rtt_us;
	out->min_rtt_us = reader_min_rtt(ep->min_rtt_us);
	out->queue_integral = ep->queue_integral;
	out->queue_max = ep->queue_max;
	out->dequeued = ep->dequeued;
	out->txb.bytes = reader_under_way(out->txb.bytes, ep->moved[DIR_TX], ep->tx.word);
	out->rxb.bytes = reader_under_way(out->rxb.bytes, ep->moved[DIR_RX], ep->rx.word);
	resolution_fill(out, t->backend);
	resolution_unseen(out, ep->flags & EP_UNSEEN << DIR_TX, ep->flags & EP_UNSEEN << DIR_RX);
	if (ep->flags & EP_MISSED << DIR_TX)
		end_missed(&out->txb, ep->moved[DIR_TX]);
	if (ep->flags & EP_MISSED << DIR_RX)
		end_missed(&out->rxb, ep->moved[DIR_RX]);
	if (out->proto != TRACE_PIPE)
		return;
	pipe_audit(out);
	forget_mere_holders(out, ep);
}

_Static_assert(sizeof(struct trace_blame) == sizeof(struct blame), "the two blames differ");
_Static_assert(sizeof(struct trace_answers) == sizeof(struct answers), "the two counts of answers differ");
_Static_assert(TRACE_STATES == STATES_MAX && TRACE_HIST == HIST_SLOTS && (int)TRACE_DROPS == (int)DROP_N,
	       "trace.h and record.h differ");
_Static_assert(TRACE_VOTES == VOTES, "trace.h and record.h differ");
_Static_assert((int)TRACE_TIMELINE_ONE == (int)TIMELINE_ONE, "trace.h and record.h number their timelines differently");
_Static_assert((int)TRACE_PIPE == (int)PROTO_PIPE && (int)TRACE_FILTER_CGROUP == (int)FILTER_CGROUP,
	       "trace.h and record.h number their enums differently");

/* ---- the other ends ---- */

struct keyed {
	uint64_t key, peer, born, end;
	uint64_t stalled, peer_unread;	/* how long the stall it is in has lasted, 0: in none; the peer's `unread` when that began */
	size_t index;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key ? 1 : x->born < y->born ? -1 : x->born > y->born;
}

/* addresses are reused: the other end is the one under that address that lived at the same time, and best one that names this end too */
static int find_peer(const struct keyed *k, size_t n, const struct keyed *self)
{
	struct keyed want = { .key = self->peer };
	size_t lo = 0, hi = n;
	int found = -1;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (by_key(&k[mid], &want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && k[lo].key == self->peer; lo++) {
		if (k[lo].born > self->end || self->born > k[lo].end)
			continue;
		if (k[lo].peer == self->key)
			return (int)k[lo].index;
		if (found < 0)
			found = (int)k[lo].index;
	}
	return found;
}

/* Whether the other end's application read is not known: it is not to blame then. */
static void withdraw_blame(const struct trace_snapshot *s, struct trace_endpoint *ep)
{
	if (ep->peer < 0 || s->ep[ep->peer].rx.resolution[RX_UNREAD] != TRACE_UNKNOWN)
		return;
	memset(ep->blame.unread_ns, 0, sizeof(ep->blame.unread_ns));
	memset(ep->blame.unread_n, 0, sizeof(ep->blame.unread_n));
}

/* as vote_for() of the kernel half */
static void vote_for(struct trace_who *w, const struct trace_beside *b, uint64_t ns)
{
	ns_t lead = w->lead_ns;
	bool won;

	if (!b->tgid)
		return;
	won = vote_won(&lead, w->tgid == b->tgid, ns);
	w->sum_ns += ns;
	w->second = vote_second(w->second, (unsigned int)w->tgid, (unsigned int)b->tgid, won);
	w->mixed |= w->tgid && w->tgid != b->tgid && strncmp(w->comm, b->comm, sizeof(w->comm));
	if (won) {
		w->tgid = b->tgid;
		w->tid = b->tid;
		memcpy(w->comm, b->comm, sizeof(w->comm));
	}
	w->lead_ns = lead;
}

/* A stall that goes on: the kernel half asks who is to blame when it ends, so until then it is asked here. */
static void blame_ongoing(const struct trace_snapshot *s, const struct keyed *k)
{
	struct trace_endpoint *ep = &s->ep[k->index];
	uint64_t unread;

	if (k->stalled)
		vote_for(&ep->blame.held_up[trace_vote(ep->tx.now)], &ep->txb, k->stalled);
	if (!k->stalled || ep->peer < 0)
		return;
	unread = s->ep[ep->peer].rx.ns[RX_UNREAD];
	unread = unread > k->peer_unread ? unread - k->peer_unread : 0;
	if (!unread)
		return;
	unread = unread < k->stalled ? unread : k->stalled;
	ep->blame.unread_ns[ep->tx.now] += unread;
	ep->blame.unread_n[ep->tx.now]++;
	vote_for(&ep->blame.late[trace_vote(ep->tx.now)], &s->ep[ep->peer].rxb, unread);
}

#define UNIX_ROOM (1 << 20) /* more than a Unix socket holds that was given no room of its own */

/* Whoever was sent more than that, and never was seen in a receive call, reads in a way that no hook sees: by splice(). */
static void stream_audit(const struct trace_snapshot *s, const struct trace_endpoint *sender)
{
	struct trace_endpoint *reader = sender->peer >= 0 && sender->proto == TRACE_UNIX_STREAM ? &s->ep[sender->peer] : NULL;

	if (reader && !reader->rxb.messages && sender->txb.bytes > UNIX_ROOM)
		reads_missed(reader, sender->txb.bytes - UNIX_ROOM);
}

static void join_peers(struct trace_snapshot *s, struct keyed *k)
{
	size_t n = s->n;

	qsort(k, n, sizeof(*k), by_key);
	for (size_t i = 0; i < n; i++) {
		struct trace_endpoint *ep = &s->ep[k[i].index];

		if (ep->proto == TRACE_PIPE)
			ep->peer = (int)k[i].index;
		else if (k[i].peer)
			ep->peer = find_peer(k, n, &k[i]);
		blame_ongoing(s, &k[i]);
		stream_audit(s, ep);
		withdraw_blame(s, ep);
	}
}

static void put(struct trace_snapshot *s, struct keyed *k, const struct endpoint *ep, const struct trace *t)
{
	struct trace_endpoint *out = &s->ep[s->n];

	reader_endpoint(out, ep, t);
	k[s->n] = (struct keyed){ ep->id.key, ep->peer, ep->born, out->closed ? out->at_ns : UINT64_MAX, 0, ep->peer_unread, s->n };
	if (!out->closed && TX_STALLS >> out->tx.now & 1 && out->at_ns > full_since(ep, ep->tx.word))
		k[s->n].stalled = out->at_ns - full_since(ep, ep->tx.word);
	s->n++;
}

/* ---- counters ---- */

/* of all processors, in one pass: there is room for thousands of them */
static void sum_counts(struct trace *t, uint64_t sum[COUNT_N])
{
	const struct processor *p = object_var(t, "processors");

	for (size_t i = 0; p && i < PROCESSORS; i++)
		for (size_t c = 0; c < COUNT_N; c++)
			sum[c] += LATEST(p[i].counts[c]);
}

uint64_t reader_count(struct trace *t, enum counter which)
{
	uint64_t sum[COUNT_N] = {};

	sum_counts(t, sum);
	return sum[which];
}

static uint64_t sum_missed(struct trace *t)
{
	struct trace_cost c[64];
	size_t n = trace_costs(t, c, 64);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += c[i].missed;
	return sum;
}

void reader_counters(struct trace *t, struct trace_counters *c)
{
	uint64_t sum[COUNT_N] = {};

	sum_counts(t, sum);
	c->observed = sum[COUNT_OBSERVED];
	c->unpaired = sum[COUNT_UNPAIRED];
	c->overflow = sum[COUNT_OVERFLOW];
	c->lost = sum[COUNT_LOST] + t->lost;
	c->events_lost = sum[COUNT_EVENTS_LOST];
	c->contended = sum[COUNT_CONTENDED];
	c->reused = sum[COUNT_REUSED];
	c->missed = sum_missed(t);
	c->blind = sum[COUNT_BLIND];
	c->stacks_lost = sum[COUNT_STACKS];
	c->opened = sum[COUNT_OPENED];
	c->closed = t->n_closed;
	c->dropped = t->closed.dropped;
	c->dropped_tx_bytes = t->closed.tx_bytes;
	c->dropped_rx_bytes = t->closed.rx_bytes;
	c->dropped_stall_ns = t->closed.stall_ns;
	c->dropped_lifetime_ns = t->closed.lifetime_ns;
	c->existing = t->existing;
}

/* A time namespace has a CLOCK_MONOTONIC of its own; bpf_ktime_get_ns() is the machine's. By so much the former is ahead. */
static int64_t namespace_ahead(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t s, ns, ahead = 0;

	if (f && fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) == 2)
		ahead = s * 1000000000 + ns;
	if (f)
		fclose(f);
	return ahead;
}

uint64_t reader_now(void)
{
	static _Atomic int64_t ahead = INT64_MIN;
	struct timespec now;

	if (ahead == INT64_MIN)
		ahead = namespace_ahead();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec - (uint64_t)ahead;
}

static bool is_closed(const struct closed_list *l, size_t from, uint64_t serial)
{
	for (size_t i = l->n; i-- > from;)
		if (l->ep[i].id.serial == serial)
			return true;
	return false;
}

static int copy_rest(const struct closed_list *l, struct trace_snapshot *s)
{
	if (!l->rest)
		return 0;
	s->rest = malloc(TRACE_PROTOS * sizeof(*s->rest));
	if (!s->rest)
		return -1;
	memcpy(s->rest, l->rest, TRACE_PROTOS * sizeof(*s->rest));
	return 0;
}

/* `live` holds n copies; what closed after its copy (the list's entries from `since` on) counts once, as closed */
static int assemble(struct trace *t, struct trace_snapshot *s, const struct endpoint *live, size_t n, size_t since)
{
	size_t all = n + t->closed.n;
	struct keyed *k = calloc(all + 1, sizeof(*k));

	s->ep = calloc(all + 1, sizeof(*s->ep));
	if (!k || !s->ep) {
		free(k);
		return -1;
	}
	for (size_t i = 0; i < t->closed.n; i++)
		put(s, k, &t->closed.ep[i], t);
	for (size_t i = 0; i < n; i++)
		if (!is_closed(&t->closed, since, live[i].id.serial))
			put(s, k, &live[i], t);
	join_peers(s, k);
	t->closed.shown = t->closed.n;
	free(k);
	return copy_rest(&t->closed, s);
}

/* Whether bytes are astray is certain after some looks in a row: between two of them a call that was about to be counted is. */
static bool is_doubtful(const struct endpoint *ep, enum dir dir)
{
	return ep->astray[dir] && !(ep->flags & EP_MISSED << dir);
}

static bool settle_and_read(const struct trace *t, uint64_t key, struct endpoint *ep)
{
	const struct timespec pause = { .tv_nsec = 200000 };

	settle(t, key);
	for (int looks = 1; read_endpoint(t, key, ep); looks++) {
		if (looks >= AUDIT_LOOKS || (!is_doubtful(ep, DIR_TX) && !is_doubtful(ep, DIR_RX)))
			return true;
		nanosleep(&pause, NULL);
		settle(t, key);
	}
	return false;
}

static size_t read_live(struct trace *t, struct endpoint *live, uint64_t *keys)
{
	size_t n = list_keys(t->keys_fd, keys, t->opts.max_endpoints), got = 0;

	for (size_t i = 0; i < n; i++) {
		if (settle_and_read(t, keys[i], &live[got]) && !(live[got].flags & EP_UNSENT) && !is_strangers(live[got].flags, live[got].peer))
			got++;
		if (i % RING_HOLDS == RING_HOLDS - 1)	/* each may be found gone, and its record is in the ring then */
			ring_buffer__consume(t->ring);
	}
	return got;
}

/* each may be found gone, or have a stall to tell of, and its record is in the ring then */
static void run_for_all(struct trace *t, int program, uint64_t at)
{
	uint64_t *keys = calloc(t->opts.max_endpoints, sizeof(*keys));
	size_t n = keys ? list_keys(t->keys_fd, keys, t->opts.max_endpoints) : 0;

	for (size_t i = 0; i < n; i++) {
		run_for(program, keys[i], at);
		if (i % RING_HOLDS == RING_HOLDS - 1)
			ring_buffer__consume(t->ring);
	}
	ring_buffer__consume(t->ring);
	free(keys);
}

/* So that no state lasts longer than a word can tell where nobody asks for a snapshot in days. */
void reader_settle(struct trace *t)
{
	run_for_all(t, t->settle_fd, 0);
}

void reader_tell_ongoing(struct trace *t, uint64_t at)
{
	run_for_all(t, t->so_far_fd, at);
}

int reader_fill(struct trace *t, struct trace_snapshot *s, struct trace_error *e)
{
	size_t room = t->opts.max_endpoints;
	struct endpoint *live = calloc(room, sizeof(*live));
	uint64_t *keys = calloc(room, sizeof(*keys));
	int err = -1;

	s->at_ns = reader_now();
	if (live && keys) {
		uint64_t dropped = t->closed.dropped;
		size_t since = t->closed.n, n = read_live(t, live, keys);

		ring_buffer__consume(t->ring);
		err = assemble(t, s, live, n, dropped == t->closed.dropped ? since : 0);
	}
	free(live);
	free(keys);
	if (err)
		return fail_sys(e, ENOMEM, "cannot take a snapshot", "free some memory");
	reader_counters(t, &s->counters);
	return 0;
}
