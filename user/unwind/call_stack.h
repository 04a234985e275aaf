/* SPDX-License-Identifier: GPL-2.0-only */
/* The stack of one send call, by name: which function and line of the program wrote. From a copy of
 * its registers and of the top of its stack (bpf/stack_copy.bpf.h), without frame pointers where
 * the files say how to unwind (libdw), and from what interpreters and compilers at run time
 * tell. */
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
	bool begins;	/* the line is that where the function begins */
	char module[64];
	bool inlined; /* into the frame after it */
	bool library; /* of the language or its run time, not the program's own */
	bool managed; /* named by an interpreter or a compiler at run time */
};

/* The innermost call first. */
struct call_stack {
	struct call_frame v[CALL_FRAMES];
	size_t n;
	char missing[200]; /* what could not be known, and why; "": nothing */
};

/* Where that process's Python keeps its frames: for trace_copy_stack(). All zero: it is no Python,
 * or one of a version that is not known. */
void python_layout_of(pid_t tgid, struct python_layout *out);

/* Names the copied stack of that process, in a process of its own: what is read there was written
 * by others. */
void call_stack_read(const struct stack_copy *copy, pid_t tgid, struct call_stack *out);

/* The frame that a programmer looks for: the first that is the program's own. NULL: there is none.
 */
const struct call_frame *call_stack_own(const struct call_stack *s);

/* None of its frames is the program's own: they are the interpreter's. */
void call_stack_disown(struct call_stack *s);

/* "write_header (server.c:42)", "write_header (server)", "answer (app.js, begins at line 9)" */
void call_frame_text(const struct call_frame *f, char *buf, size_t len);

#endif
