// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two network namespaces, one a side, joined by a veth pair with a qdisc on each end. They have no
 * name and end with the processes in them: nothing to clean up.
 */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "known.h"

static void need(const char *fmt, const char *word, long number)
{
	char line[256];

	snprintf(line, sizeof(line), fmt, word, number);
	errno = 0;
	if (!command(line))
		die("'%s' failed", line);
}

static void own_namespace(struct known *k)
{
	if (k->threads)
		skip("two namespaces need two processes");
	if (unshare(CLONE_NEWNET))
		skip("no network namespace of its own: %s", strerror(errno));
}

/* A qdisc the kernel may not have: the one thing here that may be missing. */
static void qdisc(const char *dev, const char *what)
{
	char line[256];

	if (!what)
		return;
	snprintf(line, sizeof(line), "tc qdisc add dev %s root %s", dev, what);
	if (!command(line))
		skip("this kernel, or its tc, refuses '%s'", what);
}

static void no_offload(const char *dev)
{
	char line[128];

	snprintf(line, sizeof(line), "ethtool -K %s tso off gso off gro off", dev);
	if (!command(line))
		skip("no ethtool to turn segmentation offload off");
}

/* as the kernel made it, but for the retransmission timer */
static void patient_route(const char *dev)
{
	need("ip route change 10.99.7.0/24 dev %s proto kernel scope link rto_min %lds", dev, 30);
}

void wire_server(struct known *k, const struct wire *w)
{
	own_namespace(k);
	k->shared->pids[1] = getpid();
	meet(k); /* the namespace is there */
	meet(k); /* the veth pair is there */
	need("ip link set %s up", "lo", 0);
	need("ip addr add %s/24 dev known1", WIRE_SERVER, 0);
	need("ip link set %s up", "known1", 0);
	qdisc("known1", w->server_qdisc);
	if (w->no_offload)
		no_offload("known1");
	meet(k); /* both ends are up */
}

void wire_client(struct known *k, const struct wire *w)
{
	own_namespace(k);
	meet(k);
	if (!command("ip -V"))
		skip("no ip command");
	need("ip link add %s type veth peer name known1 netns %ld", "known0", k->shared->pids[1]);
	meet(k);
	need("ip link set %s up", "lo", 0);
	need("ip addr add %s/24 dev known0", WIRE_CLIENT, 0);
	need("ip link set %s up", "known0", 0);
	qdisc("known0", w->client_qdisc);
	if (w->no_offload)
		no_offload("known0");
	if (w->patient)
		patient_route("known0");
	meet(k);
}

/* --- one TCP connection over such a wire ------------------------------------------------------ */

struct wired {
	struct wire wire;
	struct tcp_opts opts;
	struct flow flow;
	long pacing_rate;
	uint64_t unsent_ns, device_ns, all_ns;
	struct end *client, *server;
};

static struct wired wired;

static void wired_serve(struct known *k, void *arg)
{
	struct end *e = wired.server;
	char *buf = spare_memory(wired.flow.size);
	int port = 4711, listener, fd;

	wire_server(k, &wired.wire);
	listener = tcp_listen(k, &wired.opts, &port);
	meet(k);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	end_here(e, fd);
	end_addresses(e, fd);
	do
		nap(e, wired.flow.slow_reader ? wired.flow.nap_ms : 0);
	while (get_some(e, fd, buf, wired.flow.size));
	tcp_info(e, fd);
	close(fd);
	end_gone(e);
	free(buf);
}

/* Sample until all is acknowledged: the queue, and what the qdisc and the driver hold. */
static void wired_watch(int fd, uint64_t from)
{
	uint64_t last = from, t;
	bool queued = true, device = false;

	do {
		nap_ns(NSEC_PER_MSEC / 10);
		t = now_ns();
		wired.unsent_ns += queued ? t - last : 0;
		wired.device_ns += device ? t - last : 0;
		last = t;
		queued = tcp_unsent(fd);
		device = socket_memory(fd, SK_MEMINFO_WMEM_ALLOC) >= 256;
	} while (!reached_peer(fd));
	wired.all_ns = last - from;
}

static void wired_run(struct known *k)
{
	struct end *e = wired.client = end_new(k, "client", "tcp");
	char *buf = spare_memory(wired.flow.n * wired.flow.size);
	uint64_t from;
	int fd;

	wired.server = end_new(k, "server", "tcp");
	wired.opts.bind_to = WIRE_SERVER;
	other_side(k, wired_serve, NULL);
	wire_client(k, &wired.wire);
	meet(k);
	fd = tcp_dial(k, &wired.opts, 4711);
	end_here(e, fd);
	end_addresses(e, fd);
	if (wired.pacing_rate)
		set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, wired.pacing_rate,
			"SO_MAX_PACING_RATE");
	from = now_ns();
	put(e, fd, buf, wired.flow.n * wired.flow.size);
	wired_watch(fd, now_ns());
	wired.all_ns += e->in_write_ns;
	k->elapsed_ns = now_ns() - from;
	tcp_info(e, fd);
	close(fd);
	end_gone(e);
	join_other_side(k);
	truth_ns(k, "unsent_ns", wired.unsent_ns);
	truth_ns(k, "device_ns", wired.device_ns);
	truth_ns(k, "in_write_ns", e->in_write_ns);
	expect_traffic(k, "client");
	expect_traffic(k, "server");
	free(buf);
}

