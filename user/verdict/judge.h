/* SPDX-License-Identifier: GPL-2.0-only */
/* The one judge: of all that was found, which leads, and what it comes to. Precedence between
 * findings stands in judge.c alone. */
#ifndef IPCSTALL_VERDICT_JUDGE_H
#define IPCSTALL_VERDICT_JUDGE_H

#include "verdict/verdict.h"

/* Sets what is the judge's in *v: outcome, kind, lead, share. */
void judge(struct verdict *v);

/* Is finding i a stall in its own right: no limit, and no consequence of another wait? */
bool judge_is_stall(const struct verdict *v, size_t i);

/* Was it found, whether it leads or not? */
bool judge_found(const struct verdict *v, enum finding_kind k);

/* A wait or mutual wait is said beside what leads. */
bool judge_also_tells_wait(const struct verdict *v);

#endif
