/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a program did nothing for most of a time: it was not allowed to run. */
#ifndef IPCSTALL_VERDICT_KEPT_OFF_H
#define IPCSTALL_VERDICT_KEPT_OFF_H

#include "tracer/trace.h"

enum kept_off {
	KEPT_OFF_NOT,
	KEPT_OFF_STOPPED, /* by a signal or a debugger, or frozen with its cgroup */
	KEPT_OFF_QUOTA,	  /* its cgroup had used up its CPU quota */
};

/* For at least half of so long; b NULL: nobody was seen. A stop stops every thread of a process,
 * and shows at the endpoint where it was awaited. */
enum kept_off kept_off(const struct trace_snapshot *s, const struct trace_call_stats *b,
		       uint64_t ns);

/* how long it was stopped, a stop that goes on included */
uint64_t stopped_ns(const struct trace_call_stats *b);

#endif
