/* SPDX-License-Identifier: GPL-2.0-only */
/* Serves one client, from its introduction until it leaves. Runs in a process of its own. */
#ifndef IPCSTALL_REMOTE_SERVE_H
#define IPCSTALL_REMOTE_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "remote/auth.h"

/* Shared by the listener and its sessions. */
struct desk {
	pid_t owner;	 /* process of the only run at a time; 0: free */
	uint32_t served; /* runs that were let in */
};

/* Serve the client on fd. 0, or -1 with the reason; *let_in: the client was admitted. */
int session_serve(int fd, struct desk *desk, const struct auth_key *key, bool *let_in,
		  struct err *e);
/* Tell a client that the server is busy, without waiting for anything. */
void session_busy(int fd);

#endif
