/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks that sleep on a socket or a pipe, found in its wait queue, without a hook at any
 * switch. Tasks that wait by poll() or epoll are in the same queue, with another wake function. A
 * task that sleeps in poll() or select() for data at this endpoint alone waits as if in a receive
 * call (see polled.bpf.h).
 */
#ifndef IPCSTALL_WAITERS_BPF_H
#define IPCSTALL_WAITERS_BPF_H

#include "preexisting.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct unix_sock___waits {
	struct socket_wq___waits peer_wq;
};

struct pipe_inode_info___waits {
	struct wait_queue_head___waits rd_wait, wr_wait;
};

struct poll_table_entry___waits {
	void *filp;
	__u32 key;
	struct wait_queue_entry___waits wait;
};

struct poll_wqueues___waits {
	void *table, *polling_task;
	int inline_index;
	struct poll_table_entry___waits inline_entries[9];
};

#pragma clang attribute pop

/*
 * The wake functions of tasks that sleep in the call itself: sk_wait_data() and
 * sk_stream_wait_memory() set the first, a pipe and a Unix stream the second,
 * __skb_wait_for_more_packets() the third. 0: this kernel does not tell where it is.
 */
const volatile struct sleeper_functions sleeper_functions;

enum { SLEEPS_IN = 1, SLEEPS_OUT = 2, POLLS = 4 };

static __always_inline bool wakes_task(__u64 fn)
{
	return fn && (fn == sleeper_functions.woken || fn == sleeper_functions.autoremove ||
		      fn == sleeper_functions.receiver);
}

__u64 waiter_regs;    /* offset of the registers in a task's stack, the same for 64-bit tasks */
__u64 waiter_scratch; /* a pointer that is stored here is loaded as a number */

static __always_inline struct pt_regs *waiter_registers(__u64 task)
{
	if (!*(volatile __u64 *)&waiter_regs) {
		struct task_struct *me = bpf_get_current_task_btf();

		*(volatile __u64 *)&waiter_scratch = (__u64)bpf_task_pt_regs(me);
		waiter_regs = *(volatile __u64 *)&waiter_scratch - ADDRESS(me, task_struct, stack);
	}
	return CAST(pt_regs, ADDRESS(task, task_struct, stack) + *(volatile __u64 *)&waiter_regs);
}

static __always_inline __u32 waiter_bits(__u64 task)
{
	struct pt_regs *regs = waiter_registers(task);

	return number_bits(CAST(task_struct, task), CALL_NR(regs, GET));
}

#if defined(__TARGET_ARCH_x86)
#define WAITER_FIRST(regs) GET(regs, di)
#else
#define WAITER_FIRST(regs) GET(ARM(regs), orig_x0)
#endif

/* A task in a socket's own wait queue waits in a call on that socket, and its registers tell the
 * direction. splice() from a pipe writes. */
static __noinline int waiter_way(__u64 task)
{
	__u32 bits = waiter_bits(task);
	struct target to = {};

	if (calls_nothing((struct task_struct *)task) || !syscall_moves(bits))
		return 0;
	if (syscall_splices(bits))
		return splice_reads(&to, CAST(task_struct, task),
				    WAITER_FIRST(waiter_registers(task)))
			       ? SLEEPS_OUT
			       : SLEEPS_IN;
	return bits & SYS_IN ? SLEEPS_IN : SLEEPS_OUT;
}

/* names the thread once: mostly the same thread is found there again */
SUBPROG int waiter_named(struct endpoint *ep, __u64 task, __u32 way)
{
	struct call_stats *b;

	if (!ep)
		return 0;
	b = way == SLEEPS_OUT ? &ep->tx_calls : &ep->rx_calls;
	if (b->tid != (__u32)GET(CAST(task_struct, task), pid))
		note_sleeper(b, task);
	return way;
}

/* The kernel's list of what a thread polls is on that thread's stack; if it is not on the stack of
 * the task found, that task is another one. Entries beyond these are in a table. */
#define POLLED_INLINE 9

static __always_inline bool is_in_stack(__u64 task, __u64 address)
{
	return address - ADDRESS(task, task_struct, stack) < waiter_regs;
}

#define POLLED_FIELD(list, i, field) \
	((list) + bpf_core_field_offset(struct poll_wqueues___waits, inline_entries) + \
	 (i) * bpf_core_type_size(struct poll_table_entry___waits) + \
	 bpf_core_field_offset(struct poll_table_entry___waits, field))

/* adds the i-th entry of the list to what was polled before */
static __always_inline __u64 polled_in_list(__u64 list, __u32 i, __u32 tgid, __u64 asked)
{
	__u32 key = load_word(POLLED_FIELD(list, i, key));

	return key & ASKS_IN
		       ? one_more(asked, readable_by(load_word(POLLED_FIELD(list, i, filp)), tgid))
		       : asked;
}

