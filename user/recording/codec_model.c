// SPDX-License-Identifier: GPL-2.0-only
/* The structures of trace.h, field by field. A field that is added goes at the end of its walk, with a new version of the file. */
#include "base/text.h"
#include "bpf/record.h"
#include "recording/codec.h"

/* whoever adds a field finds here that it must be walked too */
_Static_assert(sizeof(struct trace_endpoint) == 4656, "struct trace_endpoint has changed");
_Static_assert(sizeof(struct trace_counters) == 20 * 8, "struct trace_counters has changed");
_Static_assert(sizeof(struct trace_listener) == 136, "struct trace_listener has changed");
_Static_assert(sizeof(struct trace_stall) == 192, "struct trace_stall has changed");

static void walk_pid(struct codec *c, pid_t *pid)
{
	uint64_t v = (uint64_t)*pid;

	codec_below(c, &v, 1ull << 31);
	*pid = (pid_t)v;
}

/* a foreign file may hold anything */
static void walk_comm(struct codec *c, char comm[16])
{
	codec_bytes(c, comm, 16);
	if (c->reads)
		text_clean(comm, 16);
}

static void walk_resolution(struct codec *c, uint8_t *r)
{
	uint64_t v = *r;

	codec_below(c, &v, TRACE_EXACT + 1);
	*r = (uint8_t)v;
}

static void walk_words(struct codec *c, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		codec_u64(c, &v[i]);
}

static void walk_counts(struct codec *c, uint32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		codec_u32(c, &v[i]);
}

static void walk_ledger(struct codec *c, struct trace_ledger *l, unsigned int states)
{
	uint64_t now = l->now;

	walk_words(c, l->ns, states);
	walk_words(c, l->max, states);
	walk_counts(c, l->count, states);
	walk_counts(c, &l->hist[0][0], (size_t)states * TRACE_HIST);
	for (unsigned int i = 0; i < states; i++)
		walk_resolution(c, &l->resolution[i]);
	codec_u64(c, &l->lifetime_ns);
	codec_i64(c, &l->unaccounted_ns);
	codec_below(c, &now, states);
	codec_u64(c, &l->since_ns);
	l->now = (unsigned int)now;
}

#define STOPS_FOLLOW 4	/* above the resolution: few threads were stopped, or had used up a quota */

static bool has_stops(const struct trace_call_stats *b)
{
	return b->quota_ns || b->stopped_n || b->open_stop_ns;
}

static void walk_no_cpu(struct codec *c, struct trace_call_stats *b)
{
	uint64_t v = b->no_cpu_res | (has_stops(b) ? STOPS_FOLLOW : 0);

	codec_below(c, &v, STOPS_FOLLOW + TRACE_EXACT + 1);
	b->no_cpu_res = v % STOPS_FOLLOW;
	c->bad |= b->no_cpu_res > TRACE_EXACT;
	if (v < STOPS_FOLLOW)
		return;
	codec_u64(c, &b->quota_ns);
	codec_u64(c, &b->stopped_ns);
	codec_u64(c, &b->stopped_max_ns);
	codec_u64(c, &b->stopped_n);
	codec_u64(c, &b->open_stop_ns);
}

static void walk_call_stats(struct codec *c, struct trace_call_stats *b)
{
	codec_u64(c, &b->bytes);
	codec_u64(c, &b->messages);
	codec_u64(c, &b->blocked_ns);
	codec_u64(c, &b->blocked_max_ns);
	codec_u64(c, &b->open_sleep_ns);
	codec_u64(c, &b->runq_ns);
	codec_u64(c, &b->runq_max_ns);
	codec_u64(c, &b->wakeups);
	codec_u64(c, &b->no_cpu_ns);
	walk_pid(c, &b->tgid);
	walk_pid(c, &b->tid);
	codec_u64(c, &b->cgroup_id);
	walk_comm(c, b->comm);
	walk_resolution(c, &b->bytes_res);
	walk_resolution(c, &b->blocked_res);
	walk_resolution(c, &b->runq_res);
	walk_no_cpu(c, b);
	codec_bool(c, &b->others);
	codec_u64(c, &b->cpu_ns);
	codec_u64(c, &b->born_ns);
	walk_resolution(c, &b->cpu_res);
}

