// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process has the other end of a descriptor: the only one, besides the asked process, that
 * can read from the pipe (or write to it), or the holder of the socket at the other end of a
 * connection on this host.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "tracer/diag_sockets.h"
#include "tracer/internal.h"

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

/* A shell that started both ends, say, and not the parent that means to read once its child, the
 * writer, has ended. */
static bool is_bystander(const struct pipe_search *p, pid_t pid)
{
	return proc_waits_for_child(pid) &&
	       !(p->how == S_IRUSR && process_parent(p->self) == pid);
}

static void note_holder(void *ctx, pid_t pid, int dir, long fd)
{
	struct pipe_search *p = ctx;

	if (pid == p->self || pid == p->found || proc_inode(dir, fd) != p->inode ||
	    !fd_open_for(dir, fd, p->how) || is_bystander(p, pid))
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

static pid_t other_at_socket(uint64_t inode)
{
	struct trace_endpoint ep = { .proto = TRACE_UNIX_STREAM, .inode = inode, .peer = -1 };
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	diag_find_tcp(
		&(struct diag_sockets){ &(struct diag_socket){ .inode = inode, .ep = &ep }, 1 });
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

static void find_servers(pid_t pid, struct diag_sockets *all, struct trace_snapshot *s)
{
	struct tcp_turns turns = {};

	tcp_turns_read(&turns);
	diag_find_tcp(all);
	for (int i = 0; i < 2; i++) /* for peer_named */
		diag_find_unix(all);
	trace_name_other_ends(s);
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

	for (size_t i = 0; s.ep && all.v && i < n; i++) {
		struct trace_endpoint *ep = &s.ep[s.n];

		v[i].server = 0;
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

/* ---- from whom a process awaits an answer ---- */

#define ASKED_MOST 16 /* connections; who awaits more answers serves many */

struct own_requests {
	struct tcp_turns turns;
	uint64_t inodes[ASKED_MOST];
	size_t n;
	bool many;
};

static void note_request(void *ctx, int dir, long fd)
{
	struct own_requests *r = ctx;
	const struct tcp_turn *t = tcp_turns_find(&r->turns, proc_inode(dir, fd));

	if (!t || !tcp_turns_awaits_answer(&r->turns, t))
		return;
	if (r->n < ASKED_MOST)
		r->inodes[r->n++] = t->inode;
	else
		r->many = true;
}

static bool is_same_server(const struct diag_socket *a, const struct diag_socket *b)
{
	return a->is_local == b->is_local && a->ep->family == b->ep->family &&
	       !memcmp(&a->ep->remote, &b->ep->remote, sizeof(a->ep->remote));
}

/* False: they are several servers. One may have a process for each connection. */
static bool only_server(const struct own_requests *r, pid_t pid, struct trace_asked *out)
{
	struct trace_endpoint ep[ASKED_MOST] = {};
	struct diag_socket v[ASKED_MOST] = {};
	struct diag_sockets all = { v, r->n };
	struct trace_snapshot s = { .ep = ep, .n = r->n };

	for (size_t i = 0; i < r->n; i++) {
		ep[i] = (struct trace_endpoint){ .inode = r->inodes[i], .peer = -1 };
		v[i] = (struct diag_socket){ .inode = r->inodes[i], .ep = &ep[i] };
	}
	for (int i = 0; i < 2; i++) /* for is_local */
		diag_find_tcp(&all);
	trace_name_other_ends(&s);
	for (size_t i = 0; i < r->n; i++)
		if (ep[i].proto != TRACE_TCP || !is_same_server(&v[i], &v[0]) ||
		    (v[i].is_local && !diag_answers(&v[i], pid)))
			return false;
	*out = (struct trace_asked){ .server = ep[0].making.other_pid,
				     .family = ep[0].family,
				     .remote = ep[0].remote };
	return r->n;
}

static void find_requests(struct own_requests *r, pid_t pid, int fd)
{
	char path[40];
	int dir;

	tcp_turns_read(&r->turns);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	if (fd < 0) {
		proc_numbers(path, note_request, r);
		return;
	}
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	note_request(r, dir, fd);
	close(dir);
}

bool trace_asked_server(pid_t pid, int fd, struct trace_asked *out)
{
	struct own_requests *r = calloc(1, sizeof(*r));
	bool found;

	if (!r)
		return false;
	find_requests(r, pid, fd);
	found = !r->many && only_server(r, pid, out);
	tcp_turns_free(&r->turns);
	free(r);
	return found;
}
