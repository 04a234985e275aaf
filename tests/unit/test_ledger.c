// SPDX-License-Identifier: GPL-2.0-only
/* The charge of a ledger under threads that race, and under what interrupts them: nothing twice,
 * nothing lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "bpf/charge.h"

enum { THREADS = 3, STEPS = 200000 };

/* one ledger, and what those who stepped it know they did */
struct world {
	struct ledger l;
	struct call_stats b;
	ns_t born;
	atomic_ullong charged, charges, free_bytes, bytes, messages, sleeps, blocked, lost;
};

static struct world w;

static ns_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void world_open(void)
{
	memset(&w, 0, sizeof(w));
	w.born = now();
	w.l.word = word_open(w.born);
}

static void take(const struct input *in)
{
	struct transition t;
	struct turn turn = {};
	enum taken r = swap_step(&w.l, in, DIR_TX, &t, &turn);

	if (r == TAKEN_NOT) {
		atomic_fetch_add(&w.lost, 1);
		return;
	}
	if (r == TAKEN_BOOKS) {
		book(&w.l, &w.b.own, &w.b.crowd, in, &t, &turn);
		atomic_fetch_add(&w.charges, charges(&t));
		atomic_fetch_add(&w.charged, charges(&t) ? t.ns : 0);
		atomic_fetch_add(&w.free_bytes, charges(&t) ? 0 : in->bytes);
	}
	atomic_fetch_add(&w.bytes, in->bytes);
	atomic_fetch_add(&w.messages, in->bytes > 0);
	atomic_fetch_add(&w.sleeps, in->slept);
	atomic_fetch_add(&w.blocked, in->blocked);
}

/* the short way, where nobody else is; else the long one */
static void take_quickly(const struct input *in)
{
	struct transition t;

	if (!step_alone(&w.l, &w.b.own, in, DIR_TX, &t)) {
		take(in);
		return;
	}
	atomic_fetch_add(&w.charges, 1);
	atomic_fetch_add(&w.charged, t.ns);
	atomic_fetch_add(&w.bytes, in->bytes);
	atomic_fetch_add(&w.messages, in->bytes > 0);
	atomic_fetch_add(&w.sleeps, in->slept);
	atomic_fetch_add(&w.blocked, in->blocked);
}

static void random_step(unsigned int *seed)
{
	unsigned int r = *seed = *seed * 1664525u + 1013904223u;
	struct input in = { .at = now(), .says = IN_FULL | IN_HEAD, .full = r >> 10 & 1,
		.head = (r >> 11) % HEAD_REST };

	if (r >> 16 & 1)
		in.bytes = r >> 20;
	in.slept = r >> 17 & 1;
	in.blocked = in.slept ? r >> 22 : 0;
	in.runq = in.blocked / 2;
	if (r >> 18 & 1)
		take_quickly(&in);
	else
		take(&in);
}

static void *racer(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	for (int i = 0; i < STEPS; i++)
		random_step(&seed);
	return NULL;
}

/* as an interrupt does: in the middle of a step, and done before that goes on */
static void interrupt(int sig)
{
	static _Thread_local unsigned int seed = 77;

	for (int i = 0; i < 8; i++)
		random_step(&seed);
}

static void check_world(void)
{
	unsigned long long ns = 0, n = 0;
	struct flow *own = &w.b.own, *crowd = &w.b.crowd;

	pending_book(&w.l);
	for (int s = 0; s < TX_N; s++) {
		ns += w.l.ns[s];
		for (int i = 0; i < HIST_SLOTS; i++)
			n += w.l.hist[s][i];
	}
	assert_int_equal(ns, (word_since(w.l.word) - w.born) & SINCE_MASK);
	assert_int_equal(ns, w.charged);
	assert_int_equal(n, w.charges);
	assert_int_equal(own->bytes + crowd->bytes, w.bytes);
	assert_int_equal(own->messages + crowd->messages, w.messages);
	assert_int_equal(own->wakeups + crowd->wakeups, w.sleeps);
	assert_int_equal(own->blocked_ns + crowd->blocked_ns, w.blocked);
	for (int i = 0; i < PENDING; i++)
		assert_int_equal(w.l.pending[i], 0);
}

