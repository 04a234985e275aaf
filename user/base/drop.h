/* SPDX-License-Identifier: GPL-2.0-only */
/* Another user's rights instead of root's, for good. */
#ifndef IPCSTALL_BASE_DROP_H
#define IPCSTALL_BASE_DROP_H

#include <stdint.h>

#include "base/err.h"

/* user: NULL means "nobody" for root, and no change for others; `root` keeps root's rights. keep:
 * which of this process's capabilities stay (1 << CAP_...). Capabilities belong to a thread: call
 * this before starting any other. */
int drop_privileges(const char *user, uint64_t keep, struct err *e);

/* Set this thread's effective and permitted capabilities to those in `keep` that it has; none can
 * be passed on by exec. 0, or -1 and errno. */
int drop_capabilities(uint64_t keep);

#endif
