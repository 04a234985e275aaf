// SPDX-License-Identifier: GPL-2.0-only
/* Who is named as the reader of a pipe at which no sample found anybody asleep. */
#include <setjmp.h>
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/proc.h"
#include "tracer/internal.h"
#include "unit/holder.h"

#include <cmocka.h>

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

static void close_this(int fd)
{
	close(fd);
}

/* holds all but one of our descriptors until it is ended */
static pid_t holder(int closes)
{
	pid_t pid = fork_holder(close_this, closes);

	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* who is named, of one of whom the kernel half says that `noted` holds it */
static pid_t named(struct trace *t, uint64_t inode, pid_t noted, bool *others)
{
	struct trace_endpoint ep = { .proto = TRACE_PIPE, .serial = 1, .inode = inode,
		.tx_calls = { .tid = getpid(), .tgid = getpid() }, .rx_calls.tgid = noted };
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	pipe_holders_fill(t, &s);
	*others = ep.rx_calls.others;
	return ep.rx_calls.tgid;
}

/* Another walk comes only in a second: until then it is whom the kernel half noted. */
static void who_ended_is_not_named(void **state)
{
	struct trace t = { .opts.budget = 0.01 };
	bool others;
	pid_t a, b;
	int p[2];

	(void)state;
	assert_false(pipe(p));
	a = holder(p[1]);
	close(p[0]);
	assert_int_equal(named(&t, inode_of(p[1]), 0, &others), a);
	assert_false(others);
	assert_int_equal(named(&t, inode_of(p[1]), 1, &others), a);
	b = holder(p[1]);
	kill(a, SIGKILL);
	/* its number is still there */
	assert_false(waitid(P_PID, (id_t)a, NULL, WEXITED | WNOWAIT));
	assert_int_equal(named(&t, inode_of(p[1]), b, &others), b);
	end(a);
	assert_int_equal(named(&t, inode_of(p[1]), b, &others), b);
	end(b);
	pipe_holders_free(&t);
	close(p[1]);
}

/* by the first walk of a session */
static pid_t named_anew(const int p[2], bool *others)
{
	struct trace t = { .opts.budget = 0.01 };
	pid_t pid = named(&t, inode_of(p[1]), 0, others);

	pipe_holders_free(&t);
	return pid;
}

/* Waits for a child that has no end of the pipe. */
static pid_t parent_with(const int p[2])
{
	pid_t pid = fork(), one;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	one = fork();
	if (!one) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(p[0]);
		close(p[1]);
		for (;;)
			pause();
	}
	waitpid(one, NULL, 0);
	_exit(0);
}

/* It waits for another: who left it the pipe does not matter. */
static void who_waits_for_another_child_is_not_to_read(void **state)
{
	bool others;
	pid_t parent;
	int p[2];

	(void)state;
	assert_false(pipe(p));
	parent = parent_with(p);
	while (!proc_waits_for_child(parent))
		sched_yield();
	assert_int_not_equal(named_anew(p, &others), parent);
	end(parent);
	close(p[0]);
	close(p[1]);
}

/* As join() does before it reads what the child has put into a queue: both have both ends. */
static void a_parent_that_waits_for_the_writer_is_to_read(void **state)
{
	bool others, right;
	pid_t writer, parent = getpid();
	int p[2], status;

	(void)state;
	assert_false(pipe(p));
	writer = fork();
	if (!writer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!proc_waits_for_child(parent))
			sched_yield();
		right = named_anew(p, &others) == parent;
		_exit(!right);
	}
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	close(p[0]);
	close(p[1]);
}

/* Starts a child that inherits the pipe, 1.2 s after itself, and another when that has ended. */
static pid_t shell(const int p[2])
{
	pid_t pid = fork(), one;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(p[1]);
	nanosleep(&(struct timespec){ 1, 200000000 }, NULL);
	for (;;) {
		one = fork();
		if (!one) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				nanosleep(&(struct timespec){ 60, 0 }, NULL);
		}
		waitpid(one, NULL, 0);
	}
}

static pid_t child_of(pid_t pid, pid_t but)
{
	pid_t child;

	do
		sched_yield();
	while (!proc_waits_for_child(pid) || !(child = process_only_child(pid)) || child == but);
	return child;
}

