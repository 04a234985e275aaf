/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's way through a call on an endpoint: enter, sleep, wake, leave; blocked and run-queue time beside the ledger. */
#ifndef IPCSTALL_CALL_BPF_H
#define IPCSTALL_CALL_BPF_H

#include "endpoint.bpf.h"

struct call {
	__u64 key;		/* endpoint; 0: in no call that matters */
	ns_t off, wake;		/* off: left the CPU to sleep; wake: made runnable again */
	__u8 dir, entered, nested[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct call);
} calls SEC(".maps");

static struct call no_call;

static __always_inline struct call *call_of(__u32 tid, bool make)
{
	struct call *c = bpf_map_lookup_elem(&calls, &tid);

	if (c || !make)
		return c;
	bpf_map_update_elem(&calls, &tid, &no_call, BPF_NOEXIST);
	return bpf_map_lookup_elem(&calls, &tid);
}

static __always_inline int apply(struct endpoint *ep, struct input *in, enum dir dir)
{
	return dir == DIR_TX ? apply_tx(ep, in) : apply_rx(ep, in);
}

static __always_inline struct beside *beside_of(struct endpoint *ep, enum dir dir)
{
	return dir == DIR_TX ? &ep->txb : &ep->rxb;
}

static __always_inline bool tx_device(const struct endpoint *ep)
{
	return *(const volatile word_t *)&ep->tx.word >> DEVICE_SHIFT & 1;
}

/* remember who is in the call */
static __always_inline void note_task(struct beside *b)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (b->tid == (__u32)id)
		return;
	b->tid = id;
	b->tgid = id >> 32;
	bpf_get_current_comm(b->comm, sizeof(b->comm));
}

static __always_inline void note_stack(void *ctx, struct beside *b)
{
	if (!opt.stacks)
		return;
	b->kstack = bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP | BPF_F_REUSE_STACKID);
	b->ustack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK | BPF_F_FAST_STACK_CMP | BPF_F_REUSE_STACKID);
}

/* `in` carries what else is known of the endpoint at this moment */
static __always_inline void call_enter(struct endpoint *ep, enum dir dir, struct input *in)
{
	in->working = 1;
	apply(ep, in, dir);
	count(COUNT_OBSERVED);
}

static __always_inline void call_leave(struct endpoint *ep, enum dir dir, struct input *in)
{
	in->working = -1;
	apply(ep, in, dir);
	count(COUNT_OBSERVED);
}

static __always_inline void call_done(struct endpoint *ep, enum dir dir, long ret)
{
	struct beside *b = beside_of(ep, dir);

	note_task(b);
	if (ret <= 0)
		return;
	atomic_add(&b->bytes, ret);
	atomic_add(&b->messages, 1);
}

/* a thread falls asleep in a call; one that was not seen to enter enters now */
static __always_inline void call_sleep(void *ctx, struct endpoint *ep, enum dir dir, __u32 tid, bool entered, struct input *in)
{
	struct call *c = call_of(tid, true);

	if (!c)
		return;
	if (c->key != ep->id.key || c->dir != dir)
		c->entered = 0;
	c->key = ep->id.key;
	c->dir = dir;
	c->off = in->at;
	c->wake = 0;
	in->working = !entered && !c->entered;
	in->asleep = 1;
	if (!entered)
		c->entered = 1;
	apply(ep, in, dir);
	note_task(beside_of(ep, dir));
	note_stack(ctx, beside_of(ep, dir));
	count(COUNT_OBSERVED);
}

static __always_inline void call_waking(__u32 tid)
{
	struct call *c = call_of(tid, false);

	if (c && c->off && !c->wake)
		c->wake = bpf_ktime_get_ns();
}

static __always_inline void note_slept(struct beside *b, const struct call *c, ns_t now)
{
	ns_t wake = c->wake ? c->wake : now, blocked = now - c->off, runq = now - wake;

	atomic_add(&b->blocked_ns, blocked);
	atomic_add(&b->runq_ns, runq);
	atomic_add(&b->wakeups, 1);
	raise_max(&b->blocked_max, blocked);
	raise_max(&b->runq_max, runq);
}

/* the thread runs again, in the call it slept in */
static __always_inline struct endpoint *call_wake(struct call *c, ns_t now)
{
	struct input in = { .at = now, .asleep = -1 };
	struct endpoint *ep = bpf_map_lookup_elem(&endpoints, &c->key);

	if (ep && !ep->closed) {
		note_slept(beside_of(ep, c->dir), c, now);
		apply(ep, &in, c->dir);
		count(COUNT_OBSERVED);
	} else {
		ep = 0;
	}
	c->off = 0;
	return ep;
}

/* true: this thread was seen to enter a call in this direction, and is now out of it */
static __always_inline bool call_was_in(__u64 key, enum dir dir)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);

	if (!c || c->key != key || c->dir != dir || !c->entered)
		return false;
	c->entered = 0;
	return true;
}

#endif
