/* SPDX-License-Identifier: GPL-2.0-only */
/* Names the process of an end at which nobody was seen: the holder of its descriptor, if it is one
 * process. */
#ifndef IPCSTALL_FD_HOLDERS_BPF_H
#define IPCSTALL_FD_HOLDERS_BPF_H

#include "task.bpf.h"

struct holder {
	__u64 task, cgroup;
	__u32 tgid;
	__u32 waits_for_child; /* 1: it may have the descriptor only to pass it on to a child */
};

/* Names the process without a tid: a process that is seen in a call replaces it. */
static __always_inline void note_holder(struct call_stats *b, const struct holder *h)
{
	if (b->tgid) {
		if (!b->tid && b->tgid != h->tgid && !h->waits_for_child)
			b->others = 1;
		return;
	}
	b->tgid = h->tgid;
	b->cgroup = h->cgroup;
	b->stopped_then = stopped_so_far(h->tgid);
	bpf_probe_read_kernel(
		b->comm, sizeof(b->comm),
		(void *)(h->task + bpf_core_field_offset(struct task_struct___numbered, comm)));
}

static __always_inline __u32 ends_of(const struct endpoint *ep, __u64 file)
{
	return ep->id.proto == PROTO_PIPE ? GET(CAST(file___mode, file), f_mode)
					  : FMODE_READ | FMODE_WRITE;
}

static __always_inline void note_holders(struct endpoint *ep, const struct holder *h, __u64 file)
{
	__u32 ends = ends_of(ep, file);

	if (ends & FMODE_WRITE)
		note_holder(&ep->tx_calls, h);
	if (ends & FMODE_READ)
		note_holder(&ep->rx_calls, h);
}

#define FILES_MAX                                                                            \
	256 /* a table begins with 64, and doubles; descriptors beyond this end as if closed \
	       unseen */

struct held_count {
	__u64 files, file;
	__u32 own;
};

static long count_held(__u32 fd, struct held_count *c)
{
	c->own += load_word(c->files + fd * sizeof(__u64)) == c->file;
	return 0;
}

/* how many descriptors of the file the current process has */
SUBPROG int own_holds_on(__u64 file)
{
	struct fdtable *table = CAST(fdtable, GET(CURRENT(), files, fdt));
	struct held_count c = { .files = (__u64)GET(table, fd), .file = file };

	bpf_loop(at_most(GET(table, max_fds), FILES_MAX), count_held, &c, 0);
	return c.own;
}

/* The named process lets go, and others stay. The thread's next call, if there is one after all,
 * notes it anew: see note_task(). */
static __always_inline void note_leaving(struct call_stats *b, __u32 tgid, __u32 closes)
{
	if (b->tgid != tgid || b->left)
		return;
	b->named = LATEST(renames) - 1;
	b->let_go = closes;
	b->fd_owner = 0;
	b->left = bpf_ktime_get_ns();
}

/* the last process that had it: not one that inherited a descriptor it has no use for */
static __always_inline void note_last(struct call_stats *b, const struct holder *h)
{
	if (!b->left)
		return;
	if (b->tgid == h->tgid) { /* it got a descriptor again */
		b->left = 0;
		return;
	}
	b->fd_owner = h->tgid;
	bpf_probe_read_kernel(
		b->fd_owner_comm, sizeof(b->fd_owner_comm),
		(void *)(h->task + bpf_core_field_offset(struct task_struct___numbered, comm)));
}

/* The current process is the last to close a socket that the named process has left. */
static __noinline int closed_by(struct endpoint *ep)
{
	struct holder who = { .task = (__u64)CURRENT(),
			      .tgid = current_tgid(bpf_get_current_pid_tgid()) };

	if (!ep || !current_wanted())
		return 0;
	note_last(&ep->tx_calls, &who);
	note_last(&ep->rx_calls, &who);
	return 1;
}

static __always_inline void end_passes(struct call_stats *b, const struct holder *h, bool last,
				       __u32 closes)
{
	if (b->tgid == h->tgid)
		count_cpu(b);
	if (last)
		note_last(b, h);
	else
		note_leaving(b, h->tgid, closes);
}

/* whether it is the last file of this end: a FIFO has a file for each open() */
static __always_inline bool is_last_file(const struct endpoint *ep, __u32 end)
{
	struct pipe_inode_info *pipe = CAST(pipe_inode_info, ep->id.key);

	if (ep->id.proto != PROTO_PIPE)
		return true;
	return (end == FMODE_WRITE ? GET(pipe, writers) : GET(pipe, readers)) <= 1;
}

/* this process matters: it is the named one, or may be the last after the named one */
static __always_inline bool concerns(const struct call_stats *b, __u32 tgid)
{
	return b->tgid == tgid || b->left;
}

/* received data was unread until now, and its reader lets go */
static __always_inline void leaves_unread(struct endpoint *ep, __u32 tgid)
{
	word_t w = LATEST(ep->rx.word);

	if (ep->rx_calls.tgid == tgid && WORD_STATE(w, DIR_RX) == RX_UNREAD)
		awaited(&ep->rx_calls, word_elapsed(w, bpf_ktime_get_ns()));
}

/* The current process lets go of a file: of all its files at exit, of one by close(). */
SUBPROG int file_passes(__u64 key, __u64 file, __u32 tgid, __u32 closes)
{
	struct holder who = { .task = (__u64)CURRENT(),
			      .cgroup = bpf_get_current_cgroup_id(),
			      .tgid = tgid };
	struct endpoint *ep = endpoint_known(key);
	__u64 all = holds_on(file);
	__u32 own, ends;

	if (!ep || (all > 1 && !concerns(&ep->tx_calls, tgid) && !concerns(&ep->rx_calls, tgid)))
		return 0;
	own = all == 1 ? 1 : own_holds_on(file);
	if (closes && own > 1)
		return 0;
	if (all <= own)
		note_holders(ep, &who, file);
	ends = ends_of(ep, file);
	if (ends & FMODE_WRITE)
		end_passes(&ep->tx_calls, &who, all <= own && is_last_file(ep, FMODE_WRITE),
			   closes);
	if (ends & FMODE_READ) {
		leaves_unread(ep, tgid);
		end_passes(&ep->rx_calls, &who, all <= own && is_last_file(ep, FMODE_READ), closes);
	}
	return 1;
}

#endif
