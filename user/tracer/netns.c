// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/netns.h"

#include <sys/stat.h>

#include "base/text.h"
#include "host/proc.h"
#include "host/sock_diag.h"

static uint64_t netns_of_process(pid_t pid)
{
	struct stat st;

	return pid && !stat(proc_path(pid, "ns/net").text, &st) ? (uint64_t)st.st_ino : 0;
}

static bool is_listed(const struct netns_list *l, uint64_t inode)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].inode == inode)
			return true;
	return false;
}

static void add(struct netns_list *l, uint64_t inode, pid_t pid)
{
	if (l->n < NETNS_MOST)
		l->v[l->n++] = (struct netns){ inode, pid };
}

void netns_of_endpoints(const struct trace_snapshot *s, struct netns_list *l)
{
	l->n = 0;
	add(l, sock_diag_netns(), 0);
	for (size_t i = 0; i < s->n && l->n < NETNS_MOST; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		pid_t pid = ep->rx_calls.tgid ? ep->rx_calls.tgid : ep->tx_calls.tgid;

		if (ep->netns && !is_listed(l, ep->netns) && netns_of_process(pid) == ep->netns)
			add(l, ep->netns, pid);
	}
}

static void add_process(void *ctx, int dir, long pid)
{
	struct netns_list *l = ctx;
	uint64_t inode = l->n < NETNS_MOST ? netns_of_process((pid_t)pid) : 0;

	(void)dir;
	if (inode && !is_listed(l, inode))
		add(l, inode, (pid_t)pid);
}

void netns_of_host(struct netns_list *l)
{
	l->n = 0;
	proc_numbers("/proc", add_process, l);
}

bool netns_is_of(const struct netns_list *l, size_t i, const struct trace_endpoint *ep)
{
	return l->v[i].inode == ep->netns || (!i && !ep->netns);
}
