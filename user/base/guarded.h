/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared memory between two guard pages. It ends where the second guard page begins: an index too
 * large by one ends the process instead of changing other memory. AddressSanitizer does not check
 * mappings. */
#ifndef IPCSTALL_BASE_GUARDED_H
#define IPCSTALL_BASE_GUARDED_H

#include <stddef.h>

#include "base/err.h"

/* Zeroed memory. `bytes` must be a multiple of the first member's alignment. NULL with the reason;
 * `next`: what to do about it. */
void *guarded_map(size_t bytes, const char *next, struct err *e);
/* The same in a memfd, for a program that the process executes: *fd is its descriptor, and the
 * bytes end where the file ends. */
void *guarded_map_file(size_t bytes, const char *next, int *fd, struct err *e);
/* NULL: nothing was mapped */
void guarded_unmap(void *p, size_t bytes);

#endif
