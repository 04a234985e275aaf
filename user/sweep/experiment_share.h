/* SPDX-License-Identifier: GPL-2.0-only */
/* Where analysis/ and docs/experiments/ are: in the tree this program was built in, or where `make
 * install` put them. */
#ifndef IPCSTALL_SWEEP_EXPERIMENT_SHARE_H
#define IPCSTALL_SWEEP_EXPERIMENT_SHARE_H

#include <limits.h>
#include <stdbool.h>

/* false: in none of the places. */
bool share_dir(char dir[PATH_MAX]);

#endif
