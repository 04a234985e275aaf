/* SPDX-License-Identifier: GPL-2.0-only */
/* What endpoints did, added up by program, cgroup and protocol: few series, whatever the number of
 * connections. Only differences of snapshots are added, so a sum never falls when an endpoint
 * closes or changes hands. Pure: no kernel, no text. */
#ifndef IPCSTALL_EXPORT_GROUPS_H
#define IPCSTALL_EXPORT_GROUPS_H

#include "verdict/verdict.h"

/* A sum that may lack what no hook saw. `lacks`: calls went unseen, so the sum is not reported. */
struct tally {
	uint64_t sum;
	bool lacks;
};

struct group {
	char process[17], cgroup[192];
	enum trace_proto proto;
	bool other;	    /* all of this protocol that found no room */
	uint64_t used_ns;   /* when something was last added, or an endpoint was there */
	uint64_t endpoints, had_endpoints; /* now; at the last reading */
	uint64_t tx_ns[TX_N], rx_ns[RX_N];
	uint64_t delack_ns[TX_N], unread_ns[TX_N], starved_ns[TRACE_VOTES];
	struct tally sent_bytes, received_bytes, sent, received, blocked_ns, runq_ns;
	uint64_t open_sleep_ns; /* of calls that sleep now; moves to blocked_ns when they end */
	uint64_t retransmits, drops;
	uint64_t withheld_ack_ns; /* of connections whose other end is not seen */
	bool tx_known[TX_N], rx_known[RX_N], drops_known, retransmits_known, delack_known;
};

/* how long single stalls lasted */
struct stall_hist {
	uint64_t n[TRACE_HIST], ns;
};

struct group_memo {
	struct group *group;
	enum trace_proto proto;
	bool seen;
	uint64_t cgroup_id;
	char comm[16];
};

struct groups {
	struct group *v;
	size_t n, max;	     /* max: not counting those in `other` */
	size_t cgroup_depth; /* components of a cgroup's path that are kept */
	bool (*cgroup_path)(uint64_t id, char *buf, size_t size);
	struct group other[TRACE_PROTOS];
	struct stall_hist stalls[TRACE_PROTOS][TX_N];
	uint64_t folded;  /* endpoints that went to an `other` */
	uint64_t retired; /* groups that made room after long idleness */
	struct group_memo memo;
	struct trace_packed last; /* what was added already */
};

enum { GROUPS_MAX = 10000 };

/* -1: no memory */
int groups_init(struct groups *g, size_t max, size_t cgroup_depth,
		bool (*cgroup_path)(uint64_t id, char *buf, size_t size));
void groups_free(struct groups *g);

/* Adds what happened since the last snapshot, and frees this one. -1: there is no memory, nothing
 * is added, and the snapshot is the caller's still. */
int groups_add(struct groups *g, struct trace_snapshot *s);

#endif
