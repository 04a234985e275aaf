// SPDX-License-Identifier: GPL-2.0-only
/* No hook sees an MPTCP socket's calls, and its subflows are the kernel's own. sock_diag tells
 * whether a program has such sockets. */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/text.h"
#include "host/proc.h"
#include "host/sock_diag.h"
#include "tracer/internal.h"

#define SOCKETS_MOST 1024

struct mptcp_sockets {
	uint64_t inodes[SOCKETS_MOST];
	size_t n, held;
};

static void note(const struct nlmsghdr *n, void *ctx)
{
	const struct inet_diag_msg *m = NLMSG_DATA(n);
	struct mptcp_sockets *all = ctx;

	if (all->n < SOCKETS_MOST)
		all->inodes[all->n++] = m->idiag_inode;
}

static void dump(int family, struct mptcp_sockets *all)
{
	struct inet_diag_req_v2 ask = { .sdiag_family = (uint8_t)family,
					.sdiag_protocol = IPPROTO_TCP,
					.idiag_states = ~0u };
	struct rtnl_req r;

	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
	rtnl_put_u32(&r, INET_DIAG_REQ_PROTOCOL, IPPROTO_MPTCP);
	sock_diag_dump(&r, note, all);
}

static void count_held(void *ctx, int dir, long fd)
{
	struct mptcp_sockets *all = ctx;
	uint64_t inode = proc_inode(dir, fd);

	for (size_t i = 0; inode && i < all->n; i++)
		all->held += all->inodes[i] == inode;
}

size_t trace_mptcp_sockets(pid_t pid)
{
	int before = sock_diag_enter(pid);
	struct mptcp_sockets all = {};

	dump(AF_INET, &all);
	dump(AF_INET6, &all);
	sock_diag_leave(before);
	if (all.n)
		proc_numbers(proc_path(pid, "fd").text, count_held, &all);
	return all.held;
}