static void walk_left(struct codec *c, struct trace_call_stats *b)
{
	codec_u64(c, &b->left_ns);
	if (!b->left_ns)
		return;
	codec_bool(c, &b->let_go);
	walk_pid(c, &b->fd_owner);
	if (b->fd_owner)
		walk_comm(c, b->fd_owner_comm);
}

static void walk_who(struct codec *c, struct trace_who *w)
{
	walk_pid(c, &w->tgid);
	if (!w->tgid)
		return;
	walk_pid(c, &w->tid);
	codec_u64(c, &w->lead_ns);
	codec_u64(c, &w->sum_ns);
	walk_counts(c, &w->second, 1);
	walk_counts(c, &w->mixed, 1);
	walk_comm(c, w->comm);
}

static void walk_blame(struct codec *c, struct trace_blame *b)
{
	walk_words(c, b->delack_ns, TX_N);
	walk_words(c, b->unread_ns, TX_N);
	walk_counts(c, b->delack_n, TX_N);
	walk_counts(c, b->unread_n, TX_N);
	codec_u64(c, &b->gathered_ns);
	walk_counts(c, &b->gathered_n, 1);
	walk_words(c, b->starved_ns, TRACE_VOTES);
	walk_counts(c, b->starved_n, TRACE_VOTES);
	for (int i = 0; i < TRACE_VOTES; i++) {
		walk_who(c, &b->held_up[i]);
		walk_who(c, &b->late[i]);
	}
}

static void walk_address(struct codec *c, struct trace_addr *a)
{
	uint64_t port = a->port;

	codec_bytes(c, a->ip, sizeof(a->ip));
	codec_below(c, &port, 1 << 16);
	a->port = (uint16_t)port;
}

static void walk_identity(struct codec *c, struct trace_endpoint *ep)
{
	uint64_t proto = ep->proto, family = (uint64_t)ep->family;

	codec_u64(c, &ep->serial);
	codec_u64(c, &ep->inode);
	codec_u32(c, &ep->netns);
	codec_below(c, &proto, TRACE_PROTOS);
	codec_below(c, &family, 256);
	walk_address(c, &ep->local);
	walk_address(c, &ep->remote);
	codec_u64(c, &ep->born_ns);
	codec_u64(c, &ep->at_ns);
	codec_bool(c, &ep->closed);
	codec_bool(c, &ep->joined_late);
	ep->proto = (enum trace_proto)proto;
	ep->family = (int)family;
}

/* one number: the least stands above the smoothed one, and is 0, unknown, in recordings that had no place for it */
static void walk_round_trip(struct codec *c, struct trace_endpoint *ep)
{
	uint64_t both = ep->rtt_us | (uint64_t)ep->min_rtt_us << 32;

	codec_u64(c, &both);
	ep->rtt_us = (uint32_t)both;
	ep->min_rtt_us = (uint32_t)(both >> 32);
}

static void walk_answers(struct codec *c, struct trace_answers *a)
{
	codec_u64(c, &a->n);
	codec_u64(c, &a->ns);
	codec_u64(c, &a->since_fired.sum);
	codec_u64(c, &a->since_fired.squares);
	codec_u64(c, &a->since_owed.sum);
	codec_u64(c, &a->since_owed.squares);
}

static void walk_making(struct codec *c, struct trace_making *m)
{
	codec_u64(c, &m->connect_ns);
	codec_u64(c, &m->accept_ns);
	codec_u64(c, &m->accept_unread_ns);
	codec_bool(c, &m->connecting);
	codec_bool(c, &m->accepting);
}

static void walk_parts(struct codec *c, struct trace_endpoint *ep)
{
	codec_u64(c, &ep->hole.ns);
	codec_u64(c, &ep->hole.max_ns);
	codec_u64(c, &ep->hole.n);
	walk_words(c, ep->parts.ns + 1, TRACE_PARTS - 1);
	walk_counts(c, ep->parts.n + 1, TRACE_PARTS - 1);
}

