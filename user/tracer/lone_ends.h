/* SPDX-License-Identifier: GPL-2.0-only */
/* Ends of connections whose other ends are no endpoints of the session, and what is found there. */
#ifndef IPCSTALL_TRACER_LONE_ENDS_H
#define IPCSTALL_TRACER_LONE_ENDS_H

#include <linux/inet_diag.h>

#include "host/rtnl.h"
#include "tracer/inet_end.h"
#include "tracer/trace.h"

/* Why a socket gets what is sent to an address; the later, the surer. */
enum reached {
	NOT_REACHED,
	BOUND_TO_ANY,	/* address, of both families */
	BOUND_TO_ANY_4, /* IPv4 address */
	BOUND_THERE,
	CONNECTED,
};

struct lone_end {
	uint64_t netns;
	uint64_t inode;		     /* its own: Unix */
	struct inet_end there, here; /* TCP, UDP */
	uint64_t other;		     /* the inode of the other end; 0: not known */
	enum reached by;	     /* why `other` was chosen */
	bool pending;		     /* in a listener's queue; `other` is that listener */
	bool queued;		     /* connections wait in the queue of `other` */
	pid_t master;		     /* also has the listener, and started other_pid */
	long fd;		     /* the other end, in other_pid */
	bool several;		     /* more than one process holds it */
	bool unrelated;		     /* not all of them descend from one of them */
	unsigned int acceptors;	     /* of them: those that wait for a connection there */
	bool receives;		     /* other_pid waits for data there */
	uint32_t drops;		     /* UDP: drops that the other end has counted */
	bool sends_full;	     /* TCP: the other end's send buffer is full */
	bool receives_full;	     /* UDP: its receive buffer is at least half full */
	struct trace_endpoint *ep;
};

struct lone_ends {
	struct lone_end *v;
	size_t n, asked;
};

/* By their addresses, or inodes: before one is searched for */
void lone_ends_sort(struct lone_ends *all);
/* The one at the place of `want`; its other end is the socket `other`, unless that is 0. */
struct lone_end *lone_ends_find(struct lone_ends *all, const struct lone_end *want, uint64_t other);
/* The one whose other end the socket of that message is. */
struct lone_end *lone_ends_note_connected(struct lone_ends *all, const struct inet_diag_msg *m);
/* An rtnl_fn. An open socket without an inode is one that accept() has not returned yet. */
void lone_ends_note_tcp(const struct nlmsghdr *n, void *ctx);

#endif
