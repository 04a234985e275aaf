// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process has the other end of a descriptor: the only one, besides the asked process, that
 * can read from the pipe (or write to it), or the holder of the socket at the other end of a
 * connection on this host.
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/rtnl.h"
#include "tracer/internal.h"
#include "tracer/tcp_turns.h"

enum fd_kind { FD_OTHER, FD_PIPE, FD_SOCKET };

static enum fd_kind kind_of(pid_t pid, int fd, uint64_t *inode)
{
	char path[48], to[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (readlink(path, to, sizeof(to) - 1) <= 0)
		return FD_OTHER;
	*inode = text_link_inode(to);
	if (!strncmp(to, "pipe:", 5))
		return FD_PIPE;
	return strncmp(to, "socket:", 7) ? FD_OTHER : FD_SOCKET;
}

/* ---- pipes ---- */

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

static pid_t other_at_pipe(pid_t pid, uint64_t inode, bool writes)
{
	struct pipe_search p = { .self = pid, .inode = inode, .how = writes ? S_IRUSR : S_IWUSR };

	return proc_descriptors(note_holder, &p) && !p.several ? p.found : 0;
}

/* ---- sockets ---- */

/* of one that is asked for */
struct sought {
	uint64_t inode, peer; /* peer: Unix */
	bool is_unix, named, peer_named;
	struct trace_endpoint *ep;
	struct trace_fd_server *to;
};

struct sought_all {
	struct sought *v;
	size_t n;
};

static void set_addr(struct trace_addr *to, const uint32_t ip[4], uint16_t port)
{
	memcpy(to->ip, ip, sizeof(to->ip));
	to->port = ntohs(port);
}

static void note_tcp(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct sought_all *all = ctx;

	for (size_t i = 0; i < all->n; i++) {
		struct trace_endpoint *ep = all->v[i].ep;

		if (!m->idiag_inode || m->idiag_inode != all->v[i].inode)
			continue;
		ep->proto = TRACE_TCP;
		ep->family = m->idiag_family;
		set_addr(&ep->local, m->id.idiag_src, m->id.idiag_sport);
		set_addr(&ep->remote, m->id.idiag_dst, m->id.idiag_dport);
	}
}

/* all but those that wait for their end, or listen */
#define CONNECTIONS (1u << 1 | 1u << 4 | 1u << 5 | 1u << 8)

static void find_tcp(struct sought_all *all)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (int i = 0; i < 2; i++) {
		struct inet_diag_req_v2 ask = { .sdiag_family = families[i],
						.sdiag_protocol = IPPROTO_TCP,
						.idiag_states = CONNECTIONS };
		struct rtnl_req r;

		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note_tcp, all);
	}
}

static void note_unix(const struct nlmsghdr *n, void *ctx)
{
	const struct unix_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	bool named = rtnl_attr(m + 1, len, UNIX_DIAG_NAME);
	const struct rtattr *peer = rtnl_attr(m + 1, len, UNIX_DIAG_PEER);
	struct sought_all *all = ctx;

	for (size_t i = 0; i < all->n; i++) {
		struct sought *x = &all->v[i];

		if (m->udiag_ino == x->inode) {
			x->is_unix = true;
			x->named = named;
			x->peer = peer ? *(const uint32_t *)RTA_DATA(peer) : 0;
		}
		x->peer_named |= named && x->peer && m->udiag_ino == x->peer;
	}
}

/* Twice: a socket may come before the one whose peer it is. */
static void find_unix(struct sought_all *all)
{
	struct unix_diag_req ask = { .sdiag_family = AF_UNIX,
				     .udiag_states = ~0u,
				     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER };
	struct rtnl_req r;

	for (int i = 0; i < 2; i++) {
		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note_unix, all);
	}
}

static pid_t other_at_socket(uint64_t inode)
{
	struct trace_endpoint ep = { .proto = TRACE_UNIX_STREAM, .inode = inode, .peer = -1 };
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	find_tcp(&(struct sought_all){ &(struct sought){ .inode = inode, .ep = &ep }, 1 });
	trace_name_other_ends(&s);
	return ep.making.other_shared ? 0 : ep.making.other_pid;
}

pid_t trace_fd_other_end(pid_t pid, int fd, bool writes)
{
	uint64_t inode;

	switch (kind_of(pid, fd, &inode)) {
	case FD_PIPE:
		return other_at_pipe(pid, inode, writes);
	case FD_SOCKET:
		return other_at_socket(inode);
	default:
		return 0;
	}
}

/* ---- who was asked ---- */

/* The name of a listener is that of what accept() returns, too; the ends of a socket pair have
 * none, and tell nothing of who asks. */
static bool has_asked(const struct tcp_turns *t, const struct sought *x)
{
	const struct tcp_turn *turn = tcp_turns_find(t, x->inode);

	return x->is_unix ? !x->named : turn && tcp_turns_asks(t, turn);
}

static bool is_answering(pid_t pid, const struct sought *x)
{
	const struct trace_making *m = &x->ep->making;

	if (!m->other_pid || m->other_shared || m->other_pid == pid)
		return false;
	return !x->is_unix || x->peer_named || proc_began(m->other_pid) > proc_began(pid);
}

static void find_servers(pid_t pid, struct sought_all *all, struct trace_snapshot *s)
{
	struct tcp_turns turns = {};

	tcp_turns_read(&turns);
	find_tcp(all);
	find_unix(all);
	trace_name_other_ends(s);
	for (size_t i = 0; i < all->n; i++) {
		const struct sought *x = &all->v[i];

		if (has_asked(&turns, x) && is_answering(pid, x))
			x->to->server = x->ep->making.other_pid;
	}
	tcp_turns_free(&turns);
}

void trace_fd_servers(pid_t pid, struct trace_fd_server *v, size_t n)
{
	struct trace_snapshot s = { .ep = array_new(n, 1, sizeof(*s.ep)) };
	struct sought_all all = { .v = array_new(n, 1, sizeof(*all.v)) };

	for (size_t i = 0; s.ep && all.v && i < n; i++) {
		struct trace_endpoint *ep = &s.ep[s.n];

		v[i].server = 0;
		if (kind_of(pid, v[i].fd, &ep->inode) != FD_SOCKET)
			continue;
		ep->proto = TRACE_UNIX_STREAM; /* find_tcp() sees to it */
		ep->peer = -1;
		all.v[all.n++] = (struct sought){ .inode = ep->inode, .ep = ep, .to = &v[i] };
		s.n++;
	}
	if (all.n)
		find_servers(pid, &all, &s);
	free(all.v);
	free(s.ep);
}
