/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread asks of the kernel: its system call and the first arguments, from the registers it
 * came in with. A 32-bit program's calls have other numbers, and their arguments are elsewhere
 * (syscall_get_arguments()); its socketcall() has them in its own memory.
 */
#ifndef IPCSTALL_SYSCALL_ARGS_BPF_H
#define IPCSTALL_SYSCALL_ARGS_BPF_H

#include "registers.bpf.h"
#include "charge.h"
#include "syscalls.h"

struct syscall_args {
	__u32 bits;
	__u64 first, second, third, fourth;
};

/* for a thread that may not be the current one: what call a socketcall() is remains unknown */
static __always_inline __u32 number_bits(struct task_struct *task, __u64 nr)
{
	return is_compat(task) ? syscall_bits_32(nr) : syscall_bits(nr);
}

#if defined(__TARGET_ARCH_x86)
static __noinline int socketcall_request(struct syscall_args *r)
{
	__u32 args[4] = {};

	if (!r)
		return 0;
	r->bits = socketcall_bits(r->first);
	if (bpf_probe_read_user(args, sizeof(args), (void *)r->second))
		r->bits = 0;
	r->first = args[0];
	r->second = args[1];
	r->third = args[2];
	r->fourth = args[3];
	return 1;
}

static __always_inline void request_32(struct syscall_args *to, struct pt_regs *regs)
{
	struct syscall_args r = { syscall_bits_32(regs->orig_ax), (__u32)regs->bx, (__u32)regs->cx,
				  (__u32)regs->dx, (__u32)regs->si };

	if (r.bits & SYS_SOCKETCALL)
		socketcall_request(&r);
	*to = r;
}
#else
static __always_inline void request_32(struct syscall_args *to, struct pt_regs *regs)
{
	*to = (struct syscall_args){};
}
#endif

/* only for the current thread */
static __always_inline void request_of(struct syscall_args *r, struct task_struct *task,
				       struct pt_regs *regs)
{
	if (is_compat(task)) {
		request_32(r, regs);
		return;
	}
	r->bits = syscall_bits(CALL_NR(regs, PLAINLY));
	r->first = CALL_ARG_0(regs);
	r->second = CALL_ARG_1(regs);
	r->third = CALL_ARG_2(regs);
	r->fourth = CALL_ARG_3(regs);
}

#endif
