/* SPDX-License-Identifier: GPL-2.0-only */
/* The descriptors whose option is being changed, and what it was before. The guardian works on one
 * of these, and the tool keeps its like, so that either can put everything back when the other is
 * gone. */
#ifndef IPCSTALL_TRY_WARD_H
#define IPCSTALL_TRY_WARD_H

#include "try/fd_ref.h"
#include "try/setting.h"

enum { WARD_MAX = 256 };

struct patient_fd {
	struct fd_ref ref;
	struct saved was;
	bool set;
};

struct ward {
	const struct setting *setting;
	struct patient_fd v[WARD_MAX];
	size_t n;
};

struct ward_result {
	int done, gone,
		err; /* descriptors; err: the last -errno of those that failed, 0: none did */
};

/* Reads what the option is now. -ENOENT: the descriptor is gone; -ENOSPC: no more room; 1: the fix
 * would change nothing there. */
int ward_add(struct ward *w, struct fd_ref ref);
struct ward_result ward_set(struct ward *w);
/* Put back what was set; what fails is tried again for a second, and stays in the ward. */
struct ward_result ward_undo(struct ward *w);
/* once more where the kernel takes it back by itself */
void ward_keep_up(struct ward *w);

#endif
