// SPDX-License-Identifier: GPL-2.0-only
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
