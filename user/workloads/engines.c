// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO	    104
#endif

enum {
	MMSG_BATCH = 32,
	GSO_SEGMENTS = 64,    /* the smallest that UDP_MAX_SEGMENTS has been */
	GSO_BYTES = 65000,    /* one IP packet before it is cut */
	GRO_BUFFER = 64 << 10,
	ZEROCOPY_PENDING = 64, /* sends whose completion has not been read yet */
};

struct mmsg_state {
	struct mmsghdr header[MMSG_BATCH];
	struct iovec part[MMSG_BATCH];
};

static int need_memory(const void *p, struct err *e)
{
	return p ? 0 : err_resource(e, "engine: out of memory; take --engine plain");
}

static int mmsg_setup(struct conn *c, const struct workload_options *o, struct err *e)
{
	struct mmsg_state *s = calloc(1, sizeof(*s));

	for (int i = 0; s && i < MMSG_BATCH; i++) {
		s->header[i].msg_hdr.msg_iov = &s->part[i];
		s->header[i].msg_hdr.msg_iovlen = 1;
	}
	c->engine_state = s;
	return need_memory(s, e);
}

static size_t mmsg_batch(size_t size)
{
	return MMSG_BATCH;
}

/* All messages share one buffer: the bytes do not matter. */
static void mmsg_aim(struct mmsg_state *s, void *buf, size_t size, size_t count)
{
	for (size_t i = 0; i < count; i++)
		s->part[i] = (struct iovec){ buf, size };
}

static enum io mmsg_send(struct conn *c, void *buf, size_t size, size_t count)
{
	struct mmsg_state *s = c->engine_state;
	size_t done = 0;

	mmsg_aim(s, buf, size, count);
	while (done < count) {
		int n = sendmmsg(c->wfd, s->header + done, (unsigned int)(count - done), 0);

		if (n > 0) {
			done += (size_t)n;
		} else if (errno == ENOBUFS || errno == ECONNREFUSED) {
			c->send_errors++;
			done++;
		} else if (errno != EINTR) {
			return IO_ERROR;
		}
	}
	return IO_OK;
}

static ssize_t mmsg_recv(struct conn *c, void *buf, size_t cap)
{
	struct mmsg_state *s = c->engine_state;
	uint32_t since = c->tick ? *c->tick : 0;
	ssize_t bytes = 0;
	enum io rc;
	int n;

	mmsg_aim(s, buf, cap, MMSG_BATCH);
	while ((n = recvmmsg(c->rfd, s->header, MMSG_BATCH, MSG_WAITFORONE, NULL)) < 0)
		if (!datagram_again(c, since, &rc))
			return rc;
	for (int i = 0; i < n; i++)
		bytes += s->header[i].msg_len;
	return bytes;
}

static int gso_setup(struct conn *c, const struct workload_options *o, struct err *e)
{
	int on = 1, segment = (int)o->message;

	if (o->message > GSO_BYTES)
		return err_usage(e,
				 "--engine gso with --size %zu: one datagram at most, %d bytes; "
				 "give a smaller size",
				 o->message, GSO_BYTES);
	if (c->leader ? setsockopt(c->wfd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment))
		      : setsockopt(c->rfd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)))
		return err_sys(e, EXIT_NO_FEATURE,
			       "this kernel lacks it: take --engine mmsg or plain",
			       "UDP segmentation");
	return 0;
}

static size_t gso_batch(size_t size)
{
	size_t fit = GSO_BYTES / size;

	return fit < 1 ? 1 : fit > GSO_SEGMENTS ? GSO_SEGMENTS : fit;
}

static enum io gso_send(struct conn *c, void *buf, size_t size, size_t count)
{
	while (send(c->wfd, buf, size * count, 0) < 0) {
		if (errno == ENOBUFS || errno == ECONNREFUSED) {
			c->send_errors += count;
			return IO_OK;
		}
		if (errno != EINTR)
			return IO_ERROR;
	}
	return IO_OK;
}

