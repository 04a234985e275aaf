/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process does that others wait for is known only while it does it. */
#ifndef IPCSTALL_SESSION_CULPRITS_H
#define IPCSTALL_SESSION_CULPRITS_H

#include "session/zoom.h"
#include "tracer/process_cpu.h"
#include "verdict/verdict.h"

/* So many looks at a->tid, at about so great a distance; fewer where it ends, or `stop` asks.
 * `deadline`: not after it. */
#define DOING_APART_NS 10000000ull
void culprit_look(struct asleep *a, int looks, uint64_t deadline, const struct zoom_stop *stop);
/* what a->pid had of the CPUs between the two; it is added to what is there */
void culprit_cpu(struct asleep *a, const struct cpu_book *before, const struct cpu_book *after);

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
/* of the one that this verdict names; NULL: it was not looked at */
const struct asleep *culprits_doing(const struct culprits *c, const struct trace_snapshot *s,
				    const struct verdict *v);
void culprits_end(struct culprits *c);

#endif
