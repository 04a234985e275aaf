/* SPDX-License-Identifier: GPL-2.0-only */
/* The one judge: which of all findings leads, and what the verdict is. The precedence between
 * findings stands in judge.c alone. */
#ifndef IPCSTALL_VERDICT_JUDGE_H
#define IPCSTALL_VERDICT_JUDGE_H

#include "verdict/verdict.h"

/* Sets outcome, kind, lead and share of *v. */
void judge(struct verdict *v);

/* Is finding i a stall in its own right: no limit, and no consequence of another wait? */
bool judge_is_stall(const struct verdict *v, size_t i);

/* Was a finding of this kind found, whether it leads or not? */
bool judge_found(const struct verdict *v, enum finding_kind k);

/* Is a wait or mutual wait reported beside the finding that leads? */
bool judge_also_tells_wait(const struct verdict *v);

/* If no finding leads, v->doing, the only traced process, may sleep until another one opens a
 * FIFO or accepts a connection. Then that is the verdict. */
void judge_own_call(struct verdict *v);

#endif
