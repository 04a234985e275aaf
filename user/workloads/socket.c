// SPDX-License-Identifier: GPL-2.0-only
/* What all sockets share: setting options, and reading facts. */
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>

#include "workloads/workload.h"

#ifndef TCP_DELACK_MAX_US
#define TCP_DELACK_MAX_US 46 /* since Linux 6.18 or so */
#endif

/* With CAP_NET_ADMIN the FORCE forms exceed the sysctl limits. Without it, the plain forms are
 * silently cut to these limits, which shows in the facts. */
static int set_buffer(int fd, const struct workload_options *o, int force, int plain, int64_t bytes,
		      const char *flag, struct err *e)
{
	int v = (int)bytes;

	if (!bytes || (!o->unprivileged && setsockopt(fd, SOL_SOCKET, force, &v, sizeof(v)) == 0))
		return 0;
	if (setsockopt(fd, SOL_SOCKET, plain, &v, sizeof(v)) == 0)
		return 0;
	return err_sys(e, EXIT_NO_RESOURCE, "give another size", "%s %d", flag, v);
}

int socket_apply(int fd, const struct workload_options *o, struct err *e)
{
	if (set_buffer(fd, o, SO_SNDBUFFORCE, SO_SNDBUF, o->sndbuf, "--sndbuf", e))
		return -1;
	return set_buffer(fd, o, SO_RCVBUFFORCE, SO_RCVBUF, o->rcvbuf, "--rcvbuf", e);
}

static int set_int(int fd, int opt, int v, const char *flag, struct err *e)
{
	if (setsockopt(fd, IPPROTO_TCP, opt, &v, sizeof(v)) == 0)
		return 0;
	return err_sys(e, EXIT_NO_FEATURE, "this kernel does not take it: leave the option out",
		       "%s", flag);
}

/* SO_MAX_PACING_RATE takes 32 or 64 bits: sock_setsockopt(). */
static int set_pacing(int fd, uint64_t bytes_per_s, struct err *e)
{
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)) == 0)
		return 0;
	return err_sys(e, EXIT_NO_FEATURE, "this kernel does not take it: leave the option out",
		       "--pacing");
}

int tcp_apply(int fd, const struct workload_options *o, struct err *e)
{
	if (o->nodelay && set_int(fd, TCP_NODELAY, 1, "--nodelay", e))
		return -1;
	if (o->cork && set_int(fd, TCP_CORK, 1, "--cork", e))
		return -1;
	if (o->mss && set_int(fd, TCP_MAXSEG, (int)o->mss, "--mss", e))
		return -1;
	if (o->delack_max_ns &&
	    set_int(fd, TCP_DELACK_MAX_US, (int)(o->delack_max_ns / 1000), "--delack-max", e))
		return -1;
	if (o->pacing && set_pacing(fd, (uint64_t)o->pacing, e))
		return -1;
	if (o->cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, o->cc, strlen(o->cc)))
		return err_sys(e, EXIT_NO_FEATURE, "see net.ipv4.tcp_available_congestion_control",
			       "--cc %s", o->cc);
	return 0;
}

static int64_t get_int(int fd, int level, int opt)
{
	int v;
	socklen_t len = sizeof(v);

	return getsockopt(fd, level, opt, &v, &len) == 0 ? v : FACT_UNKNOWN;
}

static void tcp_facts(int fd, struct socket_facts *f)
{
	struct tcp_info ti = {};
	socklen_t len = sizeof(ti);

	f->nodelay = (int)get_int(fd, IPPROTO_TCP, TCP_NODELAY);
	f->mss = get_int(fd, IPPROTO_TCP, TCP_MAXSEG);
	len = sizeof(f->cc) - 1;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, f->cc, &len))
		f->cc[0] = '\0';
	len = sizeof(ti);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len))
		return;
	f->has_tcp_info = true;
	f->rtt_us = ti.tcpi_rtt;
	f->rttvar_us = ti.tcpi_rttvar;
	f->min_rtt_us = ti.tcpi_min_rtt;
	f->cwnd = ti.tcpi_snd_cwnd;
	f->snd_wnd = len >= offsetof(struct tcp_info, tcpi_snd_wnd) + sizeof(ti.tcpi_snd_wnd)
			     ? ti.tcpi_snd_wnd
			     : FACT_UNKNOWN;
	f->retransmits = ti.tcpi_total_retrans;
	f->busy_us = (int64_t)ti.tcpi_busy_time;
	f->rwnd_limited_us = (int64_t)ti.tcpi_rwnd_limited;
	f->sndbuf_limited_us = (int64_t)ti.tcpi_sndbuf_limited;
}

void socket_facts_read(const struct conn *c, struct socket_facts *f)
{
	f->sndbuf = get_int(c->wfd, SOL_SOCKET, SO_SNDBUF);
	f->rcvbuf = get_int(c->rfd, SOL_SOCKET, SO_RCVBUF);
	if (get_int(c->wfd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP)
		tcp_facts(c->wfd, f);
}

int inet_address(const struct workload_options *o, struct address *a, struct err *e)
{
	struct sockaddr_in *in = (void *)&a->ss;
	struct sockaddr_in6 *in6 = (void *)&a->ss;
	const char *text = o->bind ? o->bind : o->v6 ? "::1" : "127.0.0.1";

	memset(a, 0, sizeof(*a));
	if (o->v6 && inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(o->port);
		a->len = sizeof(*in6);
		return 0;
	}
	if (!o->v6 && inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(o->port);
		a->len = sizeof(*in);
		return 0;
	}
	return err_usage(e, "address '%s': not an IPv%d address; give one, with -6 for IPv6", text,
			 o->v6 ? 6 : 4);
}
