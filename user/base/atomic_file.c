// SPDX-License-Identifier: GPL-2.0-only
#include "base/atomic_file.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_path.h"

#define PART_BEGIN ".ipcstall-"
#define PART_END   ".part"

/* True if it is one of our standard descriptors under another name: the process that gave us the
 * descriptor would not see a file that replaces it. */
static bool is_given(const struct stat *st)
{
	struct stat own;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
			return true;
	return false;
}

static bool is_replaced(const char *path, const struct stat *old)
{
	if (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		return false;
	return !old || (S_ISREG(old->st_mode) && !is_given(old));
}

/* A directory's permissions would let us replace a file that we may not write. */
static bool may_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && close(fd) == 0;
}

/* Give the new file the owner, group and mode of the old one. If the owner and group cannot be set,
 * the group's permissions are removed. */
static int like_old(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777;

	if (fchown(fd, old->st_uid, old->st_gid))
		mode &= ~(mode_t)S_IRWXG;
	return fchmod(fd, mode);
}

/* A name that nobody can predict: in a directory of all users, a link could be planted under a
 * known name. */
static char *name_beside(const char *real)
{
	const char *slash = strrchr(real, '/');
	unsigned long long number;
	char *name;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) ||
	    asprintf(&name, "%.*s" PART_BEGIN "%016llx" PART_END,
		     slash ? (int)(slash - real + 1) : 0, real, number) < 0)
		return NULL;
	return name;
}

static void forget(struct atomic_file *r)
{
	free(r->part);
	free(r->real);
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct atomic_file){ .fd = -1 };
}

static char *directory_of(const char *real)
{
	const char *slash = strrchr(real, '/');

	return slash ? strndup(real, (size_t)(slash - real + 1)) : strdup(".");
}

/* The writer of a part file holds a lock on it as long as it lives. */
static void remove_abandoned(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
	close(fd);
}

static bool is_part(const char *name)
{
	size_t n = strlen(name), begin = strlen(PART_BEGIN), end = strlen(PART_END);

	return n == begin + 16 + end && !strncmp(name, PART_BEGIN, begin) &&
	       !strcmp(name + begin + 16, PART_END);
}

static void remove_all_abandoned(const char *real)
{
	char *path = directory_of(real);
	DIR *d = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (is_part(entry->d_name))
			remove_abandoned(dirfd(d), entry->d_name);
	if (d)
		closedir(d);
	free(path);
}

/* A file that is named later, by its descriptor: linkat() and rename(). */
static int open_nameless(struct atomic_file *r, int flags, mode_t mode)
{
	char *dir = directory_of(r->real);
	int fd = dir && access("/proc/self/fd", X_OK) == 0
			 ? open(dir, flags | O_TMPFILE | O_CLOEXEC, mode)
			 : -1;

	free(dir);
	if (fd < 0)
		return -1;
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (r->fd >= 0)
		return fd;
	close(fd);
	return -1;
}

static int open_named(struct atomic_file *r, int flags, mode_t mode)
{
	int fd;

	remove_all_abandoned(r->real);
	fd = open(r->part, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static int open_beside(struct atomic_file *r, const char *path, const struct stat *old, int flags,
		       mode_t mode, bool named)
{
	int fd = -1, err;

	r->real = strdup(path);
	r->part = r->real ? name_beside(r->real) : NULL;
	if (r->part && !named)
		fd = open_nameless(r, flags, old ? 0600 : mode);
	if (r->part && fd < 0)
		fd = open_named(r, flags, old ? 0600 : mode);
	if (fd >= 0 && (!old || !like_old(fd, old)))
		return fd;
	err = errno;
	if (fd >= 0) {
		close(fd);
		unlink(r->part);
	}
	forget(r);
	errno = err;
	return -1;
}

int atomic_file_open(struct atomic_file *r, const char *path, int flags, mode_t mode, bool named)
{
	struct stat st, *old = stat(path, &st) == 0 ? &st : NULL;
	int fd;

	*r = (struct atomic_file){ .fd = -1 };
	if (is_replaced(path, old)) {
		if (old && !may_write(path))
			return -1;
		fd = open_beside(r, path, old, flags, mode, named);
		if (fd >= 0 || (errno != EACCES && errno != EPERM && errno != ENAMETOOLONG))
			return fd;
	}
	return output_open(path, flags | O_TRUNC, mode);
}

/* If the rename fails (the old file is a mount point, or another user's in a directory like /tmp),
 * copy the contents instead. */
static int copy_over(const struct atomic_file *r)
{
	int in = open(r->part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), err = 0,
	    out = in < 0 ? -1 : open(r->real, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = 1;

	while (out >= 0 && n > 0)
		n = sendfile(out, in, NULL, 1 << 30);
	if (out < 0 || n < 0)
		err = errno;
	if (out >= 0 && close(out) && !err)
		err = errno;
	if (in >= 0)
		close(in);
	return err;
}

/* A kill between here and the rename leaves the name; the next program removes it. */
static int give_name(const struct atomic_file *r)
{
	char path[32];

	if (r->fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->fd);
	return linkat(AT_FDCWD, path, AT_FDCWD, r->part, AT_SYMLINK_FOLLOW) ? errno : 0;
}

int atomic_file_commit(struct atomic_file *r)
{
	int err = r->part ? give_name(r) : 0;

	if (!err && r->part && rename(r->part, r->real)) {
		err = copy_over(r);
		unlink(r->part);
	}
	forget(r);
	return err;
}

void atomic_file_drop(struct atomic_file *r)
{
	if (r->part && r->fd < 0)
		unlink(r->part);
	forget(r);
}
