/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process does that others wait for is known only while it does it. */
#ifndef IPCSTALL_SESSION_CULPRITS_H
#define IPCSTALL_SESSION_CULPRITS_H

#include "tracer/process_cpu.h"
#include "verdict/verdict.h"

#define CULPRITS_MOST 8

/* Of a session of the ledger: whoever the verdict names so far is looked at as it goes on. */
struct culprits {
	struct asleep v[CULPRITS_MOST];
	size_t n;
	struct cpu_book book; /* of the last one, when it was looked at */
	uint64_t next_ns;
};

/* to be called often; it takes a twentieth of a second then and when, and half a percent of a CPU
 */
void culprits_tick(struct culprits *c, struct trace *t);
/* Looks at the one that this verdict names, for a fifth of a second. */
void culprits_look_now(struct culprits *c, const struct trace_snapshot *s, const struct verdict *v);
/* of the one that this verdict names, and for whom that sleeps now; NULL: it was not looked at */
const struct asleep *culprits_doing(struct culprits *c, const struct trace_snapshot *s,
				    const struct verdict *v);
void culprits_end(struct culprits *c);

#endif
