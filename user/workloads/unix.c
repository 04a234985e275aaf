// SPDX-License-Identifier: GPL-2.0-only
/* Unix sockets: connected by an abstract name that the kernel chooses (no file remains), or created
 * as a pair. */
#include <string.h>
#include <unistd.h>

#include "workloads/workload.h"

enum {
	UNIX_PIECE = 64 << 10, /* sure to fit the default send buffer of 212992 with its overhead */
	BACKLOG = 128,
};

static int unix_socket(struct conn *c, int type, const struct workload_options *o, struct err *e)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "Unix socket");
	c->piece = UNIX_PIECE;
	c->rfd = c->wfd = fd;
	return socket_apply(fd, o, e);
}

/* An address of the family alone makes the kernel choose an abstract name: unix_autobind(). */
static int autobind(int fd, struct address *bound, struct err *e)
{
	memset(bound, 0, sizeof(*bound));
	bound->ss.ss_family = AF_UNIX;
	if (bind(fd, (void *)&bound->ss, sizeof(sa_family_t)))
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "Unix socket name");
	bound->len = sizeof(bound->ss);
	getsockname(fd, (void *)&bound->ss, &bound->len);
	return 0;
}

static int unix_listen(struct conn *c, const struct workload_options *o, struct address *bound,
		       struct err *e)
{
	if (unix_socket(c, SOCK_STREAM, o, e))
		return -1;
	c->lfd = c->rfd;
	c->rfd = c->wfd = -1;
	if (autobind(c->lfd, bound, e))
		return -1;
	return listen(c->lfd, BACKLOG) ? err_sys(e, EXIT_NO_RESOURCE, NULL, "listen") : 0;
}

static int unix_connect(struct conn *c, const struct workload_options *o, const struct address *to,
			struct address *from, struct err *e)
{
	from->len = 0;
	if (unix_socket(c, SOCK_STREAM, o, e))
		return -1;
	return connect(c->rfd, (const void *)&to->ss, to->len)
		       ? err_sys(e, EXIT_PEER, NULL, "connect")
		       : 0;
}

static int unix_accept(struct conn *c, const struct workload_options *o, const struct address *from,
		       struct err *e)
{
	c->rfd = c->wfd = accept4(c->lfd, NULL, NULL, SOCK_CLOEXEC);
	if (c->rfd < 0)
		return err_sys(e, EXIT_PEER, NULL, "accept");
	return socket_apply(c->rfd, o, e);
}

static int open_pair(struct conn ends[2], const struct workload_options *o, struct err *e)
{
	int fd[2];

	if (socketpair(AF_UNIX, o->pair_type | SOCK_CLOEXEC, 0, fd))
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "socketpair");
	for (int i = 0; i < 2; i++)
		ends[i] =
			(struct conn){ .rfd = fd[i], .wfd = fd[i], .lfd = -1, .piece = UNIX_PIECE };
	if (socket_apply(fd[0], o, e) == 0 && socket_apply(fd[1], o, e) == 0)
		return 0;
	close(fd[0]);
	close(fd[1]);
	return -1;
}

#define STREAM_IO \
	.send_msg = stream_send_socket, .recv_msg = stream_recv_socket, \
	.recv_some = stream_recv_some_socket, .facts = socket_facts_read
#define DATAGRAM_IO \
	.read_least = UNIX_PIECE, .send_msg = datagram_send, .recv_msg = datagram_recv, \
	.recv_some = datagram_recv_some, .facts = socket_facts_read

const struct workload workload_unix = {
	.name = "unix",
	.summary = "a Unix stream socket, connected by name",
	.flags = WL_STREAM | WL_SOCKET | WL_CONNECT,
	.listen = unix_listen,
	.connect = unix_connect,
	.accept = unix_accept,
	STREAM_IO,
};

const struct workload workload_socketpair = {
	.name = "socketpair",
	.summary = "a Unix stream socket pair",
	.flags = WL_STREAM | WL_SOCKET,
	.pair_type = SOCK_STREAM,
	.open_pair = open_pair,
	STREAM_IO,
};

const struct workload workload_unix_seqpacket = {
	.name = "unix-seqpacket",
	.summary = "a Unix sequenced-packet socket pair",
	.flags = WL_DATAGRAM | WL_SOCKET,
	.pair_type = SOCK_SEQPACKET,
	.open_pair = open_pair,
	DATAGRAM_IO,
};

const struct workload workload_unix_dgram = {
	.name = "unix-dgram",
	.summary = "a Unix datagram socket pair",
	.flags = WL_DATAGRAM | WL_SOCKET,
	.pair_type = SOCK_DGRAM,
	.open_pair = open_pair,
	DATAGRAM_IO,
};
