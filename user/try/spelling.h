/* SPDX-License-Identifier: GPL-2.0-only */
/* How a fix is written in the program or language at hand: `ipcstall try` and `ipcstall explain`
 * say it. */
#ifndef IPCSTALL_TRY_SPELLING_H
#define IPCSTALL_TRY_SPELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct spelling {
	const char *fix;     /* as fixes are called */
	const char *program; /* "nginx", "python", ...; "c": whoever is not known */
	const char *text;
};

/* All rows; the last has no fix. */
extern const struct spelling spellings[];

/* What runs there, by its executable and what it has mapped: one of the programs above. pid 0: "c".
 */
const char *program_kind(pid_t pid);
/* "nginx: tcp_nodelay on;". False: there is no row for that fix. */
bool spelling_for(const char *fix, pid_t pid, char *buf, size_t len);

#endif