static void alone(void **state)
{
	world_open();
	racer((void *)1);
	check_world();
	assert_int_equal(w.lost, 0);
#if TURNS
	assert_int_equal(
		w.b.crowd.bytes,
		w.free_bytes); /* every turn was its own, and what charges nothing takes none */
	assert_true((w.l.done & TURN_BIT) == (w.l.word & TURN_BIT));
#endif
}

/* Two turns taken for bytes alone, at one moment, would leave the word as it was: see turn_begin().
 */
static void what_charges_nothing_takes_no_turn(void **state)
{
	struct input in = { .bytes = 5 };
	word_t before;

	world_open();
	in.at = w.born;
	before = w.l.word;
	take(&in);
	assert_true(w.l.word == before);
	take(&in);
	assert_int_equal(w.b.own.bytes + w.b.crowd.bytes, 10);
	check_world();
}

static void race(void *(*who)(void *))
{
	pthread_t t[THREADS];

	world_open();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, who, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	check_world();
}

static void racing(void **state)
{
	race(racer);
}

/* all bring bytes, and few change the state: where a turn left the word as it was, forty times as
 * many lost some of them in three runs of eight */
static void *bringer(void *arg)
{
	unsigned int r = (unsigned int)(uintptr_t)arg;

	for (int i = 0; i < 10 * STEPS; i++) {
		struct input in = { .bytes = 1 + (i & 7) };

		r = r * 1664525u + 1013904223u;
		if (!(r >> 16 & 15))
			in = (struct input){
				.at = now(), .says = IN_FULL, .full = r >> 20 & 1, .bytes = 3
			};
		else
			in.at = w.born;
		take(&in);
	}
	return NULL;
}

static void racing_with_bytes(void **state)
{
	race(bringer);
}

static void interrupted(void **state)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } }, off = {};
	struct sigaction sa = { .sa_handler = interrupt };
	pthread_t t;

	world_open();
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	assert_int_equal(pthread_create(&t, NULL, racer, (void *)5), 0);
	racer((void *)6);
	pthread_join(t, NULL);
	setitimer(ITIMER_REAL, &off, NULL);
	check_world();
}

#if TURNS
/* A turn that is never over: what comes meanwhile waits, up to the room there is, and is booked by
 * the next turn. */
static void waiting(void **state)
{
	struct input in = { .says = IN_FULL };
	ns_t at;

	world_open();
	at = w.born;
	w.l.done = ~w.l.word;
	for (int i = 1; i <= PENDING + 1; i++) {
		in.full = i & 1;
		in.at = at += 10;
		take(&in);
	}
	assert_int_equal(w.lost, 1);
	assert_int_equal(w.l.ns[TX_IDLE] + w.l.ns[TX_FLIGHT], 0);
	w.l.done = w.l.word;
	in.full = !(PENDING & 1);
	in.at = at += 10;
	take(&in);
	assert_int_equal(w.l.ns[TX_IDLE] + w.l.ns[TX_FLIGHT], 10 * (PENDING + 2));
	check_world();
}

/* one call after the other, with or without a sleep in it: the short way books what the long one
 * does */
static void long_way(struct world *x, const struct input *in, enum dir dir)
{
	struct transition t;
	struct turn turn = {};

	if (swap_step(&x->l, in, dir, &t, &turn) == TAKEN_BOOKS)
		book(&x->l, &x->b.own, &x->b.crowd, in, &t, &turn);
}

static int short_way(struct world *x, const struct input *in, enum dir dir)
{
	struct transition t;
	int done = step_alone(&x->l, &x->b.own, in, dir, &t);

	if (!done)
		long_way(x, in, dir);
	return done;
}

