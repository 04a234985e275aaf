// SPDX-License-Identifier: GPL-2.0-only
/* Through which of its connections a broker passed a request on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracer/forwarded_request.h"

#define PORT 5672

enum { CLIENT = 1, WORKER, OTHER, CONNECTIONS = OTHER };

/* As they are while the worker has been at work on the client's request for 300 ms. */
static struct tcp_turn broker[CONNECTIONS];
static struct tcp_turns turns;
static const uint64_t inodes[CONNECTIONS] = { CLIENT, WORKER, OTHER };

/* Its numbers and ages of what came and of what was sent */
static struct tcp_turn talk(uint64_t inode, unsigned int comes, unsigned int sends,
			    unsigned int came_ms, unsigned int sent_ms)
{
	return (struct tcp_turn){
		.inode = inode,
		.port = PORT,
		.is_known = true,
		.comes = comes,
		.sends = sends,
		.came_ms = came_ms,
		.sent_ms = sent_ms,
	};
}

static int begin(void **state)
{
	(void)state;
	broker[0] = talk(CLIENT, 5, 4, 300, 420);
	broker[1] = talk(WORKER, 4, 5, 420, 300);
	broker[2] = talk(OTHER, 7, 7, 5010, 5000);
	turns = (struct tcp_turns){ .v = broker, .n = CONNECTIONS };
	turns.listens[PORT / 64] |= 1ull << PORT % 64;
	return 0;
}

static uint64_t through(void)
{
	const struct tcp_turn *t = passed_request(&turns, inodes, CONNECTIONS);

	return t ? t->inode : 0;
}

static void what_goes_out_with_a_request_passes_it_on(void **state)
{
	(void)state;
	assert_int_equal(through(), WORKER);
	broker[1].sent_ms = 296; /* a tick later in the same dump */
	assert_int_equal(through(), WORKER);
}

static void who_asked_for_what_was_passed_on_is_told(void **state)
{
	(void)state;
	assert_true(is_passed_on(&turns, inodes, CONNECTIONS, &broker[0]));
	assert_false(is_passed_on(&turns, inodes, CONNECTIONS, &broker[1]));
	assert_false(is_passed_on(&turns, inodes, CONNECTIONS, &broker[2]));
}

static void another_message_is_no_request_passed_on(void **state)
{
	(void)state;
	broker[1].sent_ms = 250;
	assert_int_equal(through(), 0);
}

static void of_two_that_may_have_it_none_is_told(void **state)
{
	(void)state;
	broker[2].sent_ms = 330;
	broker[2].came_ms = 400;
	assert_int_equal(through(), 0);
}

static void who_never_answers_is_passed_no_request(void **state)
{
	(void)state;
	broker[1].comes = 3; /* a subscriber */
	assert_int_equal(through(), 0);
}

static void who_gets_no_answers_asks_nothing(void **state)
{
	(void)state;
	broker[0].sends = 3; /* a publisher */
	assert_int_equal(through(), 0);
}

static void what_is_answered_is_passed_on_no_more(void **state)
{
	(void)state;
	broker[0].sent_ms = 290;
	assert_int_equal(through(), 0);
}

static void numbers_tell_the_order_within_a_tick(void **state)
{
	(void)state;
	broker[0].sent_ms = broker[0].came_ms;
	broker[1].came_ms = broker[1].sent_ms;
	assert_int_equal(through(), WORKER);
	broker[0].sends = broker[0].comes;
	assert_int_equal(through(), 0);
}

static void a_request_of_this_moment_may_be_answered_yet(void **state)
{
	(void)state;
	broker[0].came_ms = broker[1].sent_ms = 12;
	assert_int_equal(through(), 0);
}

static void connections_that_it_made_are_not_considered(void **state)
{
	(void)state;
	broker[1].port = 40000;
	assert_int_equal(through(), 0);
}

static void the_oldest_request_counts(void **state)
{
	(void)state;
	struct tcp_turn more[] = {
		broker[0],
		broker[1],
		talk(3, 5, 4, 900, 950),
		talk(4, 4, 5, 950, 900),
	};
	const uint64_t all[] = { 1, 2, 3, 4 };

	turns.v = more;
	turns.n = sizeof(more) / sizeof(more[0]);
	assert_int_equal(passed_request(&turns, all, turns.n)->inode, 4);
	assert_null(passed_request(&turns, all, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_goes_out_with_a_request_passes_it_on, begin),
		cmocka_unit_test_setup(who_asked_for_what_was_passed_on_is_told, begin),
		cmocka_unit_test_setup(another_message_is_no_request_passed_on, begin),
		cmocka_unit_test_setup(of_two_that_may_have_it_none_is_told, begin),
		cmocka_unit_test_setup(who_never_answers_is_passed_no_request, begin),
		cmocka_unit_test_setup(who_gets_no_answers_asks_nothing, begin),
		cmocka_unit_test_setup(what_is_answered_is_passed_on_no_more, begin),
		cmocka_unit_test_setup(numbers_tell_the_order_within_a_tick, begin),
		cmocka_unit_test_setup(a_request_of_this_moment_may_be_answered_yet, begin),
		cmocka_unit_test_setup(connections_that_it_made_are_not_considered, begin),
		cmocka_unit_test_setup(the_oldest_request_counts, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