/* A late child may read. If it ends and the shell goes on, the shell reads. */
static void a_shells_loop_reads(void **state)
{
	struct trace t = { .opts.budget = 0.01 };
	bool others;
	pid_t pid, first;
	int p[2];

	(void)state;
	assert_false(pipe(p));
	pid = shell(p);
	close(p[0]);
	first = child_of(pid, 0);
	assert_int_equal(named(&t, inode_of(p[1]), 0, &others), 0);
	assert_true(others);
	kill(first, SIGKILL);
	child_of(pid, first);
	t.holders.next_ns = UINT64_MAX;
	assert_int_equal(named(&t, inode_of(p[1]), 0, &others), pid);
	end(pid);
	pipe_holders_free(&t);
	close(p[1]);
}

/* of a pipe whose reader, this process, is all that the session is of */
static pid_t named_writer(struct trace *t, uint64_t inode)
{
	struct trace_endpoint ep = { .proto = TRACE_PIPE, .serial = 1, .inode = inode,
		.rx_calls = { .tid = getpid(), .tgid = getpid() } };
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	pipe_holders_fill(t, &s);
	assert_int_equal(ep.rx_calls.tgid, getpid());
	return ep.tx_calls.tgid;
}

static void the_only_holder_of_the_write_end_is_named(void **state)
{
	struct trace t = { .opts.budget = 0.01 };
	pid_t a, b;
	int p[2];

	(void)state;
	assert_false(pipe(p));
	a = holder(p[0]);
	b = holder(p[0]);
	close(p[1]);
	assert_int_equal(named_writer(&t, inode_of(p[0])), 0); /* of two nobody */
	end(b);
	t.holders.next_ns = 0;
	pipe_holders_free(&t);
	assert_int_equal(named_writer(&t, inode_of(p[0])), a);
	end(a);
	pipe_holders_free(&t);
	close(p[0]);
}

/* Without CAP_SYS_PTRACE, beside processes of root: the reader may be one of these, and not our own
 * that has merely inherited the read end. Exit status 0: nobody is named. */
static int asked_by_nobody(uint64_t inode)
{
	struct trace t = { .opts.budget = 0.01 };
	bool others;

	if (!getuid() && (setgid(65534) || setuid(65534)))
		return 2;
	prctl(PR_SET_DUMPABLE, 1);
	if (open("/proc/1/fd", O_RDONLY) >= 0)
		return 2;
	return named(&t, inode, 1, &others) || !others;
}

static void of_processes_that_are_hidden_nobody_is_named(void **state)
{
	int p[2], status;
	pid_t pid;

	(void)state;
	assert_false(pipe(p));
	pid = fork();
	if (!pid)
		_exit(asked_by_nobody(inode_of(p[0])));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(p[0]);
	close(p[1]);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool fifo_on_own_device(const char *dir, const char *path)
{
	return !mkdir(dir, 0700) && !mount("none", dir, "tmpfs", 0, "size=64k") &&
	       !mkfifo(path, 0600);
}

/* Both are the first file of their file system, and so have the same number. */
static int asked_of_two(const char *dir)
{
	struct trace t = { .opts.budget = 0.01 };
	bool others;
	int fd[2];

	if (chdir(dir) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    !fifo_on_own_device("a", "a/fifo") || !fifo_on_own_device("b", "b/fifo"))
		return 2;
	fd[0] = open("a/fifo", O_RDONLY | O_NONBLOCK);
	if (named(&t, inode_of(fd[0]), 0, &others) != getpid())
		return 1;
	pipe_holders_free(&t);
	t.holders.next_ns = 0;
	fd[1] = open("b/fifo", O_RDONLY | O_NONBLOCK);
	if (inode_of(fd[0]) != inode_of(fd[1]))
		return 2;
	return named(&t, inode_of(fd[0]), 0, &others) || !others;
}

static void of_fifos_on_two_devices_nobody_is_named(void **state)
{
	char dir[] = "/tmp/ipcstall-unit-XXXXXX", path[64];
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	pid = fork();
	if (!pid)
		_exit(asked_of_two(dir));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (const char *name = "ab"; *name; name++) {
		snprintf(path, sizeof(path), "%s/%c", dir, *name);
		rmdir(path);
	}
	rmdir(dir);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_only_holder_of_the_write_end_is_named),
		cmocka_unit_test(who_ended_is_not_named),
		cmocka_unit_test(a_parent_that_waits_for_the_writer_is_to_read),
		cmocka_unit_test(who_waits_for_another_child_is_not_to_read),
		cmocka_unit_test(a_shells_loop_reads),
		cmocka_unit_test(of_processes_that_are_hidden_nobody_is_named),
		cmocka_unit_test(of_fifos_on_two_devices_nobody_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