/* both parts, of which a step that charges nothing takes the second: where two are one they are in
 * the first */
static struct flow all_of(const struct call_stats *b)
{
	const struct flow *x = &b->own, *y = &b->crowd;

	return (struct flow){
		.bytes = x->bytes + y->bytes,
		.messages = x->messages + y->messages,
		.wakeups = x->wakeups + y->wakeups,
		.blocked_ns = x->blocked_ns + y->blocked_ns,
		.runq_ns = x->runq_ns + y->runq_ns,
		.blocked_max = x->blocked_max > y->blocked_max ? x->blocked_max : y->blocked_max,
		.runq_max = x->runq_max > y->runq_max ? x->runq_max : y->runq_max,
	};
}

static void same_books(struct world *a, struct world *b)
{
	struct flow of_a = all_of(&a->b), of_b = all_of(&b->b);

	assert_int_equal(a->l.word & ~TURN_BIT, b->l.word & ~TURN_BIT);
	assert_memory_equal(a->l.ns, b->l.ns, sizeof(a->l.ns));
	assert_memory_equal(a->l.max, b->l.max, sizeof(a->l.max));
	assert_memory_equal(a->l.hist, b->l.hist, sizeof(a->l.hist));
	assert_memory_equal(&of_a, &of_b, sizeof(of_a));
}

static void one_call(struct world *a, struct world *b, enum dir dir, unsigned int r, ns_t *at,
		     int *quick)
{
	struct input begin = { .at = *at += r & 15, .working = 1 },
		sleep = { .at = *at += r >> 4 & 15, .asleep = 1 };
	struct input wake = { .at = *at += r >> 8 & 15, .asleep = -1, .slept = 1, .blocked = 9,
		.runq = 4 };
	struct input end = { .at = *at += r >> 12 & 15, .working = -1, .says = IN_FULL,
		.full = r >> 16 & 1, .bytes = r >> 17 & 3 };

	if ((r >> 19 & 3) == 3) { /* seen only where it falls asleep */
		sleep.working = 1;
	} else if (r >> 21 & 7) { /* now and then a thread leaves that nobody saw enter */
		*quick += short_way(a, &begin, dir);
		long_way(b, &begin, dir);
	}
	if (r >> 20 & 1) {
		*quick += short_way(a, &sleep, dir);
		if (!wake_and_end_alone(&a->l, &a->b.own, &wake, &end, dir)) {
			long_way(a, &wake, dir);
			long_way(a, &end, dir);
		} else {
			*quick += 2;
		}
		long_way(b, &sleep, dir);
		long_way(b, &wake, dir);
	} else {
		*quick += short_way(a, &end, dir);
	}
	long_way(b, &end, dir);
	same_books(a, b);
}

static void short_as_long(void **state)
{
	static struct world a, b;
	unsigned int seed = 3;
	int quick = 0;

	for (enum dir dir = DIR_TX; dir <= DIR_RX; dir++) {
		ns_t at = 1000;

		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		a.l.word = b.l.word = word_open(at);
		for (int i = 0; i < 20000; i++)
			one_call(&a, &b, dir, (seed = seed * 1664525u + 1013904223u) >> 8, &at,
				 &quick);
	}
	assert_in_range(quick, 70000, 140000); /* most went the short way */
}
#endif

/* who voted last is not who is in the lead */
static void a_majority_wins(void **state)
{
	static const struct { int who; ns_t ns; } votes[] = { { 1, 5 }, { 2, 4 }, { 3, 2 },
		{ 1, 9 }, { 2, 3 }, { 3, 1 } };
	ns_t lead = 0;
	int leader = 0;

	for (size_t i = 0; i < sizeof(votes) / sizeof(votes[0]); i++)
		if (vote_won(&lead, leader == votes[i].who, votes[i].ns))
			leader = votes[i].who;
	assert_int_equal(leader, 1); /* 14 of 24 */
	assert_false(vote_won(&lead, false,
			      lead)); /* as much as it is ahead takes its lead, not its place */
	assert_int_equal(lead, 0);
	assert_true(vote_won(&lead, false, 1));
	assert_int_equal(lead, 1);
}

