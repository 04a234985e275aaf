/* SPDX-License-Identifier: GPL-2.0-only */
/* The real file of an output path. Another user's symbolic link is refused. */
#ifndef IPCSTALL_BASE_OUTPUT_PATH_H
#define IPCSTALL_BASE_OUTPUT_PATH_H

#include <limits.h>
#include <sys/types.h>

#include "base/err.h"

/* `real`: the file behind `path`, itself no link. Followed are links of root, of this user and of
 * whoever called sudo; another's is an error. A descriptor's name (/dev/stdout) ends in /proc,
 * whose links the kernel follows. */
int output_path(const char *path, char real[PATH_MAX], struct err *e);

/* Opens or makes `real`. What has become a link since output_path() fails (ELOOP). */
int output_open(const char *real, int flags, mode_t mode);

#endif
