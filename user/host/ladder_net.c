// SPDX-License-Identifier: GPL-2.0-only
/* One connection over loopback to a child on the same CPU. The child answers each message with the
 * time at which all of it had arrived: both ends share CLOCK_MONOTONIC, so the one-way time to the
 * child is measured directly. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/ladder.h"

#define WARMUP 50

static void set_nodelay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* The code of the child; ends when the parent closes its end or dies. */
static void answer(int listener, size_t size)
{
	int fd = accept(listener, NULL, NULL);
	char buf[1024];

	if (fd < 0)
		return;
	set_nodelay(fd);
	while (recv(fd, buf, size, MSG_WAITALL) == (ssize_t)size) {
		uint64_t arrived = now_ns();

		if (send(fd, &arrived, sizeof(arrived), MSG_NOSIGNAL) != sizeof(arrived))
			break;
	}
}

static int listen_on_loopback(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*addr = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd >= 0 && !bind(fd, (struct sockaddr *)addr, len) && !listen(fd, 1) &&
	    !getsockname(fd, (struct sockaddr *)addr, &len))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int connect_to(const struct sockaddr_in *addr)
{
	struct timeval patience = { .tv_sec = 5 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	set_nodelay(fd);
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		return fd;
	close(fd);
	return -1;
}

static int exchange(struct ladder *l, int fd, size_t size, int one_way)
{
	static const char message[1024];

	for (int i = -WARMUP; i < LADDER_SAMPLES; i++) {
		uint64_t arrived, t0 = now_ns(), t1;

		if (send(fd, message, size, MSG_NOSIGNAL) != (ssize_t)size ||
		    recv(fd, &arrived, sizeof(arrived), MSG_WAITALL) != sizeof(arrived))
			return ladder_fail(l, "the connection over loopback broke: %s",
					   strerror(errno));
		t1 = one_way ? arrived : now_ns();
		l->ns[i < 0 ? 0 : i] = (double)(t1 - t0);
	}
	return LADDER_SAMPLES;
}

static int with_child(struct ladder *l, size_t size, int one_way)
{
	struct sockaddr_in addr;
	int listener = listen_on_loopback(&addr), fd, n = -1;
	pid_t child;

	if (listener < 0)
		return ladder_fail(l, "cannot listen on 127.0.0.1: %s", strerror(errno));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer(listener, size);
		_exit(0);
	}
	fd = child > 0 ? connect_to(&addr) : -1;
	if (fd < 0)
		ladder_fail(l, "cannot connect over loopback: %s", strerror(errno));
	else
		n = exchange(l, fd, size, one_way);
	if (fd >= 0)
		close(fd);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(listener);
	return n;
}

static int loopback(struct ladder *l, size_t size, int one_way)
{
	int n = with_child(l, size, one_way);

	if (n > 0 && l->cpu >= 0)
		ladder_note(l, "both ends on CPU %d, TCP_NODELAY", l->cpu);
	else if (n > 0)
		ladder_note(l, "ends not pinned, TCP_NODELAY");
	return n;
}

int rung_send_1k(struct ladder *l)
{
	return loopback(l, 1024, 1);
}

int rung_rtt(struct ladder *l)
{
	return loopback(l, 1, 0);
}
