/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_VERDICT_PIPELINE_H
#define IPCSTALL_VERDICT_PIPELINE_H

#include "tracer/trace.h"

/* It reads at one end and sends at another, and nothing else, as the programs of a pipeline do:
 * while it sleeps in a send it reads nothing, and whatever it computes is about what it read. */
bool is_filter(const struct trace_snapshot *s, pid_t tgid);

/* A pipe that is full when one writes, and empty when the other reads: more room would help. */
bool comes_in_bursts(const struct trace_endpoint *ep);

#endif
