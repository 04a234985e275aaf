/* SPDX-License-Identifier: GPL-2.0-only */
/* A separate process that sets the options and sets them back: on request, when the tool ends for
 * any reason, when a window lasts longer than announced, and when it is itself asked to end. */
#ifndef IPCSTALL_TRY_GUARDIAN_H
#define IPCSTALL_TRY_GUARDIAN_H

#include "base/err.h"
#include "try/changed_fds.h"

struct guardian {
	pid_t pid;
	int fd;			 /* -1: there is none */
	struct changed_fds like; /* what it was told, for the case that it is gone */
};

/* Before anything is opened that the guardian should not hold. */
int guardian_start(struct guardian *g, struct err *e);
/* From now on this option, of no descriptor yet; what was set is put back first. */
int guardian_take(struct guardian *g, const struct setting *s, struct err *e);
/* As changed_fds_add(). *was: what the option was. */
int guardian_add(struct guardian *g, const struct fd_ref *ref, struct saved *was, struct err *e);
/* Set for at most so long. */
int guardian_set(struct guardian *g, uint64_t at_most_ns, struct changed_result *r, struct err *e);
int guardian_undo(struct guardian *g, struct changed_result *r, struct err *e);
/* Put everything back, and end it. */
void guardian_end(struct guardian *g);

#endif
