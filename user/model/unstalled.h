/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_UNSTALLED_H
#define IPCSTALL_UNSTALLED_H

#include "model/verdict.h"

/* What is wrong, or slow, and stalls no sender that was seen: out->late, out->wait, out->loss. After its findings. */
void verdict_unstalled(const struct trace_snapshot *s, uint64_t min_ns, struct verdict *out);

#endif
