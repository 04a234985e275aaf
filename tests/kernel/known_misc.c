// SPDX-License-Identifier: GPL-2.0-only
/* io_uring, by its system calls: the same write-write-read, from a task that never calls write().
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "known.h"

struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *ring_map(int fd, size_t len, off_t what)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

	if (p == MAP_FAILED)
		die("mmap of the ring");
	return p;
}

static void ring_new(struct ring *r)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	r->fd = syscall(SYS_io_uring_setup, 8, &p);
	if (r->fd < 0)
		skip("io_uring refused: %s", strerror(errno));
	sq = ring_map(r->fd, p.sq_off.array + p.sq_entries * sizeof(unsigned int),
		      IORING_OFF_SQ_RING);
	cq = ring_map(r->fd, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	r->sqes = ring_map(r->fd, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	r->sq_tail = (void *)(sq + p.sq_off.tail);
	r->sq_mask = (void *)(sq + p.sq_off.ring_mask);
	r->sq_array = (void *)(sq + p.sq_off.array);
	r->cq_head = (void *)(cq + p.cq_off.head);
	r->cq_tail = (void *)(cq + p.cq_off.tail);
	r->cq_mask = (void *)(cq + p.cq_off.ring_mask);
	r->cqes = (void *)(cq + p.cq_off.cqes);
}

/* One operation, start to end. */
static int ring_do(struct ring *r, int op, int fd, void *buf, unsigned int len)
{
	unsigned int tail = *r->sq_tail, i = tail & *r->sq_mask, head = *r->cq_head;
	int res;

	memset(&r->sqes[i], 0, sizeof(r->sqes[i]));
	r->sqes[i].opcode = op;
	r->sqes[i].fd = fd;
	r->sqes[i].addr = (uintptr_t)buf;
	r->sqes[i].len = len;
	r->sq_array[i] = i;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	while (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		if (errno != EINTR)
			die("io_uring_enter");
	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == head)
		;
	res = r->cqes[head & *r->cq_mask].res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return res;
}

static void ring_all(struct ring *r, int op, int fd, char *buf, long len)
{
	while (len > 0) {
		int n = ring_do(r, op, fd, buf, len);

		errno = n < 0 ? -n : 0;
		if (n <= 0)
			die("io_uring operation %d", op);
		len -= n;
	}
}

static long messages;
static uint64_t held_ns, stalls;

static void uring_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(1016);
	uint64_t from = now_ns();
	struct ring r;
	long i;

	ring_new(&r);
	for (i = 0; i < messages; i++) {
		uint64_t began, took;

		ring_all(&r, IORING_OP_SEND, fd, buf, 16);
		began = now_ns();
		ring_all(&r, IORING_OP_SEND, fd, buf, 1000);
		ring_all(&r, IORING_OP_RECV, fd, buf, 1);
		took = now_ns() - began;
		stalls += took > STALLED_NS;
		held_ns += took > STALLED_NS ? took : 0;
	}
	k->elapsed_ns = now_ns() - from;
	e->tx_bytes = messages * 1016;
	e->rx_bytes = messages;
	close(r.fd);
	free(buf);
}

static void uring_server(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(1016);

	while (get(e, fd, buf, 1016))
		put(e, fd, buf, 1);
	free(buf);
}

static void uring(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	messages = param(k, "n", 20);
	tcp_case(k, &o, uring_client, uring_server);
	truth_ns(k, "nagle_ns", held_ns);
	truth_ns(k, "stalls", stalls);
	expect_covers(k, "io_uring");
	expect_ns(k, "client", "tx", "nagle", held_ns);
	expect_count(k, "client", "tx", "nagle", stalls, messages);
	expect_cause(k, "client", "nagle");
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

const struct known_case misc_cases[] = {
	{ "io_uring", uring, "write-write-read by io_uring: n v" },
	{ NULL }
};
