/* SPDX-License-Identifier: GPL-2.0-only */
/* Who kept this end waiting: when a stall ends, this looks at what the other end, if it is on this
 * host, did meanwhile. */
#ifndef IPCSTALL_BLAME_BPF_H
#define IPCSTALL_BLAME_BPF_H

#include "split_stall.bpf.h"
#include "starved.bpf.h"

/* a connected Unix socket sends to its peer */
static __always_inline bool sends_to(__u64 from, __u64 to)
{
	__u64 peer = ADDRESS(from, unix_sock, peer);

	OPAQUE(peer); /* else the compiler uses one load for this and for a map's value, which the
			 verifier refuses */
	return peer == to;
}

/*
 * The other end must name this one; if it does not, its address belongs to another endpoint by now.
 * Among many that send to one Unix datagram socket, that socket names only the last sender; if it
 * is connected to none of them, it is not known to send to that one.
 */
static __always_inline bool is_peer_of(const struct endpoint *peer, const struct endpoint *ep)
{
	return ep->id.proto == PROTO_UNIX_DGRAM ? !(ep->flags & EP_NAMED) : peer->peer == ep->key;
}

/* a pipe is its own other end: writers and readers share one endpoint */
static __always_inline struct endpoint *peer_of(struct endpoint *ep)
{
	__u64 key = ep->peer; /* a copy: kernels before 6.2 take keys from the stack only */
	struct endpoint *peer;

	if (ep->id.proto == PROTO_PIPE)
		return ep;
	peer = key ? endpoint_here(key) : 0;
	return peer && is_peer_of(peer, ep) ? peer : 0;
}

/* How long the endpoint had data that nobody was reading, up to `at`. 0 if most of the reading is
 * unseen: then nobody can tell. */
static __always_inline ns_t unread_until(const struct endpoint *ep, ns_t at)
{
	word_t w = *(const volatile word_t *)&ep->rx.word;

	if (ep->flags & EP_UNSEEN << DIR_RX)
		return 0;
	if (ep->closed) /* it may still be in the table, see EP_UNSENT */
		at = ep->closed;
	return ep->rx.ns[RX_UNREAD] +
	       (WORD_STATE(w, DIR_RX) == RX_UNREAD ? word_elapsed(w, at) : 0);
}

/*
 * A stall that is noticed late, at its end or in its middle, began with the last segment that went
 * out. The peer may have read since, so its present sums are not those of that moment: note them
 * when the segment goes out.
 */
SUBPROG int note_peer_unread(struct endpoint *ep, ns_t now)
{
	struct endpoint *peer = ep ? peer_of(ep) : 0;

	if (!peer)
		return 0;
	ep->unread_then = unread_until(peer, now);
	ep->looked_at = now;
	return 1;
}

/* `unread` grows no faster than time does */
static __always_inline ns_t unread_at_most(const struct endpoint *ep, ns_t unread, ns_t at)
{
	ns_t most = ep->unread_then + (at - ep->looked_at);

	return ep->looked_at && at >= ep->looked_at && most < unread ? most : unread;
}

SUBPROG int stall_began(struct endpoint *ep, const struct endpoint *peer, ns_t at)
{
	if (!ep)
		return 0;
	ep->peer_unread = unread_at_most(ep, peer ? unread_until(peer, at) : ep->peer_left, at);
	return 1;
}

/* how long the other end left data unread since the stall began, or until it closed */
static __always_inline ns_t unread_meanwhile(const struct endpoint *ep, const struct endpoint *peer,
					     ns_t to)
{
	ns_t unread = peer ? unread_until(peer, to) : ep->peer_left;

	return unread > ep->peer_unread ? unread - ep->peer_unread : 0;
}

/* the peer's reader and its wait for a CPU; zero if the peer is not seen, or is gone */
static __always_inline struct cpu_wait reader_of(const struct endpoint *peer)
{
	struct cpu_wait nobody = {};

	return peer ? cpu_wait_of(&peer->rx_calls) : nobody;
}

/* for a stall that goes on */
static __always_inline ns_t starved_meanwhile(const struct endpoint *ep,
					      const struct endpoint *peer, ns_t stall)
{
	struct cpu_wait reader = reader_of(peer);

	return starved_since(&ep->peer_reader, &reader, stall);
}

/* This end closes, and throws away what it never read, before the other end hears of it: notes for
 * the other end how long data was unread here. */
static __always_inline void leaves_peer(struct endpoint *ep, ns_t at)
{
	__u64 key = ep->id.proto == PROTO_PIPE ? 0 : ep->peer;
	struct endpoint *peer = key ? endpoint_here(key) : 0;

	if (peer &&
	    peer->peer ==
		    ep->id.key) /* the other end may name another sender */
		peer->peer_left = unread_until(ep, at);
}