/* the one endpoint that the thread waits for; SEVERAL: nobody can tell */
SUBPROG __u64 polled_by(__u64 task, __u64 list)
{
	__u64 asked = ADDRESS(list, poll_wqueues___waits, table) ? SEVERAL : NOBODY;
	__u32 n = ADDRESS(list, poll_wqueues___waits, inline_index), tgid = tgid_numbered(task);

	for (__u32 i = 0; i < POLLED_INLINE && i < n && asked != SEVERAL; i++)
		asked = polled_in_list(list, i, tgid, asked);
	return asked;
}

/* A task that sleeps in poll() for room has none, whatever else it waits for. */
static __always_inline bool is_polled_for_room(__u64 entry)
{
	__u64 polled = entry - bpf_core_field_offset(struct poll_table_entry___waits, wait);
	__u32 key = load_word(polled + bpf_core_field_offset(struct poll_table_entry___waits, key));

	return key & ASKS_OUT;
}

SUBPROG int poller_at(struct endpoint *ep, __u64 entry)
{
	__u64 list, task;

	if (!ep)
		return 0;
	list = ADDRESS(entry, wait_queue_entry___waits, private);
	task = ADDRESS(list, poll_wqueues___waits, polling_task);
	waiter_registers(task);
	if (!is_in_stack(task, list) || !asleep_now(task))
		return POLLS;
	if (is_polled_for_room(entry))
		return POLLS | waiter_named(ep, task, SLEEPS_OUT);
	if (polled_by(task, list) != ep->id.key)
		return POLLS;
	return POLLS | waiter_named(ep, task, SLEEPS_IN);
}

/* `way`: a pipe has a wait queue for each direction; 0: the task's registers tell */
SUBPROG int sleeper_at(struct endpoint *ep, __u64 entry, __u32 way)
{
	__u64 task;

	if (!ep)
		return 0;
	task = ADDRESS(entry, wait_queue_entry___waits, private);
	if (!way)
		way = waiter_way(task);
	return way ? waiter_named(ep, task, way) : 0;
}

static __always_inline __u32 waiter_at(struct endpoint *ep, __u64 entry, __u32 way)
{
	__u64 wakes = ADDRESS(entry, wait_queue_entry___waits, func);

	if (wakes_task(wakes))
		return sleeper_at(ep, entry, way);
	return wakes && wakes == sleeper_functions.poll ? poller_at(ep, entry) : POLLS;
}

/* all that wait in this queue: SLEEPS_*, POLLS */
static __always_inline __u32 waiters_at(struct endpoint *ep, __u64 head, __u32 way)
{
	__u64 link = load_word(head);
	__u32 found = 0;

	for (int i = 0; i < WAITERS_LOOKED_AT && link && link != head; i++) {
		found |= waiter_at(
			ep, link - bpf_core_field_offset(struct wait_queue_entry___waits, entry),
			way);
		link = load_word(link);
	}
	return found;
}

static __always_inline __u32 sock_waiters(struct endpoint *ep, __u64 sk)
{
	__u64 wq = ADDRESS(sk, sock___waits, sk_wq);

	return wq ? waiters_at(ep, wq + WAIT_HEAD(socket_wq___waits, wait), 0) : 0;
}

/* All senders to a datagram socket wait in that socket's queue: is this one there for `ep`? */
SUBPROG int waiter_for(struct endpoint *ep, __u64 entry)
{
	struct target to = {};
	__u64 task;

	if (!ep || !wakes_task(ADDRESS(entry, wait_queue_entry___waits, func)))
		return 0;
	task = ADDRESS(entry, wait_queue_entry___waits, private);
	if (!(waiter_bits(task) & SYS_OUT) ||
	    !file_target(&to,
			 file_of(CAST(task_struct, task), WAITER_FIRST(waiter_registers(task)))))
		return 0;
	return target_key(&to) == ep->id.key ? waiter_named(ep, task, SLEEPS_OUT) : 0;
}

static __always_inline __u32 senders_waiting(struct endpoint *ep, __u64 receiver)
{
	__u64 head = receiver + bpf_core_field_offset(struct unix_sock___waits, peer_wq) +
		     WAIT_HEAD(socket_wq___waits, wait),
	      link = load_word(head);
	__u32 found = 0;

	for (int i = 0; i < WAITERS_LOOKED_AT && link && link != head; i++) {
		found |= waiter_for(
			ep, link - bpf_core_field_offset(struct wait_queue_entry___waits, entry));
		link = load_word(link);
	}
	return found;
}

static __always_inline __u32 pipe_waiters(struct endpoint *ep, __u64 pipe)
{
	__u32 readers =
		waiters_at(ep, pipe + WAIT_HEAD(pipe_inode_info___waits, rd_wait), SLEEPS_IN);
	__u32 writers =
		waiters_at(ep, pipe + WAIT_HEAD(pipe_inode_info___waits, wr_wait), SLEEPS_OUT);

	return (readers & SLEEPS_IN) | (writers ? SLEEPS_OUT : 0);
}

#endif
