/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a workload reports of an end after the run. An unknown number is FACT_UNKNOWN, never 0. */
#ifndef IPCSTALL_WORKLOADS_FACTS_H
#define IPCSTALL_WORKLOADS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#define FACT_UNKNOWN INT64_MIN

/* One end's socket or pipe after the run. */
struct socket_facts {
	int64_t sndbuf, rcvbuf, pipe_size, mss;
	int nodelay; /* 0, 1, -1: no such option */
	char cc[24];
	bool has_tcp_info;
	int64_t rtt_us, rttvar_us, min_rtt_us, cwnd, snd_wnd, retransmits, busy_us, rwnd_limited_us,
		sndbuf_limited_us;
	int64_t send_errors, strays;
};

#define SOCKET_FACTS_UNKNOWN { .sndbuf = FACT_UNKNOWN, .rcvbuf = FACT_UNKNOWN, \
	.pipe_size = FACT_UNKNOWN, .mss = FACT_UNKNOWN, \
	.nodelay = -1, .send_errors = FACT_UNKNOWN, .strays = FACT_UNKNOWN }

/* Counts of a workload that retransmits. The sender counts the first four, the receiver the
 * rest. */
struct reliable_counts {
	uint64_t packets; /* acknowledged */
	uint64_t transmissions, retransmits, stale_acks;
	uint64_t arrivals, dropped, duplicates, early, aliens;
};

/* Facts about remote calls, from the client's library. Bytes are counted as on the wire, without
 * the transport's own frames. */
struct rpc_facts {
	int64_t connect_ns, first_call_ns; /* the process's first call, with its set-up */
	int64_t marshal_ns, unmarshal_ns;  /* of one message, the median */
	int64_t marshalled_bytes;
	char library[40]; /* name and version; empty: unknown */
};

#define RPC_FACTS_UNKNOWN { .connect_ns = FACT_UNKNOWN, .first_call_ns = FACT_UNKNOWN, \
	.marshal_ns = FACT_UNKNOWN, .unmarshal_ns = FACT_UNKNOWN, \
	.marshalled_bytes = FACT_UNKNOWN }

#endif
