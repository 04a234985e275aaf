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
	bool by_sudo; /* the user comes from sudo's variables */
	uid_t uid;
	gid_t gid, groups[NGROUPS_MAX];
	int n_groups;
	char name[64], home[PATH_MAX];
};

/* user: a name; NULL: the user in SUDO_USER, SUDO_UID and SUDO_GID, if they are set and this
 * process is root. as_root: no other user. Users that no longer exist, or variables that contradict
 * each other, are errors. */
int identity_choose(struct identity *as, const char *user, bool as_root, struct err *e);

/* Call in the child, before exec. For good: sets ids, groups, HOME, USER and LOGNAME, and drops
 * capabilities and SUDO_*. 0, or -1 and errno. */
int identity_take(const struct identity *as);

#endif
