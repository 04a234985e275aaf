// SPDX-License-Identifier: GPL-2.0-only
#include "remote/drop.h"

#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* Groups first: after setuid() they could not be changed. With the last id of root the capabilities go too. */
static int become(uid_t uid, gid_t gid, const char *user, struct err *e)
{
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return err_sys(e, EXIT_NO_PERM, "run as root, or leave --user out", "--user %s", user);
	if (uid && (setuid(0) == 0 || seteuid(0) == 0))
		return err_set(e, EXIT_BUG, "--user %s: root's rights could be had again: a fault of ipcstall; please report it", user);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? err_sys(e, EXIT_NO_FEATURE, NULL, "--user %s", user) : 0;
}

int drop_privileges(const char *user, struct err *e)
{
	const char *name = user ? user : "nobody";
	const struct passwd *pw;

	if (!user && geteuid() != 0)
		return 0;
	pw = getpwnam(name);
	if (!pw && user)
		return err_set(e, EXIT_BAD_USAGE, "--user %s: no such user; give one of /etc/passwd", user);
	if (pw && pw->pw_uid == geteuid())
		return 0;
	return become(pw ? pw->pw_uid : NOBODY, pw ? pw->pw_gid : NOBODY, name, e);
}
