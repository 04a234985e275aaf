/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that takes another's place when it is whole: a full disk, or whatever else ends the
 * writing, leaves the one that was there. What is no regular file, or cannot have another beside
 * it, is written in its place. */
#ifndef IPCSTALL_BASE_ATOMIC_FILE_H
#define IPCSTALL_BASE_ATOMIC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct atomic_file {
	char *real, *part; /* NULL: written in its place */
	int fd; /* of a file that has no name yet, and gets `part` for a moment; -1: it has that
		   name from the start */
};

/* A descriptor for what is to stand at `path`, of output_path(), or -1 and errno; flags: O_WRONLY
 * or O_RDWR; mode: of a file that was not there. Where the file system can, it has no name until it
 * is whole, so that a killed program leaves nothing. `named`: it is opened by r->part meanwhile;
 * what killed programs left of that kind in its directory goes. */
int atomic_file_open(struct atomic_file *r, const char *path, int flags, mode_t mode, bool named);
/* What was written takes its place: 0, or an errno, and what was there is there. */
int atomic_file_commit(struct atomic_file *r);
/* What was written goes. */
void atomic_file_drop(struct atomic_file *r);

#endif
