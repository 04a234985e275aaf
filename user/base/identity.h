/* SPDX-License-Identifier: GPL-2.0-only */
/* The user as whom root runs a command: the caller of sudo, or a user by name. */
#ifndef IPCSTALL_BASE_IDENTITY_H
#define IPCSTALL_BASE_IDENTITY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct identity {
	bool changes; /* false: the command runs as this process does, and the rest is unset */
	bool by_sudo; /* nobody named the user */
	uid_t uid;
	gid_t gid, groups[NGROUPS_MAX];
	int n_groups;
	char name[64], home[PATH_MAX];
};

/* user: by name; NULL: whom SUDO_USER, SUDO_UID and SUDO_GID name, if they are set and this process
 * is root. as_root: nobody else. Users that are there no more, or variables that do not fit
 * together, are errors. */
int identity_choose(struct identity *as, const char *user, bool as_root, struct err *e);

/* In the child, before exec: ids, groups, HOME, USER and LOGNAME, no capabilities, no SUDO_*. For
 * good. 0, or -1 and errno. */
int identity_take(const struct identity *as);

#endif
