/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that may be run or read as this program's own. */
#ifndef IPCSTALL_BASE_TRUSTED_H
#define IPCSTALL_BASE_TRUSTED_H

#include <stdbool.h>

/* True if the file belongs to root, to this user or to the owner of this program (which runs
 * already), and not everybody may write to it. */
bool trusted_file(const char *path);

#endif
