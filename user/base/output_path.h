/* SPDX-License-Identifier: GPL-2.0-only */
/* The real file of an output path. Another user's symbolic link is refused. */
#ifndef IPCSTALL_BASE_OUTPUT_PATH_H
#define IPCSTALL_BASE_OUTPUT_PATH_H

#include <limits.h>
#include <sys/types.h>

#include "base/err.h"

/* `real`: the file behind `path`, not itself a link. Follows links of root, of this user and of the
 * caller of sudo; another user's link is an error. A descriptor's name (/dev/stdout) ends in /proc,
 * whose links the kernel follows. */
int output_path(const char *path, char real[PATH_MAX], struct err *e);

/* Open or create `real`. Fails (ELOOP) if it has become a link since output_path(). */
int output_open(const char *real, int flags, mode_t mode);

#endif
