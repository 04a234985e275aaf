/* SPDX-License-Identifier: GPL-2.0-only */
/* Seccomp filter of a process that parses untrusted input: what it may no longer do. */
#ifndef IPCSTALL_BASE_CONFINE_H
#define IPCSTALL_BASE_CONFINE_H

#include "base/err.h"

/* From now on this thread, and the threads and processes that it starts, cannot run other programs,
 * look into other processes, or change file names, mounts, modules, keys or the clock (seccomp):
 * such calls fail with EPERM. may: what stays allowed. Call before starting any thread. */
enum { MAY_NOTHING, MAY_BPF = 1, MAY_EXEC = 2, MAY_PERF = 4 };
int confine(unsigned int may, struct err *e);

#endif
