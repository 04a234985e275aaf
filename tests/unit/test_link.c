// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links made for real. main() moves into a namespace of its own first (a link of kind lo), where it
 * has every privilege over networks, whoever started it; from there one thread can hop between the
 * hosts of a link. Where not even that is allowed, all is skipped. On a clock: test_rate,
 * test_pingpong, test_quickack, test_delay, test_delay_and_rate, test_queues, test_two_at_once
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/net_namespace.h>
#include <linux/sockios.h>
#include <math.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/link.h"
#include "host/rtnl.h"

#define IP_UDP_ETH (20 + 8 + 14)

static struct link sandbox = LINK_NONE;

/* tests/vm/suite.d/link: an emulated machine, with every queue there is. */
static bool in_guest(void)
{
	return getenv("TEST_IN_GUEST");
}

static void must(int rc, const struct err *e)
{
	if (rc)
		fail_msg("%s", e->text);
}

static struct link up(const char *text)
{
	struct link_spec s;
	struct err e = { 0 };
	struct link l;

	must(link_parse(text, &s, &e), &e);
	must(link_up(&s, &l, &e), &e);
	return l;
}

static void enter(const struct link *l, enum link_side side)
{
	struct err e = { 0 };

	must(link_enter(l, side, &e), &e);
}

static const char *addr_of(const struct link *l, enum link_side side, int family)
{
	struct err e = { 0 };
	const char *a = link_addr(l, side, family, &e);

	if (!a)
		fail_msg("%s", e.text);
	return a;
}

static struct link_stats stats_of(const struct link *l, enum link_side side)
{
	struct err e = { 0 };
	struct link_stats st;

	must(link_stats(l, side, &st, &e), &e);
	return st;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static socklen_t name(struct sockaddr_storage *to, int family, const char *addr, uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	to->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		v4->sin_port = htons(port);
		inet_pton(family, addr, &v4->sin_addr);
		return sizeof(*v4);
	}
	v6->sin6_port = htons(port);
	inet_pton(family, addr, &v6->sin6_addr);
	return sizeof(*v6);
}

