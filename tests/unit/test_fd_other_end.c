// SPDX-License-Identifier: GPL-2.0-only
/* Which process has the other end of a descriptor. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/proc.h"
#include "host/thread_call.h"
#include "tracer/trace.h"
#include "unit/holder.h"

static void close_this(int fd)
{
	close(fd);
}

/* It has all descriptors but this one. */
static pid_t holder(int not_this)
{
	pid_t pid = fork_holder(close_this, not_this);

	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void needs_root(void)
{
	if (geteuid()) /* of others' processes the descriptors are not listed */
		skip();
}

static void a_pipe_has_another_reader(void **state)
{
	int fds[2];
	pid_t one, two;

	needs_root();
	assert_int_equal(pipe(fds), 0);
	one = holder(fds[1]);
	close(fds[0]);
	assert_int_equal(trace_fd_other_end(getpid(), fds[1], true), one);
	assert_int_equal(trace_fd_other_end(one, fds[0], false), getpid());
	assert_int_equal(trace_fd_other_end(getpid(), fds[1], false), 0); /* the only writer */
	two = holder(-1);
	assert_int_equal(trace_fd_other_end(one, fds[0], false), 0); /* two may write */
	end(two);
	end(one);
	assert_int_equal(trace_fd_other_end(getpid(), fds[1], true), 0);
	close(fds[1]);
	assert_int_equal(trace_fd_other_end(getpid(), fds[1], true), 0);
}

/* A parent keeps both ends for the helpers that it starts again and again: the helper reads. */
static void who_has_just_one_end_of_a_pipe_uses_it(void **state)
{
	int fds[2];
	pid_t both, reader;

	needs_root();
	assert_int_equal(pipe(fds), 0);
	both = holder(-1);
	reader = holder(fds[1]);
	close(fds[0]);
	assert_int_equal(trace_fd_other_end(getpid(), fds[1], true), reader);
	end(reader);
	assert_int_equal(trace_fd_other_end(getpid(), fds[1], true), both);
	end(both);
	close(fds[1]);
}

static void a_child_that_began_after_its_parent_is_late(void **state)
{
	pid_t child = holder(-1);

	(void)state;
	assert_true(trace_is_late_child(getpid(), child, 0));
	assert_false(trace_is_late_child(getpid(), child, 3600));
	assert_false(trace_is_late_child(child, getpid(), 0));
	end(child);
	assert_false(trace_is_late_child(getpid(), child, 0));
}

static void a_socket_pair_has_another_end(void **state)
{
	int fds[2];
	pid_t pid;

	needs_root();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = holder(fds[0]);
	close(fds[1]);
	assert_int_equal(trace_fd_other_end(getpid(), fds[0], true), pid);
	end(pid);
	close(fds[0]);
}

/* A connection on this host: both its ends are here. */
static void connect_here(int *client, int *server)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	*client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (void *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (void *)&at, &(socklen_t){ sizeof(at) }), 0);
	assert_int_equal(connect(*client, (void *)&at, sizeof(at)), 0);
	*server = accept(listener, NULL, NULL);
	assert_true(*server >= 0);
	close(listener);
}

static void a_connection_has_another_end(void **state)
{
	int client, server;
	pid_t pid;

	needs_root();
	connect_here(&client, &server);
	pid = holder(client);
	close(server);
	assert_int_equal(trace_fd_other_end(getpid(), client, false), pid);
	assert_int_equal(trace_fd_other_end(pid, server, true), getpid());
	end(pid);
	close(client);
}

/* As holder(); it polls these two. */
static pid_t poller(int not_this, int fd, int other)
{
	struct thread_call call;
	pid_t pid = fork();

	if (!pid) {
		struct pollfd v[] = { { fd, POLLIN, 0 }, { other, POLLIN, 0 } };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(not_this);
		for (;;)
			poll(v, 2, -1);
	}
	while (thread_call_read(pid, pid, &call) != THREAD_IN_CALL || !thread_call_is_poll(&call))
		usleep(1000);
	return pid;
}

/* As sshd's two, or what a program started without closing its connections */
static void of_two_that_have_it_the_one_that_polls_counts(void **state)
{
	int client, server;
	pid_t idle, polls;

	needs_root();
	connect_here(&client, &server);
	idle = holder(client);
	polls = poller(client, server, -1);
	close(server);
	assert_int_equal(trace_fd_other_end(getpid(), client, false), polls);
	end(polls);
	assert_int_equal(trace_fd_other_end(getpid(), client, false), idle);
	end(idle);
	close(client);
}

/* Starts a child that inherits what it has, which is not that one. Waits for that child's end, or
 * not. */
static pid_t parent_of(int not_this, bool waits, pid_t *child)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(not_this);
		pid = holder(-1);
		if (waits)
			waitpid(pid, NULL, 0);
		for (;;)
			pause();
	}
	while (!(*child = process_only_child(pid)))
		usleep(1000);
	return pid;
}

static pid_t holder_of_server(bool waits, pid_t *child)
{
	int client, server;
	pid_t parent, found;

	connect_here(&client, &server);
	parent = parent_of(client, waits, child);
	close(server);
	for (;;) {
		found = trace_fd_other_end(getpid(), client, false);
		if (found == (waits ? *child : parent))
			break;
		usleep(10000); /* until the parent waits */
	}
	close(client);
	end(parent); /* and its child with it */
	return found == parent ? parent : 0;
}

