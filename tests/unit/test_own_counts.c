// SPDX-License-Identifier: GPL-2.0-only
/* What TCP and UDP count by themselves, as a sampled session books it: from the first sample on,
 * and each datagram once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/own_counts.h"

enum { TICK = 4000000 };

static struct endpoint joined_late(unsigned int proto)
{
	return (struct endpoint){ .id.proto = (unsigned char)proto, .flags = EP_JOINED_LATE };
}

static void book_tcp(struct endpoint *ep, unsigned int ticks, unsigned int retransmits)
{
	struct own_counts now = { .chrono = { ticks, ticks / 2, 0 }, .retransmits = retransmits };

	counts_book(ep, &now, TICK);
}

/* a snapshot before the first sample, and one after it */
static void what_was_before_the_first_sample_does_not_count(void **state)
{
	struct endpoint ep = joined_late(PROTO_TCP);

	book_tcp(&ep, 1000, 70);
	assert_int_equal(ep.retransmits, 0);
	assert_int_equal(ep.tx.samples.chrono[CHRONO_BUSY], 0);
	book_tcp(&ep, 1010, 71); /* the sample */
	ep.tx.samples.n = 1;
	assert_int_equal(ep.retransmits, 0);
	book_tcp(&ep, 1050, 73);
	assert_int_equal(ep.retransmits, 2);
	assert_int_equal(ep.tx.samples.chrono[CHRONO_BUSY], 40 * TICK);
	assert_int_equal(ep.tx.samples.chrono[CHRONO_RWND], 20 * TICK);
}

/* the whole life of one that was seen from its birth, also where no sample found it */
static void what_was_born_in_the_session_counts_whole(void **state)
{
	struct endpoint ep = { .id.proto = PROTO_TCP };

	book_tcp(&ep, 10, 2);
	assert_int_equal(ep.retransmits, 2);
	assert_int_equal(ep.tx.samples.chrono[CHRONO_BUSY], 10 * TICK);
	ep.tx.samples.n = 1;
	book_tcp(&ep, 20, 3);
	assert_int_equal(ep.retransmits, 3);
}

static void book_udp(struct endpoint *ep, unsigned int drops, unsigned int filtered)
{
	struct own_counts now = { .drops = drops, .filtered = filtered };

	counts_book(ep, &now, TICK);
}

static uint64_t all_drops(const struct endpoint *ep)
{
	uint64_t sum = 0;

	for (int i = 0; i < DROP_N; i++)
		sum += ep->drops[i];
	return sum;
}

static void datagrams_before_the_first_sample_do_not_count(void **state)
{
	struct endpoint ep = joined_late(PROTO_UDP);

	book_udp(&ep, 500, 0);
	assert_int_equal(all_drops(&ep), 0);
	book_udp(&ep, 510, 0);
	ep.tx.samples.n = 1;
	assert_int_equal(all_drops(&ep), 0);
	book_udp(&ep, 530, 0);
	book_udp(&ep, 530, 0);
	assert_int_equal(ep.drops[DROP_OTHER], 20); /* the socket does not say why */
	assert_int_equal(all_drops(&ep), 20);
}

/* a filter comes in mid-session, and goes: what it refuses is no loss */
static void what_a_filter_refuses_does_not_count(void **state)
{
	struct endpoint ep = joined_late(PROTO_UDP);

	book_udp(&ep, 100, 0);
	ep.tx.samples.n = 1;
	book_udp(&ep, 107, 0);
	assert_int_equal(ep.tx.samples.filtered, 0);
	book_udp(&ep, 1107, 1);
	book_udp(&ep, 2107, 1);
	assert_int_equal(all_drops(&ep), 7);
	assert_int_equal(ep.tx.samples.filtered, 1);
	book_udp(&ep, 3107, 0); /* since the sample before it was still there for a while */
	book_udp(&ep, 3110, 0);
	assert_int_equal(all_drops(&ep), 10);
}

/* the socket counts in 32 bits */
static void a_count_that_wraps_goes_on(void **state)
{
	struct endpoint ep = joined_late(PROTO_UDP);

	book_udp(&ep, UINT32_MAX - 1, 0);
	ep.tx.samples.n = 1;
	book_udp(&ep, 3, 0);
	assert_int_equal(all_drops(&ep), 5);
}

enum { ROUNDS = 200000 };

static struct endpoint shared;
static unsigned int counted;

static void *drops_and_samples(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		book_udp(&shared, __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED), 0);
	return arg;
}

/* a sample and a snapshot at once */
static void each_datagram_counts_once(void **state)
{
	pthread_t other;

	shared = joined_late(PROTO_UDP);
	shared.tx.samples.n = 1;
	assert_int_equal(pthread_create(&other, NULL, drops_and_samples, NULL), 0);
	drops_and_samples(NULL);
	pthread_join(other, NULL);
	book_udp(&shared, counted, 0);
	assert_int_equal(all_drops(&shared), 2 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_before_the_first_sample_does_not_count),
		cmocka_unit_test(what_was_born_in_the_session_counts_whole),
		cmocka_unit_test(datagrams_before_the_first_sample_do_not_count),
		cmocka_unit_test(what_a_filter_refuses_does_not_count),
		cmocka_unit_test(a_count_that_wraps_goes_on),
		cmocka_unit_test(each_datagram_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
