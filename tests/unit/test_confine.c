// SPDX-License-Identifier: GPL-2.0-only
/* What a confined process cannot do any more: row 7 of docs/SECURITY.md. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/confine.h"

/* In a child, which then is confined for good: the line that did not hold, 0: all did. */
static int in_child(int (*fn)(bool maps), bool maps)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err e = {};

		_exit(confine(maps ? MAY_BPF : MAY_NOTHING, &e) ? 255 : fn(maps));
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define REFUSED(call) \
	do { \
		errno = 0; \
		if ((call) != -1 || errno != EPERM) \
			return __LINE__; \
	} while (0)

static int tries(bool maps)
{
	char *const argv[] = { (char *)"true", NULL };
	char dir[] = "/tmp/confined-XXXXXX";

	(void)maps;
	REFUSED(execv("/bin/true", argv));
	REFUSED(ptrace(PTRACE_TRACEME, 0, 0, 0));
	REFUSED(mkdir(dir, 0700));
	REFUSED(unlink(dir));
	REFUSED(rename(dir, "/tmp/other"));
	REFUSED(open(dir, O_RDWR | O_CREAT, 0600));
	REFUSED(open("/tmp", O_RDWR | O_TMPFILE, 0600));
	REFUSED(creat(dir, 0600));
	REFUSED(syscall(SYS_openat2, AT_FDCWD, dir, NULL, 0));
	REFUSED(syscall(SYS_io_uring_setup, 1, NULL));
	REFUSED(syscall(SYS_pidfd_getfd, -1, 0, 0));
	REFUSED(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	return 0;
}

static int works(bool maps)
{
	int fd[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) || write(fd[0], "x", 1) != 1)
		return __LINE__;
	if (open("/proc/self/statm", O_RDONLY) < 0)
		return __LINE__;
	pid = fork();
	if (pid == 0)
		_exit(tries(maps) ? 1 : 0); /* whoever comes after is confined too */
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : __LINE__;
}

static int bpf_refused(bool maps)
{
	errno = 0;
	if (syscall(SYS_bpf, -1, NULL, 0) != -1)
		return __LINE__;
	return (errno == EPERM) == !maps || geteuid() != 0 ? 0 : __LINE__;
}

static void row7_no_other_program_nor_file_nor_process(void **state)
{
	assert_int_equal(in_child(tries, false), 0);
	assert_int_equal(in_child(tries, true), 0);
}

static void row7_what_serving_needs_goes_on(void **state)
{
	assert_int_equal(in_child(works, false), 0);
	assert_int_equal(in_child(works, true), 0);
}

static void row7_bpf_stays_for_those_who_read_maps(void **state)
{
	assert_int_equal(in_child(bpf_refused, false), 0);
	assert_int_equal(in_child(bpf_refused, true), 0);
}

/* EFAULT where it is not refused */
static int perf_errno(unsigned int may)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err e = {};

		if (confine(may, &e))
			_exit(255);
		errno = 0;
		syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0);
		_exit(errno);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void row7_perf_events_stay_for_those_who_attach(void **state)
{
	assert_int_equal(perf_errno(MAY_BPF), EPERM);
	assert_int_not_equal(perf_errno(MAY_BPF | MAY_PERF), EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row7_no_other_program_nor_file_nor_process),
		cmocka_unit_test(row7_what_serving_needs_goes_on),
		cmocka_unit_test(row7_bpf_stays_for_those_who_read_maps),
		cmocka_unit_test(row7_perf_events_stay_for_those_who_attach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
