// SPDX-License-Identifier: GPL-2.0-only
/* Finds, in /proc, which process still holds an endpoint's descriptor after the named process left
 * it. No event reports this. If several hold it, the first one found is named. */
#include <fcntl.h>
#include <sys/stat.h>

#include "tracer/internal.h"
#include "base/text.h"

/* a link's mode says what its descriptor is open for: proc_fd_link(), tid_fd_update_inode() */
bool fd_open_for(int dir, long fd, mode_t how)
{
	char name[24];
	struct stat st;

	snprintf(name, sizeof(name), "%ld", fd);
	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_mode & how;
}

void fd_owner_name(pid_t pid, char comm[16])
{
	char path[64], text[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%15[^\n]", text) != 1)
		text[0] = '\0';
	if (f)
		fclose(f);
	text_comm(comm, text);
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
	fd_owner_name(pid, b->fd_owner_comm);
}

struct search {
	struct trace_snapshot *s;
	pid_t pid;
};

static void look_at(void *ctx, int dir, long fd)
{
	const struct search *all = ctx;
	uint64_t inode = proc_inode(dir, fd);

	for (size_t i = 0; inode && i < all->s->n; i++) {
		struct trace_endpoint *ep = &all->s->ep[i];

		if (ep->inode != inode)
			continue;
		if (lacks_fd_owner(ep, &ep->tx_calls) && fd_open_for(dir, fd, S_IWUSR))
			found(&ep->tx_calls, all->pid);
		if (lacks_fd_owner(ep, &ep->rx_calls) && fd_open_for(dir, fd, S_IRUSR))
			found(&ep->rx_calls, all->pid);
	}
}

static void look_into(void *ctx, int dir, long pid)
{
	struct search *all = ctx;
	char path[64];

	(void)dir;
	all->pid = (pid_t)pid;
	snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
	proc_numbers(path, look_at, all);
}

void trace_name_fd_owners(struct trace_snapshot *s)
{
	struct search all = { .s = s };
	bool wanted = false;

	for (size_t i = 0; i < s->n; i++)
		wanted |= lacks_fd_owner(&s->ep[i], &s->ep[i].tx_calls) ||
			  lacks_fd_owner(&s->ep[i], &s->ep[i].rx_calls);
	if (wanted)
		proc_numbers("/proc", look_into, &all);
}