/* A bucket under TCP: its queue is the device at work, not stall. */
static void tcp_tbf(struct known *k)
{
	wired = (struct wired){
		.flow = flow_params(k, false, 20, 10000, 0),
		.opts = { .family = AF_INET, .sndbuf = 1 << 20, .nodelay = 1 },
		.wire = { .client_qdisc = "tbf rate 2mbit burst 3100 limit 1000000",
			  .no_offload = true },
	};
	wired_run(k);
	expect_ns(k, "client", "tx", "device", wired.device_ns);
	expect_no_stall(k, "client");
}

/* Acknowledgements come through a bucket, one in 50 ms: the congestion window is what holds the
 * queue. All of it fits the peer's first window. */
static void cwnd(struct known *k)
{
	wired = (struct wired){
		.flow = flow_params(k, false, 6, 10000, 0),
		.opts = { .family = AF_INET, .sndbuf = 1 << 20, .nodelay = 1 },
		.wire = { .server_qdisc = "tbf rate 10kbit burst 200 limit 100000",
			  .patient = true },
	};
	wired_run(k);
	expect_ns(k, "client", "tx", "cwnd", wired.unsent_ns);
	expect_cause(k, "client", "cwnd");
	expect_none(k, "client", "tx", "device");
}

#define NETEM "netem delay 10ms limit 10000"

static struct wired netem_wired(struct known *k, long n, long size, long nap_ms)
{
	return (struct wired){
		.flow = flow_params(k, nap_ms > 0, n, size, nap_ms),
		.opts = { .family = AF_INET, .nodelay = 1 },
		.wire = { .client_qdisc = NETEM, .server_qdisc = NETEM },
	};
}

/* Slow start comes first and is cwnd's; from then on the window: the kernel's own count of it is
 * the judge. */
static void netem_rwnd(struct known *k)
{
	wired = netem_wired(k, 22, 16384, 20);
	wired.opts.rcvbuf = 65536;
	wired.opts.sndbuf = 1 << 22;
	wired_run(k);
	expect_ns(k, "client", "tx", "rwnd", wired.client->rwnd_limited_ns);
	expect_range(k, "client", "tx", "rwnd+cwnd", wired.unsent_ns * 95 / 100, wired.unsent_ns);
}

/*
 * The sender sleeps a round trip for room. Where the head of its queue is held meanwhile, what
 * holds it is the reason; it may be held once more when the last write is over.
 */
static void netem_sndbuf(struct known *k)
{
	wired = netem_wired(k, 10, 20000, 0);
	wired.opts.sndbuf = param(k, "sndbuf", 16384);
	wired_run(k);
	expect_beside_ns(k, "client", "tx", "blocked_ns", wired.client->in_write_ns);
	expect_ns(k, "client", "tx", "sndbuf+cwnd+rwnd+pacing",
		  wired.client->in_write_ns + wired.unsent_ns);
	expect_range(k, "client", "tx", "rwnd", 0,
		     wired.client->rwnd_limited_ns + 4 * NSEC_PER_MSEC);
	expect_none(k, "client", "tx", "nagle");
}

static void netem_pacing(struct known *k)
{
	wired = netem_wired(k, 30, 10000, 0);
	wired.opts.sndbuf = 1 << 20;
	wired.pacing_rate = param(k, "rate", 500000);
	wired_run(k);
	expect_range(k, "client", "tx", "pacing+cwnd", wired.unsent_ns * 97 / 100, wired.unsent_ns);
	expect_range(k, "client", "tx", "pacing", wired.unsent_ns * 90 / 100, wired.unsent_ns);
	expect_none(k, "client", "tx", "rwnd");
	expect_none(k, "client", "tx", "nagle");
}

const struct known_case net_cases[] = {
	{ "tcp-tbf", tcp_tbf, "a 2 Mbit/s link (root): n size" },
	{ "cwnd", cwnd, "acknowledgements 50 ms apart (root): n size" },
	{ "netem-rwnd", netem_rwnd, "20 ms away, a slow reader (root, netem): n size nap_ms" },
	{ "netem-sndbuf", netem_sndbuf, "20 ms away, a small send buffer (root, netem): n size "
		"sndbuf" },
	{ "netem-pacing", netem_pacing, "20 ms away, paced (root, netem): n size rate" },
	{ NULL }
};