static void walk_path(struct codec *c, struct trace_path *p)
{
	codec_u64(c, &p->delivery_bytes_per_s);
	codec_u64(c, &p->pacing_bytes_per_s);
	codec_u64(c, &p->lost_segments);
	codec_u64(c, &p->sent_segments);
	codec_u64(c, &p->out_of_order);
	codec_u32(c, &p->cwnd);
	codec_u32(c, &p->ssthresh);
	codec_bool(c, &p->app_limited);
}

static void walk_unseen(struct codec *c, uint8_t *u)
{
	uint64_t v = *u;

	codec_below(c, &v, TRACE_UNSEEN_N);
	*u = (uint8_t)v;
}

/* of TCP */
static void walk_connection(struct codec *c, struct trace_endpoint *ep)
{
	walk_making(c, &ep->making);
	walk_parts(c, ep);
	walk_path(c, &ep->path);
}

void codec_endpoint(struct codec *c, struct trace_endpoint *ep, uint64_t *peer_serial)
{
	walk_identity(c, ep);
	codec_u64(c, peer_serial);
	walk_ledger(c, &ep->tx, TX_N);
	walk_ledger(c, &ep->rx, RX_N);
	walk_call_stats(c, &ep->tx_calls);
	walk_call_stats(c, &ep->rx_calls);
	walk_blame(c, &ep->blame);
	codec_u64(c, &ep->delack_ns);
	codec_u64(c, &ep->delack_fires);
	codec_u64(c, &ep->ack_debt_ns);
	codec_u64(c, &ep->retransmits);
	codec_u64(c, &ep->timeouts);
	codec_u64(c, &ep->zero_windows);
	walk_resolution(c, &ep->delack_res);
	walk_resolution(c, &ep->retransmits_res);
	walk_words(c, ep->drops, TRACE_DROPS);
	codec_u64(c, &ep->queue_integral);
	codec_u64(c, &ep->queue_max);
	codec_u64(c, &ep->dequeued);
	walk_resolution(c, &ep->drops_res);
	walk_resolution(c, &ep->queue_res);
	codec_bool(c, &ep->paired);
	walk_round_trip(c, ep);
	codec_u64(c, &ep->syn_retransmits);
	codec_u64(c, &ep->needless);
	walk_answers(c, &ep->answers);
	walk_left(c, &ep->tx_calls);
	walk_left(c, &ep->rx_calls);
	walk_unseen(c, &ep->unseen[0]);
	walk_unseen(c, &ep->unseen[1]);
	if (ep->proto == TRACE_TCP)
		walk_connection(c, ep);
	if (c->reads)
		ep->peer = -1;
}

static void codec_counters(struct codec *c, struct trace_counters *n)
{
	uint64_t *const v[] = { &n->observed, &n->lost,	  &n->unpaired, &n->overflow, &n->contended, &n->reused,
				&n->events_lost, &n->missed, &n->opened,   &n->closed,	 &n->dropped,	&n->dropped_tx_bytes,
				&n->dropped_rx_bytes, &n->dropped_stall_ns, &n->dropped_lifetime_ns, &n->existing.made,
				&n->existing.asleep, &n->existing.unreadable, &n->blind, &n->stacks_lost };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		codec_u64(c, v[i]);
}

void codec_part(struct codec *c, struct part *p)
{
	codec_u64(c, &p->at_ns);
	codec_counters(c, &p->counters);
	codec_bool(c, &p->last);
	codec_u64(c, &p->n);
}

static void walk_listener(struct codec *c, struct trace_listener *l)
{
	uint64_t family = (uint64_t)l->family;

	codec_u64(c, &l->inode);
	codec_u32(c, &l->netns);
	codec_below(c, &family, 256);
	walk_address(c, &l->local);
	codec_u64(c, &l->born_ns);
	codec_u64(c, &l->at_ns);
	codec_bool(c, &l->closed);
	codec_u32(c, &l->backlog);
	codec_u32(c, &l->queue);
	codec_u32(c, &l->peak);
	codec_u64(c, &l->dropped);
	codec_u64(c, &l->established);
	codec_u64(c, &l->accepted);
	codec_u64(c, &l->wait_ns);
	codec_u64(c, &l->wait_max_ns);
	walk_pid(c, &l->tgid);
	walk_comm(c, l->comm);
	l->family = (int)family;
}

