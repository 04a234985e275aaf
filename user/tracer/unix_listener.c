// SPDX-License-Identifier: GPL-2.0-only
/* Who does not accept: the holder of a listening Unix socket whose backlog is full. */
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "host/sock_diag.h"
#include "tracer/internal.h"

struct search {
	const char *name; /* without folders */
	uint64_t inode;
	pid_t holder;
	bool several;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#define LISTENS 10 /* TCP_LISTEN: Unix sockets have it, too */

static void note_listener(const struct nlmsghdr *n, void *ctx)
{
	const struct unix_diag_msg *m = NLMSG_DATA(n);
	int len = (int)n->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));
	const struct rtattr *name = rtnl_attr(m + 1, len, UNIX_DIAG_NAME),
			    *lens = rtnl_attr(m + 1, len, UNIX_DIAG_RQLEN);
	const struct unix_diag_rqlen *q = lens ? RTA_DATA(lens) : NULL;
	struct search *x = ctx;
	char path[128] = "";

	if (m->udiag_state != LISTENS || !name || RTA_PAYLOAD(name) >= sizeof(path) || !q ||
	    q->udiag_rqueue <= q->udiag_wqueue)
		return;
	memcpy(path, RTA_DATA(name), RTA_PAYLOAD(name));
	if (strcmp(last_part(path), x->name))
		return;
	x->several |= x->inode != 0;
	x->inode = m->udiag_ino;
}

static void note_holder(void *ctx, pid_t pid, int dir, long fd)
{
	struct search *x = ctx;

	if (pid == x->holder || proc_inode(dir, fd) != x->inode)
		return;
	x->several |= x->holder != 0;
	x->holder = pid;
}

pid_t trace_full_unix_listener(pid_t client, const char *path)
{
	struct unix_diag_req ask = { .sdiag_family = AF_UNIX,
				     .udiag_states = 1u << LISTENS,
				     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN };
	struct search x = { .name = last_part(path) };
	struct rtnl_req r;
	int before;

	if (*path == '@')
		return 0;
	before = sock_diag_enter(client);
	rtnl_begin(&r, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &ask, sizeof(ask));
	sock_diag_dump(&r, note_listener, &x);
	sock_diag_leave(before);
	if (!x.inode || x.several)
		return 0;
	return proc_descriptors(note_holder, &x) && !x.several ? x.holder : 0;
}
