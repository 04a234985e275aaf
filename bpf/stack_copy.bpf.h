/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack of one send call that stalls, copied as it is: registers, a slice of the memory that
 * the stack pointer points at, and the frames of a Python interpreter. User space asks for it by
 * the endpoint's serial, and unwinds it (user/unwind). Nothing is copied before.
 */
#ifndef IPCSTALL_STACK_COPY_BPF_H
#define IPCSTALL_STACK_COPY_BPF_H

#include "endpoint.bpf.h"
#include "stack_copy.h"

struct stack_copy stack_copy;

#define STACK_RED_ZONE 128 /* x86: what lies below the stack pointer is in use too */

#ifdef __TARGET_ARCH_x86
#define REGS_BYTES    (21 * sizeof(__u64))
#define REGS_SP(copy) ((copy)->regs[19])
#else
#define REGS_BYTES    (34 * sizeof(__u64))
#define REGS_SP(copy) ((copy)->regs[31])
#endif

static __always_inline __u64 user_word(__u64 at)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)at);
	return word;
}

/* the thread's state in the interpreter; 0: it has none */
static __always_inline __u64 python_thread(const struct python_layout *l, __u32 tid)
{
	__u64 thread = user_word(l->threads_head);

	for (int i = 0; i < PYTHON_THREADS && thread; i++) {
		if ((__u32)user_word(thread + l->tid) == tid)
			return thread;
		thread = user_word(thread + l->next);
	}
	return 0;
}

static __noinline int copy_python(__u32 tid)
{
	struct stack_copy *c = &stack_copy;
	const struct python_layout *l = &c->python;
	__u64 at = l->threads_head ? python_thread(l, tid) : 0;
	int n = 0;

	if (at && l->cframe)
		at = user_word(at + l->cframe);
	at = at ? user_word(at + l->frame) : 0;
	for (int i = 0; i < PYTHON_FRAMES && at; i++) {
		c->python_frames[i].code = user_word(at + l->code);
		c->python_frames[i].instr = user_word(at + l->instr);
		at = user_word(at + l->previous);
		n = i + 1;
	}
	c->python_n = n;
	return n;
}

/* up to the first place that cannot be read: the stack ends there */
static __always_inline __u32 copy_slice(struct stack_copy *c)
{
	__u64 from = (REGS_SP(c) - STACK_RED_ZONE) & ~(STACK_CHUNK - 1ull);
	__u32 bytes = 0;

	c->from = from;
	for (int i = 0; i < STACK_SLICE / STACK_CHUNK; i++) {
		if (bpf_probe_read_user(c->slice + i * STACK_CHUNK, STACK_CHUNK,
					(void *)(from + i * STACK_CHUNK)))
			break;
		bytes = (i + 1) * STACK_CHUNK;
	}
	return bytes;
}

/* gettid() in the thread's own PID namespace, as its interpreter has noted it */
static __always_inline __u32 own_tid(void)
{
	__u64 pid = ADDRESS(bpf_get_current_task(), task_struct___numbered, thread_pid);
	__u32 level = GET(CAST(pid___numbered, pid), level);

	return GET(CAST(upid___numbered, upid_at(pid, level)), nr);
}

static __noinline int take_stack(__u64 serial)
{
	struct stack_copy *c = &stack_copy;
	__u64 numbers = bpf_get_current_pid_tgid();

	if (__sync_val_compare_and_swap(&c->wanted, serial, 0) != serial)
		return 0;
	if (bpf_probe_read_kernel(c->regs, REGS_BYTES,
				  (void *)bpf_task_pt_regs(bpf_get_current_task_btf())))
		return 0;
	c->tgid = numbers >> 32;
	c->tid = (__u32)numbers;
	copy_python(own_tid());
	*(volatile __u32 *)&c->bytes = copy_slice(c);
	return 1;
}

static __always_inline void copy_stack(const struct endpoint *ep)
{
	if (opt.copies && *(volatile __u64 *)&stack_copy.wanted == ep->id.serial)
		take_stack(ep->id.serial);
}

#endif