struct ballot {
	ns_t lead, sum;
	unsigned int leader, second;
};

static void vote(struct ballot *b, unsigned int who, ns_t ns)
{
	unsigned int leader = b->leader;
	bool won = vote_won(&b->lead, leader == who, ns);

	b->sum += ns;
	b->second = vote_second(b->second, leader, who, won);
	b->leader = won ? who : leader;
}

/* Three with 400, 350 and 250: the last of them is in the lead, and is not to be named. Of two, and
 * of many before one, it is sure. */
static void a_name_is_sure(void **state)
{
	struct ballot two = {}, three = {}, clear = {};

	(void)state;
	for (int i = 0; i < 5; i++) {
		vote(&two, 1, 80);
		vote(&two, 2, 90);
	}
	assert_int_equal(two.leader, 2);
	assert_true(vote_is_sure(two.lead, two.sum, two.second));
	vote(&three, 1, 400);
	vote(&three, 2, 350);
	vote(&three, 3, 250);
	assert_int_equal(three.leader, 3);
	assert_false(vote_is_sure(three.lead, three.sum, three.second));
	vote(&clear, 2, 10);
	vote(&clear, 3, 10);
	vote(&clear, 1, 100);
	assert_int_equal(clear.leader, 1);
	assert_true(vote_is_sure(clear.lead, clear.sum, clear.second));
}

/* Somebody is at the sums, and every place is taken: whoever leaves is counted out all the same,
 * and no time is lost. */
static void who_leaves_is_counted_out(void **state)
{
	struct input enters = { .working = 1 }, leaves = { .working = -1 },
		after = { .says = IN_FULL, .full = 1 };
	struct transition t;
	struct turn turn = {};
	unsigned long long ns = 0;

	(void)state;
	world_open();
	enters.at = w.born + 1000;
	leaves.at = w.born + 3000;
	after.at = w.born + 9000;
	take(&enters);
	w.l.done ^= TURN_BIT;
	for (int i = 0; i < PENDING; i++)
		w.l.pending[i] = PENDING_TAKEN;
	assert_int_equal(swap_step(&w.l, &leaves, DIR_TX, &t, &turn), TAKEN_NOT);
	assert_true(swap_uncharged(&w.l, &leaves, DIR_TX));
	assert_int_equal(word_state(w.l.word, DIR_TX), TX_IDLE);
	assert_true(swap_uncharged(&w.l, &enters, DIR_TX));
	assert_int_equal(word_state(w.l.word, DIR_TX), TX_WORK);
	assert_true(swap_uncharged(&w.l, &leaves, DIR_TX));
	w.l.done ^= TURN_BIT;
	memset(w.l.pending, 0, sizeof(w.l.pending));
	take(&after);
	for (int i = 0; i < TX_N; i++)
		ns += w.l.ns[i];
	assert_int_equal(ns, 9000);
	assert_int_equal(w.l.ns[TX_WORK], 0);
	leaves.says = IN_CLOSE;
	assert_false(swap_uncharged(&w.l, &leaves, DIR_TX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_leaves_is_counted_out), cmocka_unit_test(alone),
		cmocka_unit_test(what_charges_nothing_takes_no_turn), cmocka_unit_test(racing),
			cmocka_unit_test(racing_with_bytes),
		cmocka_unit_test(interrupted),
#if TURNS
		cmocka_unit_test(waiting),
		cmocka_unit_test(short_as_long),
		cmocka_unit_test(a_majority_wins),
		cmocka_unit_test(a_name_is_sure),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
