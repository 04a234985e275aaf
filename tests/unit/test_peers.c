// SPDX-License-Identifier: GPL-2.0-only
/* The other end of an endpoint, where addresses are used again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "stats/rng.h"
#include "tracer/endpoint_detail.h"
#include "tracer/peers.h"

#include <cmocka.h>

enum { ADDRESSES = 6, TURNS = 40 };

static bool is_better(const struct keyed *a, const struct keyed *b, const struct keyed *self)
{
	bool x = a->peer == self->key, y = b->peer == self->key;

	return x == y ? a->born < b->born : x;
}

/* of those under the address that it names: who lived at the same time, and best names it too */
static int other_end(const struct keyed *k, size_t n, const struct keyed *self)
{
	const struct keyed *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (k[i].key != self->peer || k[i].born > self->end || self->born > k[i].end)
			continue;
		if (!best || is_better(&k[i], best, self))
			best = &k[i];
	}
	return best ? (int)best->index : -1;
}

/* each address in turn by several, the last of whom lives; in no order */
static size_t reuses(struct keyed *k, struct rng *rng)
{
	size_t n = 0;

	for (uint64_t key = 1; key <= ADDRESSES; key++) {
		uint64_t at = 1;

		for (int turn = 0; turn < TURNS; turn++) {
			uint64_t born = at + rng_below(rng, 50),
				 end = born + 1 + rng_below(rng, 200);

			k[n] = (struct keyed){ .key = key,
					       .peer = rng_below(rng, ADDRESSES + 2),
					       .born = born,
					       .end = turn == TURNS - 1 ? UINT64_MAX : end };
			n++;
			at = end + rng_below(rng, 2);
		}
	}
	rng_shuffle(rng, k, n, sizeof(*k));
	for (size_t i = 0; i < n; i++)
		k[i].index = i;
	return n;
}

static void who_lived_at_the_same_time_is_the_other_end(void **state)
{
	static struct keyed k[ADDRESSES * TURNS], sorted[ADDRESSES * TURNS];
	static struct trace_endpoint ep[ADDRESSES * TURNS];
	struct trace_snapshot s = { .ep = ep };
	struct rng rng;
	size_t found = 0;

	rng_seed(&rng, 1);
	s.n = reuses(k, &rng);
	for (size_t i = 0; i < s.n; i++) {
		ep[i].proto = TRACE_TCP;
		ep[i].peer = -1;
		sorted[i] = k[i];
	}
	peers_join(&s, sorted);
	for (size_t i = 0; i < s.n; i++) {
		assert_int_equal(ep[i].peer, k[i].peer ? other_end(k, s.n, &k[i]) : -1);
		found += ep[i].peer >= 0;
	}
	assert_in_range(found, s.n / 4, s.n - 1);
}

/* The client has closed, and its next connection has the address of the one before: the server's
 * end names that one, though it had a client of its own. */
static void whose_address_was_taken_over_keeps_its_own_end(void **state)
{
	struct trace_endpoint ep[4] = { { .proto = TRACE_TCP }, { .proto = TRACE_TCP },
		{ .proto = TRACE_TCP }, { .proto = TRACE_TCP } };
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct keyed k[4] = { { .key = 1, .peer = 2, .born = 0, .end = 3, .index = 0 },
		{ .key = 2, .peer = 3, .born = 0, .end = 9, .index = 1 },
		{ .key = 3, .peer = 4, .born = 4, .end = 9, .index = 2 },
		{ .key = 4, .peer = 3, .born = 4, .end = 9, .index = 3 } };

	(void)state;
	for (int i = 0; i < 4; i++) {
		uint16_t client = 40000 + i / 2;

		ep[i].peer = -1;
		ep[i].local.port = i % 2 ? 80 : client;
		ep[i].remote.port = i % 2 ? client : 80;
	}
	peers_join(&s, k);
	assert_int_equal(ep[0].peer, 1);
	assert_int_equal(ep[1].peer, 0);
	assert_int_equal(ep[2].peer, 3);
	assert_int_equal(ep[3].peer, 2);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* two addresses, as of a client that connects and closes: for each a walk over all took seconds */
static void thousands_of_reuses_are_joined_at_once(void **state)
{
	enum { LIVES = 100000 };
	struct keyed *k = calloc(LIVES, sizeof(*k));
	static struct trace_endpoint ends[2] = { { .proto = TRACE_TCP }, { .proto = TRACE_TCP } };
	struct trace_snapshot s = { .ep = ends, .n = LIVES };
	double before;

	assert_non_null(k);
	for (size_t i = 0; i < LIVES; i++) {
		uint64_t turn = 10 * (i / 2);

		k[i] = (struct keyed){ .key = 1 + i % 2,
				       .peer = 2 - i % 2,
				       .born = turn,
				       .end = turn + 9,
				       .index = i % 2 };
	}
	before = cpu_seconds();
	peers_join(&s, k);
	assert_true(cpu_seconds() - before < 0.5);
	assert_int_equal(ends[0].peer, 1);
	assert_int_equal(ends[1].peer, 0);
	free(k);
}

/* A stall that goes on: two processes hold the reading end. */
static pid_t blamed_for_unread(pid_t tid, bool others)
{
	struct trace_endpoint ep[2] = { { .proto = TRACE_TCP, .peer = -1, .at_ns = 100 },
					{ .proto = TRACE_TCP, .peer = -1, .at_ns = 100 } };
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct keyed k[2] = { { .key = 1, .peer = 2, .end = UINT64_MAX, .stalled = 90 },
			      { .key = 2, .peer = 1, .end = UINT64_MAX, .index = 1 } };
	pid_t late;

	for (int i = 0; i < 2; i++) {
		ep[i].local.port = i ? 80 : 40000;
		ep[i].remote.port = i ? 40000 : 80;
	}
	ep[0].tx.now = TX_RWND;
	ep[1].rx.ns[RX_UNREAD] = 80;
	ep[1].rx.resolution[RX_UNREAD] = TRACE_EXACT;
	ep[1].rx_calls.tgid = ep[1].rx_calls.giver = 7;
	ep[1].rx_calls.tid = tid;
	ep[1].rx_calls.others = others;
	peers_join(&s, k);
	assert_int_equal(ep[0].blame.unread_ns[TX_RWND], 80);
	late = trace_detail(&ep[0])->late[trace_vote(TX_RWND)].tgid;
	details_free(&s.details);
	return late;
}

static void of_several_that_hold_an_end_its_reader_is_blamed(void **state)
{
	assert_int_equal(blamed_for_unread(7, true), 7);
	assert_int_equal(blamed_for_unread(0, false), 7);
	assert_int_equal(blamed_for_unread(0, true), 0); /* none of them was seen to read */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_lived_at_the_same_time_is_the_other_end),
		cmocka_unit_test(whose_address_was_taken_over_keeps_its_own_end),
		cmocka_unit_test(thousands_of_reuses_are_joined_at_once),
		cmocka_unit_test(of_several_that_hold_an_end_its_reader_is_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
