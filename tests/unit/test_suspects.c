// SPDX-License-Identifier: GPL-2.0-only
/* What samples found of a few among many endpoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/suspects.h"

#define SECOND 1000000000ull

static void most_samples_decide(void **state)
{
	struct trace_stalled v[] = { { 8, TX_NAGLE, 1 }, { 16, TX_RWND, 2 }, { 8, TX_CORK, 3 },
				     { 16, TX_RWND, 4 }, { 8, TX_CORK, 5 },  { 4, TX_PACING, 6 } };
	struct suspect_samples out[6];

	assert_int_equal(suspects_group(v, 6, out), 3);
	assert_int_equal(out[0].key, 4);
	assert_int_equal(out[0].samples, 1);
	assert_int_equal(out[1].key, 8);
	assert_int_equal(out[1].state, TX_CORK);
	assert_int_equal(out[1].samples, 2);
	assert_int_equal(out[2].key, 16);
	assert_int_equal(out[2].samples, 2);
	assert_int_equal(suspects_group(v, 0, out), 0);
}

/* The kernel gives the address of a socket to another one soon after. */
static void samples_of_one_that_is_gone_do_not_count(void **state)
{
	struct trace_stalled v[] = { { 8, TX_CWND, 10 }, { 8, TX_CWND, 20 }, { 8, TX_RWND, 25 },
				     { 8, TX_CWND, 30 }, { 9, TX_CWND, 40 } };
	struct suspect_samples of = { 8, TX_CWND, 3 };

	assert_int_equal(suspects_samples_since(v, 5, &of, 0), 3);
	assert_int_equal(suspects_samples_since(v, 5, &of, 20), 2);
	assert_int_equal(suspects_samples_since(v, 5, &of, 31), 0);
}

static struct trace_endpoint aged(void)
{
	struct trace_endpoint ep = { .born_ns = SECOND, .at_ns = 101 * SECOND };

	ep.tx.ns[TX_NAGLE] = 10 * SECOND;
	ep.tx.ns[TX_IDLE] = 90 * SECOND;
	ep.tx.lifetime_ns = ep.rx.lifetime_ns = 100 * SECOND;
	ep.tx.now = TX_NAGLE;
	ep.rx.now = RX_WAIT;
	ep.blame.delack_ns[TX_NAGLE] = 8 * SECOND;
	ep.tx.resolution[TX_NAGLE] = TRACE_BY_SAMPLES;
	return ep;
}

/* So many of its samples, in that time, found `nagle`. */
static void look_at(struct trace_endpoint *ep, struct trace_samples *l, unsigned int found,
		    uint64_t ns, uint64_t n)
{
	struct suspect_samples f = { 8, TX_NAGLE, found };
	struct looked looked = { ns, n };

	suspects_set_window(ep, l, found ? &f : NULL, &looked);
}

static uint64_t sum(const uint64_t *ns, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += ns[i];
	return all;
}

static void its_share_is_that_of_its_samples(void **state)
{
	struct trace_endpoint ep = aged();
	struct trace_samples l = { .key = 8, .n = 77 };

	look_at(&ep, &l, 3, 2 * SECOND, 4);
	assert_int_equal(ep.tx.lifetime_ns, 2 * SECOND);
	assert_int_equal(ep.tx.ns[TX_NAGLE], 3 * SECOND / 2);
	assert_int_equal(sum(ep.tx.ns, TX_N), ep.tx.lifetime_ns);
	assert_int_equal(sum(ep.rx.ns, RX_N), ep.rx.lifetime_ns);
	assert_int_equal(ep.tx.resolution[TX_NAGLE], TRACE_BY_SAMPLES);
	assert_int_equal(ep.blame.delack_ns[TX_NAGLE], 12 * SECOND / 10);
	assert_int_equal(l.key, 8);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.tx_seen[TX_NAGLE], 3);
	assert_int_equal(l.tx_seen[TX_IDLE], 1);
}

/* Of ten thousands the average one is looked at less than once. */
static void one_sample_is_all_there_is(void **state)
{
	struct trace_endpoint ep = aged();
	struct trace_samples l = { .key = 8 };

	look_at(&ep, &l, 1, 2 * SECOND, 0);
	assert_int_equal(ep.tx.ns[TX_NAGLE], 2 * SECOND);
	assert_int_equal(l.n, 1);
}

static void the_other_end_did_not_stall(void **state)
{
	struct trace_endpoint ep = aged();
	struct trace_samples l = { .key = 8 };

	look_at(&ep, &l, 0, 2 * SECOND, 4);
	assert_int_equal(ep.tx.ns[TX_NAGLE], 0);
	assert_int_equal(ep.blame.delack_ns[TX_NAGLE], 0);
	assert_int_equal(ep.rx.ns[RX_WAIT], 2 * SECOND);
	assert_int_equal(l.tx_seen[TX_NAGLE], 0);
}

static void the_young_did_not_live_so_long(void **state)
{
	struct trace_endpoint ep = aged();
	struct trace_samples l = { .key = 8 };

	look_at(&ep, &l, 2, 200 * SECOND, 2);
	assert_int_equal(ep.tx.lifetime_ns, 100 * SECOND);
	assert_int_equal(sum(ep.tx.ns, TX_N), ep.tx.lifetime_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_samples_decide),
		cmocka_unit_test(samples_of_one_that_is_gone_do_not_count),
		cmocka_unit_test(its_share_is_that_of_its_samples),
		cmocka_unit_test(one_sample_is_all_there_is),
		cmocka_unit_test(the_other_end_did_not_stall),
		cmocka_unit_test(the_young_did_not_live_so_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
