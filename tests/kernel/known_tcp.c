// SPDX-License-Identifier: GPL-2.0-only
/* One TCP connection kept waiting in one way. Sizes and naps are parameters; the defaults are the
 * figures of record. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "known.h"

/* --- write-write-read: the second write waits for the ACK of the first, which the server withholds
 * ----- */

struct wwr {
	long n, warm, head, body, tail;
	uint64_t nagle_ns, stalls;
	bool nodelay;
};

static struct wwr wwr;

static void wwr_params(struct known *k, long n, bool nodelay)
{
	wwr = (struct wwr){
		.n = param(k, "n", n),
		.warm = param(k, "warm", 0),
		.head = param(k, "head", 16),
		.body = param(k, "size", 1000),
		.tail = param(k, "tail", 0),
		.nodelay = nodelay,
	};
}

static void wwr_message(struct end *e, int fd, char *buf, bool counted)
{
	uint64_t from = now_ns(), held = from, took;

	if (wwr.head) {
		put(e, fd, buf, wwr.head);
		held = now_ns();
	}
	put(e, fd, buf, wwr.body);
	if (wwr.tail) {
		held = now_ns();
		put(e, fd, buf, wwr.tail);
	}
	if (!get(e, fd, buf, 1))
		die("no reply");
	took = now_ns() - from;
	if (counted && took > STALLED_NS) {
		wwr.stalls++;
		wwr.nagle_ns += now_ns() - held;
	}
}

static void wwr_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(wwr.body + wwr.head + wwr.tail);
	uint64_t from;
	long i;

	e->asks_cpu = true;
	for (i = 0; i < wwr.warm; i++)
		wwr_message(e, fd, buf, false);
	from = now_ns();
	for (i = 0; i < wwr.n; i++)
		wwr_message(e, fd, buf, true);
	k->elapsed_ns = now_ns() - from;
	free(buf);
}

static void wwr_server(struct known *k, struct end *e, int fd)
{
	long size = wwr.head + wwr.body + wwr.tail, i;
	char *buf = spare_memory(size);

	e->asks_cpu = true;
	for (i = 0; i < wwr.n + wwr.warm; i++) {
		if (!get(e, fd, buf, size))
			die("no message");
		put(e, fd, buf, 1);
	}
	get(e, fd, buf, 1);
	free(buf);
}

static void wwr_expect(struct known *k)
{
	struct end *s = end_find(k, "server"), *c = end_find(k, "client");
	/* an end without a processor for half a delayed ACK can make or hide one */
	uint64_t slip = (s->runq_ns + c->runq_ns) / (20 * NSEC_PER_MSEC);

	if (slip > wwr.stalls)
		slip = wwr.stalls;
	truth_ns(k, "nagle_ns", wwr.nagle_ns);
	truth_ns(k, "stalls", wwr.stalls);
	if (wwr.nodelay) {
		expect_count(k, "client", "tx", "nagle", 0, 0);
		expect_no_stall(k, "client");
	} else {
		expect_ns(k, "client", "tx", "nagle", wwr.nagle_ns);
		expect_count(k, "client", "tx", "nagle", wwr.stalls - slip, wwr.n + wwr.warm);
		expect_cause(k, "client", "nagle");
		expect_beside(k, "server", "rx", "delack_fires", wwr.stalls - slip,
			      wwr.stalls + slip);
		/* after each the client goes on; one whose wake-up took over a millisecond is not
		 * told from one that had not waited */
		expect_beside(k, "server", "rx", "waited_for", (wwr.stalls - slip) / 2,
			      wwr.stalls + slip);
		expect_blame(k, "client", "nagle", "server");
	}
	expect_no_stall(k, "server");
	/* of hundreds of reads the work in them adds up to more than a tolerance */
	expect_ns(k, "server", "rx", "wait", s->off_cpu_in_read_ns);
	expect_ns(k, "client", "rx", "wait", c->off_cpu_in_read_ns);
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

static void nagle(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	wwr_params(k, 20, false);
	tcp_case(k, &o, wwr_client, wwr_server);
	wwr_expect(k);
}

static void nodelay(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	wwr_params(k, 200, true);
	o.nodelay = 1;
	tcp_case(k, &o, wwr_client, wwr_server);
	wwr_expect(k);
}

/* Bulk writes into a small send buffer: the writer sleeps until the server's delayed ACK. */
static void sndbuf(struct known *k)
{
	struct tcp_opts o = tcp_params(k);
	struct end *c;

	wwr_params(k, 12, false);
	wwr.head = 0;
	wwr.body = param(k, "size", 200000);
	o.sndbuf = param(k, "sndbuf", 8192);
	o.nodelay = param(k, "nodelay", 0);
	tcp_case(k, &o, wwr_client, wwr_server);
	c = end_find(k, "client");
	truth_ns(k, "in_write_ns", c->in_write_ns);
	expect_ns(k, "client", "tx", "sndbuf", c->in_write_ns);
	expect_beside_ns(k, "client", "tx", "blocked_ns", c->in_write_ns);
	expect_cause(k, "client", "sndbuf");
	expect_traffic(k, "client");
}

/* --- a reader that naps ----------------------------------------------------------------------- */

static struct flow flow;
static uint64_t unsent_ns;

/* Until the last byte has left, and then has arrived: the FIN of close() would wait for the window
 * too. */
static void watch_queue(struct known *k, int fd, uint64_t from)
{
	unsent_ns = watch_unsent(fd, from, from + 60 * NSEC_PER_SEC) - from;
	while (!reached_peer(fd))
		nap_ns(NSEC_PER_MSEC / 5);
	k->elapsed_ns = now_ns() - from;
}

/* Everything is queued by one write; then it is watched until the last byte has left. */
static void queue_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.n * flow.size);

	put(e, fd, buf, flow.n * flow.size);
	watch_queue(k, fd, now_ns()); /* until then it was `work` */
	free(buf);
}

