// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/stopped_or_throttled.h"

uint64_t stopped_ns(const struct trace_call_stats *b)
{
	return b->stopped_ns + b->open_stop_ns;
}

/* A process that was stopped before it was in any call holds the descriptor, and no more. */
static bool are_stops_known(const struct trace_call_stats *b)
{
	return b->no_cpu_res != TRACE_UNKNOWN || b->open_stop_ns;
}

static bool was_stopped(const struct trace_call_stats *b, pid_t tgid, uint64_t ns)
{
	return b->tgid == tgid && are_stops_known(b) && 2 * stopped_ns(b) >= ns;
}

static bool process_was_stopped(const struct trace_snapshot *s, pid_t tgid, uint64_t ns)
{
	for (size_t i = 0; i < s->n; i++)
		if (was_stopped(&s->ep[i].tx_calls, tgid, ns) ||
		    was_stopped(&s->ep[i].rx_calls, tgid, ns))
			return true;
	return false;
}

enum halt stopped_or_throttled(const struct trace_snapshot *s, const struct trace_call_stats *b,
			       uint64_t ns)
{
	if (!b || !ns || !are_stops_known(b))
		return HALT_NONE;
	if (was_stopped(b, b->tgid, ns) || (b->tgid && process_was_stopped(s, b->tgid, ns)))
		return HALT_STOPPED;
	return b->no_cpu_res != TRACE_UNKNOWN && 2 * b->quota_ns >= ns ? HALT_THROTTLED : HALT_NONE;
}
