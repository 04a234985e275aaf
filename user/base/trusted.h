/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that may be run or read as this program's own. */
#ifndef IPCSTALL_BASE_TRUSTED_H
#define IPCSTALL_BASE_TRUSTED_H

#include <stdbool.h>

/* Root's, our own, or those of whoever owns this program, which runs already; and only where not
 * everybody may write there. */
bool trusted_file(const char *path);

#endif
