// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/stopped_or_throttled.h"

#include "verdict/processes.h"
#include "verdict/times.h"

static uint64_t most_stopped(const struct trace_snapshot *s, const struct trace_call_stats *b)
{
	return larger(are_stops_known(b) ? stopped_ns(b) : 0,
		      process_of(s, b->tgid).stopped_ns);
}

uint64_t halted_ns(const struct trace_snapshot *s, const struct trace_call_stats *b, enum halt why)
{
	return why == HALT_STOPPED     ? most_stopped(s, b)
	       : why == HALT_THROTTLED ? b->quota_ns
				       : 0;
}

enum halt stopped_or_throttled(const struct trace_snapshot *s, const struct trace_call_stats *b,
			       uint64_t ns)
{
	if (!b || !ns || !are_stops_known(b))
		return HALT_NONE;
	if (2 * most_stopped(s, b) >= ns)
		return HALT_STOPPED;
	return b->no_cpu_res != TRACE_UNKNOWN && 2 * b->quota_ns >= ns ? HALT_THROTTLED : HALT_NONE;
}
