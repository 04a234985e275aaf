// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/record.h"
#include "tracer/trace.h"

#define STATE_NAME(sym, num, name, stall, nist, what, fix) [sym] = name,
const char *const trace_tx_names[TX_N] = { TX_STATES(STATE_NAME) };
const char *const trace_rx_names[RX_N] = { RX_STATES(STATE_NAME) };

const char *trace_backend_name(enum trace_backend b)
{
	static const char *const names[TRACE_BACKENDS] = { "none", "fentry", "kprobe", "rawtp",
		"sampled" };

	return b < TRACE_BACKENDS ? names[b] : "unknown";
}

const char *trace_proto_name(enum trace_proto p)
{
	static const char *const names[TRACE_PROTOS] = {
		"none", "tcp", "udp", "unix-stream", "unix-dgram", "unix-seqpacket", "pipe"
	};

	return p < TRACE_PROTOS ? names[p] : "unknown";
}

const char *trace_unseen_name(enum trace_unseen u)
{
	static const char *const names[TRACE_UNSEEN_N] = { NULL, "calls", "TLS", "MPTCP", "sockmap",
		"SMC" };

	return u < TRACE_UNSEEN_N ? names[u] : NULL;
}

const char *trace_fact_name(unsigned int fact)
{
#define FACT_NAME(sym, num, name, what) [sym] = name,
	static const char *const names[SAMPLE_FACTS_N] = { SAMPLE_FACTS(FACT_NAME) };

	return fact < SAMPLE_FACTS_N ? names[fact] : NULL;
}

const char *trace_mark_name(unsigned int mark)
{
#define MARK_NAME(sym, num, name, what) [sym] = name,
	static const char *const names[MARK_N] = { MARKS(MARK_NAME) };

	return mark < MARK_N ? names[mark] : NULL;
}

void trace_addr_text(int family, const struct trace_addr *a, char *buf, size_t len)
{
	char ip[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, a->ip, ip, sizeof(ip));
	snprintf(buf, len, family == AF_INET6 ? "[%s]:%u" : "%s:%u", ip, a->port);
}
