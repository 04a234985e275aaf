// SPDX-License-Identifier: GPL-2.0-only
#include "try/fd_ref.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

static int copy_of(pid_t pid, int fd)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), copy;

	if (process < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	if (copy < 0)
		copy = errno == ESRCH || errno == EBADF ? -ENOENT : -errno;
	close(process);
	return copy;
}

static uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) ? 0 : cookie;
}

static bool is_it(const struct fd_ref *r, int copy)
{
	struct stat st;

	return !fstat(copy, &st) && st.st_ino == r->inode && st.st_dev == r->device &&
	       cookie_of(copy) == r->cookie;
}

/* 0: it is neither a socket nor a pipe. A FIFO's link is a path, so its inode comes from stat. */
static uint64_t inode_at(int dir, const char *fd)
{
	char link[64];
	struct stat st;
	ssize_t n = readlinkat(dir, fd, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	if (text_link_inode(link))
		return text_link_inode(link);
	return link[0] == '/' && !fstatat(dir, fd, &st, 0) && S_ISFIFO(st.st_mode) ? st.st_ino : 0;
}

static int number_of(pid_t pid, uint64_t inode)
{
	DIR *dir = opendir(proc_path(pid, "fd").text);
	struct dirent *d;
	int found = -ENOENT;

	if (!dir)
		return -errno;
	while (found < 0 && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) &&
		    inode_at(dirfd(dir), d->d_name) == inode)
			found = atoi(d->d_name);
	closedir(dir);
	return found;
}

int fd_ref_find(struct fd_ref *r, pid_t pid, uint64_t inode)
{
	int fd = number_of(pid, inode), copy;
	struct stat st;

	if (fd < 0)
		return fd;
	copy = copy_of(pid, fd);
	if (copy < 0)
		return copy;
	*r = (struct fd_ref){ .pid = pid, .fd = fd, .inode = inode, .cookie = cookie_of(copy) };
	if (!fstat(copy, &st))
		r->device = st.st_dev;
	close(copy);
	return r->device && st.st_ino == inode ? 0 : -ENOENT;
}

static int open_at(struct fd_ref *r, pid_t pid, int fd)
{
	int copy = fd < 0 ? fd : copy_of(pid, fd);

	if (copy < 0)
		return copy;
	if (!is_it(r, copy)) {
		close(copy);
		return -ENOENT;
	}
	r->pid = pid;
	r->fd = fd;
	return copy;
}

static int open_anywhere(struct fd_ref *r)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int copy = -ENOENT;

	while (proc && copy < 0 && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]) && atoi(d->d_name) != getpid())
			copy = open_at(r, atoi(d->d_name), number_of(atoi(d->d_name), r->inode));
	if (proc)
		closedir(proc);
	return copy < 0 ? -ENOENT : copy;
}

int fd_ref_open(struct fd_ref *r)
{
	int copy = open_at(r, r->pid, r->fd);

	if (copy == -ENOENT)
		copy = open_at(r, r->pid, number_of(r->pid, r->inode));
	return copy < 0 ? open_anywhere(r) : copy;
}
