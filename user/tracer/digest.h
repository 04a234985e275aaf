/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A digest: the figures of every endpoint at one moment that a live screen needs. It has no
 * histograms and no maxima. It is a fifth of a snapshot's size, and costs a tenth where the kernel
 * half writes it.
 */
#ifndef IPCSTALL_TRACER_DIGEST_H
#define IPCSTALL_TRACER_DIGEST_H

#include "tracer/trace.h"

struct trace_digest {
	uint64_t serial, inode;
	uint64_t peer; /* serial of the other end; 0: remote or not traced; a pipe: itself */
	uint64_t born_ns, at_ns; /* first sight; the end of what is counted */
	uint64_t tx_ns[TX_N], rx_ns[RX_N];
	uint64_t delack_ns[TX_N], unread_ns[TX_N];
	uint64_t tx_bytes, tx_messages, rx_bytes, rx_messages;
	uint64_t blocked_ns, retransmits, drops;
	uint64_t cgroup_id;
	uint64_t gathered_ns;
	uint64_t starved_ns[TRACE_VOTES];
	uint32_t gathered_n;
	uint32_t nagle_n, nagle_delack_n; /* episodes that ended; those of them in the slot of
					     the delayed-ACK timer's minimum */
	uint32_t rwnd_n;		  /* episodes that ended */
	uint32_t rtt_us, min_rtt_us;	  /* TCP: smoothed; the recent minimum; 0: unknown */
	uint32_t netns;
	struct trace_addr local, remote;
	pid_t tx_tgid, rx_tgid; /* the process last seen in the call; 0: none */
	char tx_comm[16], rx_comm[16];
	uint8_t proto, family;
	uint8_t tx_now, rx_now;
	bool closed, joined_late;
	bool drops_known;
	bool calls_unseen;	   /* by samples: no call is seen, and bytes are TCP's own count */
	bool tx_missed, rx_missed; /* some or all calls were not seen: bytes of TCP are its own
				      count then */
};

struct trace_digests {
	uint64_t at_ns;
	size_t n, room;
	struct trace_digest
		*v; /* in no order, with the closed endpoints that were not shown yet */
	struct trace_counters counters;
};

/* Fills *s again, which must be zero at first. A closed endpoint is shown only once. */
int trace_digests_take(struct trace *t, struct trace_digests *s, struct err *e);
/* Makes the digests of a snapshot. */
int trace_digests_of(const struct trace_snapshot *snap, struct trace_digests *s, struct err *e);
void trace_digests_free(struct trace_digests *s);

#endif
