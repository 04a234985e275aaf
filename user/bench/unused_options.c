// SPDX-License-Identifier: GPL-2.0-only
/* Refuses options that no test of the run uses: a user who gives one expects an effect. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

enum {
	LATENCY = 1 << 0, BULK = 1 << 1, ACKED = 1 << 2, ONEWAY = 1 << 3, CONNECT = 1 << 4,
	CUT = 1 << 5, /* not a test: some message is larger than a chunk of the pattern */
	THROUGHPUT = BULK | ACKED, TIMES = LATENCY | ACKED | ONEWAY | CONNECT, MESSAGES = LATENCY |
		THROUGHPUT | ONEWAY,
};

/* --size has no row: a sweep may give it for all its tests. */
static const struct {
	const char *name;
	unsigned int serves;
	const char *why;
} rows[] = {
	{ "ack", THROUGHPUT, "only throughput uses it" },
	{ "trials", THROUGHPUT, "only throughput is cut into trials" },
	{ "outstanding", LATENCY | ACKED, "only latency, and throughput with --ack message, await "
		"answers" },
	{ "raw", TIMES, "bulk throughput does not time single messages" },
	{ "mean", TIMES, "bulk throughput does not time single messages" },
	{ "pattern", MESSAGES, "a connect carries no message" },
	{ "pattern", CUT, "no --size is above its chunks, so each message would be one write" },
	{ "bytes", MESSAGES, "a connect carries no message" },
	{ "nodelay", MESSAGES, "a connect carries no message" },
	{ "nagle", MESSAGES, "a connect carries no message" },
	{ "cork", MESSAGES, "a connect carries no message" },
	{ "quickack", MESSAGES, "a connect carries no message" },
	{ "delack-max", MESSAGES, "a connect carries no message" },
	{ "pacing", MESSAGES, "a connect carries no message" },
	{ "reader-pause", MESSAGES, "a connect carries no message" },
	{ "backend", MESSAGES, "a connect has no ledger" },
	{ "nist", MESSAGES, "a connect has no ledger" },
	{ "ab", MESSAGES, "a connect has no ledger" },
	{ "timeline", MESSAGES, "a connect has no ledger" },
	{ "perfetto", MESSAGES, "a connect has no ledger" },
};

static bool cuts(const struct bench_plan *plan)
{
	bool any = plan->pattern.kind != PATTERN_CHUNKS;

	for (size_t i = 0; i < plan->o.sizes.n; i++)
		any |= plan->o.sizes.v[i] > plan->pattern.bytes;
	return any;
}

unsigned int bench_uses(const struct bench_plan *plan)
{
	unsigned int of[TESTS] = {
		[TEST_LATENCY] = LATENCY, [TEST_THROUGHPUT] = plan->o.ack == ACK_MESSAGE ? ACKED
			: BULK, [TEST_ONEWAY] = ONEWAY, [TEST_CONNECT] = CONNECT,
	}, uses = cuts(plan) ? CUT : 0;

	for (int t = 0; t < TESTS; t++)
		uses |= plan->tests >> t & 1 ? of[t] : 0;
	return uses;
}

static void names_of(unsigned int uses, char *text, size_t size)
{
	static const unsigned int of[TESTS] = { [TEST_LATENCY] = LATENCY,
		[TEST_THROUGHPUT] = THROUGHPUT, [TEST_ONEWAY] = ONEWAY, [TEST_CONNECT] = CONNECT };
	size_t n = 0;

	for (int t = 0; t < TESTS && n < size; t++)
		if (uses & of[t])
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "," : "",
					      test_name((enum test)t));
}

int unused_options_check(unsigned int uses, const char *name, struct err *e)
{
	char tests[64] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, name) || rows[i].serves & uses)
			continue;
		names_of(uses, tests, sizeof(tests));
		return err_usage(e, "--%s with --test %s: %s; leave it out", name, tests,
				 rows[i].why);
	}
	return 0;
}

int unused_options_check_all(unsigned int uses, const struct opt_operands *given, struct err *e)
{
	for (int i = 0; i < given->n_given; i++)
		if (unused_options_check(uses, given->given[i]->name, e))
			return -1;
	return 0;
}
