/* SPDX-License-Identifier: GPL-2.0-only */
/* A descriptor of a socket or pipe in another process, found by its inode. This process never keeps
 * a copy open: a socket that it holds too would not be shut when its owner closes it. */
#ifndef IPCSTALL_TRY_FD_REF_H
#define IPCSTALL_TRY_FD_REF_H

#include <stdint.h>
#include <sys/types.h>

struct fd_ref {
	pid_t pid;
	int fd; /* the descriptor's number in that process */
	uint64_t inode;
	uint64_t device; /* st_dev: an inode is unique only within its file system */
	uint64_t cookie; /* SO_COOKIE, which is never used again; 0: a pipe */
};

/* Finds the process's first descriptor for that inode. 0, or -errno: -ENOENT if it has none. */
int fd_ref_find(struct fd_ref *r, pid_t pid, uint64_t inode);
/* Opens a copy of it in this process; close it at once. If the descriptor has moved, it is searched
 * for in its process and then in all. -ENOENT: no process has it any more. */
int fd_ref_open(struct fd_ref *r);

#endif
