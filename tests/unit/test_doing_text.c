// SPDX-License-Identifier: GPL-2.0-only
/* What is said of a process that others wait for, from the samples of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "render/doing_text.h"

static struct asleep looked(int nr, unsigned int found)
{
	return (struct asleep){ .pid = 7,
				.tid = 7,
				.samples = 20,
				.n = 1,
				.v = { { .nr = nr, .found = found } },
				.over_ns = 1000,
				.busiest = 9 };
}

static void says(const struct asleep *a, const char *phrase)
{
	char text[DOING_TEXT];

	assert_int_equal(doing_phrase(a, text, sizeof(text)), *phrase != '\0');
	assert_string_equal(text, phrase);
}

static bool has_fix(const struct asleep *a, bool reads)
{
	char text[DOING_TEXT];

	doing_fix(a, reads, text, sizeof(text));
	return *text;
}

static void a_sleep_is_told_where_most_samples_found_it(void **state)
{
	struct asleep a = looked(SYS_flock, 10);

	says(&a, "sleeps in flock(), for a lock on a file");
	assert_true(has_fix(&a, true));
	assert_false(has_fix(&a, false));
	a.v[0].found = 9;
	says(&a, "");
	says(NULL, "");
	assert_false(has_fix(NULL, true));
}

/* Nobody takes a terminal's output: Ctrl-S stopped it. */
static void a_terminal_that_takes_no_output_is_no_disk(void **state)
{
	struct asleep a = looked(SYS_write, 20);
	char text[DOING_TEXT];

	(void)state;
	a.v[0].at_fd = a.v[0].writes = a.v[0].is_terminal = true;
	strcpy(a.v[0].path, "/dev/pts/0");
	says(&a, "sleeps in write() of /dev/pts/0");
	doing_fix(&a, true, text, sizeof(text));
	assert_non_null(strstr(text, "/dev/pts/0 takes no more output: press Ctrl-Q"));
}

/* Between requests it rests: that explains nothing, unless it sleeps for another process. */
static void a_server_is_judged_by_the_time_it_is_awaited(void **state)
{
	struct asleep a = looked(SYS_epoll_wait, 15);

	(void)state;
	a.awaited = 0.25;
	says(&a, "");
	a.busiest_ns = 130;
	says(&a, "computes: its thread 9 has a CPU for 13 % of the time");
	a.busiest_ns = 0;
	a.n_chain = 1;
	a.chain[0] = (struct asleep_process){ 12, "cat" };
	says(&a, "sleeps in epoll_wait() for cat[12]");
	a.n_chain = 0;
	a.awaited = 0;
	says(&a, "sleeps in epoll_wait(), for events");
	a.awaits_waiter = true;
	says(&a, "");
	a = looked(SYS_fdatasync, 5);
	a.awaited = 0.25;
	a.samples = 5;
	a.rests = 15;
	a.busiest_ns = 130;
	says(&a, "sleeps in fdatasync(), for a disk");
	a.no_cpu_ns = 130;
	says(&a, "was waiting for a CPU for 130 ns of 1.00 us");
}

static void for_whom_it_sleeps_is_told(void **state)
{
	struct asleep a = looked(SYS_write, 20);
	char text[DOING_TEXT];

	a.v[0].writes = true;
	a.n_chain = 2;
	a.chain[0] = (struct asleep_process){ 12, "cat" };
	a.chain[1] = (struct asleep_process){ 13, "gzip" };
	says(&a, "sleeps in write() to cat[12] > gzip[13]");
	a.end = ASLEEP_END_SLEEPS;
	a.end_nr = SYS_fsync;
	says(&a, "sleeps in write() to cat[12] > gzip[13], which sleeps in fsync(), for a disk");
	strcpy(a.end_path, "/var/log/x");
	says(&a, "sleeps in write() to cat[12] > gzip[13], which sleeps in fsync() of /var/log/x");
	*a.end_path = '\0';
	a.end_is_one_of_many = true;
	says(&a, "sleeps in write() to cat[12] > gzip[13], of which a thread sleeps in fsync(), "
		 "for a disk");
	doing_fix(&a, true, text, sizeof(text));
	assert_string_equal(text, "let gzip[13] go on sooner: it keeps the others waiting");
	assert_false(has_fix(&a, false));
	doing_next(&a, text, sizeof(text));
	assert_string_equal(text, "see what gzip[13] does: sudo ipcstall attach -p 13 -d 10s");
	a.end = ASLEEP_END_STOPPED;
	assert_true(has_fix(&a, false));
	a.n_chain = ASLEEP_CHAIN;
	a.chain[ASLEEP_CHAIN - 1] = (struct asleep_process){ 17, "last" };
	a.v[0].writes = false;
	says(&a, "sleeps in write() for cat[12] > 4 more > last[17], which was stopped (signal, "
		 "debugger or freezer)");
	a.end = ASLEEP_END_RUNS;
	a.n_chain = 1;
	a.is_one_of_many = true;
	says(&a, "has a thread that sleeps in write() for cat[12], which is busy on its CPU");
}

