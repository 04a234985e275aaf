// SPDX-License-Identifier: GPL-2.0-only
/* Who ends what Nagle holds: the peer's timer, or the writer itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verdict/blame.h"

static struct blame_judged judged(uint64_t ns, uint64_t gathered_ns, uint64_t gathered_n,
				  uint64_t delack_ns)
{
	return blame_judge(&(struct blame_facts){ .cause = TX_NAGLE,
						  .ns = ns,
						  .gathered_ns = gathered_ns,
						  .gathered_n = gathered_n,
						  .delack_ns = delack_ns,
						  .both_ends = true });
}

/* a stream of small writes: each comes soon after the one before */
static void small_writes_are_gathered(void **state)
{
	struct blame_judged j = judged(1000000, 950000, 1000, 0);

	assert_int_equal(j.blamed, BLAME_OWN_WRITES);
	assert_int_equal(j.ns, 950000);
}

/* a message every 5 ms, to a peer that withholds its ACKs for 40: seven of eight episodes end with
 * a write, and each message waits */
static void a_slow_writer_waits_for_the_peer(void **state)
{
	assert_int_equal(judged(40000000, 36000000, 7, 38000000).blamed, BLAME_PEER_DELACK);
	assert_int_equal(judged(40000000, 36000000, 7, 0).blamed, BLAME_NOBODY);
}

/* a header, and the payload that waits for its ACK, which now and then a third write follows */
static void what_an_ack_ends_is_not_gathered(void **state)
{
	assert_int_equal(judged(1000000, 400000, 1000, 0).blamed, BLAME_NOBODY);
	assert_int_equal(judged(1000000, 0, 0, 900000).blamed, BLAME_PEER_DELACK);
}

/* BBR paces to what a slow reader takes: a higher rate would not help */
static void an_absent_reader_explains_what_it_outlasts(void **state)
{
	struct blame_facts f = { .cause = TX_PACING, .ns = 1000000, .unread_ns = 900000,
		.both_ends = true };

	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.unread_ns = 100000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.unread_ns = 900000;
	f.cause = TX_CORK; /* what is held is not what lies unread */
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.cause = TX_NAGLE; /* but who does not read does not make his kernel acknowledge */
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.delack_ns = 900000; /* the timer's, where both explain it */
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_DELACK);
	f.delack_ns = 0;
	f.cause = TX_PACING;
	f.both_ends = false;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
}

/* seen from one end: a window that opens within a round trip is the path's measure, one that stays
 * shut is the reader's */
static void a_window_is_the_readers_or_the_paths(void **state)
{
	struct blame_facts f = { .cause = TX_RWND, .ns = 1000000000, .count = 20,
		.rtt_ns = 60000000 };

	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	/* a slow reader makes round trips long: of the smoothed one, which says 60 ms too, nothing
	 * follows */
	assert_int_equal(blame_round_trip(60000, 200), 200000);
	assert_int_equal(blame_round_trip(60000, 0), 60000000);
	f.rtt_ns = 200000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.rtt_ns = 0;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.count = 0; /* by samples */
	f.rtt_ns = 40000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.in_flight = true;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.rtt_ns = 50000; /* of so short a path samples cannot tell */
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
}

/* seen from one end, 50 ms away: an ACK that comes at once takes a round trip, and a withheld one
 * 40 ms more */
static void a_timer_comes_on_top_of_a_round_trip(void **state)
{
	struct blame_facts f = { .cause = TX_NAGLE, .ns = 20 * 51000000ull, .count = 20,
		.rtt_ns = 50000000, .like_delack = true };

	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.like_delack = false;
	f.ns = 20 * 92000000ull;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_DELACK);
	f.cause = TX_SNDBUF;
	f.ns = 20 * 50000000ull;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.rtt_ns = 100000;
	f.like_delack = true;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_DELACK);
}

/* holds of 41 ms among short ones: not how many there are of each, but whose time it was */
static void a_timer_is_told_by_its_time(void **state)
{
	assert_true(blame_like_delack(1, 41000000 + 9 * 1000000));
	assert_true(blame_like_delack(10, 10 * 44000000ull));
	assert_false(blame_like_delack(1, 41000000 + 9 * 10000000));
	assert_false(blame_like_delack(
		5, 5 * 41000000ull + 1000000000)); /* one that is long: no delayed ACK's */
	assert_false(blame_like_delack(0, 0));
}

