/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose an end is that nobody was seen at: who holds its descriptor is the best guess, if it is one process. */
#ifndef IPCSTALL_HOLDERS_BPF_H
#define IPCSTALL_HOLDERS_BPF_H

#include "task.bpf.h"

#define FMODE_READ	1

struct holder {
	__u64 task, cgroup;
	__u32 tgid;
};

/* tid 0 makes way for whoever is seen */
static __always_inline void note_holder(struct beside *b, const struct holder *h)
{
	if (b->tgid) {
		if (!b->tid && b->tgid != h->tgid)
			b->others = 1;
		return;
	}
	b->tgid = h->tgid;
	b->cgroup = h->cgroup;
	bpf_probe_read_kernel(b->comm, sizeof(b->comm), (void *)(h->task + bpf_core_field_offset(struct task_struct___numbered, comm)));
}

static __always_inline void note_holders(struct endpoint *ep, const struct holder *h, __u64 file)
{
	__u32 mode = ep->id.proto == PROTO_PIPE ? GET(CAST(file___mode, file), f_mode) : FMODE_READ | FMODE_WRITE;

	if (mode & FMODE_WRITE)
		note_holder(&ep->txb, h);
	if (mode & FMODE_READ)
		note_holder(&ep->rxb, h);
}

/* No other process has it, by fork() or SCM_RIGHTS: one that inherited what it has no use for does not hold it last. */
static __always_inline bool held_by_one(__u64 file)
{
	if (bpf_core_field_exists(struct file___ref, f_ref))
		return !GET(CAST(file___ref, file), f_ref.refcnt.counter);
	return GET(CAST(file___count, file), f_count.counter) == 1;
}

#endif
