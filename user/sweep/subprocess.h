/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs another program to its end in the foreground. The child handles Ctrl-C, and it ends when
 * this program does. */
#ifndef IPCSTALL_SWEEP_SUBPROCESS_H
#define IPCSTALL_SWEEP_SUBPROCESS_H

#include "base/err.h"

/* Returns its exit code, 128 + the signal that ended it, 126 or 127 if it cannot be run, or
 * EXIT_INTERRUPTED; -1: fork() failed. */
int subprocess_run(char *const argv[], struct err *e);

#endif
