/* SPDX-License-Identifier: GPL-2.0-only */
/* Names the stack of one send call: which function and line of the program wrote. It works on a
 * copy of the registers and of the top of the stack (bpf/stack_copy.bpf.h). libdw unwinds it,
 * without frame pointers if the files say how; interpreters and JIT compilers tell their frames. */
#ifndef IPCSTALL_UNWIND_CALL_STACK_H
#define IPCSTALL_UNWIND_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bpf/stack_copy.h"

enum { CALL_FRAMES = 64 };

struct call_frame {
	char function[160];
	char file[200]; /* source; "": unknown */
	int line;	/* 0: unknown */
	bool begins;	/* the line is where the function begins */
	char module[64];
	bool inlined; /* into the frame after it */
	bool library; /* of the language or its run time, not the program's own */
	bool managed; /* named by an interpreter or a JIT compiler */
};

/* The innermost call first. */
struct call_stack {
	struct call_frame v[CALL_FRAMES];
	size_t n;
	char missing[200]; /* what is not known, and why; "": nothing */
};

/* Where the process's Python interpreter keeps its frames, for trace_copy_stack(). All zero: it is
 * not Python, or of an unknown version. */
void python_layout_of(pid_t tgid, struct python_layout *out);

/* Names the copied stack of process `tgid`. A child process does it, because the files that it
 * reads were written by others. */
void call_stack_read(const struct stack_copy *copy, pid_t tgid, struct call_stack *out);

/* The frame that a programmer looks for: the first of the program's own. NULL: there is none. */
const struct call_frame *call_stack_own(const struct call_stack *s);

/* Marks all frames as not the program's own: they are the interpreter's. */
void call_stack_disown(struct call_stack *s);

/* "write_header (server.c:42)", "write_header (server)", "answer (app.js, begins at line 9)" */
void call_frame_text(const struct call_frame *f, char *buf, size_t len);

#endif
