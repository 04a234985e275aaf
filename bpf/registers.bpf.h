/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers with which a thread entered the kernel, by architecture: the number of its system
 * call and its arguments, which stay there until it leaves. CALL_NR(regs, load) takes the object's
 * way to read as `load` (GET), or a plain one where the verifier knows what `regs` is;
 * CALL_ARG_n(regs) reads plainly.
 */
#ifndef IPCSTALL_REGISTERS_BPF_H
#define IPCSTALL_REGISTERS_BPF_H

#include "compat.bpf.h"

#define PLAINLY(p, field) ((p)->field)

#if defined(__TARGET_ARCH_x86)

#define CALL_NR(regs, load) load(regs, orig_ax)
#define CALL_ARG_0(regs)    ((regs)->di)
#define CALL_ARG_1(regs)    ((regs)->si)
#define CALL_ARG_2(regs)    ((regs)->dx)
#define CALL_ARG_3(regs)    ((regs)->r10)
#define CALL_ARG_4(regs)    ((regs)->r8)

#elif defined(__TARGET_ARCH_arm64)

/* the first argument's register holds the result after the call (syscall_set_return_value()) */
#define ARM(regs)	    ((struct pt_regs___call *)(regs))
#define CALL_NR(regs, load) load(ARM(regs), syscallno)
#define CALL_ARG_0(regs)    (ARM(regs)->orig_x0)
#define CALL_ARG_1(regs)    (ARM(regs)->regs[1])
#define CALL_ARG_2(regs)    (ARM(regs)->regs[2])
#define CALL_ARG_3(regs)    (ARM(regs)->regs[3])
#define CALL_ARG_4(regs)    (ARM(regs)->regs[4])

#else
#error "say here where this architecture's system calls have their number and arguments, and their "
	"numbers in syscalls.h"
#endif

#endif
