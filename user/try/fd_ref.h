/* SPDX-License-Identifier: GPL-2.0-only */
/* A descriptor of another process: of a socket or a pipe, found by its inode. It is never kept open
 * here, since a socket that this process holds too would not be shut when its owner closes it. */
#ifndef IPCSTALL_TRY_FD_REF_H
#define IPCSTALL_TRY_FD_REF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fd_ref {
	pid_t pid;
	int fd; /* its number there */
	uint64_t inode;
	uint64_t device; /* of the file system: inodes are unique there only */
	uint64_t cookie; /* of a socket: never used again; 0: a pipe */
};

/* The first descriptor of that process for that inode. 0, or -errno: -ENOENT where it has none. */
int fd_ref_find(struct fd_ref *r, pid_t pid, uint64_t inode);
/* A copy of it in this process, to be closed at once. Where it has moved it is looked for again, in
 * its process and then in all. -ENOENT: nobody has it any more. */
int fd_ref_open(struct fd_ref *r);

#endif
