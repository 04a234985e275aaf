// SPDX-License-Identifier: GPL-2.0-only
/* Messages over a byte stream: send and recv, MSG_WAITALL so that one call takes a whole message.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <netinet/in.h>

#include "workloads/workload.h"

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Try again if spinning or after a signal. Other errors are the caller's. */
static inline bool again(const struct conn *c)
{
	if (errno == EINTR)
		return true;
	if (!c->spin || errno != EAGAIN)
		return false;
	relax();
	return true;
}

static enum io failed(ssize_t n)
{
	return n == 0 || errno == EPIPE || errno == ECONNRESET ? IO_CLOSED : IO_ERROR;
}

enum io stream_send_socket(struct conn *c, const void *buf, size_t len, bool more)
{
	const char *p = buf;
	int flags = (more ? MSG_MORE : 0) | (c->spin ? MSG_DONTWAIT : 0);

	while (len) {
		ssize_t n = send(c->wfd, p, len, flags);

		if (n < 0) {
			if (again(c))
				continue;
			return failed(n);
		}
		p += n;
		len -= n;
	}
	return IO_OK;
}

/* The kernel leaves quick-ACK mode by itself (tcp_delack_timer and pingpong mode), so the option is
 * set before each receive. */
static inline void quick_ack(const struct conn *c)
{
	int one = 1;

	if (c->quickack)
		setsockopt(c->rfd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
}

/* True if a slow timer runs and nothing has come for two to three of its ticks. */
static inline bool quiet(const struct conn *c, uint32_t since)
{
	return c->tick && *c->tick - since > 2;
}

enum io stream_recv_socket(struct conn *c, void *buf, size_t len)
{
	char *p = buf;
	int flags = c->spin ? MSG_DONTWAIT : MSG_WAITALL;
	uint32_t since = c->tick ? *c->tick : 0;

	quick_ack(c);
	while (len) {
		ssize_t n = recv(c->rfd, p, len, flags);

		if (n <= 0) {
			if (n == 0 || !again(c))
				return failed(n);
			if (p == buf && quiet(c, since))
				return IO_LOST;
			continue;
		}
		p += n;
		len -= n;
	}
	return IO_OK;
}

ssize_t stream_recv_some_socket(struct conn *c, void *buf, size_t cap)
{
	uint32_t since = c->tick ? *c->tick : 0;
	ssize_t n;

	quick_ack(c);
	do
		n = recv(c->rfd, buf, cap, c->spin ? MSG_DONTWAIT : 0);
	while (n < 0 && again(c) && !quiet(c, since));
	if (n < 0 && (errno == EINTR || errno == EAGAIN) && quiet(c, since))
		return IO_LOST;
	return n > 0 ? n : (ssize_t)failed(n);
}
