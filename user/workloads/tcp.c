// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "workloads/workload.h"

enum { BACKLOG = 128 };

static int tcp_socket(const struct workload_options *o, struct err *e)
{
	int fd = socket(o->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(e, errno == EAFNOSUPPORT ? EXIT_NO_FEATURE : EXIT_NO_RESOURCE, NULL,
			       "TCP socket");
	if (socket_apply(fd, o, e) == 0 && tcp_apply(fd, o, e) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The window a socket offers depends on buffers set before listen() or connect():
 * tcp_select_initial_window(). */
static int tcp_listen(struct conn *c, const struct workload_options *o, struct address *bound,
		      struct err *e)
{
	int one = 1;

	if (inet_address(o, bound, e))
		return -1;
	c->lfd = tcp_socket(o, e);
	if (c->lfd < 0)
		return -1;
	setsockopt(c->lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(c->lfd, (void *)&bound->ss, bound->len) || listen(c->lfd, BACKLOG))
		return err_sys(e, EXIT_NO_RESOURCE, "give another --port, or none", "port %u",
			       o->port);
	bound->len = sizeof(bound->ss);
	getsockname(c->lfd, (void *)&bound->ss, &bound->len);
	return 0;
}

static int tcp_connect(struct conn *c, const struct workload_options *o, const struct address *to,
		       struct address *from, struct err *e)
{
	c->rfd = c->wfd = tcp_socket(o, e);
	if (c->rfd < 0)
		return -1;
	if (connect(c->rfd, (const void *)&to->ss, to->len))
		return err_sys(e, EXIT_PEER, "is the server there, and the port open?", "connect");
	from->len = sizeof(from->ss);
	getsockname(c->rfd, (void *)&from->ss, &from->len);
	return 0;
}

static bool same_host(const struct address *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)&a->ss, *b6 = (const void *)b;

	if (a->ss.ss_family != b->ss_family)
		return false;
	if (b->ss_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
	return b->ss_family != AF_INET || ((const struct sockaddr_in *)&a->ss)->sin_addr.s_addr ==
						  ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

int inet_accept_from(int listener, const struct address *from)
{
	for (;;) {
		struct sockaddr_storage peer = {};
		socklen_t len = sizeof(peer);
		int fd = accept4(listener, (void *)&peer, &len, SOCK_CLOEXEC);

		if (fd < 0 || !from->len || same_host(from, &peer))
			return fd;
		close(fd);
	}
}

static int tcp_accept(struct conn *c, const struct workload_options *o, const struct address *from,
		      struct err *e)
{
	c->rfd = c->wfd = inet_accept_from(c->lfd, from);
	if (c->rfd < 0)
		return err_sys(e, EXIT_PEER, NULL, "accept");
	return tcp_apply(c->rfd, o, e); /* sets what is not inherited from the listener */
}

/* Send the last partial segment of a bulk transfer, as closing the socket does for other programs.
 * Otherwise it can wait 40 ms for a delayed ACK. __tcp_sock_set_nodelay() pushes what is pending,
 * corked or not. */
static void tcp_flush(struct conn *c)
{
	int on = 1, off = 0, was;
	socklen_t len = sizeof(was);

	if (getsockopt(c->wfd, IPPROTO_TCP, TCP_NODELAY, &was, &len) || was)
		return;
	setsockopt(c->wfd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(c->wfd, IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off));
}

const struct workload workload_tcp = {
	.name = "tcp",
	.summary = "one TCP connection (-6: over IPv6)",
	.flags = WL_STREAM | WL_SOCKET | WL_TCP | WL_INET | WL_CONNECT,
	/* One call takes many small messages, but few enough bytes to stay in the cache. */
	.read_least = 32 << 10,
	.read_most = 64 << 10,
	.listen = tcp_listen,
	.connect = tcp_connect,
	.accept = tcp_accept,
	.send_msg = stream_send_socket,
	.recv_msg = stream_recv_socket,
	.recv_some = stream_recv_some_socket,
	.flush = tcp_flush,
	.facts = socket_facts_read,
};