void codec_listeners(struct codec *c, struct trace_listeners *l)
{
	uint64_t n = l->n;

	codec_below(c, &n, TRACE_LISTENERS + 1);
	codec_u64(c, &l->left_out);
	for (uint64_t i = 0; i < n && !c->bad; i++)
		walk_listener(c, &l->v[i]);
	l->n = c->bad ? 0 : n;
}

static void walk_held(struct codec *c, struct trace_held *h)
{
	codec_bool(c, &h->known);
	codec_u32(c, &h->queued);
	codec_u32(c, &h->unacked);
	codec_u32(c, &h->small);
	codec_u32(c, &h->mss);
	codec_u32(c, &h->cwnd);
	codec_u32(c, &h->in_flight);
	codec_u32(c, &h->window);
	codec_bool(c, &h->nodelay);
	codec_bool(c, &h->cork);
}

void codec_stall(struct codec *c, struct trace_stall *s, uint64_t texts[STACKS])
{
	uint64_t state = s->state, ns = s->to_ns - s->from_ns, delack = s->by_delack;

	codec_u64(c, &s->serial);
	codec_u64(c, &s->from_ns);
	codec_u64(c, &ns);
	codec_u64(c, &s->peer_serial);
	codec_below(c, &state, TX_N);
	codec_below(c, &delack, TRACE_DELACK_N);
	codec_bool(c, &s->goes_on);
	codec_u64(c, &s->ack_owed_ns);
	codec_u64(c, &s->ack_went_ns);
	walk_held(c, &s->held);
	codec_u64(c, &s->ack_at_ns);
	codec_u32(c, &s->ack_bytes);
	codec_u32(c, &s->ack_payload);
	codec_u64(c, &s->peer_unread_ns);
	codec_u64(c, &s->peer_no_cpu_ns);
	walk_pid(c, &s->tgid);
	walk_pid(c, &s->peer_tgid);
	walk_comm(c, s->comm);
	walk_comm(c, s->peer_comm);
	walk_words(c, texts, STACKS);
	s->to_ns = s->from_ns + ns;
	s->state = (enum tx_state)state;
	s->by_delack = (enum trace_delack)delack;
	if (c->reads)
		s->kstack = s->ustack = s->peer_kstack = s->peer_ustack = -1;
}

/* mark, ledger and states in one number: 9 bits */
static uint64_t pack(const struct trace_transition *tr)
{
	return tr->mark ? (uint64_t)tr->mark << 1 | 1 : (uint64_t)tr->from << 3 | (uint64_t)tr->closes << 2 | (uint64_t)tr->rx << 1;
}

static void unpack(struct codec *c, struct trace_transition *tr, uint64_t v)
{
	if (v & 1) {
		tr->mark = (uint8_t)(v >> 1);
		c->bad |= !tr->mark || tr->mark >= MARK_N || v >> 9;
	} else {
		tr->rx = v >> 1 & 1;
		tr->closes = v >> 2 & 1;
		tr->from = (uint8_t)(v >> 3 & 15);
		c->bad |= v >> 7 || tr->from >= (tr->rx ? (int)RX_N : (int)TX_N);
	}
}

void codec_transition(struct codec *c, struct trace_transition *tr, uint64_t *base)
{
	uint64_t what = pack(tr), value = tr->mark ? tr->bytes : tr->ns, to = tr->to;
	int64_t later = (int64_t)(tr->at_ns - *base);

	codec_u64(c, &tr->serial);
	codec_i64(c, &later);
	codec_u64(c, &what);
	codec_u64(c, &value);
	codec_below(c, &to, TRACE_STATES);
	if (c->reads)
		unpack(c, tr, what);
	tr->at_ns = *base + (uint64_t)later;
	tr->to = (uint8_t)to;
	if (tr->mark)
		tr->bytes = value;
	else
		tr->ns = value;
	*base = tr->at_ns;
}
