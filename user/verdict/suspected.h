/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a finding of a sampled session more than a suspicion? */
#ifndef IPCSTALL_VERDICT_SUSPECTED_H
#define IPCSTALL_VERDICT_SUSPECTED_H

#include "verdict/verdict.h"

/* f->endpoint, cause and blamed must be set. A ledger's finding is never suspected. */
bool finding_is_suspected(const struct trace_snapshot *s, const struct finding *f);

#endif
