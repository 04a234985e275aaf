/* SPDX-License-Identifier: GPL-2.0-only */
/* One client's visit, from its introduction to its leaving. Runs in a process of its own. */
#ifndef IPCSTALL_REMOTE_SERVE_H
#define IPCSTALL_REMOTE_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "remote/auth.h"

/* Shared by the listener and its sessions. */
struct desk {
	pid_t owner;	 /* of the one run at a time; 0: free */
	uint32_t served; /* runs that were let in */
};

/* Serve what comes on fd. 0, or -1 with the reason; *let_in says whether it was a run at all. */
int session_serve(int fd, struct desk *desk, const struct auth_key *key, bool *let_in,
		  struct err *e);
/* To a client that nobody will serve, without waiting for anything. */
void session_busy(int fd);

#endif
