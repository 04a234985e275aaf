// SPDX-License-Identifier: GPL-2.0-only
/* Names the program at the other end of a Unix connection that is no endpoint of the session:
 * sock_diag has the inode of that end, and /proc the process that holds it. */
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "host/rtnl.h"
#include "tracer/internal.h"

struct unix_end {
	uint64_t inode, other; /* 0: it has none, or nobody told */
	struct trace_endpoint *ep;
};

struct unix_ends {
	struct unix_end *v;
	size_t n;
	pid_t pid;
};

static bool lacks_peer(const struct trace_endpoint *ep)
{
	return (ep->proto == TRACE_UNIX_STREAM || ep->proto == TRACE_UNIX_SEQPACKET) &&
	       ep->peer < 0 && !ep->closed && ep->inode && !ep->making.other_pid;
}

static int by_inode(const void *a, const void *b)
{
	const struct unix_end *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static int by_other(const void *a, const void *b)
{
	const struct unix_end *x = a, *y = b;

	return (x->other > y->other) - (x->other < y->other);
}

static void note_other(const struct nlmsghdr *n, void *ctx)
{
	const struct unix_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	const struct rtattr *other = rtnl_attr(m + 1, len, UNIX_DIAG_PEER);
	struct unix_ends *all = ctx;
	struct unix_end want = { .inode = m->udiag_ino }, *end;

	end = other ? bsearch(&want, all->v, all->n, sizeof(want), by_inode) : NULL;
	if (end)
		end->other = *(const uint32_t *)RTA_DATA(other);
}

static void ask_kernel(struct unix_ends *all)
{
	const struct unix_diag_req ask = { .sdiag_family = AF_UNIX,
					   .udiag_states = ~0u,
					   .udiag_show = UDIAG_SHOW_PEER };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct rtnl_req r;

	if (fd < 0)
		return;
	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
	rtnl_dump(fd, &r, note_other, all); /* what it does not tell stays unknown */
	close(fd);
}

static void name_holder(void *ctx, int dir, long fd)
{
	struct unix_ends *all = ctx;
	struct unix_end want = { .other = proc_inode(dir, fd) }, *end;

	end = want.other ? bsearch(&want, all->v, all->n, sizeof(want), by_other) : NULL;
	if (!end || end->ep->making.other_pid)
		return;
	end->ep->making.other_pid = all->pid;
	fd_owner_name(all->pid, end->ep->making.other_comm);
}

static void look_into(void *ctx, int dir, long pid)
{
	struct unix_ends *all = ctx;
	char path[64];

	(void)dir;
	all->pid = (pid_t)pid;
	snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
	proc_numbers(path, name_holder, all);
}

void trace_name_unix_peers(struct trace_snapshot *s)
{
	struct unix_ends all = { .v = array_new(s->n, 1, sizeof(*all.v)) };

	for (size_t i = 0; all.v && i < s->n; i++)
		if (lacks_peer(&s->ep[i]))
			all.v[all.n++] = (struct unix_end){ s->ep[i].inode, 0, &s->ep[i] };
	if (all.n) {
		qsort(all.v, all.n, sizeof(*all.v), by_inode);
		ask_kernel(&all);
		qsort(all.v, all.n, sizeof(*all.v), by_other);
		proc_numbers("/proc", look_into, &all);
	}
	free(all.v);
}