/* As fcgiwrap and its CGI program: the one that accepted it answers. A server that only waits for
 * the child's end, has left it to the child. */
static void of_parent_and_child_the_parent_is_told_unless_it_left_it(void **state)
{
	pid_t child;

	needs_root();
	assert_true(holder_of_server(false, &child) > 0);
	assert_int_equal(holder_of_server(true, &child), 0);
}

/* Two ends of a Unix connection; the server's has the listener's name. */
static void connect_by_path(int *client, int *server)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	*client = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "asked-%d", getpid());
	assert_int_equal(bind(listener, (void *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(connect(*client, (void *)&at, sizeof(at)), 0);
	*server = accept(listener, NULL, NULL);
	assert_true(*server >= 0);
	close(listener);
}

static void asks_a_server(bool waits_for_data, bool awaits_answer)
{
	bool owes = !waits_for_data || awaits_answer;
	int client, server, asks, asked_end;
	struct trace_asked asked = {};
	pid_t polls, serves;

	connect_by_path(&client, &server);
	connect_here(&asks, &asked_end);
	if (awaits_answer)
		assert_int_equal(write(asks, "?", 1), 1);
	polls = poller(server, client, -1);
	serves = waits_for_data ? poller(client, server, asks) : holder(client);
	close(client);
	close(server);
	assert_int_equal(trace_asked_server(polls, polls, &asked), owes);
	assert_int_equal(asked.server, owes ? serves : 0);
	end(serves);
	end(polls);
	close(asks);
	close(asked_end);
}

/* As nginx and PHP-FPM: a Unix socket does not tell who sent last. But a server that waits for no
 * data there works on the request, and so does one that has asked another. */
static void a_unix_server_that_waits_for_no_data_was_asked(void **state)
{
	needs_root();
	asks_a_server(false, false);
	asks_a_server(true, false);
	asks_a_server(true, true);
}

/* As the resolver's */
static void a_connected_udp_socket_has_a_server(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_DGRAM, 0), client = socket(AF_INET, SOCK_DGRAM, 0);
	struct trace_asked asked;
	pid_t pid;

	(void)state;
	needs_root();
	assert_int_equal(bind(server, (void *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(server, (void *)&at, &(socklen_t){ sizeof(at) }), 0);
	assert_false(trace_fd_datagrams(getpid(), client, &asked));
	assert_int_equal(connect(client, (void *)&at, sizeof(at)), 0);
	pid = holder(client);
	close(server);
	assert_true(trace_fd_datagrams(getpid(), client, &asked));
	assert_int_equal(asked.server, pid);
	assert_int_equal(asked.remote.port, ntohs(at.sin_port));
	end(pid);
	assert_true(trace_fd_datagrams(getpid(), client, &asked));
	assert_int_equal(asked.server, 0);
	close(client);
}

static void of_two_that_have_it_idly_none_is_told(void **state)
{
	int client, server;
	pid_t one, two;

	needs_root();
	connect_here(&client, &server);
	one = holder(client);
	two = holder(client);
	close(server);
	assert_int_equal(trace_fd_other_end(getpid(), client, false), 0);
	end(one);
	end(two);
	close(client);
}

/* The client's end of a connection on which the client sent last leads to its server, and no other
 * one does. */
static void only_who_has_asked_has_a_server(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				  .sin_port = htons(19000) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0),
	    server, pair[2];
	struct trace_fd_server asked[3];
	pid_t pid, child;

	needs_root();
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(listener, (void *)&at, sizeof(at)))
		skip(); /* in use */
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(connect(client, (void *)&at, sizeof(at)), 0);
	server = accept(listener, NULL, NULL);
	assert_int_equal(write(client, "?", 1), 1);
	close(listener);
	pid = holder(client);
	close(server);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	usleep(20000); /* processes are told apart by age in ticks of 10 ms */
	child = holder(pair[0]);
	close(pair[1]);
	asked[0].fd = client;
	asked[1].fd = pair[0];
	asked[2].fd = STDOUT_FILENO;
	trace_fd_servers(getpid(), asked, 3);
	assert_int_equal(asked[0].server, pid);
	assert_int_equal(asked[1].server, child);
	assert_int_equal(asked[2].server, 0);
	asked[0].fd = server;
	asked[1].fd = pair[1];
	trace_fd_servers(pid, asked, 1);
	assert_int_equal(asked[0].server, 0);
	trace_fd_servers(child, &asked[1], 1);
	assert_int_equal(asked[1].server, 0);
	end(child);
	end(pid);
	close(client);
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_has_another_reader),
		cmocka_unit_test(who_has_just_one_end_of_a_pipe_uses_it),
		cmocka_unit_test(a_child_that_began_after_its_parent_is_late),
		cmocka_unit_test(a_socket_pair_has_another_end),
		cmocka_unit_test(a_connection_has_another_end),
		cmocka_unit_test(of_two_that_have_it_the_one_that_polls_counts),
		cmocka_unit_test(of_two_that_have_it_idly_none_is_told),
		cmocka_unit_test(a_connected_udp_socket_has_a_server),
		cmocka_unit_test(of_parent_and_child_the_parent_is_told_unless_it_left_it),
		cmocka_unit_test(a_unix_server_that_waits_for_no_data_was_asked),
		cmocka_unit_test(only_who_has_asked_has_a_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
