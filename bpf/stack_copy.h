/* SPDX-License-Identifier: GPL-2.0-only */
/* What both halves know of a copied stack. */
#ifndef IPCSTALL_STACK_COPY_H
#define IPCSTALL_STACK_COPY_H

/*
 * The stack of one call, copied as it is for user space to unwind: stack_copy.bpf.h. Only one is
 * asked for at a time, of an endpoint that is known to stall.
 */
#define STACK_REGS     34 /* words of a task's registers: 21 on x86, 34 on arm64 */
#define STACK_SLICE    32768
#define STACK_CHUNK    512
#define PYTHON_FRAMES  32
#define PYTHON_THREADS 128 /* at most so many are searched */

/* where a Python interpreter keeps its frames: addresses and offsets in its version */
struct python_layout {
	unsigned long long threads_head;    /* address of the pointer to the first; 0: no Python */
	unsigned int next, tid;		    /* in a thread's state */
	unsigned int cframe;		    /* in it: the pointer to what has `frame`; 0: none */
	unsigned int frame;		    /* where that pointer leads, or in the thread's state */
	unsigned int code, previous, instr; /* in a frame */
};

struct python_frame {
	unsigned long long code, instr;
};

struct stack_copy {
	unsigned long long wanted; /* serial of the endpoint; 0: none */
	struct python_layout python;
	/* from here on written by the kernel half, `bytes` last */
	unsigned int tgid, tid;
	unsigned int python_n;
	unsigned int bytes;	 /* of `slice`, from `from` on; 0: it was not taken yet */
	unsigned long long from; /* address of slice[0] */
	unsigned long long regs[STACK_REGS];
	struct python_frame python_frames[PYTHON_FRAMES];
	unsigned char slice[STACK_SLICE];
};

#endif
