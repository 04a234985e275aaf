// SPDX-License-Identifier: GPL-2.0-only
#include "base/identity.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/drop.h"

static int from_entry(struct identity *as, const struct passwd *pw, struct err *e)
{
	as->uid = pw->pw_uid;
	as->gid = pw->pw_gid;
	as->n_groups = NGROUPS_MAX;
	if (getgrouplist(pw->pw_name, pw->pw_gid, as->groups, &as->n_groups) < 0)
		return err_feature(e, "user %s: more than %d groups; give another with -u USER",
				   pw->pw_name, NGROUPS_MAX);
	if ((size_t)snprintf(as->name, sizeof(as->name), "%s", pw->pw_name) >= sizeof(as->name) ||
	    (size_t)snprintf(as->home, sizeof(as->home), "%s", pw->pw_dir) >= sizeof(as->home))
		return err_usage(
			e, "user %.64s: its name or home is too long; give another with -u USER",
			pw->pw_name);
	as->changes = true;
	return 0;
}

static bool id_of(const char *text, unsigned long *id)
{
	char *end;

	errno = 0;
	*id = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : ULONG_MAX;
	return *id < (uid_t)-1 && !errno && !*end;
}

static bool is_of(const struct identity *as, unsigned long gid)
{
	for (int i = 0; i < as->n_groups; i++)
		if (as->groups[i] == gid)
			return true;
	return false;
}

static int not_one_user(struct err *e)
{
	return err_usage(e, "SUDO_USER, SUDO_UID and SUDO_GID: they do not name one user of this "
			    "machine; give -u USER or --as-root");
}

/* Anybody may set these variables; sudo sets all three. */
static int from_sudo(struct identity *as, const char *name, struct err *e)
{
	unsigned long uid, gid;
	const struct passwd *pw;

	if (!id_of(getenv("SUDO_UID"), &uid) || !id_of(getenv("SUDO_GID"), &gid))
		return not_one_user(e);
	pw = getpwuid((uid_t)uid);
	if (!pw || strcmp(pw->pw_name, name))
		return not_one_user(e);
	if (!uid)
		return 0;
	if (from_entry(as, pw, e))
		return -1;
	as->gid = (gid_t)gid;
	as->by_sudo = true;
	return is_of(as, gid) ? 0 : not_one_user(e);
}

static int from_name(struct identity *as, const char *user, struct err *e)
{
	const struct passwd *pw = getpwnam(user);

	if (!pw)
		return err_usage(e, "--user %s: no such user; give one of /etc/passwd", user);
	if (pw->pw_uid == geteuid())
		return 0;
	if (geteuid())
		return err_perm(e,
				"--user %s: only root can run a command as another user; run as "
				"root, or leave out --user",
				user);
	return from_entry(as, pw, e);
}

int identity_choose(struct identity *as, const char *user, bool as_root, struct err *e)
{
	const char *sudo = getenv("SUDO_USER");

	as->changes = as->by_sudo = false;
	if (user && as_root)
		return err_usage(e, "--user and --as-root exclude each other; give one of them");
	if (user)
		return from_name(as, user, e);
	return sudo && !as_root && !geteuid() ? from_sudo(as, sudo, e) : 0;
}

static int set_environment(const struct identity *as)
{
	static const char *const of_sudo[] = { "SUDO_USER", "SUDO_UID", "SUDO_GID",
		"SUDO_COMMAND" };

	for (size_t i = 0; i < sizeof(of_sudo) / sizeof(of_sudo[0]); i++)
		unsetenv(of_sudo[i]);
	return setenv("HOME", as->home, 1) || setenv("USER", as->name, 1) ||
			       setenv("LOGNAME", as->name, 1)
		       ? -1
		       : 0;
}

/* Groups first: after the last id of root they could not be changed. */
int identity_take(const struct identity *as)
{
	if (!as->changes)
		return 0;
	if (set_environment(as) || setgroups((size_t)as->n_groups, as->groups) ||
	    setresgid(as->gid, as->gid, as->gid))
		return -1;
	return setresuid(as->uid, as->uid, as->uid) || drop_capabilities(0) ? -1 : 0;
}
