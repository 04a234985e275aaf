// SPDX-License-Identifier: GPL-2.0-only
/* Which end of a TCP connection awaits an answer, by dates and numbers of its segments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracer/tcp_turns.h"

/* of a conversation with an answer to each request */
static struct tcp_turn turn(unsigned int sent_ms, unsigned int came_ms)
{
	return (struct tcp_turn){
		.is_known = true, .sends = 20, .comes = 20, .sent_ms = sent_ms, .came_ms = came_ms
	};
}

static void who_sent_last_awaits_an_answer(void **state)
{
	struct tcp_turn t = turn(100, 300);

	(void)state;
	assert_true(tcp_turn_awaits_answer(&t));
	assert_false(tcp_turn_owes_answer(&t));
	t = turn(300, 100);
	assert_false(tcp_turn_awaits_answer(&t));
	assert_true(tcp_turn_owes_answer(&t));
	t.is_known = false;
	assert_false(tcp_turn_owes_answer(&t));
}

static void numbers_tell_the_order_within_a_tick(void **state)
{
	struct tcp_turn t = turn(100, 100);

	(void)state;
	assert_false(tcp_turn_awaits_answer(&t));
	assert_false(tcp_turn_owes_answer(&t));
	t.sends++;
	assert_true(tcp_turn_awaits_answer(&t));
	assert_false(tcp_turn_owes_answer(&t));
	t.comes += 2;
	assert_false(tcp_turn_awaits_answer(&t));
	assert_true(tcp_turn_owes_answer(&t));
	t.comes += 5; /* a long answer has several */
	assert_false(tcp_turn_owes_answer(&t));
}

static void what_is_never_answered_is_no_request(void **state)
{
	struct tcp_turn t = turn(100, 300);

	(void)state;
	t.comes = 4;
	assert_false(tcp_turn_awaits_answer(&t));
	t.comes = 0;
	assert_false(tcp_turn_awaits_answer(&t));
	t.sends = 2; /* but the first may be */
	assert_true(tcp_turn_awaits_answer(&t));
	t.sends = 20;
	t.puts = 1400; /* with a body */
	assert_true(tcp_turn_awaits_answer(&t));
	t.ends = true;
	assert_false(tcp_turn_awaits_answer(&t));
	t = turn(300, 100);
	t.sends = 0;
	assert_false(tcp_turn_owes_answer(&t));
}

static void a_greeting_is_no_answer(void **state)
{
	struct tcp_turn t = { .is_known = true, .comes = 1, .sent_ms = 100, .came_ms = 300 };

	(void)state;
	assert_false(tcp_turn_awaits_answer(&t));
}

static void numbers_of_billions_do_not_wrap(void **state)
{
	struct tcp_turn t = turn(100, 300);

	(void)state;
	t.sends = (1u << 30) + 1;
	t.comes = 1u << 30;
	assert_true(tcp_turn_awaits_answer(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_sent_last_awaits_an_answer),
		cmocka_unit_test(numbers_tell_the_order_within_a_tick),
		cmocka_unit_test(what_is_never_answered_is_no_request),
		cmocka_unit_test(a_greeting_is_no_answer),
		cmocka_unit_test(numbers_of_billions_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
