/* SPDX-License-Identifier: GPL-2.0-only */
/* What the endpoints of one process have in common. */
#ifndef IPCSTALL_VERDICT_PROCESSES_H
#define IPCSTALL_VERDICT_PROCESSES_H

#include "tracer/trace.h"

struct process {
	pid_t tgid;
	uint64_t stopped_ns; /* the longest that any of its endpoints knows of */
	size_t reads, writes; /* endpoints through which it moved bytes */
	bool uncounted; /* at one of its ends samples alone were taken, which count no bytes */
};

struct processes {
	struct process *v; /* by tgid */
	size_t n;
};

/* Of every process of the snapshot, for trace_snapshot.processes: a search through all endpoints
 * for each finding would take minutes. v NULL: no memory. */
struct processes processes_find(const struct trace_snapshot *s);
struct process process_of(const struct trace_snapshot *s, pid_t tgid);

#endif
