/* SPDX-License-Identifier: GPL-2.0-only */
/* Another user's rights instead of root's, for good. */
#ifndef IPCSTALL_REMOTE_DROP_H
#define IPCSTALL_REMOTE_DROP_H

#include "base/err.h"

/* user: NULL is "nobody" for root, and nothing for others. `root` keeps what there is. */
int drop_privileges(const char *user, struct err *e);

#endif
