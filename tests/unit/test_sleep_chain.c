// SPDX-License-Identifier: GPL-2.0-only
/* For whom a process sleeps, and what the last of the chain does: of processes that sleep. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "session/doing.h"
#include "session/sleep_chain.h"

enum { NONE = -1, DESCRIPTORS = 256 };

static void keep_only(int a, int b, int c)
{
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		if (fd != a && fd != b && fd != c)
			close(fd);
}

/* Copies what it reads (NONE: it has enough) to where it writes; NONE: it sleeps for a signal. It
 * never reads from `holds`. */
static pid_t process(int reads, int writes, int holds)
{
	pid_t pid = fork();
	char byte = 0;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	keep_only(reads, writes, holds);
	while (writes != NONE)
		if ((reads == NONE || read(reads, &byte, 1) == 1) && write(writes, &byte, 1) != 1)
			_exit(1);
	for (;;)
		pause();
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct asleep writing(pid_t pid)
{
	for (;;) {
		struct asleep a = { .pid = pid, .tid = pid };

		doing_sample(&a, 5, UINT64_MAX, NULL);
		if (a.n && a.v[0].nr == SYS_write && asleep_at_fd(&a))
			return a;
	}
}

/* once all pipes are full */
static struct asleep followed(pid_t first, size_t n)
{
	struct asleep a;

	do {
		a = writing(first);
		sleep_chain_follow(&a, false, UINT64_MAX, NULL);
	} while (a.n_chain < n);
	return a;
}

static void needs_root(void)
{
	if (geteuid()) /* of others' processes the descriptors are not listed */
		skip();
}

static void the_last_keeps_all_waiting(void **state)
{
	int a[2], b[2];
	pid_t first, second, last;
	struct asleep seen;

	needs_root();
	assert_int_equal(pipe(a) | pipe(b), 0);
	first = process(NONE, a[1], NONE);
	second = process(a[0], b[1], NONE);
	last = process(b[0], NONE, NONE);
	keep_only(NONE, NONE, NONE);
	seen = followed(first, 2);
	assert_int_equal(seen.n_chain, 2);
	assert_int_equal(seen.chain[0].pid, second);
	assert_int_equal(seen.chain[1].pid, last);
	assert_string_equal(seen.chain[1].comm, "test_sleep_chai");
	assert_int_equal(seen.end, ASLEEP_END_SLEEPS);
	assert_true(seen.end_nr != SYS_write);
	kill(last, SIGSTOP);
	assert_int_equal(waitpid(last, NULL, WUNTRACED), last);
	sleep_chain_follow(&seen, false, UINT64_MAX, NULL);
	assert_int_equal(seen.n_chain, 2);
	assert_int_equal(seen.end, ASLEEP_END_STOPPED);
	seen.v[0].fd++; /* where it slept once */
	sleep_chain_follow(&seen, false, UINT64_MAX, NULL);
	assert_int_equal(seen.n_chain, 0);
	seen.v[0].fd--;
	sleep_chain_follow(&seen, false, now_ns(), NULL); /* no time is left */
	assert_int_equal(seen.n_chain, 0);
	end(last);
	end(second);
	end(first);
}

static void a_circle_is_told(void **state)
{
	int a[2], b[2], c[2];
	pid_t first, second, third;
	struct asleep seen;

	needs_root();
	assert_int_equal(pipe(a) | pipe(b) | pipe(c), 0);
	first = process(NONE, a[1], NONE);
	second = process(a[0], b[1], c[0]);
	third = process(b[0], c[1], NONE);
	keep_only(NONE, NONE, NONE);
	do
		seen = followed(first, 2);
	while (seen.end != ASLEEP_END_CIRCLE);
	assert_int_equal(seen.chain[0].pid, second);
	assert_int_equal(seen.chain[1].pid, third);
	end(third);
	end(second);
	end(first);
}

static const struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "test_sleep_chain.sock" };

/* It accepts nobody. */
static pid_t listener(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	unlink(at.sun_path);
	assert_return_code(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_return_code(listen(fd, 0), 0);
	pid = process(NONE, NONE, fd);
	close(fd);
	return pid;
}

static pid_t client(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	for (;;) { /* the first one finds room */
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(fd, (const struct sockaddr *)&at, sizeof(at)))
			_exit(1);
	}
}

