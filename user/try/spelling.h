/* SPDX-License-Identifier: GPL-2.0-only */
/* How to write a fix in the configuration of a known program, or in a language: for `ipcstall try`
 * and `ipcstall explain`. */
#ifndef IPCSTALL_TRY_SPELLING_H
#define IPCSTALL_TRY_SPELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct spelling {
	const char *fix;     /* the fix's name */
	const char *program; /* "nginx", "python", ...; "c": any other program */
	const char *text;
};

/* All rows; the last has no fix. */
extern const struct spelling spellings[];

/* One of the programs above, by the process's executable and its mapped files. pid 0: "c". */
const char *program_kind(pid_t pid);
/* "nginx: tcp_nodelay on;". False: there is no row for that fix. */
bool spelling_for(const char *fix, pid_t pid, char *buf, size_t len);

#endif
