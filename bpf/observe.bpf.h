/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way from an input to a ledger: look the endpoint up, take the step, charge what ended. */
#ifndef IPCSTALL_OBSERVE_BPF_H
#define IPCSTALL_OBSERVE_BPF_H

#include "timeline.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct endpoint);
} endpoints SEC(".maps");

#define SWAP_TRIES 4

#ifdef NO_CMPXCHG
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u8);
} swaps SEC(".maps");

/* An insert that must be new is the one atomic test-and-set 5.10 has. Whoever finds it taken has lost, as with a cmpxchg. */
static __always_inline bool swap_word(struct ledger *l, word_t old, word_t word)
{
	__u64 key = (__u64)l;
	__u8 one = 1;
	bool won;

	if (bpf_map_update_elem(&swaps, &key, &one, BPF_NOEXIST))
		return false;
	won = *(volatile word_t *)&l->word == old;
	if (won)
		*(volatile word_t *)&l->word = word;
	bpf_map_delete_elem(&swaps, &key);
	return won;
}

/* two processors may both store: the larger of two near-equal maxima can be missed, the sums cannot */
static __always_inline void raise_max(ns_t *max, ns_t v)
{
	if (v > *max)
		*max = v;
}
#else
static __always_inline bool swap_word(struct ledger *l, word_t old, word_t word)
{
	return __sync_val_compare_and_swap(&l->word, old, word) == old;
}

static __always_inline void raise_max(ns_t *max, ns_t v)
{
	for (int i = 0; i < 3; i++) {
		ns_t old = *(volatile ns_t *)max;

		if (v <= old || __sync_val_compare_and_swap(max, old, v) == old)
			return;
	}
}
#endif

/* kernels before 6.3 forget a comparison made on another register: a mask they remember */
#define BOUND(v, mask) asm volatile("%0 &= " #mask : "+r"(v))

static __always_inline void charge(struct ledger *l, const struct transition *t)
{
	__u64 s = t->from, slot = hist_slot(t->ns);

	BOUND(s, 15);
	BOUND(slot, 31);
	if (!t->ns || s >= STATES_MAX || slot >= HIST_SLOTS)
		return;
	atomic_add(&l->ns[s], t->ns);
	atomic_add(&l->hist[s][slot], 1);
	raise_max(&l->max[s], t->ns);
}

static __always_inline bool swap_step(struct ledger *l, const struct input *in, enum dir dir, struct transition *t)
{
	/* 64 bits: of a counter spilled in 32, kernels before 5.16 forget the value, and the loop never ends for them */
	for (__u64 i = 0; i < SWAP_TRIES; i++) {
		word_t old = *(volatile word_t *)&l->word;

		if (!old)	/* being made by another processor */
			return false;
		*t = step(old, in, dir);
		if (t->word == old || swap_word(l, old, t->word))
			return true;
	}
	count(COUNT_CONTENDED);
	return false;
}

/* Take the step and charge it; *t says what ended. False: the state is what it was. */
static __always_inline bool take_step(struct ledger *l, const struct input *in, enum dir dir, struct transition *t)
{
	if (!swap_step(l, in, dir, t))
		return false;
	if (t->unpaired)
		count(COUNT_UNPAIRED);
	if (t->ended)
		charge(l, t);
	return t->ended;
}

#endif
