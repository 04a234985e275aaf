// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many loopback connections that do a little: crowd N RATE SECONDS. Two processes, the clients and
 * their server; RATE messages of 64 bytes a second go round over all of them. Prints "ready N" when
 * all stand and every one has carried a message; ends after SECONDS, or when standard input ends.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 64 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void raise_limit(int n)
{
	struct rlimit l = { (rlim_t)n + 64, (rlim_t)n + 64 }, old;

	getrlimit(RLIMIT_NOFILE, &old);
	if (old.rlim_cur >= l.rlim_cur)
		return;
	if (l.rlim_max < old.rlim_max)
		l.rlim_max = old.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &l))
		die("setrlimit");
}

static int listen_any(struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(*a);

	*a = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (void *)a, len) || listen(fd, 4096) ||
	    getsockname(fd, (void *)a, &len))
		die("listen");
	return fd;
}

static void watch(int ep, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		die("epoll_ctl");
}

static void accept_all(int ep, int ls)
{
	int fd;

	while ((fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		watch(ep, fd);
	if (errno != EAGAIN)
		die("accept");
}

static void serve(int ls)
{
	int ep = epoll_create1(0);
	struct epoll_event ev[256];
	char buf[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	watch(ep, ls);
	for (;;) {
		int n = epoll_wait(ep, ev, 256, -1);

		for (int i = 0; i < n; i++)
			if (ev[i].data.fd == ls)
				accept_all(ep, ls);
			else if (read(ev[i].data.fd, buf, sizeof(buf)) == 0)
				close(ev[i].data.fd);
	}
}

static int *connect_all(const struct sockaddr_in *to, int n)
{
	int *fd = calloc((size_t)n, sizeof(*fd));

	for (int i = 0; fd && i < n; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (fd[i] < 0 || connect(fd[i], (const void *)to, sizeof(*to)))
			die("connect");
	}
	return fd;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int hung_up(int timeout_ms)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char c;

	return poll(&p, 1, timeout_ms) == 1 && read(0, &c, 1) <= 0;
}

static void go_round(const int *fd, int n, double rate, double seconds)
{
	static const char message[MESSAGE];
	double t0 = now();
	long sent = 0;

	while (now() - t0 < seconds && !hung_up(10))
		for (; (double)sent < (now() - t0) * rate; sent++)
			if (write(fd[sent % n], message, sizeof(message)) != sizeof(message))
				die("write");
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[1]) : 0, ls, *fd;
	struct sockaddr_in a;
	pid_t server;

	if (n < 1) {
		fprintf(stderr, "usage: crowd N RATE SECONDS\n");
		return 2;
	}
	raise_limit(n);
	ls = listen_any(&a);
	server = fork();
	if (server == 0)
		serve(ls);
	close(ls);
	fd = connect_all(&a, n);
	for (int i = 0; i < n; i++)
		if (write(fd[i], "hello", 5) != 5)
			die("write");
	printf("ready %d\n", n);
	fflush(stdout);
	go_round(fd, n, atof(argv[2]), atof(argv[3]));
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return 0;
}
