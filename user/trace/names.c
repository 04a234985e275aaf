// SPDX-License-Identifier: GPL-2.0-only
#include "record.h"
#include "trace.h"

const char *trace_backend_name(enum trace_backend b)
{
	static const char *const names[TRACE_BACKENDS] = { "none", "fentry", "kprobe", "rawtp" };

	return b < TRACE_BACKENDS ? names[b] : "unknown";
}

const char *trace_proto_name(enum trace_proto p)
{
	static const char *const names[TRACE_PROTOS] = { "none", "tcp", "udp", "unix-stream", "unix-dgram", "unix-seqpacket",
							 "pipe" };

	return p < TRACE_PROTOS ? names[p] : "unknown";
}

const char *trace_mark_name(unsigned int mark)
{
#define MARK_NAME(sym, num, name, what) [sym] = name,
	static const char *const names[MARK_N] = { MARKS(MARK_NAME) };

	return mark < MARK_N ? names[mark] : NULL;
}
