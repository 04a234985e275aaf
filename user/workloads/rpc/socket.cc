// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The socket below the calls. Its options are set before it connects or listens, since the window that it offers depends on them.
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "end.hh"

#ifndef TCP_DELACK_MAX_US
#define TCP_DELACK_MAX_US 46
#endif

namespace {

enum { BACKLOG = 16 };

[[noreturn]] void fail(int code, const std::string &what, const char *next)
{
	throw failure(code, what + ": " + strerror(errno) + (next ? std::string("; ") + next : ""));
}

void set_buffer(int fd, const worker_job &job, int force, int plain, int64_t bytes, const char *flag)
{
	int v = int(bytes);

	if (!bytes || (!job.unprivileged && !setsockopt(fd, SOL_SOCKET, force, &v, sizeof(v))))
		return;
	if (setsockopt(fd, SOL_SOCKET, plain, &v, sizeof(v)))
		fail(FAIL_RESOURCE, std::string(flag) + " " + std::to_string(v), "give another size");
}

void set_tcp(int fd, int option, int64_t v, const char *flag)
{
	int i = int(v);

	if (v && setsockopt(fd, IPPROTO_TCP, option, &i, sizeof(i)))
		fail(FAIL_FEATURE, flag, "this kernel does not take it: leave the option out");
}

void set_options(int fd, const worker_job &job, role who)
{
	uint64_t pacing = uint64_t(job.pacing);

	set_buffer(fd, job, SO_SNDBUFFORCE, SO_SNDBUF, job.sndbuf, "--sndbuf");
	set_buffer(fd, job, SO_RCVBUFFORCE, SO_RCVBUF, job.rcvbuf, "--rcvbuf");
	if (job.unix_socket)
		return;
	set_tcp(fd, TCP_NODELAY, job.nodelay[who], "--nodelay");
	set_tcp(fd, TCP_MAXSEG, job.mss, "--mss");
	set_tcp(fd, TCP_DELACK_MAX_US, job.delack_max_ns / 1000, "--delack-max");
	if (pacing && setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pacing, sizeof(pacing)))
		fail(FAIL_FEATURE, "--pacing", "this kernel does not take it: leave the option out");
	if (job.cc[0] && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, job.cc, socklen_t(strlen(job.cc))))
		fail(FAIL_FEATURE, std::string("--cc ") + job.cc, "see net.ipv4.tcp_available_congestion_control");
}

int new_socket(const worker_job &job, role who)
{
	int family = job.unix_socket ? AF_UNIX : job.v6 ? AF_INET6 : AF_INET;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail(errno == EAFNOSUPPORT ? FAIL_FEATURE : FAIL_RESOURCE, "socket", nullptr);
	set_options(fd, job, who);
	return fd;
}

// Where the server listens. Of a Unix socket the kernel chooses an abstract name: unix_autobind().
address own_address(const worker_job &job)
{
	address a = {};
	auto *in = reinterpret_cast<sockaddr_in *>(&a.ss);
	auto *in6 = reinterpret_cast<sockaddr_in6 *>(&a.ss);
	const char *text = job.bind[0] ? job.bind : job.v6 ? "::1" : "127.0.0.1";

	if (job.unix_socket) {
		a.ss.ss_family = AF_UNIX;
		a.len = sizeof(sa_family_t);
	} else if (job.v6 && inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(job.port);
		a.len = sizeof(*in6);
	} else if (!job.v6 && inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(job.port);
		a.len = sizeof(*in);
	} else {
		throw failure(FAIL_RESOURCE, std::string("address '") + text + "': not of this family; give another");
	}
	return a;
}

sockaddr *generic(address &a)
{
	return reinterpret_cast<sockaddr *>(&a.ss);
}

bool same_host(const address &a, const sockaddr_storage &b)
{
	auto *a6 = reinterpret_cast<const sockaddr_in6 *>(&a.ss);
	auto *b6 = reinterpret_cast<const sockaddr_in6 *>(&b);

	if (a.ss.ss_family != b.ss_family)
		return false;
	if (b.ss_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
	return b.ss_family != AF_INET || reinterpret_cast<const sockaddr_in *>(&a.ss)->sin_addr.s_addr ==
						 reinterpret_cast<const sockaddr_in *>(&b)->sin_addr.s_addr;
}

int64_t get_int(int fd, int level, int option)
{
	int v;
	socklen_t len = sizeof(v);

	return getsockopt(fd, level, option, &v, &len) ? FACT_UNKNOWN : v;
}

void tcp_facts(int fd, socket_facts &f)
{
	tcp_info ti = {};
	socklen_t len = sizeof(f.cc) - 1;

	f.nodelay = int(get_int(fd, IPPROTO_TCP, TCP_NODELAY));
	f.mss = get_int(fd, IPPROTO_TCP, TCP_MAXSEG);
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, f.cc, &len))
		f.cc[0] = 0;
	len = sizeof(ti);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len))
		return;
	f.has_tcp_info = true;
	f.rtt_us = ti.tcpi_rtt;
	f.rttvar_us = ti.tcpi_rttvar;
	f.min_rtt_us = ti.tcpi_min_rtt;
	f.cwnd = ti.tcpi_snd_cwnd;
	f.snd_wnd = FACT_UNKNOWN;
	f.retransmits = ti.tcpi_total_retrans;
	f.busy_us = int64_t(ti.tcpi_busy_time);
	f.rwnd_limited_us = int64_t(ti.tcpi_rwnd_limited);
	f.sndbuf_limited_us = int64_t(ti.tcpi_sndbuf_limited);
}

} // namespace

int socket_listen(const worker_job &job, address &bound)
{
	int one = 1, fd = new_socket(job, ROLE_SERVER);

	bound = own_address(job);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, generic(bound), bound.len) || listen(fd, BACKLOG))
		fail(FAIL_RESOURCE, "port " + std::to_string(job.port), "give another --port, or none");
	bound.len = sizeof(bound.ss);
	getsockname(fd, generic(bound), &bound.len);
	return fd;
}

int socket_connect(const worker_job &job, const address &to, address &from)
{
	int fd = new_socket(job, ROLE_CLIENT);

	if (connect(fd, reinterpret_cast<const sockaddr *>(&to.ss), to.len))
		fail(FAIL_PEER, "connect", "is the server there, and the port open?");
	from.len = job.unix_socket ? 0 : sizeof(from.ss);
	if (from.len)
		getsockname(fd, generic(from), &from.len);
	return fd;
}

// The next connection of this host only; others are closed.
int socket_accept(const worker_job &job, int listener, const address &from)
{
	for (;;) {
		sockaddr_storage peer = {};
		socklen_t len = sizeof(peer);
		int fd = accept4(listener, reinterpret_cast<sockaddr *>(&peer), &len, SOCK_CLOEXEC);

		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			fail(FAIL_PEER, "accept", nullptr);
		if (!from.len || same_host(from, peer)) {
			set_options(fd, job, ROLE_SERVER);
			return fd;
		}
		close(fd);
	}
}

void socket_facts_of(int fd, socket_facts &f)
{
	f = socket_facts();
	f.pipe_size = f.mss = f.send_errors = f.strays = FACT_UNKNOWN;
	f.nodelay = -1;
	f.sndbuf = get_int(fd, SOL_SOCKET, SO_SNDBUF);
	f.rcvbuf = get_int(fd, SOL_SOCKET, SO_RCVBUF);
	if (get_int(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP)
		tcp_facts(fd, f);
}
