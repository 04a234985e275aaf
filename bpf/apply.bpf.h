/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One step of an endpoint's ledger: from an input to the sums, the timeline and the report of a
 * stall. Each has a fast version, for what happens several times per message, and a slow one that
 * takes any input.
 */
#ifndef IPCSTALL_APPLY_BPF_H
#define IPCSTALL_APPLY_BPF_H

#include "reply.bpf.h"

static __always_inline bool turns_stall(const struct transition *t)
{
#ifdef SAMPLED
	return false;
#endif
	return tx_is_stall(t->from) || tx_is_stall(t->to);
}

static __always_inline bool step_tx(struct endpoint *ep, const struct input *in,
				    struct transition *t)
{
	reply_tx_slow(ep, in);
	if (!take_step(&ep->tx, &ep->tx_calls, in, DIR_TX, t))
		return false;
	note_step(ep, DIR_TX, t);
	return true;
}

/* received data was unread until now */
static __always_inline void unread_ended(struct endpoint *ep, const struct transition *t)
{
	if (t->from == RX_UNREAD)
		awaited(&ep->rx_calls, t->ns);
}

/* if it was an answer, it came when it began to be unread */
static __always_inline void reply_unread_ended(struct endpoint *ep, const struct transition *t,
					       ns_t now)
{
#ifndef SAMPLED
	if (t->from == RX_UNREAD)
		reply_endpoint_receives(ep, now - t->ns, false);
#endif
}

static __noinline int answer_came_late(struct endpoint *ep, ns_t after)
{
	struct endpoint *peer = ep ? peer_of(ep) : 0;

	if (!peer)
		return 0;
	return awaited_long(peer->tx_calls.task || ep->id.proto == PROTO_PIPE ? &peer->tx_calls
									      : &peer->rx_calls,
			    after);
}

/* a reader has waited for the other end, and its data has come */
static __always_inline void answer_came(struct endpoint *ep, ns_t after)
{
	if (after >= AWAITED_NS)
		answer_came_late(ep, after);
}

static __noinline int rx_stepped(struct endpoint *ep, const struct transition *t)
{
	if (!ep || !t)
		return 0;
	note_step(ep, DIR_RX, t);
	unread_ended(ep, t);
	return 1;
}

static __always_inline int step_rx(struct endpoint *ep, const struct input *in)
{
	struct transition t;

	reply_rx_slow(ep, in);
	if (!take_step(&ep->rx, &ep->rx_calls, in, DIR_RX, &t))
		return 0;
	rx_stepped(ep, &t);
	return 1;
}

/*
 * These functions take numbers only. Kernels from 7.2 on verify a function that is passed an
 * address on the stack, and all that it calls, anew for each chain of calls.
 */
#define STATES(t) ((__u32)(t)->to << 8 | (t)->from)

static __always_inline struct transition turned(ns_t ns, __u32 states)
{
	return (struct transition){ .ns = ns, .from = states & 15, .to = states >> 8 & 15 };
}

SUBPROG int hold_turns(struct endpoint *ep, ns_t ns, __u32 states, ns_t at)
{
	struct transition t = turned(ns, states);

	return hold_turns_of(ep, &t, at);
}

SUBPROG ns_t reader_at_turn(struct endpoint *ep, ns_t ns, __u32 states, ns_t at)
{
	struct transition t = turned(ns, states);

	return reader_at_turn_of(ep, &t, at);
}

SUBPROG int stall_turns(struct endpoint *ep, ns_t ns, __u32 states, ns_t at, ns_t starved)
{
	struct transition t = turned(ns, states);

	return stall_turns_of(ep, &t, at, starved);
}

static __always_inline void tell_hold(struct endpoint *ep, const struct transition *t)
{
	if (opt.stall_threshold && t->from == TX_WORK && ep->held_on.untold)
		hold_told(ep);
}

static __always_inline void tell_stall(struct endpoint *ep, const struct transition *t, ns_t at)
{
	if (!turns_stall(t)) {
		tell_hold(ep, t);
		return;
	}
	hold_turns(ep, t->ns, STATES(t), at);
	stall_turns(ep, t->ns, STATES(t), at, reader_at_turn(ep, t->ns, STATES(t), at));
	report_stall(ep, t, at);
}

static __always_inline int apply_tx_inline(struct endpoint *ep, const struct input *in)
{
	struct transition t;

	if (!step_tx(ep, in, &t))
		return 0;
	tell_stall(ep, &t, in->at);
	return 1;
}

/* an input without its times, in one register: see turned() */
static __always_inline __u64 input_packed(const struct input *in)
{
	return (__u64)in->bytes << 32 | (__u64)(__u8)in->asleep << 24 | (__u8)in->working << 16 |
	       (in->slept & 1) << 13 | (in->device & 1) << 12 | (in->full & 1) << 11 |
	       (in->head & 7) << 8 | in->says;
}

static __always_inline struct input input_unpacked(ns_t at, __u64 packed, ns_t blocked, ns_t runq)
{
	return (struct input){ .at = at, .says = packed, .head = packed >> 8 & 7,
		.full = packed >> 11 & 1, .device = packed >> 12 & 1, .slept = packed >> 13 & 1,
		.working = packed >> 16, .asleep = packed >> 24, .bytes = packed >> 32,
		.blocked = blocked, .runq = runq };
}

SUBPROG int apply_tx(struct endpoint *ep, ns_t at, __u64 packed, ns_t blocked, ns_t runq)
{
	struct input in = input_unpacked(at, packed, blocked, runq);

	return ep ? apply_tx_inline(ep, &in) : 0;
}

SUBPROG int apply_rx(struct endpoint *ep, ns_t at, __u64 packed, ns_t blocked, ns_t runq)
{
	struct input in = input_unpacked(at, packed, blocked, runq);

	return ep ? step_rx(ep, &in) : 0;
}

