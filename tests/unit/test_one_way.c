// SPDX-License-Identifier: GPL-2.0-only
/* Two processes with a socket pair for each direction: what is sent there goes one way, as through
 * a pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "verdict/verdict.h"

enum { SECOND = 1000000000 };
enum { ASKS, IS_ASKED, ANSWERS, HEARS, ENDS };

/* one thread each; both sleep for most of a second, until the other sends */
static void two_pairs(struct trace_endpoint ep[ENDS])
{
	for (int i = 0; i < ENDS; i++) {
		bool sends = i == ASKS || i == ANSWERS;
		struct trace_call_stats calls = { .tgid = i == ASKS || i == HEARS ? 12 : 7,
						  .bytes_res = TRACE_EXACT,
						  .quiet_ns = SECOND };

		calls.tid = calls.tgid;
		ep[i] = (struct trace_endpoint){ .proto = TRACE_UNIX_STREAM,
						 .family = 1,
						 .paired = true,
						 .peer = i ^ 1,
						 .at_ns = SECOND,
						 .tx_calls = calls,
						 .rx_calls = calls };
		memset(ep[i].tx.resolution, TRACE_EXACT, sizeof(ep[i].tx.resolution));
		memset(ep[i].rx.resolution, TRACE_EXACT, sizeof(ep[i].rx.resolution));
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = SECOND;
		ep[i].rx.now = RX_WAIT;
		(sends ? &ep[i].tx_calls : &ep[i].rx_calls)->bytes = 10;
		(sends ? &ep[i].tx_calls : &ep[i].rx_calls)->messages = 1;
		if (sends)
			ep[i].rx_calls = (struct trace_call_stats){ .bytes_res = TRACE_EXACT };
		else
			ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 95 * (SECOND / 100);
	}
}

static struct verdict judged(struct trace_endpoint ep[ENDS])
{
	struct trace_snapshot s = { .ep = ep, .n = ENDS };
	struct verdict v;

	verdict_make(&s, &v);
	return v;
}

static void the_thread_that_would_send_must_sleep_there(void **state)
{
	struct trace_endpoint ep[ENDS];
	struct verdict v;

	(void)state;
	two_pairs(ep);
	v = judged(ep);
	assert_int_equal(v.kind, KIND_MUTUAL);
	assert_true(v.mutual.nobody_else);
	ep[ASKS].tx_calls.tid = 13; /* its reader waits, and a thread of its own writes */
	v = judged(ep);
	assert_int_equal(v.mutual.endpoint, -1);
}

/* half a question; the rest of it ends both waits */
static void half_a_question_makes_both_wait(void **state)
{
	struct trace_endpoint ep[ENDS];

	(void)state;
	two_pairs(ep);
	ep[ASKS].tx_calls.messages = ep[IS_ASKED].rx_calls.messages = 2;
	ep[HEARS].tx_calls.quiet_ns = ep[IS_ASKED].tx_calls.quiet_ns = 1000000;
	ep[HEARS].rx_calls.reply_n = 1;
	ep[HEARS].rx_calls.reply_ns = ep[HEARS].rx_calls.reply_max_ns = 1000000;
	ep[HEARS].rx_calls.first_reply_ns = 98 * (SECOND / 100);
	assert_int_equal(judged(ep).kind, KIND_MUTUAL);
	ep[HEARS].rx_calls.reply_max_ns = 9 * (SECOND / 10); /* both halves were sent before */
	assert_int_equal(judged(ep).mutual.endpoint, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_thread_that_would_send_must_sleep_there),
		cmocka_unit_test(half_a_question_makes_both_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
