// SPDX-License-Identifier: GPL-2.0-only
/* The line of the program that made the send call that stalls. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "try/live_case.h"
#include "try/spelling.h"

#define WAIT_NS 3000000000ull /* for a send call that stalls */
enum { TURN_MS = 5 };

static bool wait_for_copy(struct live_case *c, struct stack_copy *copy)
{
	uint64_t end = now_ns() + WAIT_NS;

	while (!trace_copied_stack(c->live.t, copy)) {
		if (now_ns() >= end || session_interrupted())
			return false;
		poll(NULL, 0, TURN_MS);
	}
	return true;
}

/* How to make this language's runtime name its functions, or that they cannot be read. */
static const char *what_would_tell(const char *kind)
{
	static const struct {
		const char *kind, *how;
	} rows[] = {
		{ "node", "to name JavaScript functions, start node with "
			  "--perf-basic-prof --interpreted-frames-native-stack" },
		{ "java",
		  "to name Java methods, start java with -XX:+PreserveFramePointer and, once it "
		  "is warm, run `jcmd PID Compiler.perfmap` (JDK 17)" },
		{ "ruby", "the methods of Ruby cannot be read" },
		{ "python", "the frames of this Python cannot be read: versions 3.11 to 3.13 "
			    "can" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(kind, rows[i].kind))
			return rows[i].how;
	return NULL;
}

static void note_missing(struct live_case *c)
{
	const struct call_frame *own = call_stack_own(&c->stack);
	const char *how = what_would_tell(program_kind(c->scope.tgid));

	if (how && !(own && own->managed)) {
		call_stack_disown(&c->stack);
		snprintf(c->stack.missing, sizeof(c->stack.missing), "%s", how);
	} else if (how && !own->line) {
		snprintf(c->stack.missing, sizeof(c->stack.missing),
			 "its runtime does not record line numbers");
	} else if (!how && !c->stack.missing[0] && (!own || !own->line)) {
		snprintf(c->stack.missing, sizeof(c->stack.missing),
			 "line numbers need debug information (-g)");
	}
}

void case_sender_stack(struct live_case *c)
{
	struct stack_copy *copy = malloc(sizeof(*copy));
	struct python_layout python;
	pid_t tgid = c->scope.tgid;

	if (!copy || !c->finding || !tgid) {
		free(copy);
		return;
	}
	python_layout_of(tgid, &python);
	trace_copy_stack(c->live.t, c->seen.ep[c->finding->endpoint].serial, &python);
	if (wait_for_copy(c, copy)) {
		call_stack_read(copy, tgid, &c->stack);
		note_missing(c);
	} else {
		trace_copy_stack(c->live.t, 0, &python);
		snprintf(c->stack.missing, sizeof(c->stack.missing),
			 "no send call stalled within the wait of 3 s");
	}
	free(copy);
}
