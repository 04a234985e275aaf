// SPDX-License-Identifier: GPL-2.0-only
/* Finds, in /proc, which process still holds an endpoint's descriptor after the named process left
 * it. No event reports this. If several hold it, the first one found is named. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "host/proc.h"
#include "tracer/internal.h"

/* The mode of the link in /proc/PID/fd says what the descriptor is open for
 * (tid_fd_update_inode()). */
bool fd_open_for(int dir, long fd, mode_t how)
{
	char name[24];
	struct stat st;

	snprintf(name, sizeof(name), "%ld", fd);
	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_mode & how;
}

static bool lacks_fd_owner(const struct trace_endpoint *ep, const struct trace_call_stats *b)
{
	return b->left_ns && !b->fd_owner && !ep->closed;
}

static void found(struct trace_call_stats *b, pid_t pid)
{
	if (b->tgid == pid) { /* it has a descriptor again, or had another */
		b->left_ns = 0;
		return;
	}
	b->fd_owner = pid;
	process_comm(pid, b->fd_owner_comm);
}

struct lacking {
	uint64_t inode;
	struct trace_endpoint *ep;
};

struct search {
	struct lacking *v; /* by inode */
	size_t n;
};

ORDER_BY(by_inode, struct lacking, inode)

struct descriptors {
	descriptor_fn fn;
	void *ctx;
	pid_t pid; /* the process listed now */
	bool refused;
};

static void hand_on(void *ctx, int dir, long fd)
{
	const struct descriptors *d = ctx;

	d->fn(d->ctx, d->pid, dir, fd);
}

static void list_descriptors(void *ctx, int dir, long pid)
{
	struct descriptors *d = ctx;

	(void)dir;
	d->pid = (pid_t)pid;
	if (!proc_numbers(proc_path(d->pid, "fd").text, hand_on, d))
		d->refused |= errno != ENOENT && errno != ESRCH; /* these two: it has ended */
}

bool proc_descriptors(descriptor_fn fn, void *ctx)
{
	struct descriptors d = { .fn = fn, .ctx = ctx };

	proc_numbers("/proc", list_descriptors, &d);
	return !d.refused;
}

static void note_holder(struct trace_endpoint *ep, int dir, long fd, pid_t pid)
{
	if (lacks_fd_owner(ep, &ep->tx_calls) && fd_open_for(dir, fd, S_IWUSR))
		found(&ep->tx_calls, pid);
	if (lacks_fd_owner(ep, &ep->rx_calls) && fd_open_for(dir, fd, S_IRUSR))
		found(&ep->rx_calls, pid);
}

static void look_at(void *ctx, pid_t pid, int dir, long fd)
{
	const struct search *all = ctx;
	struct lacking want = { .inode = proc_inode(dir, fd) }, *end = all->v + all->n, *l;

	l = want.inode ? bsearch(&want, all->v, all->n, sizeof(want), by_inode) : NULL;
	if (!l)
		return;
	while (l > all->v && l[-1].inode == want.inode)
		l--;
	for (; l < end && l->inode == want.inode; l++)
		note_holder(l->ep, dir, fd, pid);
}

static size_t list_lacking(struct trace_snapshot *s, struct lacking *v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct trace_endpoint *ep = &s->ep[i];

		if (lacks_fd_owner(ep, &ep->tx_calls) || lacks_fd_owner(ep, &ep->rx_calls))
			v[n++] = (struct lacking){ ep->inode, ep };
	}
	qsort(v, n, sizeof(*v), by_inode);
	return n;
}

void trace_name_fd_owners(struct trace_snapshot *s)
{
	struct search all = { .v = array_new(s->n, 1, sizeof(*all.v)) };

	all.n = all.v ? list_lacking(s, all.v) : 0;
	if (all.n)
		proc_descriptors(look_at, &all);
	free(all.v);
}