static void who_had_no_cpu_was_not_elsewhere(void **state)
{
	struct blame_facts f = { .cause = TX_SNDBUF, .ns = 100000000, .count = 20,
		.writer_starved_ns = 60000000, .both_ends = true };

	assert_int_equal(blame_judge(&f).blamed, BLAME_NO_CPU);
	f.writer_starved_ns = 40000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.reader_starved_ns = 40000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.unread_ns = 20000000; /* the two together are why it did not read */
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_NO_CPU);
	assert_int_equal(blame_judge(&f).ns, 40000000);
	f.unread_ns = 60000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.cause = TX_NAGLE;
	f.unread_ns = 20000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
}

/* of a stall's own time: by epoll, or in the middle of its work, with data that lies unread */
static void who_could_not_read_is_not_blamed_for_it(void **state)
{
	struct blame_facts f = { .cause = TX_RWND, .ns = 100000000, .count = 20,
		.unread_ns = 100000000, .starved_ns = 60000000, .both_ends = true };

	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_NO_CPU);
	assert_int_equal(blame_judge(&f).ns, 60000000);
	f.starved_ns = 40000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f.unread_ns = 0;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.starved_ns = 60000000;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_NO_CPU);
	f.cause = TX_RECOVERY;
	assert_int_not_equal(blame_judge(&f).blamed, BLAME_PEER_NO_CPU);
}

/* That a reader had no CPU was counted over its whole life: what the ledgers saw at the time comes
 * first, and pacing is no matter of it. */
static void what_was_seen_comes_before_what_was_counted(void **state)
{
	struct blame_facts f = { .cause = TX_SNDBUF, .ns = 1000000000, .count = 20,
		.delack_ns = 900000000, .reader_starved_ns = 3000000000, .both_ends = true };

	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_DELACK);
	f.delack_ns = 0;
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_NO_CPU);
	assert_int_equal(blame_judge(&f).ns, f.ns);
	f.cause = TX_PACING;
	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f = (struct blame_facts){ .cause = TX_SNDBUF,
				  .ns = 1000000000,
				  .count = 20,
				  .unread_ns = 900000000,
				  .writer_starved_ns = 600000000,
				  .both_ends = true };
	assert_int_equal(blame_judge(&f).blamed, BLAME_PEER_READER);
	f = (struct blame_facts){
		.cause = TX_SNDBUF, .ns = 1000000000, .count = 20, .writer_starved_ns = 600000000
	};
	assert_int_equal(blame_judge(&f).blamed, BLAME_NO_CPU);
	assert_int_equal(blame_judge(&f).surety, INFERRED); /* nothing was seen of the other end */
}

static void short_turns_are_no_starvation(void **state)
{
	struct trace_call_stats b = { .runq_res = TRACE_EXACT, .runq_ns = 500000000,
		.runq_max_ns = 20000000, .wakeups = 100 };

	assert_int_equal(blame_starved(&b), 500000000);
	b.wakeups = 10000;
	assert_int_equal(blame_starved(&b), 0);
	b.wakeups = 100;
	b.runq_max_ns = 3000000;
	assert_int_equal(blame_starved(&b), 0);
}

/* sendfile() in pieces with MSG_MORE: each is followed by the next at once */
static void a_cork_gathers_if_it_is_short(void **state)
{
	struct blame_facts f = { .cause = TX_CORK, .ns = 1000000, .count = 4,
		.gathered_ns = 1000000, .gathered_n = 1000 };

	assert_int_equal(blame_judge(&f).blamed, BLAME_NOBODY);
	f.count = 10;
	assert_int_equal(blame_judge(&f).blamed, BLAME_OWN_WRITES);
	assert_int_equal(blame_judge(&f).ns, 1000000);
	f.cause = TX_NAGLE;
	assert_int_equal(blame_judge(&f).blamed, BLAME_OWN_WRITES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_writes_are_gathered),
		cmocka_unit_test(a_slow_writer_waits_for_the_peer),
		cmocka_unit_test(a_window_is_the_readers_or_the_paths),
		cmocka_unit_test(what_an_ack_ends_is_not_gathered),
		cmocka_unit_test(an_absent_reader_explains_what_it_outlasts),
		cmocka_unit_test(a_cork_gathers_if_it_is_short),
		cmocka_unit_test(a_timer_comes_on_top_of_a_round_trip),
		cmocka_unit_test(a_timer_is_told_by_its_time),
		cmocka_unit_test(who_had_no_cpu_was_not_elsewhere),
		cmocka_unit_test(who_could_not_read_is_not_blamed_for_it),
		cmocka_unit_test(what_was_seen_comes_before_what_was_counted),
		cmocka_unit_test(short_turns_are_no_starvation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
