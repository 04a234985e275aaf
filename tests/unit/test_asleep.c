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

/* A process that does nothing but read; *out is its other end. */
static pid_t reader(int *out)
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
	*out = fds[1];
	return pid;
}

static void a_reader_is_found_in_read(void **state)
{
	struct asleep a = {};
	unsigned int in_read = 0;
	int out;

	a.pid = reader(&out);
	a.tid = asleep_only_thread(a.pid);
	assert_int_equal(a.tid, a.pid);
	do /* it has not called read() yet */
		assert_true(asleep_look(&a));
	while (a.looks < 10000 && (!a.n || a.v[a.n - 1].nr != SYS_read));
	asleep_look(&a);
	asleep_sort(&a);
	for (size_t i = 0; i < a.n; i++)
		in_read += a.v[i].nr == SYS_read ? a.v[i].found : 0;
	assert_true(in_read > 0);
	assert_int_equal(a.fd_nr, SYS_read);
	assert_false(a.writes);
	assert_true(a.running + a.v[0].found <= a.looks);
	for (size_t i = 1; i < a.n; i++)
		assert_true(a.v[i].found <= a.v[i - 1].found);
	close(out);
	assert_int_equal(waitpid(a.pid, NULL, 0), a.pid);
	assert_int_equal(asleep_only_thread(a.pid), 0);
	assert_false(asleep_look(&a));
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
		cmocka_unit_test(calls_have_names_and_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