static int sock_in(const struct link *l, enum link_side side, int family, int type)
{
	struct timeval patience = { .tv_sec = 5 };
	int fd;

	enter(l, side);
	fd = socket(family, type | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return fd;
}

/* --- a conversation --- */

struct pair {
	int from, to; /* connected, on opposite hosts */
};

static struct pair tcp_pair(const struct link *l, enum link_side from, int family)
{
	struct sockaddr_storage at;
	socklen_t len = name(&at, family, addr_of(l, !from, family), 7000);
	int listener = sock_in(l, !from, family, SOCK_STREAM), one = 1;
	struct pair p;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	p.from = sock_in(l, from, family, SOCK_STREAM);
	setsockopt(p.from, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
	if (connect(p.from, (struct sockaddr *)&at, len))
		fail_msg("connect: %s", strerror(errno));
	p.to = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(p.to >= 0);
	close(listener);
	return p;
}

static struct pair udp_pair(const struct link *l, enum link_side from, int family)
{
	struct sockaddr_storage at;
	socklen_t len = name(&at, family, addr_of(l, !from, family), 7001);
	struct pair p = { .to = sock_in(l, !from, family, SOCK_DGRAM) };

	assert_int_equal(bind(p.to, (struct sockaddr *)&at, len), 0);
	p.from = sock_in(l, from, family, SOCK_DGRAM);
	assert_int_equal(connect(p.from, (struct sockaddr *)&at, len), 0);
	return p;
}

static void pair_close(struct pair *p)
{
	close(p->from);
	close(p->to);
}

static void talk(struct pair p)
{
	char text[] = "from one to the other", back[sizeof(text)] = "";

	assert_int_equal(send(p.from, text, sizeof(text), 0), sizeof(text));
	assert_int_equal(recv(p.to, back, sizeof(back), 0), sizeof(text));
	assert_string_equal(back, text);
}

static void talk_all_ways(const struct link *l)
{
	static const int families[] = { AF_INET, AF_INET6 };

	for (int from = 0; from < LINK_SIDES; from++) {
		for (int i = 0; i < 2; i++) {
			struct pair t, u;

			if (families[i] == AF_INET6 && !l->has_v6)
				continue;
			t = tcp_pair(l, (enum link_side)from, families[i]);
			u = udp_pair(l, (enum link_side)from, families[i]);
			talk(t);
			talk(u);
			pair_close(&t);
			pair_close(&u);
		}
	}
}

static void test_kinds(void **state)
{
	static const char *const texts[] = { "lo,mtu=9000", "veth", "veth,mtu=1280",
		"veth,mtu=9000,rate=1gbit", "bridge", "bridge,rate=1gbit" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct link l = up(texts[i]);

		talk_all_ways(&l);
		link_down(&l);
	}
}

static void test_no_v6(void **state)
{
	struct link l = up("veth,mtu=1279");
	struct err e = { 0 };

	(void)state;
	talk_all_ways(&l);
	assert_null(link_addr(&l, LINK_SERVER, AF_INET6, &e));
	assert_int_equal(e.code, EXIT_BAD_USAGE);
	assert_non_null(strstr(e.text, "1280"));
	link_down(&l);
}

/* --- what was asked is what there is --- */

static int device_mtu(int fd, const char *dev)
{
	struct ifreq q = { 0 };

	strcpy(q.ifr_name, dev);
	assert_int_equal(ioctl(fd, SIOCGIFMTU, &q), 0);
	return q.ifr_mtu;
}

static void check_mtu(const char *text, const char *dev, int want)
{
	struct link l = up(text);

	for (int side = 0; side < LINK_SIDES; side++) {
		int fd = sock_in(&l, (enum link_side)side, AF_INET, SOCK_DGRAM);

		assert_int_equal(device_mtu(fd, dev), want);
		close(fd);
	}
	link_down(&l);
}

static void test_mtu(void **state)
{
	(void)state;
	check_mtu("veth", "eth0", 1500);
	check_mtu("veth,mtu=9000", "eth0", 9000);
	check_mtu("bridge,mtu=1400", "eth0", 1400);
	check_mtu("lo,mtu=1500", "lo", 1500);
	check_mtu("lo,gro=off", "lo", 65536);
}

/* A datagram as large as the MTU goes through the switch whole; the host's don't-fragment refuses
 * one more byte. */
static void test_mtu_path(void **state)
{
	struct link l = up("bridge,mtu=1400");
	struct pair p = udp_pair(&l, LINK_CLIENT, AF_INET);
	int dont = IP_PMTUDISC_DO;
	char buf[1400] = "";

	(void)state;
	setsockopt(p.from, IPPROTO_IP, IP_MTU_DISCOVER, &dont, sizeof(dont));
	assert_int_equal(send(p.from, buf, 1372, 0), 1372);
	assert_int_equal(recv(p.to, buf, sizeof(buf), 0), 1372);
	assert_int_equal(send(p.from, buf, 1373, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	pair_close(&p);
	link_down(&l);
}

static int feature(int fd, const char *dev, uint32_t get)
{
	struct ethtool_value v = { .cmd = get };
	struct ifreq q = { .ifr_data = (void *)&v };

	strcpy(q.ifr_name, dev);
	assert_int_equal(ioctl(fd, SIOCETHTOOL, &q), 0);
	return !!v.data;
}

static void check_offloads(const char *text, const char *dev, int tso, int gso, int gro)
{
	struct link l = up(text);

	for (int side = 0; side < LINK_SIDES; side++) {
		int fd = sock_in(&l, (enum link_side)side, AF_INET, SOCK_DGRAM);

		assert_int_equal(feature(fd, dev, ETHTOOL_GTSO), tso);
		assert_int_equal(feature(fd, dev, ETHTOOL_GGSO), gso);
		if (gro >= 0)
			assert_int_equal(feature(fd, dev, ETHTOOL_GGRO), gro);
		close(fd);
	}
	link_down(&l);
}

static void test_offloads(void **state)
{
	(void)state;
	check_offloads("veth", "eth0", 1, 1, -1);
	check_offloads("veth,tso=off", "eth0", 0, 0, 0);
	check_offloads("bridge,tso=off", "eth0", 0, 0, 0);
	check_offloads("veth,tso=off,gso=on", "eth0", 0, 1, 0);
	check_offloads("veth,gro=on", "eth0", 1, 1, 1);
	check_offloads("lo,tso=off", "lo", 0, 0, 0);
}

/* Datagrams of one full frame each, from the tenth's arrival (the first few come out of the full
 * bucket at once) to the last's: bits on the wire per second. A reader too slow for its buffer
 * loses some, which only lowers the figure. */
static double measured_rate(const struct link *l, enum link_side from, int n)
{
	struct pair p = udp_pair(l, from, AF_INET);
	struct timeval soon = { .tv_usec = 500000 };
	char buf[1472] = "";
	double first = 0, last = 0;
	int got = 0;

	if (fork() == 0) {
		for (int i = 0; i < n; i++)
			send(p.from, buf, sizeof(buf), 0);
		_exit(0);
	}
	setsockopt(p.to, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	while (got < n && recv(p.to, buf, sizeof(buf), 0) == sizeof(buf)) {
		last = now();
		if (++got == 10)
			first = last;
	}
	wait(NULL);
	pair_close(&p);
	assert_true(got > 10);
	return (double)(got - 10) * (1472 + IP_UDP_ETH) * 8 / (last - first);
}

/* Nothing may be faster than was asked. That it gets as fast is shown by the best of six: a loaded
 * machine can fail to keep a cable busy, and an emulated one cannot be asked to. */
static void rate_is(const struct link *l, const char *text, enum link_side from, double rate, int n)
{
	double floor = in_guest() ? 0 : 0.90 * rate, best = 0;

	for (int i = 0; i < 6 && best < 0.95 * rate; i++) {
		double got = measured_rate(l, from, n);

		print_message("%s from %s: %.3f Mbit/s\n", text, from ? "server" : "client",
			      got / 1e6);
		assert_true(got < 1.03 * rate);
		best = got > best ? got : best;
	}
	assert_true(best > floor);
}

static void check_rate(const char *text, enum link_side from, double rate, int n)
{
	struct link l = up(text);

	rate_is(&l, text, from, rate, n);
	link_down(&l);
}

static void test_rate(void **state)
{
	(void)state;
	check_rate("veth,rate=20mbit", LINK_CLIENT, 20e6, 400);
	check_rate("veth,rate=20mbit", LINK_SERVER, 20e6, 400);
	check_rate("bridge,rate=100mbit,tso=off", LINK_CLIENT, 100e6, 1500);
	check_rate("veth,rate=100mbit,burst=3100,limit=8mb", LINK_CLIENT, 100e6, 1500);
	check_rate("lo,rate=20mbit,mtu=1500", LINK_CLIENT, 20e6, 400);
}

/* --- counters --- */

/* With an MTU too small for IPv6 there is none, and so nothing on the cable but what the test
 * sends: counts are exact. The queue holds ten datagrams' worth; a burst of a hundred loses the
 * rest in silence, and every one is accounted for. */
static void check_drops(const char *text)
{
	struct link l = up(text);
	struct pair p = udp_pair(&l, LINK_CLIENT, AF_INET);
	struct timeval soon = { .tv_usec = 300000 };
	struct link_stats st;
	char buf[1000] = "";
	unsigned int got = 0;

	for (int i = 0; i < 100; i++)
		assert_int_equal(send(p.from, buf, sizeof(buf), 0), sizeof(buf));
	st = stats_of(&l, LINK_CLIENT);
	assert_true(st.has_queue);
	assert_true(st.backlog > 0 && st.backlog <= 10420 && st.qlen > 0 && st.overlimits > 0);
	setsockopt(p.to, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	while (recv(p.to, buf, sizeof(buf), 0) == sizeof(buf))
		got++;
	st = stats_of(&l, LINK_CLIENT);
	assert_int_equal(st.drops + got, 100);
	assert_true(st.drops > 50);
	assert_int_equal(st.backlog, 0);
	assert_int_equal(st.wire_drops, 0);
	assert_int_equal(stats_of(&l, LINK_SERVER).drops, 0);
	pair_close(&p);
	link_down(&l);
}

static void test_drops(void **state)
{
	(void)state;
	check_drops("veth,mtu=1279,rate=1mbit,limit=10420");
	check_drops("bridge,mtu=1279,rate=1mbit,limit=10420");
}

static void test_counts(void **state)
{
	struct link l = up("bridge");
	struct pair p = udp_pair(&l, LINK_SERVER, AF_INET);
	struct link_stats was = stats_of(&l, LINK_SERVER), is;
	char buf[100] = "";

	(void)state;
	for (int i = 0; i < 50; i++)
		send(p.from, buf, sizeof(buf), 0);
	is = stats_of(&l, LINK_SERVER);
	assert_false(is.has_queue);
	assert_true(is.tx_packets - was.tx_packets >= 50 && is.tx_packets - was.tx_packets < 60);
	assert_true(is.tx_bytes - was.tx_bytes >= 50 * (100 + IP_UDP_ETH));
	pair_close(&p);
	link_down(&l);
}

/* --- knobs of TCP --- */

static int read_thresh(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/net/ipv4/tcp_pingpong_thresh", O_RDONLY);

	if (fd < 0)
		return -1;
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoi(text);
}

static void test_pingpong(void **state)
{
	struct link l;
	int outside;

	(void)state;
	enter(&sandbox, LINK_CLIENT);
	outside = read_thresh();
	if (outside < 0)
		skip();
	l = up("veth,pingpong=10");
	enter(&l, LINK_CLIENT);
	assert_int_equal(read_thresh(), 10);
	enter(&l, LINK_SERVER);
	assert_int_equal(read_thresh(), 10);
	link_down(&l);
	enter(&sandbox, LINK_CLIENT);
	assert_int_equal(read_thresh(), outside);
}

static void answer(int fd, int n)
{
	char buf[1016];

	for (int i = 0; i < n; i++)
		if (recv(fd, buf, sizeof(buf), MSG_WAITALL) != sizeof(buf) ||
		    send(fd, "a", 1, 0) != 1)
			_exit(1);
	_exit(0);
}

/* Header and payload in two writes, then the answer: Nagle waits for the delayed ACK each time. */
static double write_write_read(const struct link *l, int family, int n)
{
	struct pair p = tcp_pair(l, LINK_CLIENT, family);
	char buf[1000] = "";
	double t0 = now();

	if (fork() == 0)
		answer(p.to, n);
	for (int i = 0; i < n; i++) {
		assert_int_equal(send(p.from, buf, 16, 0), 16);
		assert_int_equal(send(p.from, buf, 1000, 0), 1000);
		assert_int_equal(recv(p.from, buf, 1, 0), 1);
	}
	t0 = now() - t0;
	wait(NULL);
	pair_close(&p);
	return t0;
}

static void check_quickack(const char *without, const char *with, int family)
{
	struct link a = up(without), b = up(with);
	double slow = write_write_read(&a, family, 6), quick = INFINITY;

	for (int i = 0; i < 3;
	     i++) /* a machine that stood still is slow once; a delayed ACK is each time */
		quick = fmin(quick, write_write_read(&b, family, 6));
	print_message("%s: %.1f ms; %s: %.1f ms\n", without, slow * 1e3, with, quick * 1e3);
	assert_true(slow > 5 * 0.035);
	assert_true(
		slow - quick >
		5 * 0.035); /* what remains is the same work in both, however slow the machine */
	link_down(&a);
	link_down(&b);
}

static void test_quickack(void **state)
{
	(void)state;
	check_quickack("veth", "veth,quickack=1", AF_INET);
	check_quickack("bridge", "bridge,quickack=1", AF_INET6);
	check_quickack("lo,mtu=1500", "lo,mtu=1500,quickack=1", AF_INET);
	check_quickack("lo,mtu=1500", "lo,mtu=1500,quickack=1", AF_INET6);
}

/* --- the wire --- */

static double round_trip(struct pair *p)
{
	double t0 = now();
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char c = 'x';

	assert_int_equal(send(p->from, &c, 1, 0), 1);
	assert_int_equal(recvfrom(p->to, &c, 1, 0, (struct sockaddr *)&from, &len), 1);
	assert_int_equal(sendto(p->to, &c, 1, 0, (struct sockaddr *)&from, len), 1);
	assert_int_equal(recv(p->from, &c, 1, 0), 1);
	return now() - t0;
}

/* True when the link could be made; else the refusal must be the right one, and nothing be made. */
static bool up_or_refused(const char *text, const char *queue, struct link *l)
{
	struct link_spec s;
	struct err e = { 0 };

	must(link_parse(text, &s, &e), &e);
	if (link_up(&s, l, &e) == 0)
		return true;
	print_message("%s\n", e.text);
	assert_false(in_guest());
	assert_int_equal(e.code, EXIT_NO_FEATURE);
	assert_non_null(strstr(e.text, queue));
	for (int i = 0; i < LINK_MAX_NS; i++)
		assert_true(l->ns_fd[i] < 0 && l->nl_fd[i] < 0);
	return false;
}

static void check_delay(const char *text)
{
	struct link l;
	struct pair p;

	if (!up_or_refused(text, "sch_netem", &l))
		return;
	p = udp_pair(&l, LINK_CLIENT, AF_INET);
	double least = 1;

	/* Never sooner than the delay; the best of some is near it, however busy the machine. */
	for (int i = 0; i < 15; i++) {
		double rtt = round_trip(&p);

		assert_true(rtt >= 0.0399);
		least = rtt < least ? rtt : least;
	}
	assert_true(least < 0.060);
	pair_close(&p);
	link_down(&l);
}

static void test_delay(void **state)
{
	(void)state;
	check_delay("veth,delay=20ms");
	check_delay("bridge,delay=20ms");
	check_delay("lo,delay=20ms");
	check_delay("veth,delay=20ms,rate=100mbit");
	check_delay("bridge,delay=20ms,rate=100mbit");
}

/* Behind a delay the rate is still the rate. */
static void test_delay_and_rate(void **state)
{
	static const char *const texts[] = { "veth,delay=5ms,rate=20mbit",
		"bridge,delay=5ms,rate=20mbit" };
	struct link l;

	(void)state;
	for (int i = 0; i < 2; i++) {
		if (!up_or_refused(texts[i], "sch_netem", &l))
			continue;
		rate_is(&l, texts[i], LINK_CLIENT, 20e6, 400);
		link_down(&l);
	}
}

/* Every datagram lost is counted, on the side of the link it was lost on. */
static void check_loss(const char *text, bool in_switch)
{
	struct timeval soon = { .tv_usec = 200000 };
	unsigned int got = 0;
	struct link_stats st;
	struct link l;
	struct pair p;
	char c = 'x';

	if (!up_or_refused(text, "sch_netem", &l))
		return;
	p = udp_pair(&l, LINK_CLIENT, AF_INET);
	for (int i = 0; i < 200; i++)
		assert_int_equal(send(p.from, &c, 1, 0), 1);
	setsockopt(p.to, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	while (recv(p.to, &c, 1, 0) == 1)
		got++;
	st = stats_of(&l, LINK_CLIENT);
	assert_true(got > 60 && got < 140);
	assert_int_equal(got + (in_switch ? st.wire_drops : st.drops), 200);
	pair_close(&p);
	link_down(&l);
}

static void test_loss(void **state)
{
	(void)state;
	check_loss("veth,mtu=1279,loss=50%", false);
	check_loss("veth,mtu=1279,loss=50%,rate=100mbit", false);
	check_loss("bridge,mtu=1279,loss=50%", true);
}

static void check_queue(const char *text, const char *queue)
{
	struct link l;

	if (!up_or_refused(text, queue, &l))
		return;
	talk_all_ways(&l);
	assert_true(stats_of(&l, LINK_CLIENT).has_queue);
	link_down(&l);
}

static void test_queues(void **state)
{
	(void)state;
	check_queue("veth,qdisc=pfifo", "sch_pfifo");
	check_queue("veth,qdisc=pfifo,limit=100kb,rate=100mbit", "sch_pfifo");
	check_queue("veth,qdisc=fq", "sch_fq");
	check_queue("bridge,qdisc=fq,limit=1mb,rate=100mbit", "sch_fq");
	check_queue("veth,qdisc=fq_codel,limit=1mb,rate=100mbit", "sch_fq_codel");
	check_queue("veth,delay=1ms,rate=100mbit,qdisc=fq", "sch_");
}

/* --- nothing is left, nothing is touched --- */

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static ino_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static ino_t ns_inode(const struct link *l, int i)
{
	struct stat st;

	assert_int_equal(fstat(l->ns_fd[i], &st), 0);
	return st.st_ino;
}

static void test_caller_untouched(void **state)
{
	ino_t net, user;
	struct link l;
	int fds;

	(void)state;
	enter(&sandbox, LINK_CLIENT);
	net = inode_of("/proc/self/ns/net");
	user = inode_of("/proc/self/ns/user");
	fds = open_fds();
	l = up("bridge");
	assert_int_equal(inode_of("/proc/self/ns/net"), net);
	assert_int_equal(inode_of("/proc/self/ns/user"), user);
	assert_int_equal(open_fds(), fds + 6);
	link_down(&l);
	assert_int_equal(open_fds(), fds);
	link_down(&l);
	assert_int_equal(open_fds(), fds);
}

static void test_two_at_once(void **state)
{
	struct link a = up("veth,rate=100mbit"), b = up("bridge,mtu=9000");

	(void)state;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++)
			assert_true(ns_inode(&a, i) != ns_inode(&b, j));
	talk_all_ways(&a);
	talk_all_ways(&b);
	link_down(&a);
	talk_all_ways(&b);
	link_down(&b);
}

/*
 * Is a namespace alive, without keeping it alive? We give it an id as seen from ours (RTM_NEWNSID);
 * the kernel drops the id when the namespace dies (cleanup_net() -> unhash_nsid()).
 */
static void watch_ns(int nl, int ns_fd)
{
	struct rtgenmsg g = { .rtgen_family = AF_UNSPEC };
	struct rtnl_req r;
	char why[128];

	rtnl_begin(&r, RTM_NEWNSID, 0, &g, sizeof(g));
	rtnl_put_u32(&r, NETNSA_NSID, (uint32_t)-1);
	rtnl_put_u32(&r, NETNSA_FD, (uint32_t)ns_fd);
	if (rtnl_call(nl, &r, why, sizeof(why)))
		fail_msg("RTM_NEWNSID: %s %s", strerror(errno), why);
}

static void count_one(const struct nlmsghdr *n, void *arg)
{
	*(int *)arg += n->nlmsg_type == RTM_NEWNSID;
}

static int alive_ns(int nl)
{
	struct rtgenmsg g = { .rtgen_family = AF_UNSPEC };
	struct rtnl_req r;
	int n = 0;

	rtnl_begin(&r, RTM_GETNSID, 0, &g, sizeof(g));
	assert_int_equal(rtnl_dump(nl, &r, count_one, &n), 0);
	return n;
}

static bool alive_within(int nl, int want, double patience)
{
	double end = now() + patience;

	while (alive_ns(nl) != want) {
		if (now() > end)
			return false;
		usleep(20000);
	}
	return true;
}

/* A process that makes a link, says so, and waits for its end. */
static void own_a_link(int said)
{
	struct link l = up("bridge,rate=100mbit");

	signal(SIGINT, SIG_DFL);
	if (write(said, l.ns_fd, sizeof(l.ns_fd)) == sizeof(l.ns_fd))
		for (;;)
			pause();
	_exit(1);
}

static void watch_all_of(int nl, pid_t owner, const int *fds)
{
	char path[64];

	for (int i = 0; i < LINK_MAX_NS; i++) {
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", owner, fds[i]);
		fd = open(path, O_RDONLY);
		assert_true(fd >= 0);
		watch_ns(nl, fd);
		close(fd);
	}
}

static void check_killed(int sig)
{
	int said[2], fds[LINK_MAX_NS], nl, status;
	pid_t owner;

	enter(&sandbox, LINK_CLIENT);
	nl = rtnl_open();
	assert_true(alive_within(nl, 0, 60)); /* those of earlier tests have gone */
	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	owner = fork();
	if (owner == 0)
		own_a_link(said[1]);
	assert_int_equal(read(said[0], fds, sizeof(fds)), sizeof(fds));
	watch_all_of(nl, owner, fds);
	usleep(100000);
	assert_int_equal(alive_ns(nl), LINK_MAX_NS);
	kill(owner, sig);
	assert_int_equal(waitpid(owner, &status, 0), owner);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == sig);
	assert_true(alive_within(nl, 0, 60));
	close(said[0]);
	close(said[1]);
	close(nl);
}

static void test_kill_9(void **state)
{
	(void)state;
	check_killed(SIGKILL);
}

static void test_sigint(void **state)
{
	(void)state;
	check_killed(SIGINT);
}

/* --- without privilege --- */

static void drop_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (syscall(SYS_capset, &h, none))
		_exit(101);
}

/* In a child: cmocka's jumps do not cross processes, so it answers by exit status. */
static void talk_unprivileged(void)
{
	struct link_spec s = { .kind = LINK_VETH, .rate = 100000000 };
	struct err e = { 0 };
	struct sockaddr_storage at;
	struct link_stats st;
	struct link l;
	int fd;

	drop_capabilities();
	if (link_up(&s, &l, &e))
		_exit(e.code);
	if (l.user_fd < 0)
		_exit(102);
	if (link_enter(&l, LINK_CLIENT, &e))
		_exit(e.code);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (sendto(fd, "x", 1, 0, (struct sockaddr *)&at, name(&at, AF_INET, "10.77.0.2", 9)) != 1)
		_exit(103);
	if (link_stats(&l, LINK_CLIENT, &st, &e))
		_exit(e.code);
	_exit(st.tx_packets >= 1 && st.has_queue ? 0 : 104);
}

static int status_of(void (*fn)(void))
{
	pid_t child;
	int status;

	enter(&sandbox, LINK_CLIENT);
	child = fork();
	if (child == 0)
		fn();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_unprivileged(void **state)
{
	int rc = status_of(talk_unprivileged);

	(void)state;
	if (rc == EXIT_NO_PERM)
		skip(); /* user namespaces are not for everyone here */
	assert_int_equal(rc, 0);
}

/* A process in a changed root may not make a user namespace (create_user_ns()); and this one has no
 * privilege. */
static void try_forbidden(void)
{
	struct link_spec s = { .kind = LINK_VETH };
	struct err e = { 0 };
	struct link l;

	if (chroot("/dev"))
		_exit(100);
	drop_capabilities();
	if (link_up(&s, &l, &e) == 0)
		_exit(0);
	_exit(strchr(e.text, '\n') || !strstr(e.text, "run as root") ? 101 : (int)e.code);
}

static void test_no_permission(void **state)
{
	(void)state;
	assert_int_equal(status_of(try_forbidden), EXIT_NO_PERM);
}

static void test_plain_lo(void **state)
{
	struct link l = up("lo");
	struct err e = { 0 };
	struct link_stats st;

	(void)state;
	enter(&sandbox, LINK_CLIENT);
	talk_all_ways(&l);
	assert_int_equal(link_stats(&l, LINK_CLIENT, &st, &e), -1);
	assert_int_equal(e.code, EXIT_NO_FEATURE);
	link_down(&l);
}

static bool move_to_sandbox(void)
{
	struct link_spec s = { .kind = LINK_LO, .mtu = 65535 };
	struct err e = { 0 };

	if (link_up(&s, &sandbox, &e) == 0 && link_enter(&sandbox, LINK_CLIENT, &e) == 0)
		return true;
	printf("skipped: %s\n", e.text);
	return false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_no_v6),
		cmocka_unit_test(test_mtu), cmocka_unit_test(test_mtu_path),
		cmocka_unit_test(test_offloads), cmocka_unit_test(test_rate),
		cmocka_unit_test(test_drops), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_pingpong), cmocka_unit_test(test_quickack),
		cmocka_unit_test(test_delay), cmocka_unit_test(test_delay_and_rate),
		cmocka_unit_test(test_loss), cmocka_unit_test(test_queues),
		cmocka_unit_test(test_caller_untouched), cmocka_unit_test(test_two_at_once),
		cmocka_unit_test(test_kill_9), cmocka_unit_test(test_sigint),
		cmocka_unit_test(test_unprivileged), cmocka_unit_test(test_no_permission),
		cmocka_unit_test(test_plain_lo),
	};

	if (!move_to_sandbox())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