static void napping_server(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	uint64_t from = now_ns();

	do {
		nap(e, flow.nap_ms);
	} while (get_some(e, fd, buf, flow.size));
	e->late_ns = now_ns() - from - e->napped_ns - e->in_read_ns;
	free(buf);
}

static struct tcp_opts slow_reader_opts(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, true, 20, 8192, 25);
	o.rcvbuf = param(k, "rcvbuf", 16384);
	o.sndbuf = 1 << 20;
	o.nodelay = 1;
	return o;
}

static void rwnd_expect(struct known *k)
{
	struct end *s = end_find(k, "server");

	truth_ns(k, "unsent_ns", unsent_ns);
	expect_ns(k, "client", "tx", "rwnd", unsent_ns);
	expect_cause(k, "client", "rwnd");
	expect_none(k, "client", "tx", "device");
	expect_range(k, "server", "rx", "unread", s->napped_ns - flow.nap_ms * NSEC_PER_MSEC,
		     s->napped_ns - flow.nap_ms * NSEC_PER_MSEC + s->late_ns);
	expect_blame(k, "client", "rwnd", "server");
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

static void rwnd(struct known *k)
{
	struct tcp_opts o = slow_reader_opts(k);

	tcp_case(k, &o, queue_client, napping_server);
	rwnd_expect(k);
}

/* The same after one end has said that it sends no more: acknowledgements go another way through
 * the kernel from then on. */
static void last_words_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.n * flow.size);
	uint64_t from;

	put(e, fd, buf, flow.n * flow.size);
	from = now_ns();
	shutdown(fd, SHUT_WR);
	watch_queue(k, fd, from);
	free(buf);
}

static void rwnd_last_words(struct known *k)
{
	struct tcp_opts o = slow_reader_opts(k);

	tcp_case(k, &o, last_words_client, napping_server);
	rwnd_expect(k);
}

static void answering_client(struct known *k, struct end *e, int fd)
{
	char byte;

	if (get_some(e, fd, &byte, 1))
		die("bytes from nowhere");
	queue_client(k, e, fd);
}

static void silent_server(struct known *k, struct end *e, int fd)
{
	shutdown(fd, SHUT_WR);
	napping_server(k, e, fd);
}

static void rwnd_answer(struct known *k)
{
	struct tcp_opts o = slow_reader_opts(k);

	tcp_case(k, &o, answering_client, silent_server);
	rwnd_expect(k);
}

