/* SPDX-License-Identifier: GPL-2.0-only */
/* One line on a terminal's standard error that says how far a long job is; nothing where that is no
 * terminal. */
#ifndef IPCSTALL_BASE_PROGRESS_H
#define IPCSTALL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* what: NULL or "": nothing said of it; left_s below 0: not known yet */
void progress_show(bool quiet, size_t at, size_t of, const char *what, double left_s);
void progress_clear(bool quiet);

#endif
