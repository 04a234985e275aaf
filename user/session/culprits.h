/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples what the awaited process does while the session runs; afterwards nobody can tell. */
#ifndef IPCSTALL_SESSION_CULPRITS_H
#define IPCSTALL_SESSION_CULPRITS_H

#include "tracer/process_cpu.h"
#include "verdict/verdict.h"

#define CULPRITS_MOST 8

/* Of a ledger session: the processes that the verdict has named so far. */
struct culprits {
	struct asleep v[CULPRITS_MOST];
	struct asleep workers[CULPRITS_MOST]; /* the thread of each that works on a request */
	struct asleep
		followed[CULPRITS_MOST]; /* each, when its chain was found; n_chain 0: it was not */
	size_t n;
	unsigned int follows; /* times that a chain was looked for */
	unsigned int ticks;
	struct cpu_book book; /* of the last culprit, at its last sample */
	uint64_t next_ns;
	uint64_t named_at; /* the endpoint, by its serial, whose other end is held by `named` */
	struct asleep_process named; /* pid 0: by nobody on this host, or by several */
};

/* Call often: about every half second it samples the culprit for at least 50 ms, within 0.5 % of a
 * CPU, and follows whom it sleeps for. */
void culprits_tick(struct culprits *c, struct trace *t);
/* Names the process at the other end that was found during the session, if it is not found now: it
 * may have closed the connection. */
void culprits_name_ended(const struct culprits *c, struct trace_snapshot *s);
/* Samples the process that this verdict names, for a fifth of a second. */
void culprits_sample_now(struct culprits *c, const struct trace_snapshot *s,
			 const struct verdict *v);
/* What was found of the process that this verdict names, and for whom it sleeps now, or slept if it
 * sleeps for nobody now. NULL: it was not sampled. */
const struct asleep *culprits_doing(struct culprits *c, const struct trace_snapshot *s,
				    const struct verdict *v);
void culprits_end(struct culprits *c);

#endif