/* The same, from writers that do not sleep in write(): a ledger must not need them to. */
static void epoll_write(struct end *e, int fd, char *buf, long len)
{
	struct epoll_event ev = { .events = EPOLLOUT };
	int ep = epoll_create1(0);

	if (ep < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		die("epoll");
	e->tx_messages++;
	while (len > 0) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno != EAGAIN)
			die("write");
		if (n > 0) {
			e->tx_bytes += n;
			len -= n;
		} else {
			epoll_wait(ep, &ev, 1, -1);
		}
	}
	close(ep);
}

static void epoll_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.n * flow.size);
	uint64_t from = now_ns();

	epoll_write(e, fd, buf, flow.n * flow.size);
	watch_queue(k, fd, from);
	free(buf);
}

/* A send buffer that holds a window's worth: the writer gets EAGAIN and sleeps in epoll_wait(). */
static void epoll_slow_reader(struct known *k)
{
	struct tcp_opts o = slow_reader_opts(k);

	o.sndbuf = param(k, "sndbuf", 65536);
	tcp_case(k, &o, epoll_client, napping_server);
	rwnd_expect(k);
}

static void sendfile_client(struct known *k, struct end *e, int fd)
{
	long len = flow.n * flow.size;
	char name[] = "/tmp/known.XXXXXX", *buf = spare_memory(len);
	int file = mkstemp(name);
	off_t at = 0;
	uint64_t from;

	if (file < 0 || write(file, buf, len) != len)
		die("%s", name);
	unlink(name);
	from = now_ns();
	while (at < len) {
		ssize_t n = sendfile(fd, file, &at, len - at);

		if (n <= 0)
			die("sendfile");
		e->tx_bytes += n;
	}
	watch_queue(k, fd, from);
	close(file);
	free(buf);
}

static void sendfile_slow_reader(struct known *k)
{
	struct tcp_opts o = slow_reader_opts(k);

	tcp_case(k, &o, sendfile_client, napping_server);
	expect_covers(k, "sendfile");
	rwnd_expect(k);
}

/* What goes from a socket through a pipe into nowhere is seen by no receive call: its bytes are
 * known to the byte, or not at all. */
static void splice_server(struct known *k, struct end *e, int fd)
{
	int p[2], nowhere = open("/dev/null", O_WRONLY);
	ssize_t n;

	(void)k;
	if (nowhere < 0 || pipe(p))
		die("pipe");
	while ((n = splice(fd, NULL, p[1], NULL, flow.size, 0)) > 0) {
		e->rx_bytes += n;
		if (splice(p[0], NULL, nowhere, NULL, n, 0) != n)
			die("splice to /dev/null");
	}
	if (n < 0)
		die("splice from a socket");
	close(p[0]);
	close(p[1]);
	close(nowhere);
}

static void splice_out(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, false, 20, 4096, 0);
	tcp_case(k, &o, queue_client, splice_server);
	expect_traffic(k, "client");
	expect_unseen_calls(k, "server", "rx", end_find(k, "server")->rx_bytes);
}

/* --- an application with nothing to send ------------------------------------------------------ */

static void idle_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	uint64_t from = now_ns();
	long i;

	for (i = 0; i < flow.n; i++) {
		nap(e, flow.nap_ms);
		put(e, fd, buf, flow.size);
	}
	k->elapsed_ns = now_ns() - from;
	free(buf);
}

/* Acknowledges at once, so that the client is idle and not in flight. */
static void prompt_server(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);

	do
		set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 1, "TCP_QUICKACK");
	while (get(e, fd, buf, flow.size));
	free(buf);
}

