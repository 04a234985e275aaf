/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets that sock_diag is asked for by their inodes: what connection each is, and what of its
 * data lies unread. */
#ifndef IPCSTALL_TRACER_DIAG_SOCKETS_H
#define IPCSTALL_TRACER_DIAG_SOCKETS_H

#include "tracer/tcp_turns.h"
#include "tracer/trace.h"

struct diag_socket {
	uint64_t inode, peer; /* peer: Unix */
	bool is_unix, named, peer_named;
	bool is_connected;
	bool is_full;		   /* its send buffer */
	bool is_local;		   /* TCP: its other end is on this host */
	uint32_t unread;	   /* what it sent, and the other end on this host has not read */
	struct trace_endpoint *ep; /* its protocol and addresses are set, if it is TCP */
	struct trace_fd_server *to;
};

struct diag_sockets {
	struct diag_socket *v;
	size_t n;
};

/* A socket may come before its other end: what lies unread, and peer_named, are known from the
 * second call on. An MPTCP socket has several connections: nothing is known of it. */
void diag_find_tcp(struct diag_sockets *all);
void diag_find_unix(struct diag_sockets *all);
/* Its owner made the connection, and sent last. */
bool diag_has_asked(const struct diag_socket *x, const struct tcp_turns *t);
/* ... and the other end, on TCP, answers what it is sent. */
bool diag_awaits_answer(const struct diag_socket *x, const struct tcp_turns *t);
/* The process at the other end, which trace_name_other_ends() has named, may answer to `pid`. */
bool diag_answers(const struct diag_socket *x, pid_t pid);

#endif
