/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that sleeps in a call on a pipe or a connection sleeps for another one, which may sleep
 * likewise: the last of such a chain keeps all of them waiting. /proc tells, without a hook. */
#ifndef IPCSTALL_SESSION_SLEEP_CHAIN_H
#define IPCSTALL_SESSION_SLEEP_CHAIN_H

#include "host/asleep.h"

/* Follows the chain from `a`, which was looked at just now. A chain that leads back to one of its
 * own is none. */
void sleep_chain_follow(struct asleep *a, uint64_t deadline);

#endif
