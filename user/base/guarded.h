/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that processes share, between two pages that nobody may touch. It ends where the second
 * one begins: an index too large by one ends the process instead of changing what lies behind.
 * AddressSanitizer does not see a mapping. */
#ifndef IPCSTALL_BASE_GUARDED_H
#define IPCSTALL_BASE_GUARDED_H

#include <stddef.h>

#include "base/err.h"

/* All zero. `bytes` is a multiple of what the first member is aligned to. NULL with the reason;
 * `next`: what to do about it. */
void *guarded_map(size_t bytes, const char *next, struct err *e);
/* The same over a file in memory, for a program that the process becomes: *fd is its descriptor,
 * and the bytes end where the file ends. */
void *guarded_map_file(size_t bytes, const char *next, int *fd, struct err *e);
/* NULL: nothing was mapped */
void guarded_unmap(void *p, size_t bytes);

#endif
