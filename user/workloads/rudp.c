// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reliable UDP: the machines of rudp_machine.h on a connected UDP socket. On the wire a packet is a
 * 64-bit number (big endian) and the payload, an acknowledgement the number alone. A message beyond
 * one datagram goes as several packets.
 *
 * The leader only sends and the follower only receives; the acknowledgement is the answer, so a
 * round trip ends there.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/array.h"
#include "base/clock.h"
#include "workloads/rudp.h"
#include "workloads/rudp_machine.h"

enum {
	NUMBER = sizeof(int64_t),
	/* the slow tick of 40 ms interrupts a plain recv(): good enough if the retransmission timer
	 * is more than two ticks away */
	BLOCK_FROM_NS = 100000000,
	TIMER_SLACK_NS = 1000,
	HEAD_BYTES = 1024,
	RCVBUF_MOST = 1 << 29,
};

struct rudp {
	struct rudp_sender s;
	struct rudp_receiver r;
	size_t room; /* the most payload bytes in a packet of this run */
	uint32_t refusals;
	struct rudp_slot *slots;
	bool *got;
	uint32_t *len; /* [window] of each kept payload */
	char *kept;    /* [window] payloads: sent and not acknowledged, or arrived early */
	char *spill;   /* the part of a packet beyond the reader's buffer */
};

static struct rudp *state(const struct conn *c)
{
	return c->engine_state;
}

static char *kept(struct rudp *u, int64_t seq)
{
	return u->kept + u->room * rudp_slot_of(seq, u->s.window);
}

/* Called only if an allocation failed: a state in use is freed when its process ends. */
static void drop_state(struct conn *c)
{
	struct rudp *u = state(c);

	free(u->slots);
	free(u->got);
	free(u->len);
	free(u->kept);
	free(u->spill);
	free(u);
	c->engine_state = NULL;
}

/* The packets in flight must fit in the reader's buffer, or the window itself causes loss. The
 * kernel counts the memory of a datagram, up to twice its bytes and some for its head, and doubles
 * the requested size (sock_setsockopt, SO_RCVBUF). Best effort: without CAP_NET_ADMIN
 * net.core.rmem_max is the limit, and the result shows both the buffer and the loss. */
static void room_for_window(int fd, const struct workload_options *o, size_t bytes)
{
	int64_t want = product(o->window, (int64_t)(bytes + HEAD_BYTES));
	int v = want < RCVBUF_MOST ? (int)want : RCVBUF_MOST, have = 0;
	socklen_t len = sizeof(have);

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &have, &len) == 0 && have / 2 >= v)
		return;
	if (o->unprivileged || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &v, sizeof(v)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v));
}

static int attach(struct conn *c, const struct workload_options *o, struct err *e)
{
	uint32_t window = o->window < 1			? 1
			  : o->window > RUDP_WINDOW_MAX ? RUDP_WINDOW_MAX
							: (uint32_t)o->window;
	struct rudp *u = calloc(1, sizeof(*u));

	if (!u)
		return err_resource(e, "rudp: out of memory; give a smaller --window");
	c->engine_state = u;
	c->piece -= NUMBER;
	u->room = o->message && o->message < c->piece ? o->message : c->piece;
	u->slots = array_new(window, 0, sizeof(*u->slots));
	u->got = array_new(window, 0, sizeof(*u->got));
	u->len = array_new(window, 0, sizeof(*u->len));
	u->kept = array_new(window, 0, u->room);
	u->spill = malloc(u->room);
	if (!u->slots || !u->got || !u->len || !u->kept || !u->spill) {
		err_resource(e,
			     "rudp: no memory for a window of %u packets of %zu bytes; give a "
			     "smaller --window",
			     window, u->room);
		drop_state(c);
		return -1;
	}
	rudp_sender_init(&u->s, u->slots, window, (uint64_t)o->rto_ns);
	rudp_receiver_init(&u->r, u->got, window, o->drop, o->seed);
	prctl(PR_SET_TIMERSLACK,
	      TIMER_SLACK_NS); /* of this process only, which the runner made for this */
	return 0;
}

static int rudp_listen(struct conn *c, const struct workload_options *o, struct address *bound,
		       struct err *e)
{
	if (workload_udp.listen(c, o, bound, e) || attach(c, o, e))
		return -1;
	if (!o->rcvbuf)
		room_for_window(c->rfd, o, NUMBER + state(c)->room);
	return 0;
}

static int rudp_connect(struct conn *c, const struct workload_options *o, const struct address *to,
			struct address *from, struct err *e)
{
	if (workload_udp.connect(c, o, to, from, e) || attach(c, o, e))
		return -1;
	if (!o->rcvbuf)
		room_for_window(c->rfd, o, NUMBER);
	return 0;
}

static int rudp_accept(struct conn *c, const struct workload_options *o, const struct address *from,
		       struct err *e)
{
	return workload_udp.accept(c, o, from, e);
}

/* A full queue or a refusal is a loss like any other: the timer retransmits. Refusals without end
 * mean a dead peer. */
