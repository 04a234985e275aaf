/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that takes another's place when it is whole: a full disk, or whatever else ends the writing, leaves the one that was there. What is no
 * regular file, or cannot have another beside it, is written in its place.
 */
#ifndef IPCSTALL_BASE_ATOMIC_FILE_H
#define IPCSTALL_BASE_ATOMIC_FILE_H

#include <sys/types.h>

struct atomic_file {
	char *real, *part; /* NULL: written in its place */
};

/* A descriptor for what is to stand at `path`, or -1 and errno; flags: O_WRONLY or O_RDWR; mode: of a file that was not there. */
int atomic_file_open(struct atomic_file *r, const char *path, int flags, mode_t mode);
/* What was written takes its place: 0, or an errno, and what was there is there. */
int atomic_file_commit(struct atomic_file *r);
/* What was written goes. */
void atomic_file_drop(struct atomic_file *r);

#endif