static void an_answer_from_another_host_is_told(void **state)
{
	struct asleep a = looked(SYS_epoll_wait, 20);

	a.end = ASLEEP_END_ASKED;
	snprintf(a.end_at, sizeof(a.end_at), "192.0.2.1:5432");
	says(&a, "sleeps in epoll_wait() for an answer from 192.0.2.1:5432");
	a.n_chain = 1;
	a.chain[0] = (struct asleep_process){ 12, "nginx" };
	says(&a, "sleeps in epoll_wait() for nginx[12], which waits for an answer from "
		 "192.0.2.1:5432");
}

static void whose_connection_is_full_is_told(void **state)
{
	struct asleep a = looked(SYS_ppoll, 20);
	char text[DOING_TEXT];

	a.end = ASLEEP_END_FULL;
	snprintf(a.end_at, sizeof(a.end_at), "192.0.2.1:22");
	says(&a, "sleeps in ppoll(), as its connection to 192.0.2.1:22 is full");
	doing_fix(&a, true, text, sizeof(text));
	assert_non_null(strstr(text, "sudo ipcstall attach -p 7 "));
	a.n_chain = 1;
	a.chain[0] = (struct asleep_process){ 12, "ssh" };
	says(&a, "sleeps in ppoll() for ssh[12], whose connection to 192.0.2.1:22 is full");
	doing_fix(&a, true, text, sizeof(text));
	assert_non_null(strstr(text, "sudo ipcstall attach -p 12 "));
}

static void whose_backlog_is_full_is_told(void **state)
{
	struct asleep a = looked(SYS_connect, 20);

	snprintf(a.v[0].path, sizeof(a.v[0].path), "app.sock");
	assert_true(asleep_opens(&a));
	says(&a, "sleeps in connect() to app.sock, whose backlog is full");
	a.n_chain = 1;
	a.chain[0] = (struct asleep_process){ 12, "app" };
	a.end = ASLEEP_END_RUNS;
	says(&a, "sleeps in connect() to app.sock for app[12], which is busy on its CPU; the "
		 "backlog is full");
}

static void who_waits_for_the_writers_end_should_read_first(void **state)
{
	struct asleep a = looked(SYS_wait4, 20);
	char text[DOING_TEXT];

	doing_fix(&a, true, text, sizeof(text)); /* another may be the writer */
	assert_null(strstr(text, "read what the child writes"));
	assert_false(has_fix(&a, false));
	a.n_chain = 1;
	a.chain[0] = (struct asleep_process){ 12, "worker" };
	a.end = ASLEEP_END_CIRCLE;
	says(&a, "sleeps in wait4() for worker[12], which sleeps for it in turn: a deadlock");
	doing_fix(&a, true, text, sizeof(text));
	assert_non_null(strstr(text, "read what the child writes before waiting"));
	a.end = ASLEEP_END_RUNS; /* it would be read, if that one ended */
	doing_fix(&a, true, text, sizeof(text));
	assert_string_equal(text, "let worker[12] go on sooner: it keeps the others waiting");
}

static void which_code_waits_is_seen_in_its_stacks(void **state)
{
	struct asleep a = looked(SYS_futex, 20);
	char text[DOING_TEXT];

	doing_next(&a, text, sizeof(text));
	assert_non_null(strstr(text, "see which code waits: sudo gdb -p 7 "));
	strcpy(a.comm, "java");
	doing_next(&a, text, sizeof(text));
	assert_string_equal(text, "see which code waits: sudo jstack 7");
	a.v[0].nr = SYS_clock_nanosleep;
	strcpy(a.comm, "python3");
	doing_next(&a, text, sizeof(text));
	assert_string_equal(text, "see which code waits: sudo py-spy dump -p 7");
	a.v[0].nr = SYS_fsync;
	doing_next(&a, text, sizeof(text));
	assert_string_equal(text, "see what it calls: sudo strace -f -p 7");
}

/* who traces a process that sleeps elsewhere has no part in that */
static void who_traces_it_is_told(void **state)
{
	struct asleep a = looked(SYS_write, 9);
	char text[DOING_TEXT];

	a.tracer = (struct asleep_process){ 12, "strace" };
	says(&a, "is traced by strace[12]");
	assert_true(has_fix(&a, true));
	a.v[0].found = 20;
	says(&a, "sleeps in write(), for room to write, and strace[12] traces it");
	assert_false(has_fix(&a, false));
	doing_next(&a, text, sizeof(text)); /* a second strace would be refused */
	assert_string_equal(text, "");
}