static void idle(struct known *k)
{
	struct tcp_opts o = tcp_params(k);
	struct end *s;

	o.nodelay = 1;
	flow = flow_params(k, false, 20, 1000, 30);
	tcp_case(k, &o, idle_client, prompt_server);
	s = end_find(k, "server");
	truth_ns(k, "idle_ns", end_find(k, "client")->napped_ns);
	expect_ns(k, "client", "tx", "idle", end_find(k, "client")->napped_ns);
	expect_no_stall(k, "client");
	expect_ns(k, "server", "rx", "wait", s->in_read_ns);
	expect_none(k, "server", "rx", "unread");
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

/* --- cork ------------------------------------------------------------------------------------- */

static uint64_t cork_ns;
#define CORK_PIECES \
	6 /* together less than the 200 ms after which the kernel lets a corked segment go */

/* The kernel lets a corked segment go after 200 ms by itself: watched, not assumed. */
static void cork_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	uint64_t from, held;
	long i;

	set_int(fd, IPPROTO_TCP, TCP_CORK, 1, "TCP_CORK");
	from = now_ns();
	for (i = 0; i < flow.n; i++) {
		put(e, fd, buf, flow.size);
		held = now_ns();
		cork_ns += watch_unsent(fd, held, held + flow.nap_ms * NSEC_PER_MSEC) - held;
	}
	set_int(fd, IPPROTO_TCP, TCP_CORK, 0, "TCP_CORK");
	k->elapsed_ns = now_ns() - from;
	free(buf);
}

/* The same writer adds to what is held, and nothing goes out by that: one hold a round, as long as
 * all of it. */
static void cork_pieces_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	uint64_t from = now_ns(), held;
	long i, piece;

	for (i = 0; i < flow.n; i++) {
		set_int(fd, IPPROTO_TCP, TCP_CORK, 1, "TCP_CORK");
		held = now_ns();
		for (piece = 0; piece < CORK_PIECES; piece++) {
			put(e, fd, buf, flow.size);
			nap(e, flow.nap_ms);
		}
		set_int(fd, IPPROTO_TCP, TCP_CORK, 0, "TCP_CORK");
		cork_ns += now_ns() - held;
		nap(e, flow.nap_ms);
	}
	k->elapsed_ns = now_ns() - from;
	free(buf);
}

static void plain_server(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(65536);

	while (get_some(e, fd, buf, 65536))
		;
	free(buf);
}

static void cork(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, false, 4, 100, 50);
	tcp_case(k, &o, cork_client, plain_server);
	truth_ns(k, "cork_ns", cork_ns);
	expect_ns(k, "client", "tx", "cork", cork_ns);
	expect_cause(k, "client", "cork");
	expect_traffic(k, "client");
}

static void cork_pieces(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, false, 5, 100, 10);
	tcp_case(k, &o, cork_pieces_client, plain_server);
	truth_ns(k, "cork_ns", cork_ns);
	expect_range(k, "client", "tx", "cork", cork_ns - end_find(k, "client")->in_write_ns,
		     cork_ns);
	expect_count(k, "client", "tx", "cork", flow.n, flow.n);
	expect_longest(k, "client", "tx", "cork", cork_ns / flow.n - NSEC_PER_MSEC);
	expect_cause(k, "client", "cork");
	expect_traffic(k, "client");
}

/* --- pacing ----------------------------------------------------------------------------------- */

static void pacing_client(struct known *k, struct end *e, int fd)
{
	set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, param(k, "rate", 500000), "SO_MAX_PACING_RATE");
	queue_client(k, e, fd);
	nap(e, 60); /* the FIN of close() would be paced too */
}

/* No fq on the way: the socket paces itself. Small segments, since the first ten are not paced. */
static void pacing(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, false, 30, 10000, 0);
	o.maxseg = 1400;
	o.sndbuf = 1 << 20;
	o.nodelay = 1;
	tcp_case(k, &o, pacing_client, plain_server);
	truth_ns(k, "unsent_ns", unsent_ns);
	expect_ns(k, "client", "tx", "pacing", unsent_ns);
	expect_cause(k, "client", "pacing");
	expect_traffic(k, "client");
}

/*
 * BBR takes a slow reader's pace for the path's and paces to it, in bursts and in packets larger
 * than loopback takes: nothing of that is the device's, and a higher rate would not help.
 */
static void bbr_reader(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, true, 300, 100000, 5);
	o.cc = "bbr";
	tcp_case(k, &o, queue_client, napping_server);
	truth_ns(k, "unsent_ns", unsent_ns);
	expect_ns(k, "client", "tx", "pacing+cwnd+rwnd+sndbuf+work",
		  end_find(k, "client")->in_write_ns + unsent_ns);
	expect_none(k, "client", "tx", "device");
	expect_blame(k, "client", "pacing", "server");
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

