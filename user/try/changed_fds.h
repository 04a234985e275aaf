/* SPDX-License-Identifier: GPL-2.0-only */
/* The descriptors whose option is being changed, and what it was before. The guardian works on one
 * of these, and the tool keeps its like, so that either can put everything back when the other is
 * gone. */
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
		err; /* descriptors; err: the last -errno of those that failed, 0: none did */
};

/* Reads what the option is now. -ENOENT: the descriptor is gone; -ENOSPC: no more room; 1: the fix
 * would change nothing there. */
int changed_fds_add(struct changed_fds *w, struct fd_ref ref);
struct changed_result changed_fds_set(struct changed_fds *w);
/* Put back what was set; what fails is tried again for a second, and stays in the list. */
struct changed_result changed_fds_undo(struct changed_fds *w);
/* once more where the kernel takes it back by itself */
void changed_fds_keep_up(struct changed_fds *w);

#endif
