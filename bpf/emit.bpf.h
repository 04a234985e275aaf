/* SPDX-License-Identifier: GPL-2.0-only */
/* Records that go to user space at once: endpoints that closed, and stalls over the threshold. Sums
 * stay in the maps. */
#ifndef IPCSTALL_EMIT_BPF_H
#define IPCSTALL_EMIT_BPF_H

#include "filter.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16); /* set before load: opt.ring_bytes */
} records SEC(".maps");

struct processor processors[PROCESSORS];

static __always_inline struct processor *processor(void)
{
	return &processors[bpf_get_smp_processor_id() & (PROCESSORS - 1)];
}

static __always_inline void count_more(enum counter which, __u32 n)
{
	processor()->counts[which] += n;
}

static __always_inline void count(enum counter which)
{
	count_more(which, 1);
}

/*
 * Two maps that are filled in turn: see stack_number(). User space gives them their size if stacks
 * are asked for. While one fills up, it empties the other and switches to it (user/tracer/stack.c).
 */
struct stack_map {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 64 * sizeof(__u64));
};

struct stack_map stacks_even SEC(".maps"), stacks_odd SEC(".maps");

__u32 stack_age;

#define EEXIST 17

/*
 * A stack is stored at the place that its hash gives, or not at all. A stack that is there already
 * keeps its place (no BPF_F_REUSE_STACKID), since a stall or a sleeping thread may hold its number
 * for long, and would then show another stack. The number includes the map's age, so that a number
 * from two ages ago is recognised.
 */
static __always_inline int stack_number(void *ctx, __u64 flags)
{
	__u32 age = *(volatile __u32 *)&stack_age;
	long id;

	flags |= BPF_F_FAST_STACK_CMP;
	id = age & 1 ? bpf_get_stackid(ctx, &stacks_odd, flags)
		     : bpf_get_stackid(ctx, &stacks_even, flags);
	if (id == -EEXIST)
		count(COUNT_STACKS);
	return id < 0 ? -1 : STACK_NUMBER(age, id);
}

/* wake the reader only when an eighth of the ring is full: it polls often enough by itself */
static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > opt.ring_bytes / 8
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* false: no room; the caller keeps the endpoint */
static __always_inline bool emit_close(struct endpoint *ep)
{
	struct record_close *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

	if (!r)
		return false;
	r->head.type = RECORD_CLOSE;
	r->head.size = sizeof(*r);
	bpf_probe_read_kernel(&r->ep, sizeof(r->ep), ep);
	bpf_ringbuf_submit(r, wake_flags());
	return true;
}

#endif