static void a_disk_is_told_by_the_threads_state(void **state)
{
	struct asleep a = looked(SYS_write, 20);

	says(&a, "sleeps in write(), for room to write");
	a.disk = 12;
	says(&a, "sleeps in write(), uninterruptibly, as for a disk");
}

static void a_page_that_is_read_is_no_call(void **state)
{
	struct asleep a = looked(-1, 20);

	says(&a, "");
}

static void another_thread_may_compute_meanwhile(void **state)
{
	struct asleep a = looked(SYS_futex, 20);

	a.busiest_ns = 499;
	says(&a, "sleeps in futex(), for a lock, or another thread");
	a.busiest_ns = 500;
	says(&a, "computes: its thread 9 has a CPU for 50 % of the time");
	strcpy(a.busiest_comm, "GC Thread#0");
	a.no_cpu_ns = 99;
	says(&a, "computes: its thread GC Thread#0[9] has a CPU for 50 % of the time");
	a.no_cpu_ns = 350;
	says(&a,
	     "computes: its thread GC Thread#0[9] has a CPU for 50 % of the time, and waits for "
	     "one for 35 %");
}

static void who_may_not_run_is_neither_asleep_nor_busy(void **state)
{
	struct asleep a = looked(SYS_futex, 20);

	a.busiest_ns = 600;
	a.no_cpu_ns = 500;
	says(&a, "was waiting for a CPU for 500 ns of 1.00 us");
	assert_true(has_fix(&a, false));
	a.quota_ns = 600;
	says(&a, "had used up the CPU quota of its cgroup (cpu.max) for 600 ns of 1.00 us");
	assert_true(has_fix(&a, false));
	a.stopped = true;
	says(&a, "was stopped (signal, debugger or freezer)");
	assert_true(has_fix(&a, false));
}

static void a_path_is_told_of_the_call_that_has_it(void **state)
{
	struct asleep a = looked(SYS_openat, 20);

	strcpy(a.v[0].path, "/tmp/x");
	says(&a, "sleeps in openat() of /tmp/x");
	a.v[0].opens_fifo = true;
	says(&a, "sleeps in openat() of /tmp/x: no program has the other end of that FIFO open");
	assert_false(has_fix(&a, false));
	a.v[0].nr = SYS_connect;
	a.v[0].opens_fifo = false;
	says(&a, "sleeps in connect() to /tmp/x, whose backlog is full");
	a.v[0].nr = SYS_write;
	a.v[0].at_fd = true;
	says(&a, "sleeps in write() of /tmp/x");
	assert_true(has_fix(&a, false));
}

/* Of a program that nobody waits for only such a sleep is worth a word. */
static void a_sleep_for_messages_is_not_elsewhere(void **state)
{
	static const int for_others[] = { SYS_ppoll, SYS_read, SYS_sendto, SYS_accept4, SYS_wait4,
					  SYS_rt_sigsuspend, SYS_connect };
	static const int elsewhere[] = { SYS_flock, SYS_futex, SYS_fsync, SYS_clock_nanosleep,
					 SYS_openat, SYS_semtimedop };
	struct asleep none = { .samples = 20 }, a;

	for (size_t i = 0; i < sizeof(for_others) / sizeof(for_others[0]); i++) {
		a = looked(for_others[i], 20);
		assert_false(asleep_is_elsewhere(&a));
	}
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		a = looked(elsewhere[i], 20);
		assert_true(asleep_is_elsewhere(&a));
		a.v[0].found = 9; /* of 20 samples */
		assert_false(asleep_is_elsewhere(&a));
	}
	a = looked(SYS_connect, 20);
	strcpy(a.v[0].path, "/run/x");
	assert_true(asleep_is_elsewhere(&a));
	assert_false(asleep_is_elsewhere(&none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_told_of_the_call_that_has_it),
		cmocka_unit_test(a_sleep_for_messages_is_not_elsewhere),
		cmocka_unit_test(a_sleep_is_told_where_most_samples_found_it),
		cmocka_unit_test(a_terminal_that_takes_no_output_is_no_disk),
		cmocka_unit_test(a_server_is_judged_by_the_time_it_is_awaited),
		cmocka_unit_test(for_whom_it_sleeps_is_told),
		cmocka_unit_test(an_answer_from_another_host_is_told),
		cmocka_unit_test(whose_connection_is_full_is_told),
		cmocka_unit_test(whose_backlog_is_full_is_told),
		cmocka_unit_test(who_waits_for_the_writers_end_should_read_first),
		cmocka_unit_test(which_code_waits_is_seen_in_its_stacks),
		cmocka_unit_test(who_traces_it_is_told),
		cmocka_unit_test(a_disk_is_told_by_the_threads_state),
		cmocka_unit_test(a_page_that_is_read_is_no_call),
		cmocka_unit_test(another_thread_may_compute_meanwhile),
		cmocka_unit_test(who_may_not_run_is_neither_asleep_nor_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
