/* SPDX-License-Identifier: GPL-2.0-only */
/* A separate process that sets the options and sets them back: on request, when the tool ends for
 * any reason, when a window lasts longer than announced, and when it is itself asked to end. */
#ifndef IPCSTALL_TRY_GUARDIAN_H
#define IPCSTALL_TRY_GUARDIAN_H

#include "base/err.h"
#include "try/changed_fds.h"

struct guardian {
	pid_t pid;
	int fd;			 /* -1: no guardian runs */
	struct changed_fds like; /* a copy of its list, in case it dies */
};

/* Call it before opening anything that the guardian, as a fork, should not hold. */
int guardian_start(struct guardian *g, struct err *e);
/* Puts back what was set, and begins an empty list for this option. */
int guardian_take(struct guardian *g, const struct setting *s, struct err *e);
/* Like changed_fds_add(). *was: the option's old value. */
int guardian_add(struct guardian *g, const struct fd_ref *ref, struct saved *was, struct err *e);
/* Sets the option on all descriptors for at most `at_most_ns`. */
int guardian_set(struct guardian *g, uint64_t at_most_ns, struct changed_result *r, struct err *e);
int guardian_undo(struct guardian *g, struct changed_result *r, struct err *e);
/* Ends the guardian, which puts everything back first. */
void guardian_end(struct guardian *g);

#endif
