/* SPDX-License-Identifier: GPL-2.0-only */
/* A filter that reads its input bit by bit, but keeps its output: in a buffer of its own, as stdio
 * does for a pipe, or until it has all of its input. */
#ifndef IPCSTALL_VERDICT_KEPT_OUTPUT_H
#define IPCSTALL_VERDICT_KEPT_OUTPUT_H

#include "tracer/trace.h"

/* The pipe from which the filter that writes to `pipe` read meanwhile; -1: it kept nothing back. */
int kept_input(const struct trace_snapshot *s, size_t pipe);

/* Does the reader of this pipe keep its output from another reader? */
bool keeps_from_another(const struct trace_snapshot *s, size_t input);

#endif
