// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/kept_off.h"

uint64_t stopped_ns(const struct trace_call_stats *b)
{
	return b->stopped_ns + b->open_stop_ns;
}

enum kept_off kept_off(const struct trace_call_stats *b, uint64_t ns)
{
	if (!b || !ns || b->no_cpu_res == TRACE_UNKNOWN)
		return KEPT_OFF_NOT;
	if (2 * stopped_ns(b) >= ns)
		return KEPT_OFF_STOPPED;
	return 2 * b->quota_ns >= ns ? KEPT_OFF_QUOTA : KEPT_OFF_NOT;
}
