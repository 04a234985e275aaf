// SPDX-License-Identifier: GPL-2.0-only
/* Messages over datagrams. A message that does not fit in one is sent as several pieces. Each
 * datagram starts with a header, as far as it has room: the message's number, the piece's number
 * and the number of pieces. The header overwrites content of the message, which does not matter, so
 * a message of S bytes is S bytes on the wire. If a message may be lost, the leader takes only
 * answers to its last question; otherwise answers come in order, each to the oldest question
 * without one. The follower takes any message that arrives whole. */
#include <errno.h>
#include <string.h>

#include "workloads/engine.h"

struct header {
	uint32_t seq;
	uint16_t piece, pieces;
};

static size_t header_room(size_t len)
{
	return len < sizeof(struct header) ? len : sizeof(struct header);
}

static bool vanished(int err)
{
	return err == ENOBUFS || err == ECONNREFUSED;
}

static enum io send_one(struct conn *c, const void *buf, size_t len)
{
	for (;;) {
		if (send(c->wfd, buf, len, c->spin ? MSG_DONTWAIT : 0) >= 0)
			return IO_OK;
		if (errno == EINTR || (errno == EAGAIN && c->spin))
			continue;
		if (vanished(errno)) {
			c->send_errors++;
			return IO_OK;
		}
		return errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN ? IO_CLOSED
										  : IO_ERROR;
	}
}

/* Where a piece ends. Pieces are as large as they may be, but the last one must have room for its
 * header: if it has not, the piece before it is shorter. */
static size_t piece_end(const struct conn *c, size_t len, size_t i, size_t pieces)
{
	size_t rest = len - (pieces - 1) * c->piece;

	if (i + 1 == pieces)
		return len;
	return (i + 1) * c->piece -
	       (i + 2 == pieces && rest < sizeof(struct header) ? sizeof(struct header) - rest : 0);
}

enum io datagram_send(struct conn *c, const void *buf, size_t len, bool more)
{
	char *p = (char *)buf, *whole = p;
	size_t pieces = (len + c->piece - 1) / c->piece;
	struct header h = { .seq = c->leader ? ++c->seq : c->seq, .pieces = (uint16_t)pieces };

	for (size_t i = 0, part; i < pieces; i++, p += part) {
		enum io rc;

		part = (size_t)(whole + piece_end(c, len, i, pieces) - p);
		h.piece = (uint16_t)i;
		memcpy(p, &h, header_room(part));
		rc = send_one(c, p, part);
		if (rc != IO_OK)
			return rc;
	}
	return IO_OK;
}

bool datagram_again(struct conn *c, uint32_t since, enum io *give_up)
{
	if (errno == EINTR || (errno == EAGAIN && c->spin)) {
		*give_up = IO_LOST;
		return !c->tick || *c->tick - since <= 2;
	}
	*give_up = errno == ECONNRESET ? IO_CLOSED : IO_ERROR;
	return vanished(errno);
}

/* Receive one datagram. Waits two to three ticks of the slow timer at most: then it was lost. */
static ssize_t recv_one(struct conn *c, void *buf, size_t cap, uint32_t since)
{
	enum io rc;

	for (;;) {
		ssize_t n = recv(c->rfd, buf, cap, c->spin ? MSG_DONTWAIT : 0);

		if (n > 0)
			return n;
		if (n == 0)
			return IO_CLOSED;
		if (!datagram_again(c, since, &rc))
			return rc;
	}
}

static bool awaited(const struct conn *c, const void *buf, size_t n)
{
	return !c->leader || !c->lossy ||
	       memcmp(buf, &c->seq, n < sizeof(c->seq) ? n : sizeof(c->seq)) == 0;
}

static enum io recv_whole(struct conn *c, void *buf, size_t len, uint32_t since)
{
	for (;;) {
		ssize_t n = recv_one(c, buf, len, since);

		if (n < 0)
			return (enum io)n;
		if ((size_t)n == len && awaited(c, buf, n)) {
			if (!c->leader)
				memcpy(&c->seq, buf, len < sizeof(c->seq) ? len : sizeof(c->seq));
			return IO_OK;
		}
		c->strays++;
	}
}

/* Receive the pieces of a message, in any order. A piece of a later message means that this one is
 * lost: start again with that message. */
static enum io recv_pieces(struct conn *c, char *buf, size_t len, uint32_t since)
{
	size_t pieces = (len + c->piece - 1) / c->piece, have = 0;
	uint32_t current = 0;

	for (;;) {
		ssize_t n = recv_one(c, buf, c->piece < len ? c->piece : len, since);
		struct header h;

		if (n < 0)
			return (enum io)n;
		if ((size_t)n < sizeof(h)) {
			c->strays++;
			continue;
		}
		memcpy(&h, buf, sizeof(h));
		if (h.pieces != pieces || !awaited(c, &h.seq, sizeof(h.seq))) {
			c->strays++;
			continue;
		}
		if (have && h.seq != current) {
			c->strays += have;
			have = 0;
		}
		current = h.seq;
		if (++have == pieces)
			break;
	}
	if (!c->leader)
		c->seq = current;
	return IO_OK;
}

enum io datagram_recv(struct conn *c, void *buf, size_t len)
{
	uint32_t since = c->tick ? *c->tick : 0;

	return len <= c->piece ? recv_whole(c, buf, len, since) : recv_pieces(c, buf, len, since);
}

ssize_t datagram_recv_some(struct conn *c, void *buf, size_t cap)
{
	ssize_t n = recv_one(c, buf, cap, c->tick ? *c->tick : 0);

	if (n > 0) /* so that the answer carries the number of the last message */
		memcpy(&c->seq, buf, (size_t)n < sizeof(c->seq) ? (size_t)n : sizeof(c->seq));
	return n;
}
