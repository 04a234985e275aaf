// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process has the other end of a descriptor: the only one, besides the asked process, that
 * can read from the pipe (or write to it), or the holder of the socket at the other end of a
 * connection on this host.
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "host/sock_diag.h"
#include "tracer/diag_sockets.h"
#include "tracer/internal.h"

enum fd_kind { FD_OTHER, FD_PIPE, FD_SOCKET };

static enum fd_kind kind_of(pid_t pid, int fd, uint64_t *inode)
{
	char to[32] = "";

	if (readlink(proc_path(pid, "fd/%d", fd).text, to, sizeof(to) - 1) <= 0)
		return FD_OTHER;
	*inode = text_link_inode(to);
	if (!strncmp(to, "pipe:", 5))
		return FD_PIPE;
	return strncmp(to, "socket:", 7) ? FD_OTHER : FD_SOCKET;
}

/* ---- pipes ---- */

struct pipe_search {
	pid_t self;
	uint64_t inode;
	mode_t how;
	pid_t asked; /* the process looked at now, and which ends it holds */
	bool has_end, has_other_end;
	pid_t with_one, with_both; /* the last one that holds just that end, or both ends */
	unsigned int n_with_one, n_with_both;
};

/* A shell that started both ends, say, and not the parent that means to read once its child, the
 * writer, has ended. */
static bool is_bystander(const struct pipe_search *p, pid_t pid)
{
	return proc_waits_for_child(pid) &&
	       !(p->how == S_IRUSR && process_parent(p->self) == pid);
}

static void count_holder(struct pipe_search *p)
{
	bool counts = p->has_end && p->asked != p->self && !is_bystander(p, p->asked);

	if (counts && p->has_other_end) {
		p->with_both = p->asked;
		p->n_with_both++;
	} else if (counts) {
		p->with_one = p->asked;
		p->n_with_one++;
	}
	p->has_end = p->has_other_end = false;
}

static void note_holder(void *ctx, pid_t pid, int dir, long fd)
{
	struct pipe_search *p = ctx;

	if (proc_inode(dir, fd) != p->inode)
		return;
	if (pid != p->asked)
		count_holder(p);
	p->asked = pid;
	p->has_end |= fd_open_for(dir, fd, p->how);
	p->has_other_end |= fd_open_for(dir, fd, p->how == S_IRUSR ? S_IWUSR : S_IRUSR);
}

/* A process that holds both ends only kept them for others, if another one holds just that end. */
static pid_t other_at_pipe(pid_t pid, uint64_t inode, bool writes)
{
	struct pipe_search p = { .self = pid, .inode = inode, .how = writes ? S_IRUSR : S_IWUSR };

	if (!proc_descriptors(note_holder, &p))
		return 0;
	count_holder(&p);
	if (p.n_with_one)
		return p.n_with_one == 1 ? p.with_one : 0;
	return p.n_with_both == 1 ? p.with_both : 0;
}

/* ---- sockets ---- */

static pid_t other_at_socket(pid_t pid, uint64_t inode)
{
	int before = sock_diag_enter(pid);
	struct trace_endpoint ep = { .proto = TRACE_UNIX_STREAM, .inode = inode, .peer = -1 };
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	diag_find_tcp(
		&(struct diag_sockets){ &(struct diag_socket){ .inode = inode, .ep = &ep }, 1 });
	trace_name_other_ends(&s);
	sock_diag_leave(before);
	return ep.making.other_shared ? 0 : ep.making.other_pid;
}

pid_t trace_fd_other_end(pid_t pid, int fd, bool writes)
{
	uint64_t inode;

	switch (kind_of(pid, fd, &inode)) {
	case FD_PIPE: return other_at_pipe(pid, inode, writes);
	case FD_SOCKET: return other_at_socket(pid, inode);
	default: return 0;
	}
}

/* ---- UDP ---- */

struct udp_search {
	uint64_t inode;
	struct trace_endpoint ep;
	bool found;
};

static void note_udp(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct udp_search *x = ctx;

	if (m->idiag_inode != x->inode || !m->id.idiag_dport)
		return;
	x->found = true;
	x->ep = (struct trace_endpoint){ .proto = TRACE_UDP,
					 .family = m->idiag_family,
					 .peer = -1,
					 .inode = x->inode,
					 .local.port = ntohs(m->id.idiag_sport),
					 .remote.port = ntohs(m->id.idiag_dport) };
	memcpy(x->ep.local.ip, m->id.idiag_src, sizeof(x->ep.local.ip));
	memcpy(x->ep.remote.ip, m->id.idiag_dst, sizeof(x->ep.remote.ip));
}

bool trace_fd_datagrams(pid_t pid, int fd, struct trace_asked *out)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	struct udp_search x = {};
	int before;

	if (kind_of(pid, fd, &x.inode) != FD_SOCKET)
		return false;
	before = sock_diag_enter(pid);
	for (int i = 0; i < 2 && !x.found; i++) {
		struct inet_diag_req_v2 ask = { .sdiag_family = families[i],
						.sdiag_protocol = IPPROTO_UDP,
						.idiag_states = ~0u };
		struct rtnl_req r;

		rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
		sock_diag_dump(&r, note_udp, &x);
	}
	if (x.found)
		trace_name_other_ends(&(struct trace_snapshot){ .ep = &x.ep, .n = 1 });
	sock_diag_leave(before);
	*out = (struct trace_asked){ .server = x.ep.making.other_shared ? 0 : x.ep.making.other_pid,
				     .family = x.ep.family,
				     .remote = x.ep.remote };
	return x.found;
}

/* ---- children ---- */

#define LATE_S 60

bool trace_is_late_child(pid_t pid, pid_t child, unsigned int after_s)
{
	uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK), began = proc_began(child);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return began && process_parent(child) == pid &&
	       began >= proc_began(pid) + after_s * second &&
	       began + LATE_S * second > (uint64_t)now.tv_sec * second;
}

/* ---- who was asked ---- */

static void find_servers(pid_t pid, struct diag_sockets *all, struct trace_snapshot *s)
{
	int before = sock_diag_enter(pid);
	struct tcp_turns turns = {};

	tcp_turns_read(&turns);
	diag_find_tcp(all);
	for (int i = 0; i < 2; i++) /* for peer_named */
		diag_find_unix(all);
	trace_name_other_ends(s);
	sock_diag_leave(before);
	for (size_t i = 0; i < all->n; i++) {
		const struct diag_socket *x = &all->v[i];

		if (diag_has_asked(x, &turns) && diag_answers(x, pid))
			x->to->server = x->ep->making.other_pid;
	}
	tcp_turns_free(&turns);
}

void trace_fd_servers(pid_t pid, struct trace_fd_server *v, size_t n)
{
	struct trace_snapshot s = { .ep = array_new(n, 1, sizeof(*s.ep)) };
	struct diag_sockets all = { .v = array_new(n, 1, sizeof(*all.v)) };

	for (size_t i = 0; i < n; i++)
		v[i].server = 0;
	for (size_t i = 0; s.ep && all.v && i < n; i++) {
		struct trace_endpoint *ep = &s.ep[s.n];

		if (kind_of(pid, v[i].fd, &ep->inode) != FD_SOCKET)
			continue;
		ep->proto = TRACE_UNIX_STREAM; /* diag_find_tcp() sees to it */
		ep->peer = -1;
		all.v[all.n++] = (struct diag_socket){ .inode = ep->inode, .ep = ep, .to = &v[i] };
		s.n++;
	}
	if (all.n)
		find_servers(pid, &all, &s);
	free(all.v);
	free(s.ep);
}