static enum io sent(struct conn *c, ssize_t n)
{
	if (n >= 0)
		return IO_OK;
	if (errno == ENOBUFS || errno == EAGAIN || errno == EINTR) {
		c->send_errors++;
		return IO_OK;
	}
	if (errno != ECONNREFUSED)
		return IO_ERROR;
	c->send_errors++;
	return ++state(c)->refusals > RUDP_REFUSALS_MAX ? IO_CLOSED : IO_OK;
}

static enum io transmit(struct conn *c, int64_t seq)
{
	struct rudp *u = state(c);
	int64_t wire = (int64_t)htobe64((uint64_t)seq);
	struct iovec v[2] = { { &wire, NUMBER }, { kept(u, seq),
		u->len[rudp_slot_of(seq, u->s.window)] } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	return sent(c, sendmsg(c->wfd, &m, c->spin ? MSG_DONTWAIT : 0));
}

bool rudp_can_send(const struct conn *c)
{
	return rudp_room(&state(c)->s);
}

bool rudp_settled(const struct conn *c)
{
	return rudp_all_acked(&state(c)->s);
}

enum io rudp_push(struct conn *c, const void *buf, size_t len, int64_t *seq)
{
	struct rudp *u = state(c);

	*seq = rudp_send(&u->s, now_ns());
	u->len[rudp_slot_of(*seq, u->s.window)] = (uint32_t)len;
	memcpy(kept(u, *seq), buf, len);
	return transmit(c, *seq);
}

static enum io repeat_due(struct conn *c, uint64_t now)
{
	struct rudp *u = state(c);
	int64_t seq;

	while ((seq = rudp_retry(&u->s, now)) >= 0) {
		enum io rc = transmit(c, seq);

		if (rc != IO_OK)
			return rc;
		if (rudp_tries(&u->s, seq) > RUDP_TRIES_MAX) {
			errno = ETIMEDOUT;
			return IO_CLOSED;
		}
	}
	return IO_OK;
}

static void wait_until(const struct conn *c, uint64_t now, uint64_t due)
{
	struct pollfd p = { c->rfd, POLLIN, 0 };
	uint64_t left = due - now;
	struct timespec ts = { (time_t)(left / 1000000000), (long)(left % 1000000000) };

	ppoll(&p, 1, &ts, NULL);
}

/* Read one acknowledgement from the socket; IO_LOST: none is there (yet). */
static enum io take_ack(struct conn *c, int flags, int64_t *seq)
{
	int64_t wire;
	ssize_t n = recv(c->rfd, &wire, sizeof(wire), flags);

	if (n == NUMBER && rudp_acked(&state(c)->s, (int64_t)be64toh((uint64_t)wire))) {
		*seq = (int64_t)be64toh((uint64_t)wire);
		state(c)->refusals = 0;
		return IO_OK;
	}
	c->strays += n >= 0 && n != NUMBER;
	return n >= 0 || errno == EINTR || errno == EAGAIN || sent(c, n) == IO_OK ? IO_LOST
										  : IO_CLOSED;
}

enum io rudp_await(struct conn *c, bool block, int64_t *seq)
{
	struct rudp *u = state(c);

	for (;;) {
		uint64_t now = now_ns(), due = rudp_due(&u->s);
		bool sleep = block && !c->spin && c->tick && due > now && due - now > BLOCK_FROM_NS;
		enum io rc;

		if (due <= now && (rc = repeat_due(c, now)) != IO_OK)
			return rc;
		errno = 0;
		rc = take_ack(c, sleep ? 0 : MSG_DONTWAIT, seq);
		if (rc != IO_LOST)
			return rc;
		if (errno != EAGAIN)
			continue;
		if (!block)
			return IO_LOST;
		if (!c->spin && due > now)
			wait_until(c, now, due);
	}
}

static enum io leader_send(struct conn *c, const char *p, size_t len)
{
	while (len) {
		size_t part = len < c->piece ? len : c->piece;
		enum io rc = IO_OK;
		int64_t seq;

		while (!rudp_can_send(c) && rc == IO_OK)
			rc = rudp_await(c, true, &seq);
		if (rc == IO_OK)
			rc = rudp_push(c, p, part, &seq);
		if (rc != IO_OK)
			return rc;
		p += part;
		len -= part;
	}
	return IO_OK;
}

/* The follower's answer is the acknowledgement, sent when the message arrived. */
static enum io rudp_send_msg(struct conn *c, const void *buf, size_t len, bool more)
{
	return c->leader ? leader_send(c, buf, len) : IO_OK;
}

static enum io acknowledge(struct conn *c, int64_t seq)
{
	int64_t wire = (int64_t)htobe64((uint64_t)seq);

