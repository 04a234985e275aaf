// SPDX-License-Identifier: GPL-2.0-only
#include "base/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/identity.h"

enum { LINKS_MAX = 40 }; /* the kernel's limit */

/* A descriptor of a link itself: its owner and its text do not change while it is held. */
static int hold(const char *path)
{
	return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static bool is_link(int fd, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISLNK(st->st_mode) && !is_in_proc(fd);
}

static bool is_ours(uid_t owner)
{
	static struct identity caller;
	struct err none = {};

	if (owner == 0 || owner == geteuid())
		return true;
	return !identity_choose(&caller, NULL, false, &none) && caller.by_sudo &&
	       caller.uid == owner;
}

static int follow(int fd, char at[PATH_MAX])
{
	char text[PATH_MAX], from[PATH_MAX];
	ssize_t n = readlinkat(fd, "", text, sizeof(text) - 1);
	const char *slash = strrchr(at, '/');
	int before = slash ? (int)(slash - at + 1) : 0;

	if (n < 0)
		return -1;
	text[n] = '\0';
	strcpy(from, at);
	n = snprintf(at, PATH_MAX, "%.*s%s", text[0] == '/' ? 0 : before, from, text);
	errno = ENAMETOOLONG;
	return n < PATH_MAX ? 0 : -1;
}

/* 1: `at` was a link, and is now its target; 0: it was no link. */
static int follow_one(const char *path, char at[PATH_MAX], struct err *e)
{
	int fd = hold(at), rc = 0;
	struct stat st;

	if (fd < 0) /* opening it later tells the reason */
		return 0;
	if (is_link(fd, &st))
		rc = is_ours(st.st_uid) ? 1 : -1;
	if (rc < 0)
		err_perm(e,
			 "%s: %s is another user's link, which would choose the file to write; "
			 "name the file itself",
			 path, at);
	else if (rc && follow(fd, at))
		rc = err_sys(e, EXIT_IO, "give a writable path", "%s", path);
	close(fd);
	return rc;
}

int output_path(const char *path, char real[PATH_MAX], struct err *e)
{
	int rc = 1;

	errno = ENAMETOOLONG;
	if (snprintf(real, PATH_MAX, "%s", path) >= PATH_MAX)
		return err_sys(e, EXIT_IO, "give a shorter path", "%s", path);
	for (int i = 0; rc > 0 && i < LINKS_MAX; i++)
		rc = follow_one(path, real, e);
	errno = ELOOP;
	return rc > 0 ? err_sys(e, EXIT_IO, "give a writable path", "%s", path) : rc;
}

int output_open(const char *real, int flags, mode_t mode)
{
	int fd = hold(real);
	bool by_kernel = fd >= 0 && is_in_proc(fd);

	if (fd >= 0)
		close(fd);
	return open(real, flags | O_CREAT | O_CLOEXEC | (by_kernel ? 0 : O_NOFOLLOW), mode);
}
