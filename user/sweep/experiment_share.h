/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds analysis/ and docs/experiments/: in the tree in which this program was built, or where
 * `make install` put them. */
#ifndef IPCSTALL_SWEEP_EXPERIMENT_SHARE_H
#define IPCSTALL_SWEEP_EXPERIMENT_SHARE_H

#include <limits.h>
#include <stdbool.h>

/* false: not found. */
bool share_dir(char dir[PATH_MAX]);

#endif
