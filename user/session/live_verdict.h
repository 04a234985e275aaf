/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_SESSION_LIVE_VERDICT_H
#define IPCSTALL_SESSION_LIVE_VERDICT_H

#include "verdict/verdict.h"

/* verdict_make() of programs that live: what the figures leave in doubt they are asked. */
void live_verdict(struct trace_snapshot *s, struct verdict *v);

#endif
