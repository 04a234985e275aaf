/* SPDX-License-Identifier: GPL-2.0-only */
/* The sources of a stack's frames; for the files of user/unwind only. */
#ifndef IPCSTALL_UNWIND_FRAME_SOURCES_H
#define IPCSTALL_UNWIND_FRAME_SOURCES_H

#include <stdint.h>

#include "unwind/call_stack.h"

/* The next frame, zeroed; NULL: there is no room. */
struct call_frame *call_stack_next(struct call_stack *s);
bool read_process(pid_t tgid, uint64_t at, void *buf, size_t len);

/* native.c */
void unwind_native(const struct stack_copy *copy, pid_t tgid, struct call_stack *out);
/* *at: address of that variable. False: the process has none. */
bool native_variable(pid_t tgid, const char *name, uint64_t *at);

/* python_frames.c */
void python_layout_find(pid_t tgid, struct python_layout *out);
void python_frames_read(const struct stack_copy *copy, pid_t tgid, struct call_stack *out);

/* perf_map.c: names from the map that a JIT compiler wrote of its code */
bool perf_map_name(pid_t tgid, uint64_t addr, struct call_frame *f);

/* demangle.c: the name as the programmer wrote it; a name that is not mangled stays as it is */
void demangle(const char *name, char *buf, size_t len);

/* rust_v0.c. False: it is not a name of this mangling. */
bool rust_v0(const char *mangled, char *buf, size_t len);

#endif