static void who_connects_sleeps_for_who_does_not_accept(void **state)
{
	pid_t server, first;
	struct asleep a;

	needs_root();
	server = listener();
	first = client();
	do {
		a = (struct asleep){ .pid = first, .tid = first };
		doing_sample(&a, 5, UINT64_MAX, NULL);
	} while (!asleep_opens(&a));
	assert_string_equal(a.v[0].path, at.sun_path);
	sleep_chain_follow(&a, false, UINT64_MAX, NULL);
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.chain[0].pid, server);
	assert_int_equal(a.end, ASLEEP_END_SLEEPS);
	end(first);
	end(server);
	unlink(at.sun_path);
}

/* The child writes to a pipe, from which its parent means to read once the child has ended. */
static pid_t parent_of_writer(pid_t *child, const int p[2])
{
	int told[2];
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
		pid = process(NONE, p[1], NONE);
		if (write(told[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		keep_only(p[0], NONE, NONE);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	assert_int_equal(read(told[0], child, sizeof(*child)), sizeof(*child));
	close(told[0]);
	close(told[1]);
	return pid;
}

static void who_waits_for_its_writer_is_in_a_deadlock(void **state)
{
	pid_t child, parent;
	struct asleep a;
	int p[2];

	needs_root();
	assert_int_equal(pipe(p), 0);
	parent = parent_of_writer(&child, p);
	keep_only(NONE, NONE, NONE);
	writing(child);
	do {
		a = (struct asleep){ .pid = parent, .tid = parent };
		doing_sample(&a, 5, UINT64_MAX, NULL);
		sleep_chain_follow(&a, true, UINT64_MAX, NULL);
	} while (a.end != ASLEEP_END_CIRCLE);
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.chain[0].pid, child);
	kill(child, SIGSTOP);
	do
		sleep_chain_follow(&a, true, UINT64_MAX, NULL);
	while (a.end == ASLEEP_END_CIRCLE ||
	       a.end == ASLEEP_END_UNKNOWN); /* on a busy host its time may be over before */
	assert_int_equal(a.end, ASLEEP_END_STOPPED);
	kill(child, SIGKILL);
	end(parent);
}

static void *sleep_on(void *ctx)
{
	for (;;)
		pause();
	return ctx;
}

/* Writes to a socket until that is full, and polls it then, and another descriptor. */
static pid_t poller(int to, bool with_thread)
{
	pthread_t thread;
	pid_t pid = fork();
	struct pollfd v[2] = { { .fd = to, .events = POLLOUT } };
	int silent[2];

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	keep_only(to, NONE, NONE);
	if (pipe(silent))
		_exit(1);
	if (with_thread && pthread_create(&thread, NULL, sleep_on, NULL))
		_exit(1);
	v[1].fd = silent[0];
	while (send(to, "1", 1, MSG_DONTWAIT) == 1)
		;
	for (;;)
		poll(v, 2, -1);
}

static struct asleep polling(pid_t pid)
{
	for (;;) {
		struct asleep a = { .pid = pid, .tid = pid };

		doing_sample(&a, 5, UINT64_MAX, NULL);
		if (asleep_for_events(&a))
			return a;
	}
}

/* of a pair of sockets: another process has the other end, and reads nothing */
static pid_t poller_before(pid_t *reader, bool with_thread)
{
	pid_t pid;
	int s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	*reader = process(NONE, NONE, s[1]);
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL); /* another tick */
	pid = poller(s[0], with_thread);
	keep_only(NONE, NONE, NONE);
	return pid;
}

/* The other end was there first: it may be a client, whom nobody waits for to answer. */
static void who_polls_sleeps_for_who_does_not_read(void **state)
{
	pid_t reader, first;
	struct asleep a;

	needs_root();
	first = poller_before(&reader, false);
	a = polling(first);
	sleep_chain_follow(&a, false, UINT64_MAX, NULL);
	assert_int_equal(a.n_chain, 0);
	sleep_chain_follow(&a, true, UINT64_MAX, NULL);
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.chain[0].pid, reader);
	assert_int_equal(a.end, ASLEEP_END_SLEEPS);
	kill(reader, SIGSTOP);
	assert_int_equal(waitpid(reader, NULL, WUNTRACED), reader);
	sleep_chain_follow(&a, true, UINT64_MAX, NULL);
	assert_int_equal(a.end, ASLEEP_END_STOPPED);
	end(first);
	end(reader);
}

