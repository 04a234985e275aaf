/* SPDX-License-Identifier: GPL-2.0-only */
/* All that a process has started, and what that has started: found by who is whose parent now. */
#ifndef IPCSTALL_BASE_DESCENDANTS_H
#define IPCSTALL_BASE_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* What has ended and is not collected yet is none of them, nor is `root`. Returns how many there
 * are; sig 0: only count them. */
size_t descendants_signal(pid_t root, int sig);

#endif
