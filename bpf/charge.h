/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an input to a ledger: the swap of the word, and the charge. Pure C like step.h, and tested
 * on the host by threads that race.
 *
 * A locked instruction costs ten times a plain one, and a charge changes three sums. So processors
 * take turns: the one that swaps the word flips its turn bit, and copies that bit to `done` when it
 * is done with the sums. If the two agree, nobody is at the sums, and the next processor to swap
 * may change them without locks. If they differ, another processor, or something that this one
 * interrupted, is at the sums: the charge is left in `pending`, and the next turn books it. Stores
 * become visible in order on x86; elsewhere every change is a locked instruction.
 */
#ifndef IPCSTALL_CHARGE_H
#define IPCSTALL_CHARGE_H

#include "record.h"

#ifndef __bpf__
#include <stdbool.h>
#endif

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define TURNS 1
#else
#define TURNS 0
#endif

#define SWAP_TRIES	4
#define UNCHARGED_TRIES 16 /* without waiting: a swap that fails means that another one succeeded */

/* Kernels before 6.3 forget a comparison that was made on another register, but remember a mask. */
#ifdef __bpf__
#define BOUND(v, mask) asm volatile("%0 &= " #mask : "+r"(v))
#else
#define BOUND(v, mask) ((v) &= (mask))
#endif

/* Up to `n` times, until `once(i, data)` returns 1. The verifier follows a callback a few times
 * only, but the body of a loop at each iteration. */
#ifdef __bpf__
#define REPEAT(n, once, data) bpf_loop((n), (once), (data), 0)
#else
#define REPEAT(n, once, data) \
	({ \
		for (unsigned int i_ = 0; i_ < (n) && !(once)(i_, (data)); i_++) \
			; \
	})
#endif

#ifndef HIST_SLOT
#define HIST_SLOT(ns) hist_slot(ns)
#endif

#define LATEST(x) (*(volatile __typeof__(x) *)&(x))

static __always_inline bool swap_word(struct ledger *l, word_t old, word_t word)
{
	word_t found = __sync_val_compare_and_swap(&l->word, old, word);

	OPAQUE(found); /* without this the compiler makes a flag and a branch of it: two more
			  instructions, a dozen times a message */
	return found == old;
}

static __always_inline void raise_max(ns_t *max, ns_t v)
{
	for (int i = 0; i < 3; i++) {
		ns_t old = LATEST(*max);

		if (v <= old || __sync_val_compare_and_swap(max, old, v) == old)
			return;
	}
}

#define ADD_LOCKED(p, v) ((void)__sync_fetch_and_add((p), (v)))

/*
 * Several processes may share an end: which of them has most of some time? The majority vote of
 * Boyer and Moore counts for the leader only, and a process that has more than half of the time
 * leads at the end. True: the voter leads, or takes the lead now.
 */
static __always_inline bool vote_won(ns_t *lead, bool leads, ns_t ns)
{
	if (!leads && *lead >= ns) {
		*lead -= ns;
		return false;
	}
	*lead = leads ? *lead + ns : ns - *lead;
	return true;
}

#define VOTE_MANY (~0u)

/* Who else has voted, this vote included: 0 nobody, VOTE_MANY more than one. `leader`: the leader
 * before this vote. */
static __always_inline unsigned int vote_second(unsigned int second, unsigned int leader,
						unsigned int voter, bool won)
{
	if (!leader || voter == leader)
		return second;
	if (second && second != voter)
		return VOTE_MANY;
	return won ? leader : voter;
}

/* Of two voters, the leader has more than half. Of more voters, the leader may just have voted
 * last, unless its lead alone is more than half. */
static __always_inline bool vote_is_sure(ns_t lead, ns_t sum, unsigned int second)
{
	return second != VOTE_MANY || lead > sum / 2;
}

/* an episode that ended; a sampled session sees none */
#ifdef SAMPLED
#define NOTE_EPISODE(l, s, slot, ns)
#define NOTE_EPISODE_LOCKED(l, s, slot, ns)
#else
#define NOTE_EPISODE(l, s, slot, ns) \
	({ \
		(l)->hist[s][slot]++; \
		if ((ns) > (l)->max[s]) \
			(l)->max[s] = (ns); \
	})
#define NOTE_EPISODE_LOCKED(l, s, slot, ns) \
	({ \
		ADD_LOCKED(&(l)->hist[s][slot], 1); \
		raise_max(&(l)->max[s], ns); \
	})
#endif

/* what a step has to book, and how */
struct turn {
	unsigned int mine; /* 1: this processor may change the sums until turn_end() */
	unsigned int at;   /* else: where in `pending` */
};

static __always_inline bool brings(const struct input *in)
{
	return in->bytes || in->slept;
}

static __always_inline bool charges(const struct transition *t)
{
	return t->ended && t->ns;
}

static __always_inline void charge(struct ledger *l, unsigned long long s, ns_t ns)
{
	unsigned long long slot = HIST_SLOT(ns);

	BOUND(s, 15);
	BOUND(slot, 31);
	if (s >= STATES_MAX || slot >= HIST_SLOTS)
		return;
	l->ns[s] += ns;
	NOTE_EPISODE(l, s, slot, ns);
}

