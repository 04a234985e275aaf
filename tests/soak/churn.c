// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that come and go: churn PORT PORTS RATE SECONDS. Each connects, sends 64 bytes there
 * and 64 back, and closes; RATE of them a second (0: as many as it can), by one thread a port.
 * Listens on PORTS ports from PORT on, in a process of its own. Prints how many were made, how many
 * failed, how long that took, and how long half of them took at most, as JSON; at SIGUSR1 it stops
 * early.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 64, PORTS_MOST = 64, TIMEOUT_S = 120, STACK = 65536 };
#define HIST_US 1000000u /* what took longer counts as that */

struct client {
	pthread_t thread;
	uint16_t port;
	double rate, began, end;
	uint64_t made, failed;
	int why; /* errno of the last that failed */
};

static volatile sig_atomic_t enough;
static uint32_t took_us[HIST_US]; /* of all threads */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool receive_message(int fd)
{
	char buf[MESSAGE];

	return recv(fd, buf, sizeof(buf), MSG_WAITALL) == MESSAGE;
}

static bool send_message(int fd)
{
	static const char message[MESSAGE];

	return send(fd, message, sizeof(message), MSG_NOSIGNAL) == MESSAGE;
}

static struct sockaddr_in address(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void *serve(void *listener)
{
	char byte;

	for (;;) {
		int fd = accept((int)(intptr_t)listener, NULL, NULL);

		if (fd < 0)
			continue;
		if (receive_message(fd) && send_message(fd))
			recv(fd, &byte, 1, 0); /* the client closes first */
		close(fd);
	}
	return NULL;
}

static int listen_at(uint16_t port)
{
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (void *)&a, sizeof(a)) || listen(fd, 512))
		die("listen");
	return fd;
}

static void serve_all(uint16_t port, int ports, int ready)
{
	pthread_attr_t attr;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 0; i < ports; i++)
		if (pthread_create(&t, &attr, serve,
				   (void *)(intptr_t)listen_at((uint16_t)(port + i))))
			die("thread");
	if (write(ready, "l", 1) != 1)
		die("write");
	for (;;)
		pause();
}

static int connect_to(uint16_t port)
{
	struct timeval limit = { .tv_sec = TIMEOUT_S };
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (!connect(fd, (void *)&a, sizeof(a)))
		return fd;
	close(fd);
	return -1;
}

static bool converse(uint16_t port)
{
	int fd = connect_to(port);
	bool good;

	if (fd < 0)
		return false;
	errno = 0; /* the other end's close sets none */
	good = send_message(fd) && receive_message(fd);
	close(fd);
	return good;
}

static void count(struct client *c, bool good, double seconds)
{
	uint32_t us = seconds * 1e6 < HIST_US ? (uint32_t)(seconds * 1e6) : HIST_US - 1;

	if (good) {
		c->made++;
		__atomic_fetch_add(&took_us[us], 1, __ATOMIC_RELAXED);
		return;
	}
	c->failed++;
	c->why = errno ? errno : ECONNRESET;
}

static void wait_until(double when)
{
	double left = when - now();

	if (left > 0)
		nanosleep(&(struct timespec){ .tv_sec = (time_t)left,
					      .tv_nsec = (long)((left - (double)(time_t)left) *
								1e9) },
			  NULL);
}

static void *make_connections(void *arg)
{
	struct client *c = arg;

	while (!enough && now() < c->end) {
		double before = now();
		bool good = converse(c->port);

		count(c, good, now() - before);
		if (c->rate > 0)
			wait_until(c->began + (double)(c->made + c->failed) / c->rate);
	}
	return NULL;
}

static double median_seconds(uint64_t made)
{
	uint64_t seen = 0;

	for (uint32_t us = 0; us < HIST_US; us++)
		if ((seen += took_us[us]) * 2 >= made)
			return us / 1e6;
	return 0;
}

static void report(const struct client *v, int n, double seconds)
{
	struct client all = {};

	for (int i = 0; i < n; i++) {
		all.made += v[i].made;
		all.failed += v[i].failed;
		all.why = v[i].why ? v[i].why : all.why;
	}
	printf("{\"made\": %llu, \"failed\": %llu, \"why\": ", (unsigned long long)all.made,
	       (unsigned long long)all.failed);
	printf(all.why ? "\"%s\"" : "null", strerror(all.why));
	printf(", \"seconds\": %.6f, \"median\": ", seconds);
	if (all.made)
		printf("%.6f}\n", median_seconds(all.made));
	else
		printf("null}\n");
}

static void stop(int sig)
{
	(void)sig;
	enough = 1;
}

static void run_clients(uint16_t port, int ports, double rate, double seconds)
{
	struct client v[PORTS_MOST] = {};
	double began = now();

	for (int i = 0; i < ports; i++) {
		v[i].port = (uint16_t)(port + i);
		v[i].rate = rate / ports;
		v[i].began = began + (rate > 0 ? i / rate : 0); /* in turns */
		v[i].end = began + seconds;
		if (pthread_create(&v[i].thread, NULL, make_connections, &v[i]))
			die("thread");
	}
	for (int i = 0; i < ports; i++)
		pthread_join(v[i].thread, NULL);
	report(v, ports, now() - began);
}

int main(int argc, char **argv)
{
	int ready[2], ports = argc == 5 ? atoi(argv[2]) : 0;
	pid_t server;
	char byte;

	if (ports < 1 || ports > PORTS_MOST) {
		fprintf(stderr, "usage: churn PORT PORTS RATE SECONDS\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (pipe(ready) || (server = fork()) < 0)
		die("fork");
	if (!server)
		serve_all((uint16_t)atoi(argv[1]), ports, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	signal(SIGUSR1, stop);
	run_clients((uint16_t)atoi(argv[1]), ports, atof(argv[3]), atof(argv[4]));
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return 0;
}