/* a name as it is stored in an endpoint: at a multiple of eight, see record.h */
struct task_name {
	__u64 half[COMM_LEN / 8];
};

#define TASK_NAME(comm) ((struct task_name *)(comm))

static __always_inline bool same_name(const struct task_name *a, const struct task_name *b)
{
	return a->half[0] == b->half[0] && a->half[1] == b->half[1];
}

/* One stall of an endpoint ends at a time. If the next one ends on another processor at this very
 * moment, one of the two votes may be lost. */
SUBPROG int vote_for(struct vote *v, __u32 tgid, __u32 tid, const struct task_name *name, ns_t ns)
{
	__u32 leader;
	bool won;

	if (!v || !name || !tgid || !ns)
		return 0;
	leader = v->tgid;
	won = vote_won(&v->lead, leader == tgid, ns);
	v->sum += ns;
	v->second = vote_second(v->second, leader, tgid, won);
	if (leader && leader != tgid && !same_name(TASK_NAME(v->comm), name))
		v->mixed = 1;
	if (!won)
		return 0;
	v->tgid = tgid;
	v->tid = tid;
	*TASK_NAME(v->comm) = *name;
	return 1;
}

/* the process at this end; 0 if several hold it and none was seen to use it */
static __always_inline __u32 last_there(const struct call_stats *b)
{
	return !b->tid && b->others ? 0 : b->tgid;
}

/* The named process was given this end by another, with less than half of the time left. */
static __always_inline bool was_given_late(const struct call_stats *b, ns_t time, ns_t to)
{
	return b->giver != b->tgid && 2 * (__s64)(to - b->given) < (__s64)time;
}

/* Votes for the process that did not read during a stall: not for one that left the end before half
 * of the stall was over, nor for one that was given it after half. */
static __always_inline void reader_was_late(struct endpoint *ep, const struct endpoint *peer,
					    __u32 state, ns_t stall, ns_t to, ns_t late)
{
	struct vote *v = &ep->blame.late[VOTE_PLACE(state)];
	const struct call_stats *reader = &peer->rx_calls;
	const struct task_name *name = TASK_NAME(reader->comm);
	__u32 tgid = last_there(reader), tid = reader->tid;

	if (reader->left && 2 * (__s64)(to - reader->left) > (__s64)stall) {
		tgid = tgid ? FD_OWNER_TGID : 0;
	} else if (was_given_late(reader, stall, to)) {
		tgid = reader->giver;
		tid = 0;
		name = TASK_NAME(reader->giver_comm);
	}
	vote_for(v, tgid, tid, name, late);
}

static __always_inline void writer_held_up(struct endpoint *ep, __u32 state, ns_t ns)
{
	const struct call_stats *writer = &ep->tx_calls;

	vote_for(&ep->blame.held_up[VOTE_PLACE(state)], last_there(writer), writer->tid,
		 TASK_NAME(writer->comm), ns);
}

/* 1 or 0, by arithmetic: the verifier would follow both branches, and all code after them twice */
static __always_inline __u64 outside(ns_t at, ns_t from, ns_t to)
{
	__u64 is = ((at - from) | (to - at)) >> 63;

	OPAQUE(is);
	return is;
}

/* The part of the stall in which the ACK was withheld; the rest, until it arrives, is the path's.
 * Both dates are read while another ACK may go out. */
static __always_inline ns_t withheld_ns(const struct withheld *w, ns_t from)
{
	ns_t owed = w->owed, went = w->went,
	     since_owed = ((from - owed) & (owed - went)) >>
			  63; /* both below 0: the ACK became owed during the stall */

	OPAQUE(since_owed);
	return went - from - (owed - from) * since_owed;
}

/*
 * The peer's ACK that a stall waited for, and how long of the stall it was withheld. Every answer
 * carries an ACK: one that rode on data counts only if it was withheld for half of the stall.
 */
static __always_inline const struct withheld *ack_withheld(const struct endpoint *peer, ns_t from,
							   ns_t to, ns_t *ns)
{
	__u64 which = outside(peer->withheld[0].went, from, to);
	const struct withheld *w;

	BOUND(which, 1);
	w = &peer->withheld[which];
	if (outside(w->went, from, to))
		return 0;
	*ns = withheld_ns(w, from);
	return w->how == DELACK_FIRED || *ns >= (to - from) / 2 ? w : 0;
}

#define NO_ACK (~0ULL)

