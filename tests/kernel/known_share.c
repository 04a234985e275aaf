// SPDX-License-Identifier: GPL-2.0-only
/* TCP sockets by the thousand, sockets whose memory is used again, and one socket in several hands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known.h"

/* --- many short connections: none merged, none lost ------------------------------------------- */

struct crowd {
	int listener;
	long n, first, step;
	struct end *server;
};

static void crowd_server(struct known *k, void *arg)
{
	struct crowd *c = arg;
	char buf[65536];
	long i;

	c->server->pid = getpid();
	for (i = 0; i < c->n; i++) {
		int fd = accept(c->listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		while (get_some(c->server, fd, buf, sizeof(buf)))
			;
		close(fd);
	}
}

static void crowd_client(struct known *k, struct end *e, const struct tcp_opts *o,
			 const struct crowd *c, int port)
{
	char *buf = spare_memory(c->first + c->n * c->step);
	uint64_t from = now_ns();
	long i;

	e->pid = getpid();
	for (i = 0; i < c->n; i++) {
		int fd = tcp_dial(k, o, port);

		put(e, fd, buf, c->first + i * c->step);
		shutdown(fd, SHUT_WR);
		if (get_some(e, fd, buf, 1))
			die("bytes from nowhere");
		close(fd);
	}
	k->elapsed_ns = now_ns() - from;
	free(buf);
}

/* Each connection sends a number of bytes of its own, so that two ledgers made one, or one lost,
 * shows. */
static void many(struct known *k)
{
	struct crowd c = { .n = param(k, "n", 10000), .first = param(k, "first", 100),
		.step = param(k, "step", 1) };
	struct end *e = end_new(k, "client", "tcp");
	struct tcp_opts o = tcp_params(k);
	int port = 0;

	c.server = end_new(k, "server", "tcp");
	c.listener = tcp_listen(k, &o, &port);
	other_side(k, crowd_server, &c);
	crowd_client(k, e, &o, &c, port);
	join_other_side(k);
	truth_ns(k, "bytes", e->tx_bytes);
	group(k, "client", "tcp", "remote", port, c.n, c.first, c.step);
	group(k, "server", "tcp", "local", port, c.n, c.first, c.step);
	k->shared->nr_ends = 0;
}

/* --- the same memory again: connections with and without stalls, one after the other ---------- */

struct relay {
	int listener;
	long n, messages;
};

/* For how long its second write was held; 0 if it was not. */
static uint64_t message(int fd, char *buf, struct end *e)
{
	uint64_t from;

	put(e, fd, buf, 16);
	from = now_ns();
	put(e, fd, buf, 1000);
	if (!get(e, fd, buf, 1))
		die("no reply");
	from = now_ns() - from;
	return from > STALLED_NS ? from : 0;
}

static void relay_server(struct known *k, void *arg)
{
	struct relay *r = arg;
	struct end nobody = { .role = "server" };
	char buf[1016];
	long i;

	for (i = 0; i < r->n; i++) {
		int fd = accept(r->listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		while (get(&nobody, fd, buf, sizeof(buf)))
			put(&nobody, fd, buf, 1);
		close(fd);
	}
}

/* One connection; what its messages waited. */
static void relay_connection(struct known *k, struct end *e, struct tcp_opts *o, int port,
			     long messages)
{
	int fd = tcp_dial(k, o, port);
	uint64_t held = 0;
	char buf[1016];
	long i;

	memset(buf, 'x', sizeof(buf));
	end_here(e, fd);
	for (i = 0; i < messages; i++)
		held += message(fd, buf, e);
	close(fd);
	end_gone(e);
	e->napped_ns = held;
}

static void relay_expect(struct known *k, struct end *e, bool plain)
{
	truth_ns(k, e->role, e->napped_ns);
	expect_traffic(k, e->role);
	expect_ns(k, e->role, "tx", "nagle", e->napped_ns);
	if (plain)
		expect_count(k, e->role, "tx", "nagle", 0, 0);
	e->napped_ns = 0;
}

static void reuse(struct known *k)
{
	struct relay r = { .n = param(k, "n", 10), .messages = param(k, "messages", 4) };
	struct tcp_opts o = tcp_params(k);
	uint64_t from = now_ns();
	struct end *e;
	int port = 0;
	char role[32];
	long i;

	r.listener = tcp_listen(k, &o, &port);
	other_side(k, relay_server, &r);
	for (i = 0; i < r.n; i++) {
		snprintf(role, sizeof(role), "client.%d", (int)i);
		e = end_new(k, role, "tcp");
		o.nodelay = i & 1;
		relay_connection(k, e, &o, port, r.messages);
	}
	k->elapsed_ns = now_ns() - from;
	join_other_side(k);
	for (i = 0; i < r.n; i++)
		relay_expect(k, &k->shared->ends[i], i & 1);
}

/* --- one socket, several hands ---------------------------------------------------------------- */

struct turn {
	uint64_t held, stalls;
};

/* A turn: some write-write-read messages on whatever descriptor this is. */
static void take_turn(int fd, struct turn *t, long messages)
{
	struct end e = { .role = "client" };
	char buf[1016] = { 0 };
	long i;

	for (i = 0; i < messages; i++) {
		uint64_t held = message(fd, buf, &e);

		t->held += held;
		t->stalls += held > 0;
	}
}

static void await(pid_t pid)
{
	int status;

	errno = 0;
	if (waitpid(pid, &status, 0) != pid || status)
		die("a process that shared the socket failed");
}

static void turn_forked(int fd, struct turn *t, long messages)
{
	pid_t pid = fork();

	if (!pid) {
		take_turn(fd, t, messages);
		_exit(0);
	}
	await(pid);
}

static void send_fd(int via, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(via, &msg, 0) != 1)
		die("sendmsg of a descriptor");
}

static int receive_fd(int via)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(via, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		die("recvmsg of a descriptor");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

/* A process that never had the socket gets it as a message. */
static void turn_passed(int fd, struct turn *t, long messages)
{
	int via[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, via))
		die("socketpair");
	pid = fork();
	if (!pid) {
		close(fd);
		take_turn(receive_fd(via[1]), t, messages);
		_exit(0);
	}
	send_fd(via[0], fd);
	await(pid);
	close(via[0]);
	close(via[1]);
}

static void turn_duplicate(int fd, struct turn *t, long messages)
{
	int copy = dup(fd);

	take_turn(copy, t, messages);
	close(copy);
}

/* Where the turns' figures go: children write there too. */
static struct turn *turns(struct known *k)
{
	return (struct turn *)&k->shared->ends[MAX_ENDS - 1];
}

static long messages_each;

static void shared_client(struct known *k, struct end *e, int fd)
{
	uint64_t from = now_ns();
	struct turn *t = turns(k);

	take_turn(fd, t, messages_each);
	turn_duplicate(fd, t, messages_each);
	turn_forked(fd, t, messages_each);
	turn_passed(fd, t, messages_each);
	k->elapsed_ns = now_ns() - from;
	e->tx_bytes = 4 * messages_each * 1016;
	e->rx_bytes = 4 * messages_each;
}

static void shared_server(struct known *k, struct end *e, int fd)
{
	char buf[1016];

	while (get(e, fd, buf, sizeof(buf)))
		put(e, fd, buf, 1);
}

static void shared_socket(struct known *k)
{
	struct tcp_opts o = tcp_params(k);
	struct turn *t = turns(k);

	messages_each = param(k, "messages", 5);
	tcp_case(k, &o, shared_client, shared_server);
	truth_ns(k, "nagle_ns", t->held);
	truth_ns(k, "stalls", t->stalls);
	expect_ns(k, "client", "tx", "nagle", t->held);
	expect_count(k, "client", "tx", "nagle", t->stalls, 4 * messages_each);
	expect_cause(k, "client", "nagle");
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

/* --- several threads write to one socket, several read from it -------------------------------- */

#define THREADS 3

struct hand {
	int fd;
	long n, size, nap_ms;
	uint64_t bytes;
};

static struct flow crew_flow;
static uint64_t crew_unsent_ns;

static void *write_thread(void *arg)
{
	struct hand *h = arg;
	char *buf = spare_memory(h->size);
	struct end e = { .role = "client" };
	long i;

	for (i = 0; i < h->n; i++)
		put(&e, h->fd, buf, h->size);
	h->bytes = e.tx_bytes;
	free(buf);
	return NULL;
}

static void *read_thread(void *arg)
{
	struct hand *h = arg;
	char *buf = spare_memory(h->size);
	struct end e = { .role = "server" };

	do
		nap_ns(h->nap_ms * NSEC_PER_MSEC);
	while (get_some(&e, h->fd, buf, h->size));
	h->bytes = e.rx_bytes;
	free(buf);
	return NULL;
}

static uint64_t crew(int fd, void *(*work)(void *), long n, long size, long nap_ms)
{
	struct hand hand[THREADS];
	pthread_t thread[THREADS];
	uint64_t bytes = 0;
	int i;

	for (i = 0; i < THREADS; i++) {
		hand[i] = (struct hand){ .fd = fd, .n = n, .size = size, .nap_ms = nap_ms };
		if (pthread_create(&thread[i], NULL, work, &hand[i]))
			die("thread");
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		bytes += hand[i].bytes;
	}
	return bytes;
}

static void crew_client(struct known *k, struct end *e, int fd)
{
	uint64_t from = now_ns();

	e->tx_bytes = crew(fd, write_thread, crew_flow.n / THREADS, crew_flow.size, 0);
	crew_unsent_ns = watch_unsent(fd, from, from + 60 * NSEC_PER_SEC) - from;
	k->elapsed_ns = now_ns() - from;
	shutdown(fd, SHUT_WR);
	while (!reached_peer(fd))
		nap_ns(NSEC_PER_MSEC);
}

static void crew_server(struct known *k, struct end *e, int fd)
{
	e->rx_bytes = crew(fd, read_thread, 0, crew_flow.size, crew_flow.nap_ms);
}

/* A send buffer smaller than what is written: threads sleep in write(), and the window is closed:
 * its reason wins. */
static void crew_case(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	crew_flow = flow_params(k, true, 60, 8192, 40);
	o.rcvbuf = param(k, "rcvbuf", 16384);
	o.sndbuf = param(k, "sndbuf", 131072);
	o.nodelay = 1;
	tcp_case(k, &o, crew_client, crew_server);
	truth_ns(k, "unsent_ns", crew_unsent_ns);
	expect_ns(k, "client", "tx", "rwnd", crew_unsent_ns);
	expect_cause(k, "client", "rwnd");
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

const struct known_case tcp_share_cases[] = {
	{ "many", many, "short connections, each with a byte count of its own: n first step v" },
	{ "reuse", reuse, "one connection after the other, every second with TCP_NODELAY: n "
		"messages v" },
	{ "shared", shared_socket, "one socket by itself, dup, fork and SCM_RIGHTS: messages v" },
	{ "tcp-threads", crew_case, "three writers and three slow readers on one connection: n "
		"size nap_ms v" },
	{ NULL }
};
