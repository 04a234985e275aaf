// SPDX-License-Identifier: GPL-2.0-only
/* UDP: a send buffer held by a slow link, a receiver too slow for its buffer, a receiver that
 * waits. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "known.h"

struct udp_side {
	struct end *end;
	const char *address;
	struct flow flow;
	const struct wire *wire;
};

union udp_place {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static union udp_place *place(struct known *k)
{
	return (union udp_place *)&k->shared->ends[MAX_ENDS - 1];
}

static socklen_t place_len(const union udp_place *p)
{
	return p->sa.sa_family == AF_INET6 ? sizeof(p->v6) : sizeof(p->v4);
}

static union udp_place place_of(const char *address)
{
	union udp_place p = { .v4.sin_family = AF_INET };

	if (strchr(address, ':'))
		p.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	else
		inet_pton(AF_INET, address, &p.v4.sin_addr);
	return p;
}

static int udp_receiver_socket(struct known *k, const char *address)
{
	union udp_place a = place_of(address);
	int fd = socket(a.sa.sa_family, SOCK_DGRAM, 0);
	socklen_t len = place_len(&a);

	if (a.sa.sa_family == AF_INET6 && (fd < 0 || bind(fd, &a.sa, len)))
		skip("no IPv6 loopback here");
	if (fd < 0 || (a.sa.sa_family == AF_INET && bind(fd, &a.sa, len)) ||
	    getsockname(fd, &a.sa, &len))
		die("UDP receiver at %s", address);
	*place(k) = a;
	return fd;
}

static int udp_sender_socket(struct known *k, struct end *e)
{
	union udp_place a = *place(k);
	int fd = socket(a.sa.sa_family, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, &a.sa, place_len(&a)))
		die("UDP sender");
	end_addresses(e, fd);
	end_here(e, fd);
	return fd;
}

static void udp_close(struct end *e, int fd)
{
	close(fd);
	end_gone(e);
}

static void drain(struct end *e, int fd, char *buf, long size)
{
	for (;;) {
		ssize_t n = recv(fd, buf, size, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			die("recv");
		e->rx_bytes += n;
		e->rx_messages++;
	}
}

/* --- drops: the receiver sleeps until all has been sent --------------------------------------- */

static void paused_receiver(struct known *k, void *arg)
{
	struct udp_side *u = arg;
	int fd = udp_receiver_socket(k, "127.0.0.1");
	char *buf = spare_memory(65536);
	uint64_t from, sending;

	end_here(u->end, fd);
	end_addresses(u->end, fd);
	drain(u->end, fd, buf, 65536); /* nothing yet: the endpoint's first sight */
	sending = now_ns();
	meet(k);
	meet(k); /* all sent */
	from = now_ns();
	nap(u->end, u->flow.nap_ms);
	u->end->napped_ns = now_ns() - from;
	u->end->late_ns = from - sending;
	drain(u->end, fd, buf, 65536);
	u->end->drops = socket_memory(fd, SK_MEMINFO_DROPS);
	udp_close(u->end, fd);
	free(buf);
}

static void udp_drops_expect(struct known *k, struct end *w, struct end *r)
{
	errno = 0;
	if (r->rx_messages + r->drops != w->tx_messages)
		die("%llu sent, %llu received, %lld dropped: some went elsewhere",
		    (unsigned long long)w->tx_messages, (unsigned long long)r->rx_messages,
		    r->drops);
	truth_ns(k, "sent", w->tx_messages);
	truth_ns(k, "received", r->rx_messages);
	truth_ns(k, "dropped", r->drops);
	expect_beside(k, "writer", "tx", "messages", w->tx_messages, w->tx_messages);
	expect_beside(k, "reader", "rx", "messages", r->rx_messages, r->rx_messages);
	expect_beside(k, "reader", "rx", "drops", r->drops, r->drops);
	/* the first datagram came some time while all were sent, and the last was taken while all
	 * were read */
	expect_range(k, "reader", "rx", "unread", r->napped_ns, r->napped_ns + r->late_ns);
	expect_no_stall(k, "writer");
	expect_traffic(k, "writer");
	expect_traffic(k, "reader");
}

/* 212992 bytes hold 256 datagrams of up to 64 bytes: of 400, 144 are lost, and send() says nothing.
 */
static void udp_drops(struct known *k)
{
	struct end *w = end_new(k, "writer", "udp");
	struct udp_side u = { .flow = flow_params(k, true, 400, 64, 50) };
	uint64_t from;
	char *buf;
	long i;
	int fd;

	u.end = end_new(k, "reader", "udp");
	buf = spare_memory(u.flow.size);
	other_side(k, paused_receiver, &u);
	meet(k);
	fd = udp_sender_socket(k, w);
	from = now_ns();
	for (i = 0; i < u.flow.n; i++)
		put(w, fd, buf, u.flow.size);
	meet(k);
	k->elapsed_ns = now_ns() - from + u.flow.nap_ms * NSEC_PER_MSEC;
	udp_close(w, fd);
	join_other_side(k);
	udp_drops_expect(k, w, u.end);
	free(buf);
}

/* --- a receiver that waits for a slow sender -------------------------------------------------- */