/* how long, of the stall that ended at `to`, the peer withheld the ACK that the stall waited for */
SUBPROG ns_t blame_delack(struct endpoint *ep, const struct endpoint *peer, __u64 state,
			  ns_t stall, ns_t to)
{
	const struct withheld *w;
	ns_t ns;

	if (!ep || !peer)
		return NO_ACK;
	w = ack_withheld(peer, to - stall, to, &ns);
	if (!w)
		return NO_ACK;
	BOUND(state, 15);
	if (state >= STATES_MAX)
		return NO_ACK;
	atomic_add(&ep->blame.delack_n[state], !ep->held_on.went_on);
	atomic_add(&ep->blame.delack_ns[state], ns);
	if (opt.stall_threshold)
		ep->held_on.ack = *w;
	return ns;
}

SUBPROG ns_t blame_unread(struct endpoint *ep, __u64 state, ns_t unread, ns_t stall)
{
	ns_t ns = unread < stall ? unread : stall;

	if (!ep)
		return 0;
	BOUND(state, 15);
	if (state >= STATES_MAX || !ns)
		return 0;
	atomic_add(&ep->blame.unread_n[state], !ep->held_on.went_on);
	atomic_add(&ep->blame.unread_ns[state], ns);
	return ns;
}

static __always_inline void blame_starved(struct endpoint *ep, __u64 state, ns_t ns)
{
	if (!ns)
		return;
	atomic_add(&ep->blame.starved_n[VOTE_PLACE(state)], !ep->held_on.went_on);
	atomic_add(&ep->blame.starved_ns[VOTE_PLACE(state)], ns);
}

/* where a thread last slept: what an absent reader did instead */
struct slept {
	ns_t at; /* 0: it has not slept since it was first seen in a call */
	int kstack, ustack;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct slept);
} sleeps SEC(".maps");

/* a thread that was seen in a call may be absent later: its sleeps are noted from now on */
static __always_inline void follow_sleeps(__u32 tid)
{
	struct slept s = { .kstack = -1, .ustack = -1 };

	if (opt.stacks)
		bpf_map_update_elem(&sleeps, &tid, &s, BPF_NOEXIST);
}

/* only of threads seen in a call: other stacks would only take places in the map */
static __always_inline void note_sleep(void *ctx, __u32 tid)
{
	struct slept s = {};

	if (!bpf_map_lookup_elem(&sleeps, &tid))
		return;
	s.at = bpf_ktime_get_ns();
	s.kstack = stack_number(ctx, 0);
	s.ustack = stack_number(ctx, BPF_F_USER_STACK);
	bpf_map_update_elem(&sleeps, &tid, &s, BPF_EXIST);
}

static __always_inline void stall_peer(struct record_stall *r, const struct endpoint *peer,
				       const struct withheld *w)
{
	__u32 tid = peer->rx_calls.tid;
	struct slept *s = opt.stacks ? bpf_map_lookup_elem(&sleeps, &tid) : 0;

	r->peer_serial = peer->id.serial;
	r->peer_tgid = peer->rx_calls.tgid;
	__builtin_memcpy(r->peer_comm, peer->rx_calls.comm, COMM_LEN);
	if (s && s->at && s->at <= r->to) {
		r->peer_kstack = s->kstack;
		r->peer_ustack = s->ustack;
	}
	if (w) {
		r->ack_owed = w->owed;
		r->ack_went = w->went;
	}
}

/* The noted queue belongs to this stall only if the same reason held it. */
static __always_inline void stall_proof(struct record_stall *r, const struct endpoint *ep)
{
	if (ep->held.head && ep->held.head + HEAD_TO_STATE == r->state)
		r->held = ep->held;
	if (ep->ack.at > r->from && ep->ack.at <= r->to)
		r->ack = ep->ack;
}

/* `to`: the end of the stall, or the present time if it goes on; what the other end did meanwhile
 * is in the sums of the stall's pieces */
SUBPROG int emit_stall(struct endpoint *ep, __u32 state, ns_t to, __u32 goes_on)
{
	struct endpoint *peer = ep && opt.stall_threshold ? peer_of(ep) : 0;
	const struct hold *h;
	struct record_stall *r;

	if (!ep || !opt.stall_threshold)
		return 0;
	h = &ep->held_on;
	if (to - h->from < opt.stall_threshold)
		return 0;
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		count(COUNT_LOST);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->head.type = RECORD_STALL;
	r->head.size = sizeof(*r);
	r->serial = ep->id.serial;
	r->from = h->from;
	r->to = to;
	r->state = state;
	r->by_delack = h->ack.went ? h->ack.how : DELACK_NONE;
	r->goes_on = goes_on;
	r->peer_unread = h->unread;
	r->peer_no_cpu = h->starved;
	r->tgid = ep->tx_calls.tgid;
	r->kstack = ep->tx_calls.kstack;
	r->ustack = ep->tx_calls.ustack;
	r->peer_kstack = r->peer_ustack = -1;
	__builtin_memcpy(r->comm, ep->tx_calls.comm, COMM_LEN);
	stall_proof(r, ep);
	if (peer)
		stall_peer(r, peer, h->ack.went ? &h->ack : 0);
	bpf_ringbuf_submit(r, wake_flags());
	return 1;
}

