// SPDX-License-Identifier: GPL-2.0-only
/* The time of connect(). The socket is made outside the stamps. The server resets each connection
 * (SO_LINGER 0), so that no port is left in TIME_WAIT. The client waits for that reset, so it never
 * runs ahead of the accept queue. */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/run.h"

enum { NOT_MEASURED = ~0u };

/* A new socket's RTT is that of its handshake: the client's from SYN to SYN-ACK, the server's from
 * SYN-ACK to ACK (tcp_synack_rtt_meas()). tcpi_min_rtt is ~0 if there was no sample; 0 is an RTT
 * below 1 us. */
static void note_rtt(const struct run *r, uint64_t i, int fd)
{
	struct tcp_info ti = { .tcpi_min_rtt = NOT_MEASURED };
	socklen_t len = sizeof(ti);

	if (r->rtt[r->role] && i < r->max_samples &&
	    !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len) && ti.tcpi_min_rtt != NOT_MEASURED)
		r->rtt[r->role][i] = ti.tcpi_rtt + 1;
}

static int one_connect(struct run *r, uint64_t i, struct err *e)
{
	int family = r->sh->server.ss.ss_family, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t t0, t1;
	char byte;
	int rc;

	if (fd < 0)
		return err_sys(e, EXIT_NO_RESOURCE, NULL, "socket");
	t0 = tick_now(&r->clock);
	rc = connect(fd, (void *)&r->sh->server.ss, r->sh->server.len);
	t1 = tick_now(&r->clock);
	r->samples[ROLE_CLIENT][i] = t1 - t0;
	if (!rc)
		note_rtt(r, i, fd);
	/* The handshake was over, but the server's reset arrived before the wake-up. A reset before
	 * the end of the handshake gives ECONNREFUSED (tcp_reset()). What TCP measured is lost
	 * (tcp_disconnect()). */
	if (rc && errno == ECONNRESET)
		rc = 0;
	if (rc)
		err_sys(e, EXIT_PEER, NULL, "connect");
	else
		(void)!recv(fd, &byte, 1, 0);
	close(fd);
	return rc;
}

static int connect_client(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t from = tick_now(&r->clock), now = from,
		 deadline = from + ns_to_ticks(&r->clock, p->duration_ns), n = 0;
	bool last = false;

	while (!last) {
		last = stop_here(r, p, n, now, deadline);
		if (one_connect(r, n, e))
			return -1;
		n++;
		now = tick_now(&r->clock);
	}
	run_done(r);
	r->tally->from = from;
	r->tally->to = now;
	r->tally->messages = n;
	r->tally->n = p->record ? n : 0;
	return 0;
}

static int connect_server(struct run *r, const struct phase *p, struct err *e)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	for (uint64_t i = 0;; i++) {
		int fd = inet_accept_from(r->conn.lfd, &r->sh->client);

		if (fd < 0 && errno == EINTR && client_done(r))
			return 0;
		if (fd < 0 && errno == EINTR) {
			i--;
			continue;
		}
		if (fd < 0)
			return err_sys(e, EXIT_PEER, NULL, "accept");
		note_rtt(r, i, fd);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(fd);
		if (server_stops(r, i))
			return 0;
	}
}

const struct test_ops test_connect = { connect_client, connect_server };