static __always_inline void charge_locked(struct ledger *l, unsigned long long s, ns_t ns)
{
	unsigned long long slot = hist_slot(ns);

	BOUND(s, 15);
	BOUND(slot, 31);
	if (s >= STATES_MAX || slot >= HIST_SLOTS)
		return;
	ADD_LOCKED(&l->ns[s], ns);
	NOTE_EPISODE_LOCKED(l, s, slot, ns);
}

static __always_inline void gain(struct flow *f, const struct input *in)
{
	if (in->bytes) {
		f->bytes += in->bytes;
		f->messages++;
	}
	if (!in->slept)
		return;
	f->blocked_ns += in->blocked;
	f->runq_ns += in->runq;
	f->wakeups++;
	if (in->blocked > f->blocked_max)
		f->blocked_max = in->blocked;
	if (in->runq > f->runq_max)
		f->runq_max = in->runq;
}

static __always_inline void gain_locked(struct flow *f, const struct input *in)
{
	if (in->bytes) {
		ADD_LOCKED(&f->bytes, in->bytes);
		ADD_LOCKED(&f->messages, 1);
	}
	if (!in->slept)
		return;
	ADD_LOCKED(&f->blocked_ns, in->blocked);
	ADD_LOCKED(&f->runq_ns, in->runq);
	ADD_LOCKED(&f->wakeups, 1);
	raise_max(&f->blocked_max, in->blocked);
	raise_max(&f->runq_max, in->runq);
}

/* ---- pending charges: the state + 1 above 56 bits of ns; all ones: taken, not yet filled ---- */

#define PENDING_SHIFT 56
#define PENDING_TAKEN (~0ULL)

static __always_inline unsigned int pending_state(word_t p)
{
	return (unsigned int)(p >> PENDING_SHIFT) - 1;
}

static __always_inline ns_t pending_ns(word_t p)
{
	return p & ((1ULL << PENDING_SHIFT) - 1);
}

static __always_inline bool pending_filled(word_t p)
{
	return p && p != PENDING_TAKEN;
}

/* Book what others left. A charge that is put there at this moment is seen the next time. */
static __always_inline void pending_book(struct ledger *l)
{
	l->has_pending = 0;
	for (int i = 0; i < PENDING; i++) {
		word_t p = LATEST(l->pending[i]);

		if (!pending_filled(p))
			continue;
		charge(l, pending_state(p), pending_ns(p));
		LATEST(l->pending[i]) = 0;
	}
}

#if TURNS
/* Take the last empty place. False: none is empty, or another processor took it first. Without a
 * branch for each place, see positive(). */
static __always_inline bool pending_take(struct ledger *l, struct turn *turn)
{
	unsigned long long at = 0;

	for (unsigned long long i = 1; i < PENDING; i++)
		at = choose(is_zero(LATEST(l->pending[i])), i, at);
	BOUND(at, 3);
	turn->at = at;
	return !LATEST(l->pending[at]) &&
	       __sync_val_compare_and_swap(&l->pending[at], 0, PENDING_TAKEN) == 0;
}

static __always_inline void pending_put(struct ledger *l, const struct turn *turn, word_t v)
{
	unsigned long long at = turn->at;

	BOUND(at, 3);
	LATEST(l->pending[at]) = v;
	LATEST(l->has_pending) = 1;
}

/*
 * Before the swap from `old`: who may book? False: nobody, `pending` is full; read the word again.
 * A step that charges nothing takes no turn: two such turns would leave the word as it was, and a
 * processor that had read it before the first turn would swap it in the middle of the second.
 */
static __always_inline bool turn_begin(struct ledger *l, word_t old, struct transition *t,
				       struct turn *turn)
{
	turn->mine = false;
	if (!charges(t))
		return true;
	turn->mine = !((LATEST(l->done) ^ old) & TURN_BIT);
	if (!turn->mine)
		return pending_take(l, turn);
	t->word ^= TURN_BIT;
	return true;
}

static __always_inline void turn_give_up(struct ledger *l, const struct transition *t,
					 const struct turn *turn)
{
	if (!turn->mine && charges(t))
		pending_put(l, turn, 0);
}

static __always_inline void turn_end(struct ledger *l, const struct transition *t)
{
	asm volatile("" ::: "memory");
	LATEST(l->done) = t->word;
}

static __always_inline void book(struct ledger *l, struct flow *own, struct flow *crowd,
				 const struct input *in, const struct transition *t,
				 const struct turn *turn)
{
	if (!turn->mine) {
		if (charges(t))
			pending_put(l, turn, (word_t)(t->from + 1) << PENDING_SHIFT | t->ns);
		gain_locked(crowd, in);
		return;
	}
	if (l->has_pending)
		pending_book(l);
	if (charges(t))
		charge(l, t->from, t->ns);
	gain(own, in);
	turn_end(l, t);
}

