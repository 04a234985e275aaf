/* SPDX-License-Identifier: GPL-2.0-only */
/* A process asleep in a call on a pipe or a connection, or until its child ends, waits for
 * another process, which may be asleep likewise. The last process of such a chain keeps all
 * others waiting. /proc shows it, without a hook. */
#ifndef IPCSTALL_SESSION_SLEEP_CHAIN_H
#define IPCSTALL_SESSION_SLEEP_CHAIN_H

#include "host/asleep.h"
#include "session/zoom.h"

/* the time that a session with a deadline reserves to follow the chain */
#define SLEEP_CHAIN_NS 1000000000ull

/* Follows the chain from `a`, if it still sleeps as it did in its samples. to_read: others wait
 * until `a` reads, not until it sends. Takes at most about SLEEP_CHAIN_NS; ends sooner at the
 * deadline, or if `stop` asks. */
void sleep_chain_follow(struct asleep *a, bool to_read, uint64_t deadline,
			const struct zoom_stop *stop);

#endif
