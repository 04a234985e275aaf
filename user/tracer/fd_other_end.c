// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process has the other end of a descriptor: the only one, besides the asked process, that
 * can read from the pipe (or write to it), or the holder of the socket at the other end of a
 * connection on this host.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/rtnl.h"
#include "tracer/internal.h"

struct pipe_search {
	pid_t self, found;
	uint64_t inode;
	mode_t how;
	bool several;
};

static void note_holder(void *ctx, pid_t pid, int dir, long fd)
{
	struct pipe_search *p = ctx;

	if (pid == p->self || pid == p->found || proc_inode(dir, fd) != p->inode ||
	    !fd_open_for(dir, fd, p->how) || proc_waits_for_child(pid))
		return;
	p->several |= p->found != 0;
	p->found = pid;
}

static pid_t other_at_pipe(pid_t pid, uint64_t inode, bool sends)
{
	struct pipe_search p = { .self = pid, .inode = inode, .how = sends ? S_IRUSR : S_IWUSR };

	return proc_descriptors(note_holder, &p) && !p.several ? p.found : 0;
}

struct socket_search {
	uint64_t inode;
	struct trace_endpoint *ep;
};

static void set_addr(struct trace_addr *to, const uint32_t ip[4], uint16_t port)
{
	memcpy(to->ip, ip, sizeof(to->ip));
	to->port = ntohs(port);
}

static void note_tcp(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct socket_search *x = ctx;

	if (m->idiag_inode != x->inode)
		return;
	x->ep->proto = TRACE_TCP;
	x->ep->family = m->idiag_family;
	set_addr(&x->ep->local, m->id.idiag_src, m->id.idiag_sport);
	set_addr(&x->ep->remote, m->id.idiag_dst, m->id.idiag_dport);
}

static void find_tcp(struct socket_search *x)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (int i = 0; i < 2; i++) {
		struct inet_diag_req_v2 ask = { .sdiag_family = families[i],
						.sdiag_protocol = IPPROTO_TCP,
						.idiag_states = ~0u };
		struct rtnl_req r;

		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note_tcp, x);
	}
}

static pid_t other_at_socket(uint64_t inode)
{
	struct trace_endpoint ep = { .proto = TRACE_UNIX_STREAM, .inode = inode, .peer = -1 };
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	find_tcp(&(struct socket_search){ inode, &ep });
	trace_name_other_ends(&s);
	return ep.making.other_pid;
}

enum fd_kind { FD_OTHER, FD_PIPE, FD_SOCKET };

static enum fd_kind kind_of(pid_t pid, long fd, uint64_t *inode)
{
	char path[40], to[32] = "", name[24];
	int dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	snprintf(name, sizeof(name), "%ld", fd);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return FD_OTHER;
	*inode = readlinkat(dir, name, to, sizeof(to) - 1) > 0 ? proc_inode(dir, fd) : 0;
	close(dir);
	if (!strncmp(to, "pipe:", 5))
		return FD_PIPE;
	return strncmp(to, "socket:", 7) ? FD_OTHER : FD_SOCKET;
}

pid_t trace_fd_other_end(pid_t pid, long fd, bool sends)
{
	uint64_t inode;

	switch (kind_of(pid, fd, &inode)) {
	case FD_PIPE:
		return other_at_pipe(pid, inode, sends);
	case FD_SOCKET:
		return other_at_socket(inode);
	default:
		return 0;
	}
}

struct name_search {
	uint64_t inode;
	bool found, named;
};

static void note_unix(const struct nlmsghdr *n, void *ctx)
{
	const struct unix_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	struct name_search *x = ctx;

	if (m->udiag_ino != x->inode)
		return;
	x->found = true;
	x->named = rtnl_attr(m + 1, len, UNIX_DIAG_NAME);
}

/* What accept() returns has the name of its listener. */
static struct name_search unix_name(uint64_t inode)
{
	struct name_search x = { .inode = inode };
	struct unix_diag_req ask = { .sdiag_family = AF_UNIX,
				     .udiag_states = ~0u,
				     .udiag_show = UDIAG_SHOW_NAME };
	struct rtnl_req r;

	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
	sock_diag_dump(&r, note_unix, &x);
	return x;
}

/* Its port is one that the kernel chose, and the other end's is not; or its Unix socket has no
 * name. */
static bool has_connected(uint64_t inode)
{
	struct trace_endpoint ep = {};
	struct name_search name;

	find_tcp(&(struct socket_search){ inode, &ep });
	if (ep.remote.port)
		return ep.local.port >= TRACE_EPHEMERAL_PORT &&
		       ep.remote.port < TRACE_EPHEMERAL_PORT;
	name = unix_name(inode);
	return name.found && !name.named;
}

pid_t trace_fd_server(pid_t pid, long fd)
{
	uint64_t inode;

	switch (kind_of(pid, fd, &inode)) {
	case FD_PIPE: {
		pid_t writer = other_at_pipe(pid, inode, false);

		return writer && proc_began(writer) > proc_began(pid) ? writer : 0;
	}
	case FD_SOCKET:
		return has_connected(inode) ? other_at_socket(inode) : 0;
	default:
		return 0;
	}
}
