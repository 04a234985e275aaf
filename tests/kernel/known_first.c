// SPDX-License-Identifier: GPL-2.0-only
/* The first moments of a connection: a first read that finds nothing, a handshake and an accept()
 * that take their time. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "known.h"

#define CONNECTIONS \
	12 /* whether a first sequence number is above 2^31 is a coin's toss each time */

static const char *role_of(const char *side, long i)
{
	static char role[32];

	snprintf(role, sizeof(role), "%s%ld", side, i);
	return role;
}

struct first {
	long n, nap_ms;
	int listener, port;
	struct tcp_opts opts;
};

static struct first first;

/* --- a client that asks before anything can have come (Go's net, Node), and then waits in epoll
 * ----- */

static void nothing_yet(int fd)
{
	char byte;

	if (fcntl(fd, F_SETFL, O_NONBLOCK) || recv(fd, &byte, 1, 0) >= 0 || errno != EAGAIN)
		die("a byte from nowhere");
	errno = 0;
}

static void epoll_for_data(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) || epoll_wait(ep, &ev, 1, -1) != 1)
		die("epoll");
	close(ep);
}

static void ask_first(struct known *k, struct end *e)
{
	char byte;
	int fd;

	e->opened_ns = now_ns();
	fd = tcp_dial(k, &first.opts, first.port);
	nothing_yet(fd);
	end_here(e, fd);
	end_addresses(e, fd);
	epoll_for_data(fd);
	if (!get(e, fd, &byte, 1))
		die("no byte");
	close(fd);
	end_gone(e);
}

static void late_answers(struct known *k, void *arg)
{
	(void)arg;
	for (long i = 0; i < first.n; i++) {
		struct end *e = end_find(k, role_of("server", i));
		int fd = accept(first.listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		end_here(e, fd);
		end_addresses(e, fd);
		nap(e, first.nap_ms);
		put(e, fd, "x", 1);
		get_some(e, fd, &(char){ 0 }, 1);
		close(fd);
		end_gone(e);
	}
}

static void first_read(struct known *k)
{
	uint64_t from;

	first = (struct first){ .n = param(k, "n", CONNECTIONS),
				.nap_ms = param(k, "nap_ms", 20),
				.opts = tcp_params(k) };
	first.listener = tcp_listen(k, &first.opts, &first.port);
	for (long i = 0; i < first.n; i++) {
		end_new(k, role_of("client", i), "tcp");
		end_new(k, role_of("server", i), "tcp");
	}
	other_side(k, late_answers, NULL);
	from = now_ns();
	for (long i = 0; i < first.n; i++)
		ask_first(k, end_find(k, role_of("client", i)));
	k->elapsed_ns = (now_ns() - from) / first.n;
	join_other_side(k);
	close(first.listener);
	for (long i = 0; i < first.n; i++) {
		expect_none(k, role_of("client", i), "rx", "unread");
		expect_traffic(k, role_of("client", i));
	}
}

/* --- a handshake whose answer is late: it stands behind two datagrams on a slow link ---------- */

#define LATE_PORT     4712
#define FULL_DATAGRAM 1472

static struct sockaddr_in udp_address(const char *ip)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(LATE_PORT) };

	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}

static int udp_between(const char *from, const char *to)
{
	struct sockaddr_in own = udp_address(from), other = udp_address(to);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    connect(fd, (struct sockaddr *)&other, sizeof(other)))
		die("udp");
	return fd;
}

static const struct wire slow_answers = { .server_qdisc = "tbf rate 32kbit burst 1600 limit "
	"20000" };

static void late_to_answer(struct known *k, void *arg)
{
	struct end *e = end_find(k, "server");
	char full[FULL_DATAGRAM] = { 0 };
	int port = LATE_PORT, listener, udp, fd;

	(void)arg;
	wire_server(k, &slow_answers);
	listener = tcp_listen(k, &first.opts, &port);
	udp = udp_between(WIRE_SERVER, WIRE_CLIENT);
	meet(k); /* both can be reached */
	if (recv(udp, full, 1, 0) != 1 || send(udp, full, sizeof(full), 0) < 0 ||
	    send(udp, full, sizeof(full), 0) < 0)
		die("datagrams");
	meet(k); /* the link is busy */
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	end_here(e, fd);
	end_addresses(e, fd);
	get_some(e, fd, full, 1);
	close(fd);
	end_gone(e);
}

static void connect_late(struct known *k)
{
	struct end *c = end_new(k, "client", "tcp");
	uint64_t from, took;
	int udp, fd;

	end_new(k, "server", "tcp");
	first.opts = tcp_params(k);
	first.opts.bind_to = WIRE_SERVER;
	other_side(k, late_to_answer, NULL);
	wire_client(k, &slow_answers);
	udp = udp_between(WIRE_CLIENT, WIRE_SERVER);
	meet(k);
	if (send(udp, "x", 1, 0) != 1)
		die("datagram");
	meet(k);
	from = c->opened_ns = now_ns();
	fd = tcp_dial(k, &first.opts, LATE_PORT);
	took = now_ns() - from;
	end_here(c, fd);
	end_addresses(c, fd);
	close(fd);
	end_gone(c);
	join_other_side(k);
	k->elapsed_ns = took;
	truth_ns(k, "connect_ns", took);
	expect_beside_ns(k, "client", "tx", "connect_ns", took);
	expect_range(k, "client", "tx", "flight", took, took + NSEC_PER_SEC);
	expect_no_stall(k, "client");
}

