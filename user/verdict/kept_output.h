/* SPDX-License-Identifier: GPL-2.0-only */
/* A filter that reads by and by, and keeps what it would write: in its own buffer, as stdio does
 * for a pipe, or until it has all of its input. */
#ifndef IPCSTALL_VERDICT_KEPT_OUTPUT_H
#define IPCSTALL_VERDICT_KEPT_OUTPUT_H

#include "tracer/trace.h"

/* where the filter read meanwhile that writes to this pipe; -1: it kept nothing from its reader */
int kept_input(const struct trace_snapshot *s, size_t pipe);

/* whoever reads there keeps it from another */
bool keeps_from_another(const struct trace_snapshot *s, size_t input);

#endif
