/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a program did nothing for most of a time: it was not allowed to run. */
#ifndef IPCSTALL_VERDICT_STOPPED_OR_THROTTLED_H
#define IPCSTALL_VERDICT_STOPPED_OR_THROTTLED_H

#include "tracer/trace.h"

enum halt {
	HALT_NONE,
	HALT_STOPPED,	/* by a signal or a debugger, or frozen with its cgroup */
	HALT_THROTTLED, /* its cgroup had used up its CPU quota */
};

/* Was it halted for at least half of `ns`? b NULL: nobody was seen. A stop halts every thread of a
 * process, and shows at the endpoint where the process was awaited. */
enum halt stopped_or_throttled(const struct trace_snapshot *s, const struct trace_call_stats *b,
			       uint64_t ns);

/* How long it was halted for that reason, in all. */
uint64_t halted_ns(const struct trace_snapshot *s, const struct trace_call_stats *b, enum halt why);

/* How long it was stopped, including a stop that goes on. */
static inline uint64_t stopped_ns(const struct trace_call_stats *b)
{
	return b->stopped_ns + b->open_stop_ns;
}

/* A process that was stopped before its first call here holds the descriptor, and no more. */
static inline bool are_stops_known(const struct trace_call_stats *b)
{
	return b->no_cpu_res != TRACE_UNKNOWN || b->open_stop_ns;
}

#endif
