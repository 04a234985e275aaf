/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link: two hosts on one machine and a virtual link between them, made to order.
 *
 *	lo	the loopback of this namespace; with any key, that of a namespace of its own
 *	veth	two namespaces joined by a veth pair
 *	bridge	two namespaces, each on a port of a software switch in a third
 *
 * The namespaces have no name and no file: descriptors in struct link are all that keeps them
 * alive. When the last process that holds one ends, however it ends, the kernel takes namespace,
 * devices, addresses and queues down (net/core/net_namespace.c: cleanup_net). So nothing can be
 * left over from a killed run, and there is no stale state to look for. The caller's own namespace
 * is never touched, not even while the link is being made: a child makes it and hands the
 * descriptors back.
 */
#ifndef IPCSTALL_HOST_LINK_H
#define IPCSTALL_HOST_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/err.h"

enum link_kind { LINK_LO, LINK_VETH, LINK_BRIDGE };
enum link_side { LINK_CLIENT, LINK_SERVER, LINK_SIDES };
enum link_switch { LINK_UNSET, LINK_ON, LINK_OFF };
enum link_qdisc { LINK_Q_UNSET, LINK_Q_FQ, LINK_Q_FQ_CODEL, LINK_Q_PFIFO };

/* Every field but the kind is a key of the text; 0 is "not given". */
struct link_spec {
	enum link_kind kind;
	uint64_t mtu;	 /* bytes */
	uint64_t rate;	 /* bit/s, each direction by itself (lo: both together) */
	uint64_t burst;	 /* bytes the rate limiter may send at once; default 250 us worth, at least
			    two frames */
	uint64_t limit;	 /* bytes the queue before the limiter holds; default 8 MiB */
	uint64_t delay;	 /* ns, each direction */
	uint64_t jitter; /* ns, either way of delay */
	uint64_t loss;	 /* parts per million, each direction */
	uint64_t qdisc;	 /* enum link_qdisc: the innermost queue */
	uint64_t tso;	 /* enum link_switch */
	uint64_t gso;	 /* the same; follows tso when not given */
	uint64_t gro;	 /* the same; follows tso when not given */
	uint64_t pingpong; /* net.ipv4.tcp_pingpong_thresh, both hosts */
	uint64_t quickack; /* enum link_switch: quickack on the routes of both hosts */
	uint64_t cwnd;	   /* segments: limit of the congestion window, on the routes of both
			      hosts */
};

#define LINK_MAX_NS 3 /* client, server, switch */

struct link {
	struct link_spec spec;
	int user_fd; /* the user namespace that owns the rest; -1: made with the caller's own
			privilege */
	int ns_fd[LINK_MAX_NS]; /* -1: not in use (plain lo) */
	int nl_fd[LINK_MAX_NS]; /* a rtnetlink socket that lives in each */
	bool has_v6;
};

#define LINK_NONE \
	{ \
		.user_fd = -1, .ns_fd = { -1, -1, -1 }, .nl_fd = { -1, -1, -1 } \
	}

/* Counters of what one side sends, since the link was made. */
struct link_stats {
	uint64_t tx_bytes; /* by the device, headers included */
	uint64_t tx_packets;
	uint64_t drops;	     /* by the queue of this side: send() succeeded and the data is gone */
	uint64_t wire_drops; /* after the queue: the device, the switch */
	uint64_t overlimits; /* times the limiter made a packet wait */
	uint64_t requeues;
	uint64_t backlog; /* bytes in the queue now */
	uint64_t qlen;	  /* packets in the queue now */
	bool has_queue;	  /* false: there is no queue; the four above are then 0 for certain */
};

int link_parse(const char *text, struct link_spec *spec, struct err *e);
/* The i-th key and what it does, with its range, for --help and the man page; false: no more
 * keys. */
bool link_key_help(size_t i, const char **name, char *text, size_t len);
/* Is this the caller's own loopback, with nothing to make? */
bool link_is_plain(const struct link_spec *spec);

/* On failure nothing exists and *l is LINK_NONE. */
int link_up(const struct link_spec *spec, struct link *l, struct err *e);
/* Move the calling thread to one of the hosts, for good. Without CAP_SYS_ADMIN this also enters the
 * user namespace that owns the link, which the kernel allows to a process with a single thread
 * only. */
int link_enter(const struct link *l, enum link_side side, struct err *e);
/* A side's address as text ("10.77.0.1", "fd77::2", "127.0.0.1"); family AF_INET or AF_INET6. */
const char *link_addr(const struct link *l, enum link_side side, int family, struct err *e);
/* Callable from any process that holds the link, in whatever namespace it is. Not for plain lo. */
int link_stats(const struct link *l, enum link_side side, struct link_stats *st, struct err *e);
/* Close the link's descriptors; the link goes with the last process in it. Idempotent and
 * async-signal-safe: only close(2). */
void link_down(struct link *l);

#endif
