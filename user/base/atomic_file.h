/* SPDX-License-Identifier: GPL-2.0-only */
/* A new file that replaces the old one when it is complete: if the disk is full, or something else
 * ends the writing, the old file stays. What is no regular file, or cannot have a file beside it,
 * is written in place. */
#ifndef IPCSTALL_BASE_ATOMIC_FILE_H
#define IPCSTALL_BASE_ATOMIC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct atomic_file {
	char *real, *part; /* NULL: written in place */
	int fd; /* of a file without a name, which is named `part` just before the rename; -1: named
		   so from the start */
};

/* Returns a descriptor for the new file of `path`, which output_path() resolved, or -1 and errno.
 * flags: O_WRONLY or O_RDWR; mode: of a file that did not exist. If the file system allows, the
 * file has no name until it is complete, so that a killed program leaves nothing. `named`: others
 * open it as r->part meanwhile, and part files of killed programs in its directory are removed. */
int atomic_file_open(struct atomic_file *r, const char *path, int flags, mode_t mode, bool named);
/* Replace the old file: 0, or an errno, and the old file stays. */
int atomic_file_commit(struct atomic_file *r);
/* Discard what was written. */
void atomic_file_drop(struct atomic_file *r);

#endif
