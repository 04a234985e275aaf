/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs of each backend, where each is attached, and what is lost without it. */
#ifndef IPCSTALL_TRACER_HOOKS_H
#define IPCSTALL_TRACER_HOOKS_H

#include "tracer/trace.h"

enum hook_kind { HOOK_RAWTP, HOOK_FENTRY, HOOK_FEXIT, HOOK_KPROBE, HOOK_KRETPROBE, HOOK_KIND_N };

/* PART_GUESS: not needed if every PART_EXACT hook is attached. PART_LATE: attached only once the
 * end of a call was missed. */
enum hook_part { PART_ALWAYS, PART_EXACT, PART_GUESS, PART_LATE };

struct hook {
	enum trace_backend backend;
	enum hook_kind kind;
	const char *program; /* name in the object */
	const char *point;   /* tracepoint or function; several: the first that exists, separated by
				spaces */
	bool required;	     /* without it the backend is of no use */
	unsigned int protos; /* 1 << enum trace_proto: needed for these only; 0: always */
	const char *feeds;
	enum hook_part part;
	const char *given; /* the row counts only if this tracepoint exists; with `!` in front: if
			      it does not exist */
};

extern const struct hook hook_table[];
extern const size_t hook_count;
const char *hook_kind_name(enum hook_kind k);

#endif
