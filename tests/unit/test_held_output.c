// SPDX-License-Identifier: GPL-2.0-only
/* Who takes nothing of what a process, this one, has sent. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/trace.h"
#include "unit/holder.h"

enum { DESCRIPTORS = 256 };

struct pair {
	int here, listener; /* 0: none */
	pid_t there;	    /* it has the other end, and reads nothing */
};

static void needs_root(void)
{
	if (geteuid()) /* of others' processes the descriptors are not listed */
		skip();
}

static void close_all_but(int fd)
{
	for (int i = 3; i < DESCRIPTORS; i++)
		if (i != fd)
			close(i);
}

static pid_t holder(int fd)
{
	pid_t pid = fork_holder(close_all_but, fd);

	assert_true(pid > 0);
	return pid;
}

static void end(struct pair *p)
{
	close(p->here);
	if (p->listener)
		close(p->listener);
	kill(p->there, SIGKILL);
	assert_int_equal(waitpid(p->there, NULL, 0), p->there);
}

/* of this family at the server's end, and IPv4 at the client's; serves: this process has the
 * server's end */
static struct pair tcp(int family, bool serves)
{
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *own =
		family == AF_INET6 ? (struct sockaddr *)&any6 : (struct sockaddr *)&at;
	struct sockaddr_in6 bound;
	socklen_t len = sizeof(bound);
	int listener = socket(family, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0),
	    server;
	struct pair p = { .listener = listener };

	assert_return_code(bind(listener, own, family == AF_INET6 ? sizeof(any6) : sizeof(at)), 0);
	assert_return_code(listen(listener, 1), 0);
	assert_return_code(getsockname(listener, (struct sockaddr *)&bound, &len), 0);
	at.sin_port = bound.sin6_port;
	assert_return_code(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	p.here = serves ? server : client;
	p.there = holder(serves ? client : server);
	close(serves ? client : server);
	return p;
}

static struct pair unix_pair(void)
{
	struct pair p = {};
	int s[2];

	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	p.here = s[0];
	p.there = holder(s[1]);
	close(s[1]);
	return p;
}

static void fill(int fd)
{
	char much[4096] = "";

	while (send(fd, much, sizeof(much), MSG_DONTWAIT) > 0)
		;
}

static pid_t asked(bool asked_only)
{
	struct trace_held_output out;

	return trace_held_output(getpid(), asked_only, &out) ? out.reader : 0;
}

static void is_told_once_full(struct pair p)
{
	assert_int_equal(asked(false), 0);
	assert_int_equal(send(p.here, "a few", 5, 0), 5);
	assert_int_equal(asked(false), 0); /* there is room for more */
	fill(p.here);
	assert_int_equal(asked(false), p.there);
	end(&p);
}

static void who_reads_nothing_of_a_full_buffer_is_told(void **state)
{
	needs_root();
	is_told_once_full(tcp(AF_INET, false));
	is_told_once_full(tcp(AF_INET6, true));
	is_told_once_full(unix_pair());
}

/* This process made the connection. */
static void who_does_not_read_a_request_is_told(void **state)
{
	static const int families[] = { AF_INET, AF_INET6 };

	needs_root();
	for (int i = 0; i < 2; i++) {
		struct pair p = tcp(families[i], false), served = tcp(families[i], true);

		assert_int_equal(asked(true), 0);
		assert_int_equal(send(served.here, "an answer", 9, 0), 9);
		assert_int_equal(asked(true), 0);
		assert_int_equal(send(p.here, "a request", 9, 0), 9);
		assert_int_equal(asked(true), p.there);
		end(&served);
		end(&p);
	}
}

/* The end of a stream is no data. */
static void who_has_read_all_up_to_the_end_is_not_told(void **state)
{
	struct pair p = tcp(AF_INET, false);

	needs_root();
	assert_return_code(shutdown(p.here, SHUT_WR), 0);
	assert_int_equal(asked(true), 0);
	end(&p);
}

static void of_two_full_ones_nobody_is_told(void **state)
{
	struct pair a = tcp(AF_INET, false), b = tcp(AF_INET, false);

	needs_root();
	fill(a.here);
	assert_int_equal(asked(false), a.there);
	fill(b.here);
	assert_int_equal(asked(false), 0);
	end(&b);
	end(&a);
}

/* A server of several clients may wait for something else. */
static void a_server_of_several_waits_for_none_alone(void **state)
{
	struct pair p[3];

	needs_root();
	for (int i = 0; i < 3; i++)
		p[i] = tcp(AF_INET, true);
	fill(p[0].here);
	assert_int_equal(asked(false), 0);
	end(&p[2]);
	assert_int_equal(asked(false), p[0].there);
	end(&p[1]);
	end(&p[0]);
}

/* A backlog is no data; a descriptor may have copies. */
static void listeners_and_copies_do_not_matter(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "\0test_held_output" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), copy;
	struct pair p = unix_pair();

	needs_root();
	assert_return_code(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_return_code(listen(listener, 5), 0);
	copy = dup(p.here);
	fill(p.here);
	assert_int_equal(asked(false), p.there);
	close(copy);
	close(listener);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_reads_nothing_of_a_full_buffer_is_told),
		cmocka_unit_test(who_does_not_read_a_request_is_told),
		cmocka_unit_test(who_has_read_all_up_to_the_end_is_not_told),
		cmocka_unit_test(of_two_full_ones_nobody_is_told),
		cmocka_unit_test(a_server_of_several_waits_for_none_alone),
		cmocka_unit_test(listeners_and_copies_do_not_matter),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