static __always_inline int apply_tx_slow(struct endpoint *ep, const struct input *in)
{
	return apply_tx(ep, in->at, input_packed(in), in->blocked, in->runq);
}

static __always_inline int apply_rx_slow(struct endpoint *ep, const struct input *in)
{
	return apply_rx(ep, in->at, input_packed(in), in->blocked, in->runq);
}

/*
 * The same for the most frequent events, several per message: there an input's thread counts are
 * constants, and the compiler leaves little of the step. A timeline wants every step reported,
 * which only the slow version does.
 */
static __always_inline bool try_tx_fast(struct endpoint *ep, const struct input *in)
{
	struct transition t;

	if (opt.timeline || !step_alone(&ep->tx, &ep->tx_calls.own, in, DIR_TX, &t))
		return false;
	tell_stall(ep, &t, in->at);
	return true;
}

static __always_inline int apply_tx_fast(struct endpoint *ep, const struct input *in)
{
	if (try_tx_fast(ep, in)) {
		reply_tx(ep, in);
		return 1;
	}
	return apply_tx_slow(ep, in);
}

static __always_inline int apply_rx_fast(struct endpoint *ep, const struct input *in)
{
	struct transition t;

	if (!opt.timeline && step_alone(&ep->rx, &ep->rx_calls.own, in, DIR_RX, &t)) {
		if (in->working >= 0 &&
		    !in->asleep) { /* a reader enters, or one that was not seen to enter has read */
			unread_ended(ep, &t);
			reply_unread_ended(ep, &t, in->at);
		}
		reply_rx(ep, in);
		return 1;
	}
	return apply_rx_slow(ep, in);
}

QUICK int tx_begins(struct endpoint *ep, ns_t at)
{
	struct input in = { .at = at, .working = 1 };

	return ep ? apply_tx_fast(ep, &in) : 0;
}

/* No thread comes or goes. The input is built anew without threads, which keeps the fast version
 * short. */
SUBPROG int apply_tx_settled(struct endpoint *ep, ns_t at, __u64 packed, ns_t blocked, ns_t runq)
{
	struct input is = input_unpacked(at, packed, blocked, runq), in = {};

	if (!ep)
		return 0;
	in.at = is.at;
	in.says = is.says;
	in.head = is.head;
	in.full = is.full;
	in.device = is.device;
	in.bytes = is.bytes;
	if (!try_tx_fast(ep, &in))
		return apply_tx(ep, at, packed, blocked, runq);
	reply_tx(ep, &in);
	return 1;
}

static __always_inline int apply_tx_settled_slow(struct endpoint *ep, const struct input *in)
{
	return apply_tx_settled(ep, in->at, input_packed(in), in->blocked, in->runq);
}

/* a fast step whose input is in memory already: no copy, the stack is short there */
static __always_inline int apply_tx_in_place(struct endpoint *ep, const struct input *in)
{
	return try_tx_fast(ep, in) ? 1 : apply_tx_slow(ep, in);
}

/* the same without a call, nearly always */
static __always_inline int apply_tx_settled_fast(struct endpoint *ep, const struct input *in)
{
	return try_tx_fast(ep, in) ? 1 : apply_tx_settled_slow(ep, in);
}

/* a reader that is not seen to enter its call, only to fall asleep in it */
QUICK int rx_sleeps_in(struct endpoint *ep, ns_t at)
{
	struct input in = { .at = at, .working = 1, .asleep = 1 };

	return ep ? apply_rx_fast(ep, &in) : 0;
}

QUICK int rx_begins(struct endpoint *ep, ns_t at)
{
	struct input in = { .at = at, .working = 1 };

	return ep ? apply_rx_fast(ep, &in) : 0;
}

QUICK int rx_sleeps(struct endpoint *ep, ns_t at)
{
	struct input in = { .at = at, .asleep = 1 };

	return ep ? apply_rx_fast(ep, &in) : 0;
}

SUBPROG int rx_wakes(struct endpoint *ep, ns_t at, ns_t blocked, ns_t runq)
{
	struct input in = { .at = at, .asleep = -1, .slept = 1, .blocked = blocked, .runq = runq };

	return ep ? apply_rx_fast(ep, &in) : 0;
}

SUBPROG int rx_ends(struct endpoint *ep, ns_t at, __u32 full, __u32 bytes)
{
	struct input in = { .at = at, .says = IN_FULL, .full = full & 1, .working = -1,
		.bytes = bytes };

	return ep ? apply_rx_fast(ep, &in) : 0;
}

/* a reader that slept in its call wakes and leaves it, in one step */
QUICK int rx_returns(struct endpoint *ep, ns_t ran, ns_t blocked, ns_t runq, const struct input *is)
{
	struct input wake = { .at = ran, .asleep = -1, .slept = 1, .blocked = blocked,
		.runq = runq };
	struct input end = { .says = IN_FULL, .working = -1 };

	if (!ep || !is)
		return 0;
	end.at = is->at;
	end.full = is->full & 1;
	end.bytes = is->bytes;
	if (!opt.timeline && wake_and_end_alone(&ep->rx, &ep->rx_calls.own, &wake, &end, DIR_RX)) {
		reply_rx(ep, &end);
		return 1;
	}
	rx_wakes(ep, ran, blocked, runq);
	return rx_ends(ep, end.at, end.full, end.bytes);
}

/* data came or went while no reader was in a call */
QUICK int rx_holds(struct endpoint *ep, ns_t at, __u32 full)
{
	struct input in = { .at = at, .says = IN_FULL, .full = full & 1 };

	return ep && apply_facets(ep->rx.word, &in) != ep->rx.word ? apply_rx_fast(ep, &in) : 0;
}

#endif
