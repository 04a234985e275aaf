// SPDX-License-Identifier: GPL-2.0-only
/* What /proc tells of the system call that a thread is in, and what it polls. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/thread_call.h"

static void a_line_is_a_call_or_none(void **state)
{
	struct thread_call c;

	assert_true(thread_call_parse("45 0x7 0xff00 0x10 0x0 0x0 0x0 0x7ffc 0x7f11", &c));
	assert_int_equal(c.nr, 45);
	assert_int_equal(c.args[0], 7);
	assert_int_equal(c.args[1], 0xff00);
	assert_int_equal(c.args[2], 16);
	assert_true(thread_call_parse("-1 0x7ffc 0x7f11", &c));
	assert_int_equal(c.nr, -1);
	assert_false(thread_call_parse("running", &c));
	assert_false(thread_call_parse("", &c));
}

static void a_poll_of_nothing_is_a_timer(void **state)
{
	struct thread_call c = { .nr = SYS_ppoll, .args = { 0x1000, 0 } };

	assert_true(thread_call_is_poll(&c));
	assert_true(thread_call_polls_nothing(&c));
	c.args[1] = 1;
	assert_false(thread_call_polls_nothing(&c));
	c = (struct thread_call){ .nr = SYS_pselect6 };
	assert_true(thread_call_polls_nothing(&c));
	c.args[0] = 4;
	assert_false(thread_call_polls_nothing(&c));
	c = (struct thread_call){ .nr = SYS_read };
	assert_false(thread_call_is_poll(&c));
	assert_false(thread_call_polls_nothing(&c));
}

static void polled_descriptors_stand_in_memory(void **state)
{
	struct pollfd v[] = { { 5, POLLIN, 0 }, { 6, POLLOUT, 0 }, { -1, POLLIN, 0 },
		{ 9, POLLIN | POLLOUT, 0 } };
	struct thread_call c = { .nr = SYS_ppoll, .args = { (uintptr_t)v, 4 } };
	uint64_t fds[2];

	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 2);
	assert_int_equal(fds[0], 5);
	assert_int_equal(fds[1], 9);
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 1), 0);
	c.args[1] = 1000;
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 0);
	c = (struct thread_call){ .nr = SYS_ppoll, .args = { 8, 1 } };
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_call_or_none),
		cmocka_unit_test(a_poll_of_nothing_is_a_timer),
		cmocka_unit_test(polled_descriptors_stand_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