/* --- recovery --------------------------------------------------------------------------------- */

static uint64_t lost_ns, loss_state_ns;
static long chatter; /* bytes that the deaf server sends, a segment each: they say nothing of the
			client's data */

static int ca_state(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	return info.tcpi_ca_state;
}

/* How long the data took to be acknowledged, and how much of that the kernel knew it to be lost. */
static void watch_loss(int fd)
{
	uint64_t from = now_ns(), last = from, t;
	bool lost = false;

	while (!reached_peer(fd)) {
		nap_ns(NSEC_PER_MSEC / 5);
		t = now_ns();
		if (lost)
			loss_state_ns += t - last;
		lost = ca_state(fd) >= TCP_CA_Recovery;
		last = t;
	}
	lost_ns = now_ns() - from;
}

static void loss_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	uint64_t from = now_ns();
	long i;

	for (i = 0; i < 5; i++) { /* a round-trip time to go by */
		put(e, fd, buf, flow.size);
		get(e, fd, buf, 1);
	}
	meet(k); /* the server is deaf from here on */
	meet(k);
	put(e, fd, buf, flow.size);
	watch_loss(fd);
	get(e, fd, buf, chatter + 1);
	k->elapsed_ns = now_ns() - from;
	free(buf);
}

/* A filter that lets nothing through loses every segment in silence, on any path, for anyone. */
static void deaf(int fd, bool yes)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = { .len = 1, .filter = &drop };

	if (yes ? setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog))
		: setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &prog, sizeof(prog)))
		die("socket filter");
}

static void loss_server(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	long i;

	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1,
		"TCP_NODELAY"); /* or it would wait for acknowledgements that it does not hear */
	for (i = 0; i < 5; i++) {
		get(e, fd, buf, flow.size);
		put(e, fd, buf, 1);
	}
	while (chatter &&
	       !reached_peer(fd)) /* or its timeout would leave it a window of one segment */
		nap_ns(NSEC_PER_MSEC / 5);
	meet(k);
	deaf(fd, true);
	meet(k);
	nap(e, flow.nap_ms / 2);
	for (i = 0; i < chatter; i++) {
		put(e, fd, buf, 1);
		nap(e, flow.nap_ms / 2 / chatter);
	}
	if (!chatter)
		nap(e, flow.nap_ms / 2);
	deaf(fd, false);
	get(e, fd, buf, flow.size);
	put(e, fd, buf, 1);
	get(e, fd, buf, 1);
	free(buf);
}

/*
 * Deaf for 700 ms: a probe or the first timeout is lost as well, and from then on the data is known
 * to be lost. Before that nobody can know: flight and recovery are both right there.
 */
static void loss(struct known *k)
{
	struct tcp_opts o = tcp_params(k);
	struct end *c;

	flow = flow_params(k, false, 1, 1000, 700);
	chatter = param(k, "chatter", 0);
	tcp_case(k, &o, loss_client, loss_server);
	c = end_find(k, "client");
	truth_ns(k, "unacknowledged_ns", lost_ns);
	truth_ns(k, "known_lost_ns", loss_state_ns);
	expect_range(k, "client", "tx", "recovery", loss_state_ns, lost_ns);
	expect_ns(k, "client", "tx", "recovery+flight", lost_ns);
	expect_cause(k, "client", "recovery");
	expect_beside(k, "client", "tx", "retransmits", c->retransmits, c->retransmits);
	expect_traffic(k, "client");
}

/* --- cost: nothing waits that need not -------------------------------------------------------- */

static bool peeks;

static void pingpong_side(struct known *k, struct end *e, int fd, bool first)
{
	char *buf = spare_memory(flow.size);
	uint64_t cpu = cpu_time_ns(), from = now_ns();
	long i;

	for (i = 0; i < flow.n; i++) {
		if (first)
			put(e, fd, buf, flow.size);
		if (peeks && recv(fd, buf, flow.size, MSG_PEEK) <= 0)
			die("%s: recv", e->role);
		if (!get(e, fd, buf, flow.size))
			die("%s: the peer has gone", e->role);
		if (!first)
			put(e, fd, buf, flow.size);
	}
	if (first)
		k->elapsed_ns = now_ns() - from;
	e->cpu_ns = cpu_time_ns() - cpu;
	free(buf);
}

