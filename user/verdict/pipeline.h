/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_PIPELINE_H
#define IPCSTALL_VERDICT_PIPELINE_H

#include "tracer/trace.h"

/* The process reads from one endpoint, sends to one at most, and has no other, as in a pipeline:
 * while it sleeps in a send it reads nothing, and whatever it computes is about its input. */
bool is_filter(const struct trace_snapshot *s, pid_t tgid);

/* A pipe that is full when its writer writes, and empty when its reader reads: more room would
 * help. */
bool comes_in_bursts(const struct trace_endpoint *ep);

#endif
