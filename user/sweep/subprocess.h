/* SPDX-License-Identifier: GPL-2.0-only */
/* Another program, run to its end in the foreground: Ctrl-C is its to answer, and it ends when this
 * program does. */
#ifndef IPCSTALL_SWEEP_SUBPROCESS_H
#define IPCSTALL_SWEEP_SUBPROCESS_H

#include "base/err.h"

/* Its exit code, 128 + the signal that ended it, 126 or 127 where it cannot be run,
 * EXIT_INTERRUPTED; -1: no process could be had. */
int subprocess_run(char *const argv[], struct err *e);

#endif