/* The hold is over: it ended with its last piece. */
static __always_inline void hold_is_over(struct endpoint *ep)
{
	if (!opt.stall_threshold || !ep->held_on.untold)
		return;
	ep->held_on.untold = 0;
	emit_stall(ep, ep->held_on.state, ep->held_on.until, false);
}

SUBPROG int hold_told(struct endpoint *ep)
{
	if (ep)
		hold_is_over(ep);
	return ep != 0;
}

static __always_inline int hold_turns_of(struct endpoint *ep, const struct transition *t, ns_t at)
{
	struct hold *h;

	if (!ep)
		return 0;
	h = &ep->held_on;
	if (tx_is_stall(t->from) && t->ns)
		piece_ended(ep, t, at);
	if (!tx_is_stall(t->to))
		return 1;
	if (goes_on(ep, t, at)) {
		h->going = 1;
		h->untold = 0;
		return 1;
	}
	if (t->from == TX_WORK)
		hold_is_over(ep);
	if (!tx_is_stall(t->from))
		hold_is_new(h, t->to, at);
	return 1;
}

static __always_inline void blame_writer(struct endpoint *ep, const struct transition *t)
{
	if (t->from != TX_NAGLE || t->to != TX_WORK)
		return;
	atomic_add(&ep->blame.gathered_ns, t->ns);
	atomic_add(&ep->blame.gathered_n, 1);
}

static __always_inline bool ends_stall(const struct transition *t)
{
	return tx_is_stall(t->from) && t->ns;
}

/* `to` is the end of the stall on the full clock */
static __always_inline void stall_ended(struct endpoint *ep, const struct endpoint *peer,
					ns_t starved, const struct transition *t, ns_t to)
{
	ns_t unread = unread_meanwhile(ep, peer, to), late, withheld = NO_ACK;

	blame_writer(ep, t);
	blame_starved(ep, t->from, starved);
	late = blame_unread(ep, t->from, unread, t->ns);
	if (peer &&
	    unread <
		    t->ns / 2) /* an application that does not read explains more than its kernel */
		withheld = blame_delack(ep, peer, t->from, t->ns, to);
	if (withheld != NO_ACK)
		late = withheld;
	if (peer)
		reader_was_late(ep, peer, t->from, t->ns, to, late > starved ? late : starved);
	writer_held_up(ep, t->from, t->ns);
	if (!opt.stall_threshold)
		return;
	ep->held_on.unread += unread;
	ep->held_on.starved += starved;
}

/* Reports the stall that ended; one that may go on after the writer's call is reported later. */
static __always_inline void report_stall(struct endpoint *ep, const struct transition *t, ns_t to)
{
	if (!opt.stall_threshold || !ends_stall(t))
		return;
	if (t->to == TX_WORK && holds_head(t->from))
		ep->held_on.untold = 1;
	else
		emit_stall(ep, t->from, to, false);
}

/* Looks at the peer's reader once, for the stall that ended and for the one that begins. Returns
 * how long of the ended stall the reader had no CPU. */
static __always_inline ns_t reader_at_turn_of(struct endpoint *ep, const struct transition *t,
					      ns_t at)
{
	struct cpu_wait reader;
	ns_t starved = 0;

	if (!ep)
		return 0;
	reader = reader_of(peer_of(ep));
	if (ends_stall(t)) {
		starved = starved_since(&ep->peer_reader, &reader, t->ns);
		reader_after_stall(&ep->peer_reader, &reader, at, starved);
	}
	if (tx_is_stall(t->to))
		reader_at_stall(&ep->peer_reader, &reader, at);
	return starved;
}

/* A stall ended, or began. `starved`: how long of it the peer's reader had no CPU. */
static __always_inline int stall_turns_of(struct endpoint *ep, const struct transition *t, ns_t at,
					  ns_t starved)
{
	struct endpoint *peer = ep ? peer_of(ep) : 0;

	if (!ep)
		return 0;
	if (ends_stall(t))
		stall_ended(ep, peer, starved, t, at);
	if (tx_is_stall(t->to))
		stall_began(ep, peer, at);
	return 1;
}

/* in a sampled session each look asks the other end, not the end of a stall */

#endif
