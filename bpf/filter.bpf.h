/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is recorded. The hooks run for every task of the machine, so the first test must be the
 * cheapest: the options are read-only data that the verifier folds away, and two arrays of hints
 * cost one load each.
 */
#ifndef IPCSTALL_FILTER_BPF_H
#define IPCSTALL_FILTER_BPF_H

#include "compat.bpf.h"
#include "record.h"

const volatile struct options opt;

_Static_assert(STATE_TABLE == FACETS && sizeof(slot_of) == SLOTS_TABLED,
	       "the tables have other sizes");

/* processes to follow: FILTER_TREE adds what they fork */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} followed SEC(".maps");

#define HINTS 65536

/*
 * By the hash of an address: one more than the place of the latest endpoint; 0: there was none.
 * Never cleared: a stale hint costs one look-up. See endpoint_table.bpf.h.
 */
__u32 key_hint[HINTS];
/* The followed process with this number modulo TGID_HINTS; 0: there is none; another process: there
 * may be more, look in the map. */
__u32 tgid_hint[TGID_HINTS];
#define TGID_MANY (~0U)

/*
 * 1: every change of a TCP queue, and of the bytes below the protocol, is hooked at its end (set by
 * user space once all these hooks are attached). The ledger then always matches the socket's
 * fields, and no event need look back.
 */
__u8 exact;

static __always_inline bool sees_exactly(void)
{
#ifdef HAS_EXACT
	return *(volatile __u8 *)&exact;
#else
	return false;
#endif
}

static __always_inline __u32 key_slot(__u64 key)
{
	return (__u32)((key >> 6) * 0x9E3779B1u) >> 16;
}

static __always_inline bool key_maybe(__u64 key)
{
	return key_hint[key_slot(key) & (HINTS - 1)];
}

static __always_inline bool tgid_listed(__u32 tgid)
{
	for (int i = 0; i < FILTER_TGIDS; i++)
		if (opt.tgids[i] == tgid)
			return true;
	return false;
}

static __always_inline bool tgid_followed(__u32 tgid)
{
	__u32 hint = tgid_hint[tgid & (TGID_HINTS - 1)];

	return hint && (hint == tgid || bpf_map_lookup_elem(&followed, &tgid));
}

/* one entry: the cgroup to follow, with all below it */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} group SEC(".maps");

/* the only filter of tasks; with a cgroup, it tests the current task */
static __always_inline bool task_wanted(__u32 tgid)
{
	switch (opt.filter) {
	case FILTER_ALL:
		return true;
	case FILTER_TGIDS_ONLY:
		return tgid && (tgid_listed(tgid) || tgid_followed(tgid));
	case FILTER_TREE:
		return tgid && tgid_followed(tgid);
	default:
		return bpf_current_task_under_cgroup(&group, 0) == 1;
	}
}

static __always_inline bool current_wanted(void)
{
	return task_wanted(bpf_get_current_pid_tgid() >> 32);
}

struct bpf_pidns_info { /* uapi */
	__u32 pid, tgid;
};

/* the process by its number in the reader's PID namespace; a process of another namespace by its
 * global number, in `current` */
static __always_inline __u32 current_tgid(__u64 current)
{
	struct bpf_pidns_info here;

	if (opt.pidns_ino &&
	    !bpf_get_ns_current_pid_tgid(opt.pidns_dev, opt.pidns_ino, &here, sizeof(here)))
		return here.tgid;
	return current >> 32;
}

static __always_inline bool port_wanted(__u16 local, __u16 remote)
{
	if (!opt.port_hi)
		return true;
	return (local >= opt.port_lo && local <= opt.port_hi) ||
	       (remote >= opt.port_lo && remote <= opt.port_hi);
}

static __always_inline bool proto_wanted(__u32 proto)
{
	return opt.protos >> proto & 1;
}

/* a followed process forked: its child is followed too */
static __always_inline void follow_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = GET(CAST(task_struct, parent), tgid), to = GET(CAST(task_struct, child), tgid);
	__u8 one = 1;

	if (opt.filter != FILTER_TREE || from == to || !tgid_followed(from))
		return;
	bpf_map_update_elem(&followed, &to, &one, BPF_ANY);
	tgid_hint[to & (TGID_HINTS - 1)] = tgid_hint[to & (TGID_HINTS - 1)] ? TGID_MANY : to;
}

/* Called in do_exit(), acts for the last thread of a process: the leader may exit first, by
 * pthread_exit() or when another thread calls execve(). */
static __always_inline void unfollow_exit(struct task_struct *task0)
{
	struct task_struct *task = CAST(task_struct, task0);
	struct signal_struct *signal = CAST(signal_struct, GET(task, signal));
	__u32 tgid = GET(task, tgid);

	if (opt.filter != FILTER_TREE || GET(signal, live.counter) || !tgid_followed(tgid))
		return;
	bpf_map_delete_elem(&followed, &tgid);
	tgid_hint[tgid & (TGID_HINTS - 1)] = TGID_MANY;
}

#endif
