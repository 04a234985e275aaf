// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the code of a test, and whether Nagle's algorithm is on for it. */
#include "bench/run.h"

const struct test_ops *test_ops_of(const struct bench_plan *plan, enum test t)
{
	if (t == TEST_CONNECT)
		return &test_connect;
	if (plan->w->flags & WL_RELIABLE)
		return &test_reliable;
	if (t == TEST_ONEWAY && plan->o.rate > 0)
		return &test_oneway_rate;
	return t == TEST_THROUGHPUT && plan->o.ack == ACK_FINAL ? &test_bulk : &test_pingpong;
}

/* If question and answer are one write each, Nagle only risks a stall. For bulk it fills segments,
 * and in a pattern of writes it is what the test is about. */
bool bench_nodelay(const struct bench_plan *plan, enum test t)
{
	if (plan->o.nodelay || plan->o.nagle)
		return plan->o.nodelay;
	if (plan->w->flags & WL_RPC) /* as both libraries set it themselves */
		return true;
	return (t == TEST_LATENCY || t == TEST_ONEWAY) && plan->pattern.kind == PATTERN_SINGLE &&
	       !plan->o.cork;
}