static void waiting_receiver(struct known *k, void *arg)
{
	struct udp_side *u = arg;
	int fd = udp_receiver_socket(k, u->address);

	end_here(u->end, fd);
	end_addresses(u->end, fd);
	meet(k);
	flow_reader(k, u->end, fd, &u->flow);
	udp_close(u->end, fd);
}

static void udp_slow_writer(struct known *k)
{
	struct end *w = end_new(k, "writer", "udp");
	struct udp_side u = { .flow = flow_params(k, false, 20, 1000, 10), .address = param(k, "v",
		4) == 6 ? "::1" : "127.0.0.1" };
	int fd;

	u.flow.whole = true;
	u.end = end_new(k, "reader", "udp");
	other_side(k, waiting_receiver, &u);
	meet(k);
	fd = udp_sender_socket(k, w);
	flow_writer(k, w, fd, &u.flow);
	udp_close(w, fd);
	join_other_side(k);
	flow_expect(k, &u.flow);
}

/* --- a slow link: the datagrams sit in the qdisc, and then the sender sleeps ------------------ */

static void link_receiver(struct known *k, void *arg)
{
	struct udp_side *u = arg;
	char *buf = spare_memory(65536);
	long i;
	int fd;

	wire_server(k, u->wire);
	fd = udp_receiver_socket(k, WIRE_SERVER);
	end_here(u->end, fd);
	end_addresses(u->end, fd);
	meet(k);
	for (i = 0; i < u->flow.n; i++) {
		get_some(u->end, fd, buf, 65536);
		u->end->rx_messages++;
	}
	udp_close(u->end, fd);
	free(buf);
}

/* Until the last datagram has left the qdisc: what has not been reported sent is charged to the
 * socket. */
static void wait_for_device(int fd)
{
	while (socket_memory(fd, SK_MEMINFO_WMEM_ALLOC))
		nap_ns(NSEC_PER_MSEC / 5);
}

/* a sender at this end of a wire, and a receiver at the other */
static int wired_sender(struct known *k, struct end *w, struct udp_side *u)
{
	u->end = end_new(k, "reader", "udp");
	other_side(k, link_receiver, u);
	wire_client(k, u->wire);
	meet(k);
	return udp_sender_socket(k, w);
}

static void udp_tbf(struct known *k)
{
	struct end *w = end_new(k, "writer", "udp");
	struct wire wire = { .client_qdisc = "tbf rate 1mbit burst 3100 limit 1000000" };
	struct udp_side u = { .flow = flow_params(k, false, 100, 1400, 0), .wire = &wire };
	char *buf = spare_memory(u.flow.size);
	uint64_t from, all;
	long i;
	int fd;

	fd = wired_sender(k, w, &u);
	set_int(fd, SOL_SOCKET, SO_SNDBUF, param(k, "sndbuf", 4608), "SO_SNDBUF");
	from = now_ns();
	for (i = 0; i < u.flow.n - 1; i++)
		put(w, fd, buf, u.flow.size);
	wait_for_device(fd);
	all = now_ns() - from;
	nap(w, 100); /* nothing is below any more; the next one looks back */
	from = now_ns();
	put(w, fd, buf, u.flow.size);
	wait_for_device(fd);
	all += now_ns() - from;
	k->elapsed_ns = all;
	udp_close(w, fd);
	join_other_side(k);
	truth_ns(k, "in_send_ns", w->in_write_ns);
	truth_ns(k, "device_ns", all);
	/* Bytes are with the qdisc all the while: that is the device at work, however long the
	 * sender sleeps. */
	expect_ns(k, "writer", "tx", "device", all);
	expect_no_stall(k, "writer");
	expect_beside_ns(k, "writer", "tx", "blocked_ns", w->in_write_ns);
	expect_ns(k, "reader", "rx", "wait", u.end->in_read_ns);
	expect_traffic(k, "writer");
	expect_traffic(k, "reader");
	free(buf);
}

/* --- datagrams that the path's MTU cuts up: each piece is the driver's for a moment, and nothing
 * is between two datagrams -- */

static void udp_pieces(struct known *k)
{
	struct end *w = end_new(k, "writer", "udp");
	struct wire wire = {};
	struct udp_side u = { .flow = flow_params(k, false, 20, 8000, 20), .wire = &wire };
	char *buf = spare_memory(u.flow.size);
	uint64_t from;
	long i;
	int fd;

	fd = wired_sender(k, w, &u);
	from = now_ns();
	for (i = 0; i < u.flow.n; i++) {
		put(w, fd, buf, u.flow.size);
		nap(w, u.flow.nap_ms);
	}
	k->elapsed_ns = now_ns() - from;
	udp_close(w, fd);
	join_other_side(k);
	expect_none(k, "writer", "tx", "device");
	expect_no_stall(k, "writer");
	expect_traffic(k, "writer");
	expect_traffic(k, "reader");
	free(buf);
}

const struct known_case udp_cases[] = {
	{ "udp-drops", udp_drops, "a paused receiver loses what its buffer cannot hold: n size "
		"nap_ms" },
	{ "udp-slow-writer", udp_slow_writer, "the receiver sleeps: n size nap_ms v" },
	{ "udp-tbf", udp_tbf, "a 1 Mbit/s link (root): n size sndbuf" },
	{ "udp-pieces", udp_pieces, "datagrams larger than a packet (root): n size nap_ms" },
	{ NULL }
};
