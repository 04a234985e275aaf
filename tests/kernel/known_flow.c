// SPDX-License-Identifier: GPL-2.0-only
/* A flow in one direction with one side slow: the same for pipes, FIFOs and Unix sockets. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "known.h"

struct flow flow_params(struct known *k, bool slow_reader, long n, long size, long nap_ms)
{
	return (struct flow){
		.n = param(k, "n", n),
		.size = param(k, "size", size),
		.nap_ms = param(k, "nap_ms", nap_ms),
		.slow_reader = slow_reader,
		.ask = param(k, "ask", 0),
	};
}

static void ask(int fd, long how, bool for_room)
{
	struct pollfd p = { .fd = fd, .events = for_room ? POLLOUT : POLLIN };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if ((how == 1 ? poll(&p, 1, -1)
		      : select(fd + 1, for_room ? NULL : &set, for_room ? &set : NULL, NULL,
			       NULL)) != 1)
		die("poll");
}

static void count_write(struct end *e, uint64_t from, long bytes)
{
	uint64_t took = now_ns() - from;

	e->in_write_ns += took;
	e->waits += took > WAITED_NS;
	e->tx_bytes += bytes;
	e->tx_messages += bytes > 0;
}

/* A writer of libuv's kind: what is not taken at once waits in epoll, without a second try. */
static void put_some(struct end *e, int fd, const char *buf, long len, int room)
{
	struct epoll_event ready;

	for (long at = 0; at < len;) {
		uint64_t from = now_ns();
		ssize_t n = call_write(fd, buf + at, len - at);

		if (n < 0 && errno != EAGAIN)
			die("%s: write", e->role);
		n = n < 0 ? 0 : n;
		at += n;
		if (at < len && epoll_wait(room, &ready, 1, -1) != 1)
			die("epoll_wait");
		count_write(e, from, n);
	}
}

static int epoll_of(int fd)
{
	struct epoll_event e = { .events = EPOLLOUT };
	int room = epoll_create1(0);

	if (room < 0 || epoll_ctl(room, EPOLL_CTL_ADD, fd, &e))
		die("epoll");
	return room;
}

/* Never refused, and never asleep in a write. */
static void put_asking(struct end *e, int fd, const char *buf, long len, long how)
{
	long piece = 4096;

	for (long at = 0; at < len; at += piece) {
		uint64_t from = now_ns();

		ask(fd, how, true);
		if (call_write(fd, buf + at, piece) != piece)
			die("%s: write", e->role);
		count_write(e, from, piece);
	}
}

void flow_writer(struct known *k, struct end *e, int fd, const struct flow *f)
{
	char *buf = spare_memory(f->size);
	long how = f->slow_reader ? f->ask : 0;
	int room = how == ASK_EPOLL ? epoll_of(fd) : -1;
	uint64_t cpu = cpu_time_ns(), from;
	long i;

	if (how && fcntl(fd, F_SETFL, O_NONBLOCK))
		die("fcntl");
	meet(k);
	from = now_ns();
	for (i = 0; i < f->n; i++) {
		if (!f->slow_reader)
			nap(e, f->nap_ms);
		if (how == ASK_EPOLL)
			put_some(e, fd, buf, f->size, room);
		else if (how)
			put_asking(e, fd, buf, f->size, how);
		else
			put(e, fd, buf, f->size);
	}
	k->elapsed_ns = now_ns() - from;
	e->cpu_ns = cpu_time_ns() - cpu;
	if (room >= 0)
		close(room);
	free(buf);
}

static bool flow_message(struct end *e, int fd, char *buf, const struct flow *f)
{
	ssize_t n;

	if (!f->whole)
		return get(e, fd, buf, f->size);
	n = get_some(e, fd, buf, f->size);
	errno = 0;
	if (n && n != f->size)
		die("%s: %zd of %ld bytes", e->role, n, f->size);
	e->rx_messages += n > 0;
	return n > 0;
}

/* asks before it reads, and so never sleeps in a read */
static void ask_first(struct end *e, int fd, long how)
{
	uint64_t from = now_ns();

	ask(fd, how, false);
	e->in_read_ns += now_ns() - from;
}

/* Reads n messages and no more, so that the last nap too has a message waiting. */
void flow_reader(struct known *k, struct end *e, int fd, const struct flow *f)
{
	char *buf = spare_memory(f->size);
	uint64_t cpu = cpu_time_ns(), from;
	long i;

	meet(k);
	from = now_ns();
	for (i = 0; i < f->n; i++) {
		if (f->slow_reader)
			nap(e, f->nap_ms);
		else if (f->ask)
			ask_first(e, fd, f->ask);
		if (!flow_message(e, fd, buf, f))
			break;
	}
	e->late_ns = now_ns() - from - e->napped_ns - e->in_read_ns;
	e->cpu_ns = cpu_time_ns() - cpu;
	errno = 0;
	if (i < f->n)
		die("reader: %ld of %ld messages", i, f->n);
	free(buf);
}

static void expect_slow_reader(struct known *k, const struct flow *f, struct end *w, struct end *r)
{
	truth_ns(k, "in_write_ns", w->in_write_ns);
	truth_ns(k, "waits", w->waits);
	truth_ns(k, "unread_ns", r->napped_ns);
	expect_ns(k, "writer", "tx", "sndbuf", w->in_write_ns);
	expect_count(k, "writer", "tx", "sndbuf", w->waits, w->tx_messages);
	if (!f->ask) /* else no thread ever sleeps in a call on it */
		expect_beside_ns(k, "writer", "tx", "blocked_ns", w->in_write_ns);
	expect_cause(k, "writer", "sndbuf");
	expect_none(k, "writer", "tx", "device");
	/* The first nap may come before the first sight of the endpoint, where its life begins. */
	expect_range(k, "reader", "rx", "unread", r->napped_ns - r->napped_ns / f->n,
		     r->napped_ns + r->late_ns);
	expect_none(k, "reader", "rx", "wait");
	expect_blame(k, "writer", "sndbuf", "reader");
}

static void expect_slow_writer(struct known *k, const struct flow *f, struct end *w, struct end *r)
{
	truth_ns(k, "in_read_ns", r->in_read_ns);
	truth_ns(k, "idle_ns", w->napped_ns);
	expect_ns(k, "reader", "rx", "wait", r->in_read_ns);
	expect_none(k, "reader", "rx", "unread");
	/* At most: from its making on, which was before this side ran. */
	expect_range(k, "writer", "tx", "idle", w->napped_ns - w->napped_ns / f->n,
		     w->closed_ns - w->opened_ns);
	expect_no_stall(k, "writer");
	expect_none(k, "writer", "tx", "device");
}

void flow_expect(struct known *k, const struct flow *f)
{
	struct end *w = end_find(k, "writer"), *r = end_find(k, "reader");

	if (f->ask)
		expect_covers(k, "poll");
	(f->slow_reader ? expect_slow_reader : expect_slow_writer)(k, f, w, r);
	expect_traffic(k, "writer");
	expect_traffic(k, "reader");
	expect_beside(k, "writer", "tx", "messages", w->tx_messages, w->tx_messages);
	if (!f->ask) /* else it may find a part of what it wants, and read twice */
		expect_beside(k, "reader", "rx", "messages", r->rx_messages, r->rx_messages);
}
