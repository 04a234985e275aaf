/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to sock_diag, which lists the sockets of one network namespace. */
#ifndef IPCSTALL_HOST_SOCK_DIAG_H
#define IPCSTALL_HOST_SOCK_DIAG_H

#include <sys/types.h>

#include "host/rtnl.h"

/* Errors are ignored: no socket is found then. */
void sock_diag_dump(struct rtnl_req *r, rtnl_fn fn, void *arg);
/* One socket, whose address or inode the request has */
void sock_diag_get(struct rtnl_req *r, rtnl_fn fn, void *arg);

/* From now on the requests of this thread go to the network namespace of that process, until
 * sock_diag_leave() is called with the result. Without the privilege to enter it none finds a
 * socket. A process that cannot be asked is taken to be in the program's own. */
int sock_diag_enter(pid_t pid);
void sock_diag_leave(int before);
/* the inode of the namespace to which they go now; 0: unknown */
uint64_t sock_diag_netns(void);

/* A TCP socket's buffer is so full that poll() would not call it writable. mem: its
 * INET_DIAG_SKMEMINFO; NULL: not known. */
bool sock_diag_is_full(const struct rtattr *mem);

#endif
