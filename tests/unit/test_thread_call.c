// SPDX-License-Identifier: GPL-2.0-only
/* What /proc tells of the system call that a thread is in, and what it polls. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/futex.h>
#include <poll.h>
#include <netinet/in.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
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

static void a_futex_may_have_a_timeout(void **state)
{
	struct thread_call c = { .nr = SYS_futex,
				 .args = { 0x1000, FUTEX_WAIT_BITSET_PRIVATE, 2, 0x7ffc } };

	assert_true(thread_call_is_timed_futex(&c));
	c.args[1] = FUTEX_WAIT;
	assert_true(thread_call_is_timed_futex(&c));
	c.args[1] = FUTEX_CMP_REQUEUE; /* a number there, and no timeout */
	assert_false(thread_call_is_timed_futex(&c));
	c.args[1] = FUTEX_WAIT_PRIVATE;
	c.args[3] = 0;
	assert_false(thread_call_is_timed_futex(&c));
	c = (struct thread_call){ .nr = SYS_read, .args = { 3, FUTEX_WAIT, 2, 1 } };
	assert_false(thread_call_is_timed_futex(&c));
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
	assert_true(thread_call_polled(getpid(), &c, fds, 1) == THREAD_POLLS_UNKNOWN);
	c.args[1] = 10000;
	assert_true(thread_call_polled(getpid(), &c, fds, 2) == THREAD_POLLS_UNKNOWN);
	c = (struct thread_call){ .nr = SYS_ppoll, .args = { 8, 1 } };
	assert_true(thread_call_polled(getpid(), &c, fds, 2) == THREAD_POLLS_UNKNOWN);
	c = (struct thread_call){ .nr = SYS_ppoll, .args = { (uintptr_t)&v[1], 1 } };
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 0); /* to write alone */
}

static void selected_descriptors_stand_in_memory(void **state)
{
	struct thread_call c;
	uint64_t fds[2];
	fd_set set;

	FD_ZERO(&set);
	FD_SET(3, &set);
	FD_SET(70, &set);
	c = (struct thread_call){ .nr = SYS_pselect6, .args = { 71, (uintptr_t)&set } };
	assert_true(thread_call_is_select(&c));
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 2);
	assert_int_equal(fds[0], 3);
	assert_int_equal(fds[1], 70);
	assert_true(thread_call_polled(getpid(), &c, fds, 1) == THREAD_POLLS_UNKNOWN);
	c.args[0] = 70; /* the last of them is beyond what it asks for */
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 1);
	c.args[1] = 0; /* to write alone */
	assert_int_equal(thread_call_polled(getpid(), &c, fds, 2), 0);
}

static void epoll_is_told_from_poll(void **state)
{
	struct thread_call c = { .nr = SYS_epoll_pwait, .args = { 4 } };

	assert_true(thread_call_is_epoll(&c));
	assert_false(thread_call_is_poll(&c));
	assert_false(thread_call_is_select(&c));
	assert_false(thread_call_polls_nothing(&c));
}

static void what_is_opened_or_connected_to_has_a_path(void **state)
{
	struct sockaddr_un unix_end = { .sun_family = AF_UNIX, .sun_path = "/run/x.sock" };
	struct sockaddr_un abstract = { .sun_family = AF_UNIX, .sun_path = "\0x" };
	struct sockaddr_in inet = { .sin_family = AF_INET };
	struct thread_call c = { .nr = SYS_openat, .args = { 0, (uintptr_t)"/tmp/fifo" } };
	char path[108];

	assert_true(thread_call_path(getpid(), &c, path, sizeof(path)));
	assert_string_equal(path, "/tmp/fifo");
	assert_true(thread_call_path(getpid(), &c, path, 6));
	assert_string_equal(path, "/tmp/");
	c = (struct thread_call){ .nr = SYS_connect,
				  .args = { 3, (uintptr_t)&unix_end, sizeof(unix_end) } };
	assert_true(thread_call_path(getpid(), &c, path, sizeof(path)));
	assert_string_equal(path, "/run/x.sock");
	c.args[1] = (uintptr_t)&abstract;
	assert_true(thread_call_path(getpid(), &c, path, sizeof(path)));
	assert_string_equal(path, "@x");
	c.args[1] = (uintptr_t)&inet;
	c.args[2] = sizeof(inet);
	assert_false(thread_call_path(getpid(), &c, path, sizeof(path)));
	c = (struct thread_call){ .nr = SYS_openat, .args = { 0, 8 } };
	assert_false(thread_call_path(getpid(), &c, path, sizeof(path)));
	c = (struct thread_call){ .nr = SYS_read };
	assert_false(thread_call_path(getpid(), &c, path, sizeof(path)));
}

/* poll() or select() of nothing: a timer, or for ever, as Erlang's first thread does */
static void a_sleep_may_have_no_end(void **state)
{
	struct thread_call c = { .nr = SYS_pselect6 };

	assert_true(thread_call_sleeps_for_ever(&c));
	c.args[4] = 0x7ffd0000; /* its timeout */
	assert_false(thread_call_sleeps_for_ever(&c));
	c = (struct thread_call){ .nr = SYS_ppoll };
	assert_true(thread_call_sleeps_for_ever(&c));
	c.args[2] = 0x7ffd0000;
	assert_false(thread_call_sleeps_for_ever(&c));
#ifdef SYS_poll
	c = (struct thread_call){ .nr = SYS_poll, .args = { 0, 0, (uint64_t)-1 } };
	assert_true(thread_call_sleeps_for_ever(&c));
	c.args[2] = 100;
	assert_false(thread_call_sleeps_for_ever(&c));
	c = (struct thread_call){ .nr = SYS_poll, .args = { 0x7ffd0000, 1, (uint64_t)-1 } };
	assert_false(thread_call_sleeps_for_ever(&c));
#endif
	c = (struct thread_call){ .nr = SYS_read };
	assert_false(thread_call_sleeps_for_ever(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleep_may_have_no_end),
		cmocka_unit_test(a_line_is_a_call_or_none),
		cmocka_unit_test(a_poll_of_nothing_is_a_timer),
		cmocka_unit_test(a_futex_may_have_a_timeout),
		cmocka_unit_test(polled_descriptors_stand_in_memory),
		cmocka_unit_test(selected_descriptors_stand_in_memory),
		cmocka_unit_test(epoll_is_told_from_poll),
		cmocka_unit_test(what_is_opened_or_connected_to_has_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
