/* SPDX-License-Identifier: GPL-2.0-only */
/* Who does not read waits himself meanwhile, for the very one whom he keeps waiting: to write where
 * he reads, or to read what he writes. Neither goes on until somebody else helps. */
#ifndef IPCSTALL_VERDICT_DEADLOCK_H
#define IPCSTALL_VERDICT_DEADLOCK_H

#include "verdict/verdict.h"

/* Sets `ring` of every finding: where both were surely at it during at least half of what is laid
 * at the reader's door. */
void verdict_deadlocks(const struct trace_snapshot *s, struct verdict *v);

#endif
