/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stalls of a queue's head that are in pieces. A writer that adds to a held queue interrupts the
 * stall's state by its call, but nothing goes out: this is one stall, and its episodes are counted
 * as one.
 */
#ifndef IPCSTALL_SPLIT_STALL_BPF_H
#define IPCSTALL_SPLIT_STALL_BPF_H

#include "observe.bpf.h"

/* not `sndbuf`: a writer that sleeps for room gets some each time it wakes */
static __always_inline bool holds_head(__u32 state)
{
	return state - TX_RECOVERY <= TX_RWND - TX_RECOVERY;
}

static __always_inline __u32 next_to_go(const struct endpoint *ep)
{
	struct tcp_sock *tp = CAST(tcp_sock, ep->id.key);

	return ep->id.proto == PROTO_TCP ? GET(tp, snd_nxt) : 0;
}

static __always_inline void episodes_add(struct ledger *l, __u64 state, ns_t ns, __u32 n)
{
	__u64 slot = HIST_SLOT(ns);

	BOUND(state, 15);
	BOUND(slot, 31);
	if (state < STATES_MAX && slot < HIST_SLOTS)
		atomic_add(&l->hist[state][slot], n);
}

/* makes one episode of two, as long as both together */
static __always_inline void episodes_join(struct ledger *l, __u64 state, ns_t before, ns_t more)
{
	episodes_add(l, state, before, -1);
	episodes_add(l, state, more, -1);
	episodes_add(l, state, before + more, 1);
	BOUND(state, 15);
	if (state < STATES_MAX)
		raise_max(&l->max[state], before + more);
}

/* begins a hold with its first piece, perhaps its only one */
static __always_inline void hold_is_new(struct hold *h, __u32 state, ns_t from)
{
	h->state = state;
	h->from = from;
	h->ns = h->until = h->unread = h->starved = h->ack.went = 0;
	h->going = 0;
}

static __always_inline void piece_ended(struct endpoint *ep, const struct transition *t, ns_t at)
{
	struct hold *h = &ep->held_on;

	if (h->state != t->from || (h->until && !h->going))
		hold_is_new(h, t->from, at - t->ns);
	h->went_on = h->going;
	if (h->going)
		episodes_join(&ep->tx, t->from, h->ns, t->ns);
	h->ns += t->ns;
	h->until = at;
	h->next = next_to_go(ep);
}

/* the same hold goes on after the writer's call, which let no segment go */
static __always_inline bool goes_on(const struct endpoint *ep, const struct transition *t, ns_t at)
{
	const struct hold *h = &ep->held_on;

	return t->from == TX_WORK && h->state == t->to && holds_head(t->to) &&
	       h->until + t->ns == at && h->next == next_to_go(ep);
}

#endif
