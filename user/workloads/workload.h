/* SPDX-License-Identifier: GPL-2.0-only */
/* A workload is one file, one struct workload, and one row in workload_table.h. It opens two ends
 * and carries messages between them. It never prints, takes time stamps or decides how many
 * messages to send: the runner does. */
#ifndef IPCSTALL_WORKLOADS_WORKLOAD_H
#define IPCSTALL_WORKLOADS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "workloads/facts.h"
#include "workloads/worker_abi.h"

enum workload_flag {
	WL_STREAM = 1 << 0,	/* bytes without boundaries */
	WL_DATAGRAM = 1 << 1,	/* the transport keeps messages apart */
	WL_LOSSY = 1 << 2,	/* a message may be lost without an error */
	WL_SOCKET = 1 << 3,	/* has SO_SNDBUF and similar options */
	WL_TCP = 1 << 4,
	WL_INET = 1 << 5,	/* has an IP address: can go over a link or to another host */
	WL_CONNECT = 1 << 6,	/* listen/accept/connect, so connecting can be timed */
	WL_PIPE = 1 << 7,
	/* acknowledges and retransmits by itself: the acknowledgement is the answer */
	WL_RELIABLE = 1 << 8,
	WL_RPC = 1 << 9, /* its ends are programs of their own, which make calls (rpc.h) */
};

enum engine {
	ENGINE_PLAIN,
	ENGINE_MMSG,
	ENGINE_GSO,
	ENGINE_SPLICE,
	ENGINE_VMSPLICE,
	ENGINE_ZEROCOPY
};

/* A buffer size of 0 leaves the kernel's default. */
struct workload_options {
	int pair_type; /* from the workload's row */
	bool v6, nodelay, cork, quickack, spin;
	bool unprivileged; /* for another host: within the limits of any user */
	enum engine engine;
	int64_t sndbuf, rcvbuf, pipe_size, mss, delack_max_ns, pacing;
	const char *cc;
	const char *bind; /* the listener's address; NULL: loopback */
	uint16_t port;	  /* 0: any free one */
	size_t message;	  /* bytes; engines size their batches by it */
	/* rudp: retransmission timeout, packets in flight, probability that the receiver drops one,
	 * and the seed of the drops */
	int64_t rto_ns, window;
	double drop;
	uint64_t seed;
	/* rpc: what a call carries, how thrift writes it, and which build of the program */
	enum rpc_payload payload;
	enum rpc_transport transport;
	/* the ends without TCP_NODELAY, if nodelay is false */
	enum rpc_nagle_end nagle_end;
	bool unoptimised;
};

struct conn {
	int rfd, wfd, lfd; /* one socket twice, or an end of each of two pipes; lfd: the listener,
			      or -1 */
	bool spin, quickack;
	bool leader;	      /* sends the questions; an answer carries its question's number */
	uint32_t seq;	      /* of the last message sent (leader) or taken (follower) */
	bool lossy;	      /* datagrams: a late answer may arrive in place of the awaited one */
	size_t piece;	      /* datagrams: most bytes in one */
	uint64_t strays;      /* datagrams that matched no awaited message */
	uint64_t send_errors; /* ENOBUFS and ECONNREFUSED of datagram sends, each a lost message */
	const volatile uint32_t
		*tick;	    /* a slow timer counts it up: ends a wait for a lost message */
	void *engine_state; /* these three belong to the engine */
	int sink_fd;
	uint32_t pending;
};

#define CONN_NONE \
	{ \
		.rfd = -1, .wfd = -1, .lfd = -1 \
	}

enum io { IO_OK = 0, IO_CLOSED = -1, IO_ERROR = -2, IO_LOST = -3 }; /* IO_ERROR: errno says which */

struct workload {
	const char *name, *summary;
	unsigned int flags;
	size_t max_message;	      /* 0: the general limit */
	int pair_type;		      /* open_pair: SOCK_STREAM and so on */
	size_t read_least, read_most; /* bulk: limits of what one receive asks for; 0: none */

	const char *program;	      /* WL_RPC: the ends' program */
	const struct workload *plain; /* WL_RPC: the same path without the calls */

	/* Refuse what cannot work, with the reason. NULL: everything works. */
	int (*validate)(const struct workload_options *o, struct err *e);

	/* Open both ends at once, before the fork. NULL: the next three functions open them. */
	int (*open_pair)(struct conn ends[2], const struct workload_options *o, struct err *e);
	int (*listen)(struct conn *c, const struct workload_options *o, struct address *bound,
		      struct err *e);
	int (*connect)(struct conn *c, const struct workload_options *o, const struct address *to,
		       struct address *from, struct err *e);
	/* from: the client's address if known; datagram sockets need it. */
	int (*accept)(struct conn *c, const struct workload_options *o, const struct address *from,
		      struct err *e);

	/* Send a whole message; more: another piece of the same message follows at once
	 * (MSG_MORE). */
	enum io (*send_msg)(struct conn *c, const void *buf, size_t len, bool more);
	/* Receive a whole message of exactly len bytes. */
	enum io (*recv_msg)(struct conn *c, void *buf, size_t len);
	/* Receive what is there, from one byte to cap; returns the number of bytes, or enum io. */
	ssize_t (*recv_some)(struct conn *c, void *buf, size_t cap);

	/* No message follows for now: send what is held back. NULL: nothing is ever held back. */
	void (*flush)(struct conn *c);

	/* What the kernel made of the options: effective buffers, MSS and so on. */
	void (*facts)(const struct conn *c, struct socket_facts *f);
};

extern const struct workload *const workloads[]; /* NULL-terminated */
extern const char *const workload_names[];	 /* the same, for an option's choices */

void conn_close(struct conn *c);

/* For workloads: parts they share. */
extern const struct workload workload_udp, workload_tcp, workload_unix, workload_grpc,
	workload_grpc_unix, workload_thrift;
enum io stream_send_socket(struct conn *c, const void *buf, size_t len, bool more);
enum io stream_recv_socket(struct conn *c, void *buf, size_t len);
ssize_t stream_recv_some_socket(struct conn *c, void *buf, size_t cap);
enum io datagram_send(struct conn *c, const void *buf, size_t len, bool more);
enum io datagram_recv(struct conn *c, void *buf, size_t len);
ssize_t datagram_recv_some(struct conn *c, void *buf, size_t cap);
int socket_apply(int fd, const struct workload_options *o, struct err *e);
int tcp_apply(int fd, const struct workload_options *o, struct err *e);
void socket_facts_read(const struct conn *c, struct socket_facts *f);
int inet_address(const struct workload_options *o, struct address *a, struct err *e);
/* Accept the next connection from that host and close others. from->len 0: from any host. */
int inet_accept_from(int listener, const struct address *from);

#endif
