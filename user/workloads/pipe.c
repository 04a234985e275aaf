// SPDX-License-Identifier: GPL-2.0-only
/* Two pipes, one for each direction. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "workloads/workload.h"

static int resize(int fd, const struct workload_options *o, struct err *e)
{
	if (o->pipe_size && fcntl(fd, F_SETPIPE_SZ, (int)o->pipe_size) < 0)
		return err_sys(e, EXIT_NO_RESOURCE, "give less, or raise fs.pipe-max-size",
			       "--pipe-size %lld", (long long)o->pipe_size);
	if (o->spin)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static int pipe_open(struct conn ends[2], const struct workload_options *o, struct err *e)
{
	int there[2], back[2];

	if (pipe2(there, O_CLOEXEC))
		return err_sys(e, EXIT_NO_RESOURCE,
			       "close other programs' pipes or raise the limits", "pipe");
	if (pipe2(back, O_CLOEXEC)) {
		err_sys(e, EXIT_NO_RESOURCE, "close other programs' pipes or raise the limits",
			"pipe");
		close(there[0]);
		close(there[1]);
		return -1;
	}
	ends[0] = (struct conn){ .rfd = back[0], .wfd = there[1], .lfd = -1 };
	ends[1] = (struct conn){ .rfd = there[0], .wfd = back[1], .lfd = -1 };
	if (!resize(there[1], o, e) && !resize(back[1], o, e) &&
	    !(o->spin && (resize(there[0], o, e) || resize(back[0], o, e))))
		return 0;
	conn_close(&ends[0]);
	conn_close(&ends[1]);
	return -1;
}

static inline bool again(const struct conn *c)
{
	return errno == EINTR || (c->spin && errno == EAGAIN);
}

static enum io failed(ssize_t n)
{
	return n == 0 || errno == EPIPE ? IO_CLOSED : IO_ERROR;
}

static enum io pipe_send(struct conn *c, const void *buf, size_t len, bool more)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(c->wfd, p, len);

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

static ssize_t pipe_recv_some(struct conn *c, void *buf, size_t cap)
{
	ssize_t n;

	do
		n = read(c->rfd, buf, cap);
	while (n < 0 && again(c));
	return n > 0 ? n : (ssize_t)failed(n);
}

static enum io pipe_recv(struct conn *c, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = pipe_recv_some(c, p, len);

		if (n < 0)
			return (enum io)n;
		p += n;
		len -= n;
	}
	return IO_OK;
}

static void pipe_facts(const struct conn *c, struct socket_facts *f)
{
	int size = fcntl(c->wfd, F_GETPIPE_SZ);

	f->pipe_size = size > 0 ? size : FACT_UNKNOWN;
}

const struct workload workload_pipe = {
	.name = "pipe",
	.summary = "two pipes, one each way",
	.flags = WL_STREAM | WL_PIPE,
	.open_pair = pipe_open,
	.send_msg = pipe_send,
	.recv_msg = pipe_recv,
	.recv_some = pipe_recv_some,
	.facts = pipe_facts,
};
