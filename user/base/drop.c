// SPDX-License-Identifier: GPL-2.0-only
#include "base/drop.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

int drop_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &head, sets))
		return -1;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets[i].permitted &= (uint32_t)(keep >> (32 * i));
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, sets) ? -1 : 0;
}

/* Groups first: after setuid() they could not be changed. */
static int change_ids(uid_t uid, gid_t gid)
{
	return setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ? -1 : 0;
}

static const char *remedy(bool asked)
{
	return asked ? "run as root, or leave out --user"
		     : "give CAP_SETUID and CAP_SETGID too, or keep these rights with --user root";
}

static int become(const struct passwd *pw, uint64_t keep, const char *user, const char *next,
		  struct err *e)
{
	uid_t uid = pw ? pw->pw_uid : NOBODY;

	if (prctl(PR_SET_KEEPCAPS, keep != 0, 0, 0, 0) || change_ids(uid, pw ? pw->pw_gid : NOBODY))
		return err_sys(e, EXIT_NO_PERM, next, "--user %s", user);
	if (drop_capabilities(keep) || prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		return err_sys(e, EXIT_NO_PERM, NULL, "--user %s: capabilities", user);
	if (uid && (setuid(0) == 0 || seteuid(0) == 0))
		return err_set(e, EXIT_BUG,
			       "--user %s: root's privileges could be regained: a bug in "
			       "ipcstall; please report it",
			       user);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		       ? err_sys(e, EXIT_NO_FEATURE, NULL, "--user %s", user)
		       : 0;
}

int drop_privileges(const char *user, uint64_t keep, struct err *e)
{
	const char *name = user ? user : "nobody";
	const struct passwd *pw;

	if (!user && geteuid() != 0)
		return 0;
	pw = getpwnam(name);
	if (!pw && user)
		return err_usage(e, "--user %s: no such user; give one of /etc/passwd", user);
	if (pw && pw->pw_uid == geteuid())
		return 0;
	return become(pw, keep, name, remedy(user != NULL), e);
}
