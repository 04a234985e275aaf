/* SPDX-License-Identifier: GPL-2.0-only */
/* A workload is one file, one of these, and one row in workload_table.h. It opens two ends and
 * carries messages between them; it never prints, never takes the time and never decides how many:
 * that is the runner's. */
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
	WL_LOSSY = 1 << 2,	/* a message may vanish in silence */
	WL_SOCKET = 1 << 3,	/* has SO_SNDBUF and its kind */
	WL_TCP = 1 << 4,
	WL_INET = 1 << 5,	/* has an IP address: can go over a link or to another host */
	WL_CONNECT = 1 << 6,	/* listen/accept/connect, so connecting can be timed */
	WL_PIPE = 1 << 7,
	/* acknowledges and repeats by itself: the acknowledgement is the answer */
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

/* Buffers of 0 are left as the kernel has them. */
struct workload_options {
	int pair_type; /* the workload's own, from its row */
	bool v6, nodelay, cork, quickack, spin;
	bool unprivileged; /* for another host: within the limits that any user has */
	enum engine engine;
	int64_t sndbuf, rcvbuf, pipe_size, mss, delack_max_ns, pacing;
	const char *cc;
	const char *bind; /* the listener's address; NULL: loopback */
	uint16_t port;	  /* 0: any free one */
	size_t message;	  /* bytes; engines size their batches by it */
	/* rudp: repeat after, packets under way, chance that the receiver drops one, and of which
	 * sequence of chances */
	int64_t rto_ns, window;
	double drop;
	uint64_t seed;
	/* rpc: what a call carries, how thrift writes it, and which build of the program */
	enum rpc_payload payload;
	enum rpc_transport transport;
	/* at which end there is no TCP_NODELAY, where it is not asked for */
	enum rpc_nagle_end nagle_end;
	bool unoptimised;
};

struct conn {
	int rfd, wfd, lfd; /* the same socket twice, or the two halves of pipes; lfd: the listener,
			      -1 without */
	bool spin, quickack;
	bool leader;  /* asks; the other end answers with the number it was asked by */
	uint32_t seq; /* of the last message sent (leader) or taken (follower) */
	bool lossy; /* datagrams: an answer may be late, and then is not the one that is awaited */
	size_t piece;	      /* datagrams: the most that goes in one */
	uint64_t strays;      /* datagrams that belonged to nothing awaited */
	uint64_t send_errors; /* ENOBUFS and ECONNREFUSED of datagram sends, each a lost message */
	const volatile uint32_t
		*tick;	    /* moved by a slow timer: lets a wait for what was lost end */
	void *engine_state; /* the engine's own, these three */
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

	const char *program;	       /* WL_RPC: the ends' program */
	const struct workload *plain; /* WL_RPC: the same path without the calls */

	/* Refuse what cannot work, with the reason. NULL: everything works. */
	int (*validate)(const struct workload_options *o, struct err *e);

	/* Both ends at once, inherited by fork; or, where NULL, the three after it. */
	int (*open_pair)(struct conn ends[2], const struct workload_options *o, struct err *e);
	int (*listen)(struct conn *c, const struct workload_options *o, struct address *bound,
		      struct err *e);
	int (*connect)(struct conn *c, const struct workload_options *o, const struct address *to,
		       struct address *from, struct err *e);
	/* from: the client's address when it is known; datagram sockets need it. */
	int (*accept)(struct conn *c, const struct workload_options *o, const struct address *from,
		      struct err *e);

	/* A whole message; more: another piece of the same message follows at once (MSG_MORE). */
	enum io (*send_msg)(struct conn *c, const void *buf, size_t len, bool more);
	/* A whole message of exactly len bytes. */
	enum io (*recv_msg)(struct conn *c, void *buf, size_t len);
	/* Whatever is there, at least one byte, at most cap; the number, or enum io. */
	ssize_t (*recv_some)(struct conn *c, void *buf, size_t cap);

	/* Nothing follows for now: let go of what is held back for it. NULL: nothing is ever held
	 * back. */
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
/* The next connection, of this host only; others are closed. from->len 0: of any. */
int inet_accept_from(int listener, const struct address *from);

#endif
