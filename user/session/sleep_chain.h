/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that sleeps in a call on a pipe or a connection, or until its child ends, sleeps for
 * another one, which may sleep likewise: the last of such a chain keeps all of them waiting. /proc
 * tells, without a hook. */
#ifndef IPCSTALL_SESSION_SLEEP_CHAIN_H
#define IPCSTALL_SESSION_SLEEP_CHAIN_H

#include "host/asleep.h"
#include "session/zoom.h"

/* the time that a session with a deadline reserves to follow the chain */
#define SLEEP_CHAIN_NS 500000000ull

/* Follows the chain from `a`, if that sleeps now as it did when it was looked at. to_read: others
 * wait until `a` reads, rather than until it sends. Takes at most about SLEEP_CHAIN_NS, fewer
 * before the deadline or where `stop` asks. */
void sleep_chain_follow(struct asleep *a, bool to_read, uint64_t deadline,
			const struct zoom_stop *stop);

#endif
