// SPDX-License-Identifier: GPL-2.0-only
/* TCP sockets: a listener and a connection between the two sides, and what the kernel says of its
 * queue. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "known.h"

struct address {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

void set_int(int fd, int level, int option, int value, const char *what)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("%s %d", what, value);
}

static struct address address_of(const struct tcp_opts *o, int port)
{
	struct address a = { .len = sizeof(a.v4) };
	const char *text = o->bind_to ? o->bind_to : "127.0.0.1";

	if (o->family == AF_INET6) {
		a.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					      .sin6_port = htons(port),
					      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		a.len = sizeof(a.v6);
		return a;
	}
	a.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, text, &a.v4.sin_addr);
	return a;
}

static void address_text(const struct address *a, char *text, size_t len)
{
	char host[INET6_ADDRSTRLEN];
	bool v6 = a->sa.sa_family == AF_INET6;

	inet_ntop(a->sa.sa_family,
		  v6 ? (const void *)&a->v6.sin6_addr : (const void *)&a->v4.sin_addr, host,
		  sizeof(host));
	snprintf(text, len, v6 ? "[%s]:%d" : "%s:%d", host,
		 ntohs(v6 ? a->v6.sin6_port : a->v4.sin_port));
}

/* Of any bound or connected inet socket. */
void end_addresses(struct end *e, int fd)
{
	struct address a = { .len = sizeof(a) };

	if (!getsockname(fd, &a.sa, &a.len))
		address_text(&a, e->local, sizeof(e->local));
	a.len = sizeof(a);
	if (!getpeername(fd, &a.sa, &a.len))
		address_text(&a, e->remote, sizeof(e->remote));
}

struct tcp_opts tcp_params(struct known *k)
{
	return (struct tcp_opts){ .family = param(k, "v", 4) == 6 ? AF_INET6 : AF_INET };
}

static int tcp_socket(const struct tcp_opts *o)
{
	const char *cc = o->cc ? o->cc : "reno";
	int fd = socket(o->family, SOCK_STREAM, 0);

	if (fd < 0 && errno == EAFNOSUPPORT)
		skip("no IPv6 here");
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc))) {
		if (o->cc && errno == ENOENT)
			skip("this kernel lacks the congestion control");
		die("TCP_CONGESTION");
	}
	if (o->maxseg)
		set_int(fd, IPPROTO_TCP, TCP_MAXSEG, o->maxseg, "TCP_MAXSEG");
	return fd;
}

int tcp_listen(struct known *k, const struct tcp_opts *o, int *port)
{
	struct address a = address_of(o, *port);
	int fd = tcp_socket(o);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (o->rcvbuf)
		set_int(fd, SOL_SOCKET, SO_RCVBUF, o->rcvbuf, "SO_RCVBUF");
	if (bind(fd, &a.sa, a.len) && errno == EADDRNOTAVAIL && o->family == AF_INET6)
		skip("no IPv6 loopback here");
	else if (listen(fd, 64) || getsockname(fd, &a.sa, &a.len))
		die("listen");
	*port = ntohs(o->family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
	return fd;
}

int tcp_dial(struct known *k, const struct tcp_opts *o, int port)
{
	struct address a = address_of(o, port);
	int fd = tcp_socket(o);

	if (o->sndbuf)
		set_int(fd, SOL_SOCKET, SO_SNDBUF, o->sndbuf, "SO_SNDBUF");
	if (o->nodelay)
		set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	if (connect(fd, &a.sa, a.len))
		die("connect");
	return fd;
}

void tcp_info(struct end *e, int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	e->has_tcp_info = true;
	e->busy_ns = info.tcpi_busy_time * 1000ull;
	e->rwnd_limited_ns = info.tcpi_rwnd_limited * 1000ull;
	e->sndbuf_limited_ns = info.tcpi_sndbuf_limited * 1000ull;
	e->retransmits = info.tcpi_total_retrans;
}

/* Bytes queued and never sent: something waits. */
int tcp_unsent(int fd)
{
	int n;

	if (ioctl(fd, SIOCOUTQNSD, &n))
		die("SIOCOUTQNSD");
	return n;
}

/* Nothing queued, nothing unacknowledged. */
bool reached_peer(int fd)
{
	int n;

	if (ioctl(fd, SIOCOUTQ, &n))
		die("SIOCOUTQ");
	return !n;
}

/* When the last byte left the queue; `until` where it did not by then. */
uint64_t watch_unsent(int fd, uint64_t from, uint64_t until)
{
	while (tcp_unsent(fd)) {
		if (now_ns() >= until)
			return until;
		nap_ns(NSEC_PER_MSEC / 5);
	}
	return now_ns();
}

unsigned int socket_memory(int fd, int which)
{
	unsigned int mem[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(mem);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, mem, &len))
		die("SO_MEMINFO");
	return mem[which];
}

/* --- one connection: the client is this process, the server the other side -------------------- */

struct tcp_side {
	int listener;
	tcp_body *body;
	struct end *end;
};

static void tcp_serve(struct known *k, void *arg)
{
	struct tcp_side *s = arg;
	int fd = accept(s->listener, NULL, NULL);

	if (fd < 0)
		die("accept");
	end_here(s->end, fd);
	end_addresses(s->end, fd);
	s->body(k, s->end, fd);
	tcp_info(s->end, fd);
	close(fd);
	end_gone(s->end);
}

void tcp_case(struct known *k, const struct tcp_opts *o, tcp_body *client, tcp_body *server)
{
	struct end *e = end_new(k, "client", "tcp");
	struct tcp_side s = { .end = end_new(k, "server", "tcp"), .body = server };
	int port = 0, fd;

	s.listener = tcp_listen(k, o, &port);
	other_side(k, tcp_serve, &s);
	e->opened_ns = now_ns();
	fd = tcp_dial(k, o, port);
	end_here(e, fd);
	end_addresses(e, fd);
	client(k, e, fd);
	tcp_info(e, fd);
	close(fd);
	end_gone(e);
	join_other_side(k);
	close(s.listener);
}
