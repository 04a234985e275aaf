/* SPDX-License-Identifier: GPL-2.0-only */
/* The other end of a TCP connection, if a process of this host has it, though it is not traced. */
#ifndef IPCSTALL_TRY_PEER_SOCKET_H
#define IPCSTALL_TRY_PEER_SOCKET_H

#include "tracer/trace.h"
#include "try/fd_ref.h"

/* pid: whose network namespace is looked into. 0, or -ENOENT: it is not on this host, or in another
 * namespace. */
int peer_socket_find(struct fd_ref *r, pid_t pid, const struct trace_endpoint *ep);

#endif