/*
 * Nearly every step: the only thread takes it, nobody is at the sums, and nothing is pending. The
 * same step, swap and charge as below, without what only a race needs. False: nothing was done, and
 * the slow version is to be used.
 */
static __always_inline bool is_alone(const struct ledger *l, word_t old, const struct input *in)
{
	return old && !((LATEST(l->done) ^ old) & TURN_BIT) && !LATEST(l->has_pending) &&
	       sole_thread(old, in);
}

static __always_inline bool step_alone(struct ledger *l, struct flow *own, const struct input *in,
				       enum dir dir, struct transition *t)
{
	word_t old = LATEST(l->word);

	if (!is_alone(l, old, in))
		return false;
	*t = step_counted(old, old ^ sole_bit(in), in, dir);
	if (!charges(t))
		return false;
	t->word ^= TURN_BIT;
	if (!swap_word(l, old, t->word))
		return false;
	charge(l, t->from, t->ns);
	gain(own, in);
	turn_end(l, t);
	return true;
}

/* two steps of one thread, of which only the second is reported: it wakes in its call, then leaves
 * it */
static __always_inline bool wake_and_end_alone(struct ledger *l, struct flow *own,
					       const struct input *wake, const struct input *end,
					       enum dir dir)
{
	word_t old = LATEST(l->word);
	struct transition woke, ended;

	if (!is_alone(l, old, wake))
		return false;
	woke = step_counted(old, old ^ sole_bit(wake), wake, dir);
	if (!charges(&woke))
		return false;
	ended = step_counted(woke.word, woke.word ^ sole_bit(end), end, dir);
	ended.word ^= TURN_BIT;
	if (!swap_word(l, old, ended.word))
		return false;
	charge(l, woke.from, woke.ns);
	if (charges(&ended))
		charge(l, ended.from, ended.ns);
	gain(own, wake);
	gain(own, end);
	turn_end(l, &ended);
	return true;
}
#else
static __always_inline bool step_alone(struct ledger *l, struct flow *own, const struct input *in,
				       enum dir dir, struct transition *t)
{
	return false;
}

static __always_inline bool wake_and_end_alone(struct ledger *l, struct flow *own,
					       const struct input *wake, const struct input *end,
					       enum dir dir)
{
	return false;
}

static __always_inline bool turn_begin(struct ledger *l, word_t old, struct transition *t,
				       struct turn *turn)
{
	return true;
}

static __always_inline void turn_give_up(struct ledger *l, const struct transition *t,
					 const struct turn *turn)
{
}

static __always_inline void book(struct ledger *l, struct flow *own, struct flow *crowd,
				 const struct input *in, const struct transition *t,
				 const struct turn *turn)
{
	if (charges(t))
		charge_locked(l, t->from, t->ns);
	gain_locked(crowd, in);
}
#endif

enum taken {
	TAKEN_NOT,	/* the word is being made by another processor, or kept changing */
	TAKEN_SAME,	/* nothing changed, nothing is to be booked */
	TAKEN_PLAIN,	/* the word changed, nothing is to be booked */
	TAKEN_BOOKS,	/* book() it */
};

static __always_inline enum taken swap_step(struct ledger *l, const struct input *in, enum dir dir,
					    struct transition *t, struct turn *turn)
{
	for (unsigned long long i = 0; i < SWAP_TRIES; i++) {
		word_t old = LATEST(l->word);

		if (!old)
			return TAKEN_NOT;
		*t = step(old, in, dir);
		if (!charges(t) && !brings(in)) {
			if (t->word == old)
				return TAKEN_SAME;
			if (swap_word(l, old, t->word))
				return TAKEN_PLAIN;
			continue;
		}
		if (!turn_begin(l, old, t, turn))
			continue;
		if (t->word == old || swap_word(l, old, t->word))
			return TAKEN_BOOKS;
		turn_give_up(l, t, turn);
	}
	return TAKEN_NOT;
}

struct uncharged {
	struct ledger *l;
	const struct input *in;
	enum dir dir;
	bool swapped;
};

static long swap_uncharged_once(unsigned int i, struct uncharged *u)
{
	word_t old = LATEST(u->l->word), word;

	(void)i;
	if (!old || u->in->says & IN_CLOSE)
		return 1;
	word = (step(old, u->in, u->dir & 1).word & ~SINCE_MASK) | word_since(old);
	u->swapped = word == old || swap_word(u->l, old, word);
	return u->swapped;
}

/*
 * If every place of `pending` is taken, perhaps by threads that were preempted in the middle of a
 * step, the state that ends now cannot be charged. The word changes all the same, since a thread
 * that is not counted out would be in its call for ever: the time of the ended state goes to the
 * new one. A close is not taken this way, since nothing is charged after it.
 */
static __always_inline bool swap_uncharged(struct ledger *l, const struct input *in, enum dir dir)
{
	struct uncharged u = { .l = l, .in = in, .dir = dir };

	REPEAT(UNCHARGED_TRIES, swap_uncharged_once, &u);
	return u.swapped;
}

#endif
