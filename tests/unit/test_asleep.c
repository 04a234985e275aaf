// SPDX-License-Identifier: GPL-2.0-only
/* In which system calls a thread is found. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/asleep.h"

/* A process that does nothing but read from descriptor *in; *out is its other end. */
static pid_t reader(int *in, int *out)
{
	int fds[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) != 0);
	}
	close(fds[0]);
	*in = fds[0];
	*out = fds[1];
	return pid;
}

static void a_reader_is_found_in_read(void **state)
{
	struct asleep a = {};
	unsigned int in_read = 0;
	int in, out;

	a.pid = reader(&in, &out);
	a.tid = asleep_only_thread(a.pid);
	assert_int_equal(a.tid, a.pid);
	do /* it has not called read() yet */
		assert_true(asleep_sample(&a));
	while (a.samples < 10000 && (!a.n || a.v[a.n - 1].nr != SYS_read));
	asleep_sample(&a);
	asleep_sort(&a);
	for (size_t i = 0; i < a.n; i++)
		in_read += a.v[i].nr == SYS_read ? a.v[i].found : 0;
	assert_true(in_read > 0);
	for (size_t i = 0; i < a.n; i++) {
		if (a.v[i].nr != SYS_read)
			continue;
		assert_true(a.v[i].at_fd);
		assert_int_equal(a.v[i].fd, in);
		assert_false(a.v[i].writes);
		assert_string_equal(a.v[i].path, "");
	}
	assert_true(a.running + a.v[0].found <= a.samples);
	for (size_t i = 1; i < a.n; i++)
		assert_true(a.v[i].found <= a.v[i - 1].found);
	close(out);
	assert_int_equal(waitpid(a.pid, NULL, 0), a.pid);
	assert_int_equal(asleep_only_thread(a.pid), 0);
	assert_false(asleep_sample(&a));
}

/* Others wait for it a quarter of the time. Else it sleeps in recvfrom(), for a request. */
static void the_call_between_requests_is_left_out(void **state)
{
	const struct asleep at_first = {
		.samples = 100, .running = 2, .n = 2, .awaited = 0.25,
		.v = { { .nr = SYS_recvfrom, .at_fd = true, .fd = 5, .found = 75 },
		       { .nr = SYS_fdatasync, .at_fd = true, .fd = 3, .found = 23 } },
	};
	struct asleep a = at_first;

	(void)state;
	assert_true(asleep_may_rest(&a));
	asleep_leave_out_rests(&a);
	assert_int_equal(a.samples, 25);
	assert_int_equal(a.rests, 75);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.v[0].nr, SYS_fdatasync);
	assert_false(asleep_may_rest(&a));
	a = at_first;
	a.awaited = 0.75; /* it is there while others wait */
	asleep_leave_out_rests(&a);
	assert_int_equal(a.samples, 100);
	a.awaited = 0; /* nobody knows */
	asleep_leave_out_rests(&a);
	assert_int_equal(a.samples, 100);
	a = at_first;
	a.running = 15; /* the other call does not tell what it does */
	a.v[1].found = 10;
	asleep_leave_out_rests(&a);
	assert_int_equal(a.samples, 100);
	a = at_first;
	a.v[0].nr = SYS_flock; /* no place to wait for requests */
	asleep_leave_out_rests(&a);
	assert_int_equal(a.samples, 100);
}

/* what most samples found at any descriptor is one call; only one descriptor leads on */
static void a_call_at_many_descriptors_leads_nowhere(void **state)
{
	struct asleep a = { .samples = 10, .n = 3 };

	a.v[0] = (struct asleep_call){ .nr = SYS_read, .at_fd = true, .fd = 5, .found = 4 };
	a.v[1] = (struct asleep_call){ .nr = SYS_read, .at_fd = true, .fd = 6, .found = 3 };
	a.v[2] = (struct asleep_call){ .nr = SYS_write, .at_fd = true, .fd = 5, .found = 1 };
	assert_int_equal(asleep_in_call(&a, 0), 7);
	assert_int_equal(asleep_in_call(&a, 1), 0);
	assert_int_equal(asleep_in_call(&a, 2), 1);
	assert_false(asleep_at_fd(&a));
	a.v[0].found = 5;
	assert_true(asleep_at_fd(&a));
	strcpy(a.v[0].path, "/var/lib/x"); /* a file: nobody has its other end */
	assert_false(asleep_at_fd(&a));
}

static void calls_have_names_and_reasons(void **state)
{
	char name[40];

	asleep_name(SYS_clock_nanosleep, name, sizeof(name));
	assert_string_equal(name, "clock_nanosleep");
	assert_string_equal(asleep_for(&(struct asleep_call){ .nr = SYS_clock_nanosleep }),
			    "a timer");
	assert_string_equal(asleep_for(&(struct asleep_call){ .nr = SYS_ppoll }), "events");
	assert_string_equal(asleep_for(&(struct asleep_call){ .nr = SYS_ppoll, .no_files = true }),
			    "a timer");
	assert_string_equal(asleep_for(&(struct asleep_call){ .nr = SYS_futex }),
			    "a lock, or another thread");
	assert_string_equal(
		asleep_for(&(struct asleep_call){ .nr = SYS_futex, .timed_futex = true }),
		"a lock, another thread or a timer");
	asleep_name(9999, name, sizeof(name));
	assert_string_equal(name, "system call 9999");
	assert_null(asleep_for(&(struct asleep_call){ .nr = 9999 }));
	asleep_name(-1, name, sizeof(name));
	assert_string_equal(name, "no system call");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_is_found_in_read),
		cmocka_unit_test(the_call_between_requests_is_left_out),
		cmocka_unit_test(a_call_at_many_descriptors_leads_nowhere),
		cmocka_unit_test(calls_have_names_and_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