/* Listens where no client's own port may be; NONE: all are in use. */
static int tcp_listener(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	for (uint16_t port = 19100; port < 19200; port++) {
		at->sin_port = htons(port);
		if (bind(fd, (void *)at, sizeof(*at)) == 0 && listen(fd, 1) == 0)
			return fd;
	}
	close(fd);
	return NONE;
}

/* It reads a request, and answers it after SIGUSR1. */
static pid_t server(int on)
{
	pid_t pid;
	sigset_t set;
	char byte;
	int fd, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	fd = accept(on, NULL, NULL);
	keep_only(fd, NONE, NONE);
	if (read(fd, &byte, 1) != 1 || sigwait(&set, &sig) || write(fd, "!", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* It sends a request, and polls for the answer, or for what never comes. */
static pid_t asker(const struct sockaddr_in *at)
{
	struct pollfd v[2] = { { .events = POLLIN }, { .events = POLLIN } };
	pid_t pid = fork();
	int silent[2];
	char byte;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	keep_only(NONE, NONE, NONE);
	v[0].fd = socket(AF_INET, SOCK_STREAM, 0);
	if (pipe(silent) || connect(v[0].fd, (const void *)at, sizeof(*at)) ||
	    write(v[0].fd, "?", 1) != 1)
		_exit(1);
	v[1].fd = silent[0];
	while (poll(v, 2, -1) == 1 && read(v[0].fd, &byte, 1) == 1)
		;
	_exit(1);
}

static void who_polls_sleeps_for_the_server_that_it_asked(void **state)
{
	struct sockaddr_in at;
	int on = tcp_listener(&at);
	pid_t asked, first;
	struct asleep a;

	needs_root();
	if (on == NONE)
		skip();
	asked = server(on);
	first = asker(&at);
	close(on);
	a = polling(first);
	alarm(60);
	do
		sleep_chain_follow(&a, false, UINT64_MAX, NULL);
	while (!a.n_chain); /* until the request was read */
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.chain[0].pid, asked);
	assert_int_equal(a.end, ASLEEP_END_SLEEPS);
	sleep_chain_follow(&a, true, UINT64_MAX, NULL);
	assert_int_equal(a.n_chain, 0); /* that keeps nobody from reading */
	kill(asked, SIGUSR1);
	do
		sleep_chain_follow(&a, false, UINT64_MAX, NULL);
	while (a.n_chain); /* until it was answered */
	alarm(0);
	end(first);
	end(asked);
}

static void of_several_threads_one_polls(void **state)
{
	struct asleep a = {};
	pid_t reader;

	needs_root();
	a.pid = poller_before(&reader, true);
	polling(a.pid);
	sleep_chain_follow(&a, true, UINT64_MAX, NULL);
	assert_true(a.is_one_of_many);
	assert_int_equal(a.tid, a.pid);
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.chain[0].pid, reader);
	end(a.pid);
	end(reader);
}

/* of a child, which it asked */
static void who_polls_sleeps_for_who_does_not_read_its_request(void **state)
{
	int s[2];
	pid_t server, first;
	struct asleep a;

	needs_root();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	first = poller(s[0], false);
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL); /* another tick */
	server = process(NONE, NONE, s[1]);
	keep_only(NONE, NONE, NONE);
	a = polling(first);
	sleep_chain_follow(&a, false, UINT64_MAX, NULL);
	assert_int_equal(a.n_chain, 1);
	assert_int_equal(a.chain[0].pid, server);
	end(server);
	end(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_keeps_all_waiting),
		cmocka_unit_test(a_circle_is_told),
		cmocka_unit_test(who_connects_sleeps_for_who_does_not_accept),
		cmocka_unit_test(who_waits_for_its_writer_is_in_a_deadlock),
		cmocka_unit_test(who_polls_sleeps_for_who_does_not_read),
		cmocka_unit_test(who_polls_sleeps_for_the_server_that_it_asked),
		cmocka_unit_test(of_several_threads_one_polls),
		cmocka_unit_test(who_polls_sleeps_for_who_does_not_read_its_request),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