static void pingpong_client(struct known *k, struct end *e, int fd)
{
	pingpong_side(k, e, fd, true);
}

static void pingpong_server(struct known *k, struct end *e, int fd)
{
	pingpong_side(k, e, fd, false);
}

static void cost_expect(struct known *k)
{
	uint64_t cpu = end_find(k, "client")->cpu_ns + end_find(k, "server")->cpu_ns;

	truth_ns(k, "cpu_ns", cpu);
	truth_ns(k, "cpu_ns_per_message", cpu / flow.n);
	expect_traffic(k, "client");
	expect_traffic(k, "server");
}

/* Who is woken waits until the waker sleeps: whether it takes its processor instead depends on what
 * else runs, and is another workload. */
static void wake_without_preemption(void)
{
	if (sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 }))
		die("sched_setscheduler");
}

static void pingpong(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, false, 20000, 64, 0);
	o.nodelay = 1;
	peeks = param(k, "peek", 0);
	if (param(k, "batch", 0))
		wake_without_preemption();
	tcp_case(k, &o, pingpong_client, pingpong_server);
	expect_count(k, "client", "tx", "nagle", 0, 0);
	cost_expect(k);
}

static void stream_client(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size), done;
	uint64_t cpu = cpu_time_ns(), from = now_ns();
	long i;

	for (i = 0; i < flow.n; i++)
		put(e, fd, buf, flow.size);
	shutdown(fd, SHUT_WR);
	while (read(fd, &done, 1) > 0)
		;
	k->elapsed_ns = now_ns() - from;
	e->cpu_ns = cpu_time_ns() - cpu;
	free(buf);
}

static void stream_server(struct known *k, struct end *e, int fd)
{
	char *buf = spare_memory(flow.size);
	uint64_t cpu = cpu_time_ns();

	while (get(e, fd, buf, flow.size))
		;
	e->cpu_ns = cpu_time_ns() - cpu;
	free(buf);
}

static void stream(struct known *k)
{
	struct tcp_opts o = tcp_params(k);

	flow = flow_params(k, false, 20000, 65536, 0);
	tcp_case(k, &o, stream_client, stream_server);
	cost_expect(k);
}

const struct known_case tcp_cases[] = {
	{ "nagle", nagle, "write-write-read: n warm head size tail v=4|6" },
	{ "nodelay", nodelay, "the same with TCP_NODELAY: nothing waits" },
	{ "sndbuf", sndbuf, "a small send buffer: n size sndbuf nodelay v" },
	{ "rwnd", rwnd, "the reader naps, the window closes: n size nap_ms rcvbuf v" },
	{ "rwnd-last-words", rwnd_last_words, "the same, of a writer that has shut its side down "
		"behind it" },
	{ "rwnd-answer", rwnd_answer, "the same, of a writer whose reader has shut its side down "
		"before" },
	{ "epoll-rwnd", epoll_slow_reader, "the same, non-blocking writer with epoll: and sndbuf" },
	{ "sendfile-rwnd", sendfile_slow_reader, "the same, written by sendfile()" },
	{ "splice-out", splice_out, "a reader that never calls read(): n size v" },
	{ "idle", idle, "the writer has nothing to send: n size nap_ms v" },
	{ "cork", cork, "TCP_CORK: n size nap_ms v" },
	{ "cork-pieces", cork_pieces, "TCP_CORK, and a writer that adds to what is held: n size "
		"nap_ms v" },
	{ "pacing", pacing, "SO_MAX_PACING_RATE: n size rate v" },
	{ "bbr-reader", bbr_reader, "BBR and a reader that naps: n size nap_ms v" },
	{ "loss", loss, "the peer hears nothing for nap_ms, and may speak: size nap_ms chatter v" },
	{ "pingpong", pingpong, "for cost: n size v peek batch" },
	{ "stream", stream, "for cost: n size v" },
	{ NULL }
};