/* The kernel coalesces up to 64 KiB, whatever the message's size. */
static ssize_t gso_recv(struct conn *c, void *buf, size_t cap)
{
	uint32_t since = c->tick ? *c->tick : 0;
	ssize_t n;
	enum io rc;

	while ((n = recv(c->rfd, buf, GRO_BUFFER, 0)) < 0)
		if (!datagram_again(c, since, &rc))
			return rc;
	return n;
}

static int splice_setup(struct conn *c, const struct workload_options *o, struct err *e)
{
	c->sink_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return c->sink_fd < 0 ? err_sys(e, EXIT_NO_RESOURCE, NULL, "/dev/null") : 0;
}

static ssize_t splice_recv(struct conn *c, void *buf, size_t cap)
{
	ssize_t n;

	do
		n = splice(c->rfd, NULL, c->sink_fd, NULL, cap, SPLICE_F_MOVE);
	while (n < 0 && errno == EINTR);
	return n > 0 ? n : n == 0 || errno == EPIPE ? (ssize_t)IO_CLOSED : (ssize_t)IO_ERROR;
}

static enum io vmsplice_send(struct conn *c, void *buf, size_t size, size_t count)
{
	struct iovec v = { buf, size };

	while (v.iov_len) {
		ssize_t n = vmsplice(c->wfd, &v, 1, 0);

		if (n < 0 && errno != EINTR)
			return errno == EPIPE ? IO_CLOSED : IO_ERROR;
		if (n > 0) {
			v.iov_base = (char *)v.iov_base + n;
			v.iov_len -= (size_t)n;
		}
	}
	return IO_OK;
}

static int zerocopy_setup(struct conn *c, const struct workload_options *o, struct err *e)
{
	int on = 1;

	if (c->leader && setsockopt(c->wfd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		return err_sys(e, EXIT_NO_FEATURE, "this kernel lacks it: take --engine plain",
			       "SO_ZEROCOPY");
	return 0;
}

/* A notice on the error queue covers a range of sends: skb_zerocopy_notify() merges neighbours. */
static bool zerocopy_reap(struct conn *c)
{
	char control[128];
	struct msghdr h = { .msg_control = control, .msg_controllen = sizeof(control) };
	const struct sock_extended_err *see;

	if (recvmsg(c->wfd, &h, MSG_ERRQUEUE | MSG_DONTWAIT) < 0 || !CMSG_FIRSTHDR(&h))
		return false;
	see = (const void *)CMSG_DATA(CMSG_FIRSTHDR(&h));
	c->pending -= see->ee_data - see->ee_info + 1;
	return true;
}

static void zerocopy_drain(struct conn *c, uint32_t leave)
{
	struct pollfd p = { .fd = c->wfd };

	while (c->pending > leave)
		if (!zerocopy_reap(c))
			poll(&p, 1, 100);
}

static enum io zerocopy_send(struct conn *c, void *buf, size_t size, size_t count)
{
	const char *p = buf;

	while (size) {
		ssize_t n = send(c->wfd, p, size, MSG_ZEROCOPY);

		if (n < 0 && errno == ENOBUFS && c->pending) {
			zerocopy_drain(c, 0);
		} else if (n < 0 && errno != EINTR) {
			return errno == EPIPE || errno == ECONNRESET ? IO_CLOSED : IO_ERROR;
		} else if (n > 0) {
			c->pending++;
			p += n;
			size -= (size_t)n;
		}
	}
	while (c->pending > ZEROCOPY_PENDING && zerocopy_reap(c))
		;
	return IO_OK;
}

const struct engine_ops engines[] = {
	[ENGINE_PLAIN] = { "plain", ~0u },
	[ENGINE_MMSG] = { "mmsg", WL_LOSSY, mmsg_setup, mmsg_batch, mmsg_send, mmsg_recv },
	[ENGINE_GSO] = { "gso", WL_LOSSY, gso_setup, gso_batch, gso_send, gso_recv },
	[ENGINE_SPLICE] = { "splice", WL_PIPE, splice_setup, NULL, NULL, splice_recv },
	[ENGINE_VMSPLICE] = { "vmsplice", WL_PIPE, NULL, NULL, vmsplice_send, NULL },
	[ENGINE_ZEROCOPY] = { "zerocopy", WL_TCP, zerocopy_setup, NULL, zerocopy_send, NULL },
};
