// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/stopped_or_throttled.h"

#include "verdict/times.h"

uint64_t stopped_ns(const struct trace_call_stats *b)
{
	return b->stopped_ns + b->open_stop_ns;
}

/* A process that was stopped before it was in any call holds the descriptor, and no more. */
static bool are_stops_known(const struct trace_call_stats *b)
{
	return b->no_cpu_res != TRACE_UNKNOWN || b->open_stop_ns;
}

static uint64_t stopped_at(const struct trace_call_stats *b, pid_t tgid)
{
	return b->tgid == tgid && are_stops_known(b) ? stopped_ns(b) : 0;
}

static uint64_t process_stopped_ns(const struct trace_snapshot *s, pid_t tgid)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->n; i++)
		ns = larger(ns, larger(stopped_at(&s->ep[i].tx_calls, tgid),
				       stopped_at(&s->ep[i].rx_calls, tgid)));
	return ns;
}

static uint64_t most_stopped(const struct trace_snapshot *s, const struct trace_call_stats *b)
{
	return larger(stopped_at(b, b->tgid), b->tgid ? process_stopped_ns(s, b->tgid) : 0);
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
