/* SPDX-License-Identifier: GPL-2.0-only */
/* All descendants of a process, found by the present parent of each process. */
#ifndef IPCSTALL_BASE_DESCENDANTS_H
#define IPCSTALL_BASE_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* Zombies do not count, nor does `root`. Returns how many descendants there are; sig 0: only count
 * them. */
size_t descendants_signal(pid_t root, int sig);

#endif
