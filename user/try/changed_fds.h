/* SPDX-License-Identifier: GPL-2.0-only */
/* The descriptors on which a fix changes an option, and the option's old values. The guardian works
 * on one such list, and the tool keeps a copy, so that either can put everything back if the other
 * is gone. */
#ifndef IPCSTALL_TRY_CHANGED_FDS_H
#define IPCSTALL_TRY_CHANGED_FDS_H

#include "try/fd_ref.h"
#include "try/setting.h"

enum { CHANGED_FDS_MAX = 256 };

struct changed_fd {
	struct fd_ref ref;
	struct saved was;
	bool set;
};

struct changed_fds {
	const struct setting *setting;
	struct changed_fd v[CHANGED_FDS_MAX];
	size_t n;
};

struct changed_result {
	int done, gone,
		err; /* done, gone: descriptors; err: -errno of the last that failed, or 0 */
};

/* Adds a descriptor and reads its option. -ENOENT: the descriptor is gone; -ENOSPC: no more room;
 * 1: the fix would change nothing, and the descriptor is not added. */
int changed_fds_add(struct changed_fds *w, struct fd_ref ref);
struct changed_result changed_fds_set(struct changed_fds *w);
/* Puts back what was set. A descriptor that fails is tried again for a second, and stays listed. */
struct changed_result changed_fds_undo(struct changed_fds *w);
/* Sets the option again if the kernel resets it by itself (setting.kept_up). */
void changed_fds_keep_up(struct changed_fds *w);

#endif
