/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the other end of a TCP connection that is on this host but not traced. */
#ifndef IPCSTALL_TRY_PEER_SOCKET_H
#define IPCSTALL_TRY_PEER_SOCKET_H

#include "tracer/trace.h"
#include "try/fd_ref.h"

/* pid: the process whose network namespace is searched. 0, or -ENOENT: the other end is not on this
 * host, or in another namespace. */
int peer_socket_find(struct fd_ref *r, pid_t pid, const struct trace_endpoint *ep);

#endif
