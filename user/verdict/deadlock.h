/* SPDX-License-Identifier: GPL-2.0-only */
/* Deadlock of two processes: the reader that does not read waits in turn for the process that it
 * delays. */
#ifndef IPCSTALL_VERDICT_DEADLOCK_H
#define IPCSTALL_VERDICT_DEADLOCK_H

#include "verdict/verdict.h"

/* Sets `deadlock` of every finding, if both waits surely held during at least half of the time
 * blamed on the reader. */
void verdict_deadlocks(const struct trace_snapshot *s, struct verdict *v);

#endif