	return sent(c, send(c->wfd, &wire, sizeof(wire), MSG_DONTWAIT));
}

/* Receive a packet into the reader's buffer, and the part beyond it into the spill. IO_LOST: none
 * came within one or two ticks. */
static ssize_t next_packet(struct conn *c, int64_t *seq, void *buf, size_t cap, uint32_t since)
{
	struct rudp *u = state(c);

	for (;;) {
		struct iovec v[3] = { { seq, NUMBER }, { buf, cap }, { u->spill, u->room } };
		struct msghdr m = { .msg_iov = v, .msg_iovlen = 3 };
		ssize_t n = recvmsg(c->rfd, &m, c->spin ? MSG_DONTWAIT : 0);

		if (n >= NUMBER && !(m.msg_flags & MSG_TRUNC)) {
			*seq = (int64_t)be64toh((uint64_t)*seq);
			return n - NUMBER;
		}
		c->strays += n >= 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN && sent(c, n) != IO_OK)
			return IO_CLOSED;
		if (c->tick && *c->tick - since > 1)
			return IO_LOST;
	}
}

/* Keep an early packet in its slot: first the part in the reader's buffer, then the spill. */
static void keep_early(struct rudp *u, int64_t seq, const char *buf, size_t cap, size_t n)
{
	size_t head = n < cap ? n : cap;

	memcpy(kept(u, seq), buf, head);
	memcpy(kept(u, seq) + head, u->spill, n - head);
	u->len[rudp_slot_of(seq, u->s.window)] = (uint32_t)n;
}

static ssize_t take_kept(struct rudp *u, char *buf, size_t cap)
{
	uint32_t n = u->len[rudp_slot_of(u->r.next, u->s.window)];

	if (n > cap)
		return IO_ERROR;
	memcpy(buf, kept(u, u->r.next), n);
	rudp_take(&u->r);
	return n;
}

static enum io judge(struct conn *c, int64_t seq, enum rudp_arrival *verdict, size_t n)
{
	struct rudp *u = state(c);

	if (n > u->room) { /* not of this run */
		c->strays++;
		*verdict = RUDP_ALIEN;
		return IO_OK;
	}
	*verdict = rudp_arrive(&u->r, seq);
	return *verdict == RUDP_FRESH || *verdict == RUDP_DUPLICATE ? acknowledge(c, seq) : IO_OK;
}

/* Returns the payload of the next packet in order. */
static ssize_t follower_next(struct conn *c, char *buf, size_t cap)
{
	struct rudp *u = state(c);
	uint32_t since = c->tick ? *c->tick : 0;

	if (rudp_ready(&u->r))
		return take_kept(u, buf, cap);
	for (;;) {
		enum rudp_arrival verdict;
		int64_t seq;
		ssize_t n = next_packet(c, &seq, buf, cap, since);
		enum io rc = n < 0 ? (enum io)n : judge(c, seq, &verdict, (size_t)n);

		if (rc != IO_OK)
			return rc;
		if (verdict == RUDP_FRESH && seq == u->r.next && (size_t)n <= cap) {
			rudp_take(&u->r);
			return n;
		}
		if (verdict == RUDP_FRESH)
			keep_early(u, seq, buf, cap, (size_t)n);
	}
}

/* The leader has its answer when everything it sent is acknowledged. */
static enum io all_acknowledged(struct conn *c)
{
	enum io rc = IO_OK;
	int64_t seq;

	while (rc == IO_OK && !rudp_settled(c))
		rc = rudp_await(c, true, &seq);
	return rc;
}

static enum io rudp_recv_msg(struct conn *c, void *buf, size_t len)
{
	size_t have = 0;

	if (c->leader)
		return all_acknowledged(c);
	while (have < len) {
		ssize_t n = follower_next(c, (char *)buf + have, len - have);

		if (n == IO_LOST && have)
			continue; /* the rest of a message must come, or the other end is gone */
		if (n < 0)
			return (enum io)n;
		have += (size_t)n;
	}
	return IO_OK;
}

static ssize_t rudp_recv_some(struct conn *c, void *buf, size_t cap)
{
	return c->leader ? (ssize_t)IO_ERROR : follower_next(c, buf, cap);
}

void rudp_counts(const struct conn *c, struct reliable_counts *n)
{
	const struct rudp *u = state(c);

	*n = (struct reliable_counts){
		.packets = u->s.acks,
		.transmissions = u->s.transmissions,
		.retransmits = u->s.retransmits,
		.stale_acks = u->s.stale_acks,
		.arrivals = u->r.arrivals,
		.dropped = u->r.dropped,
		.duplicates = u->r.duplicates,
		.early = u->r.early,
		.aliens = u->r.aliens,
	};
}

const struct workload workload_rudp = {
	.name = "rudp",
	.summary = "reliable UDP: numbered, acknowledged, repeated (--rto, --window, --drop)",
	.flags = WL_DATAGRAM | WL_SOCKET | WL_INET | WL_RELIABLE,
	.listen = rudp_listen,
	.connect = rudp_connect,
	.accept = rudp_accept,
	.send_msg = rudp_send_msg,
	.recv_msg = rudp_recv_msg,
	.recv_some = rudp_recv_some,
	.facts = socket_facts_read,
};