/* --- a connection that nobody accepts for a while --------------------------------------------- */

static uint64_t unaccepted_ns;

static void late_to_accept(struct known *k, void *arg)
{
	struct end *e = end_find(k, "server");
	int fd;

	(void)arg;
	meet(k); /* it is connected, and has sent */
	nap_ns(first.nap_ms * NSEC_PER_MSEC);
	fd = accept(first.listener, NULL, NULL);
	k->shared->ends[0].late_ns = now_ns(); /* of the client, which this side may write to */
	if (fd < 0)
		die("accept");
	end_here(e, fd);
	end_addresses(e, fd);
	nap_ns(first.nap_ms * NSEC_PER_MSEC / 2);
	get_some(e, fd, &(char){ 0 }, 1);
	get_some(e, fd, &(char){ 0 }, 1);
	close(fd);
	end_gone(e);
}

static void accept_late(struct known *k)
{
	struct end *c = end_new(k, "client", "tcp");
	int fd;

	end_new(k, "server", "tcp");
	first = (struct first){ .nap_ms = param(k, "nap_ms", 200), .opts = tcp_params(k) };
	first.listener = tcp_listen(k, &first.opts, &first.port);
	other_side(k, late_to_accept, NULL);
	c->opened_ns = now_ns();
	fd = tcp_dial(k, &first.opts, first.port);
	unaccepted_ns = now_ns();
	end_here(c, fd);
	end_addresses(c, fd);
	put(c, fd, "x", 1);
	meet(k);
	while (!c->late_ns)
		nap_ns(NSEC_PER_MSEC);
	unaccepted_ns = c->late_ns - unaccepted_ns;
	close(fd);
	end_gone(c);
	join_other_side(k);
	close(first.listener);
	k->elapsed_ns = unaccepted_ns;
	truth_ns(k, "unaccepted_ns", unaccepted_ns);
	expect_beside_ns(k, "server", "rx", "accept_wait_ns", unaccepted_ns);
	expect_beside_ns(k, "server", "rx", "accept_unread_ns", unaccepted_ns);
	expect_range(k, "server", "rx", "unread", unaccepted_ns * 3 / 2, unaccepted_ns * 2);
	expect_traffic(k, "server");
}

/* --- a hole: of two segments the first is lost, and the second cannot be read ----------------- */

static uint64_t hole_ns;

/* lets no segment of 100 to 199 bytes through, headers included: none but the first */
static void lose_small(int fd, bool yes)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 0,
			2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 200, 1, 0), BPF_STMT(BPF_RET | BPF_K, 0),
			BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (setsockopt(fd, SOL_SOCKET, yes ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &prog,
		       sizeof(prog)))
		die("socket filter");
}

static void hole_client(struct known *k, struct end *e, int fd)
{
	char small[100] = { 0 }, large[1000] = { 0 };

	meet(k); /* the server loses small ones */
	put(e, fd, small, sizeof(small));
	put(e, fd, large, sizeof(large));
	hole_ns = now_ns();
	meet(k);
	get(e, fd, small, 1);
	meet(k);
	hole_ns = k->shared->ends[1].late_ns - hole_ns;
}

static void hole_server(struct known *k, struct end *e, int fd)
{
	char all[1100];

	lose_small(fd, true);
	meet(k);
	meet(k);
	nap(e, 150);
	lose_small(fd, false);
	get_some(e, fd, all, 1); /* until the first one is there */
	e->late_ns = now_ns();
	get(e, fd, all, sizeof(all) - 1);
	put(e, fd, all, 1);
	meet(k);
}

static void hole(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	o.nodelay = 1;
	tcp_case(k, &o, hole_client, hole_server);
	k->elapsed_ns = hole_ns;
	truth_ns(k, "hole_ns", hole_ns);
	expect_beside_ns(k, "server", "rx", "hole_ns", hole_ns);
	expect_beside(k, "server", "rx", "holes", 1, 1);
	expect_beside(k, "server", "rx", "out_of_order", 1, 3);
	expect_beside(k, "client", "tx", "holes", 0, 0);
	expect_traffic(k, "server");
}

const struct known_case first_cases[] = {
	{ "connect-late", connect_late, "the answer to a SYN comes late" },
	{ "accept-late", accept_late, "a connection waits to be accepted: nap_ms v" },
	{ "hole", hole, "a segment is lost, and the one behind it cannot be read" },
	{ "first-read", first_read, "a first read before anything has come, then epoll: n nap_ms "
		"v" },
	{ NULL }
};
