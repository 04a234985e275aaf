/* SPDX-License-Identifier: GPL-2.0-only */
/* Many short connections may share one stall, a little in each. Findings of connections between the
 * same programs, at the same server's port, with the same cause and blame, are reported as one. */
#ifndef IPCSTALL_VERDICT_MERGE_FINDINGS_H
#define IPCSTALL_VERDICT_MERGE_FINDINGS_H

#include "verdict/who.h"
#include "verdict/verdict.h"

struct candidate {
	struct finding f;
	struct who sender, blamed; /* of f.endpoint */
};

struct candidates {
	struct candidate *v;
	size_t n, room;
};

/* The process that was held up, and the process to blame for that: nobody, if it is no process's
 * doing or the process was not seen. */
struct who finding_sender(const struct trace_snapshot *s, const struct finding *f);
struct who finding_blamed(const struct trace_snapshot *s, const struct finding *f);

/* A slow reader fills the sender's buffer and closes its own window in turns, and a sender that
 * paces adapts to it. Of the findings at one endpoint that blame the same reader only the largest
 * is kept. Returns how many findings are left. */
size_t findings_unite_causes(const struct trace_snapshot *s, struct finding *v, size_t n);

/* -1: no memory, and nothing is added. */
int candidates_add(struct candidates *c, const struct trace_snapshot *s, const struct finding *f);
/* Merges the findings that are alike into the largest of them, with their sums in `all`. */
void candidates_unite(struct candidates *c, const struct trace_snapshot *s);
void candidates_free(struct candidates *c);

#endif
