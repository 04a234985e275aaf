/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line on standard error that shows how far a long job is. If standard error is no terminal,
 * nothing is printed, unless --progress is given: then a new line every two seconds.
 */
#ifndef IPCSTALL_BASE_PROGRESS_H
#define IPCSTALL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRESS_HELP "report progress every two seconds, even if standard error is not a " \
		      "terminal"

/* --progress: for this process and those that it starts */
void progress_in_pipe(bool wanted);
/* what: NULL or "": not shown; left_s below 0: not known yet */
void progress_show(bool quiet, size_t at, size_t of, const char *what, double left_s);
/* "tracing: 12 of 60 s", from two seconds on; duration 0: no limit */
void progress_time(bool quiet, const char *what, uint64_t began_ns, uint64_t duration_ns);
/* at once */
void progress_word(bool quiet, const char *what);
void progress_clear(bool quiet);

#endif
