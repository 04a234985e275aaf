/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer that asks before it writes: it sleeps in poll() or select() for room in a socket or pipe that has none. For the ledger it
 * has been refused (refused.bpf.h), though it never tried. Whoever asks by epoll tries first, as a rule: what an epoll waits for stands
 * in none of its arguments.
 */
#ifndef IPCSTALL_POLLED_BPF_H
#define IPCSTALL_POLLED_BPF_H

#include "shared.bpf.h"

#ifdef NO_CMPXCHG	/* 5.10: see current_regs() */
static __always_inline void asks_for_room(__u64 task)
{
}
#else

#define POLLOUT 4
#define POLLED 16	/* so many entries of one call are looked at */
#define SELECTED 4	/* so many words of its set, of 64 descriptors each */
#define WRITERS 8	/* so many descriptors in each */

struct polled {	/* struct pollfd */
	__s32 fd;
	__s16 events, revents;
};

/* UDP's room is the device's. A Unix datagram's is its receiver's too: whom others were quicker than there sleeps on, and does not try again. */
static __always_inline bool has_room_of_its_own(const struct endpoint *ep)
{
	return ep->id.proto != PROTO_UDP;
}

SUBPROG_OF_NUMBERS int wants_room(__u64 task, __u32 fd)
{
	struct target to = {};
	struct endpoint *ep;

	if (!file_target(&to, file_of(CAST(task_struct, task), fd)))
		return 0;
	ep = endpoint_known(target_key(&to));
	if (!ep || ep->closed || ep->refused || !has_room_of_its_own(ep) || room_left(ep))
		return 0;
	return refused_begins(ep, bpf_ktime_get_ns());
}

static __noinline int polls_for_room(__u64 task, __u64 fds, __u64 n)
{
	for (__u64 i = 0; i < POLLED && i < n; i++) {
		struct polled p;

		if (bpf_probe_read_user(&p, sizeof(p), (void *)(fds + i * sizeof(p))))
			break;
		if (p.events & POLLOUT)
			wants_room(task, p.fd);
	}
	return 0;
}

static __always_inline void word_selects(__u64 task, __u64 word, __u32 first)
{
	for (int i = 0; i < WRITERS && word; i++, word &= word - 1)
		wants_room(task, first + log2_ns(word & -word));
}

static __noinline int selects_for_room(__u64 task, __u64 n, __u64 set)
{
	for (__u32 i = 0; i < SELECTED && i * 64 < n; i++) {
		__u64 word = 0;

		if (!set || bpf_probe_read_user(&word, sizeof(word), (void *)(set + i * sizeof(word))))
			break;
		word_selects(task, word, i * 64);
	}
	return 0;
}

static __always_inline void asks_for_room(__u64 task)
{
	struct request r;

	request_of(&r, CAST(task_struct, task), current_regs(task));
	if (r.bits & SYS_POLLS)
		polls_for_room(task, r.first, r.second);
	else if (r.bits & SYS_SELECTS)
		selects_for_room(task, r.first, r.third);
}
#endif

#endif
