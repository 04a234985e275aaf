/* SPDX-License-Identifier: GPL-2.0-only */
/* Single stalls, each with its stacks as text; if there is no room for all, the newest. Equal texts
 * are kept once. */
#ifndef IPCSTALL_VERDICT_STALLS_H
#define IPCSTALL_VERDICT_STALLS_H

#include "verdict/verdict.h"
#include "tracer/trace.h"

enum stack_of { STACK_USER, STACK_KERNEL, STACK_PEER_USER, STACK_PEER_KERNEL, STACKS };

struct stall {
	struct trace_stall s;
	const char *stack[STACKS]; /* one frame a line, the innermost first; NULL: unknown. Owned by
				      the list */
};

#define STALLS_KEPT 100000 /* the most that is kept of a session, live or replayed */

struct stalls {
	struct stall *v;
	size_t n, room, max; /* max: how many are kept; set before the first is added */
	size_t oldest;
	uint64_t dropped;
	char **texts; /* open addressing by hash */
	size_t n_texts, texts_room, text_bytes;
	uint64_t texts_lost; /* texts for which there was no room */
};

#define STALL_TEXTS_MAX \
	(64u << 20) /* bytes of texts: each process has its own addresses, and those of a process \
		       that has ended have no names */

/* Who is to blame for a single stall: the delayed ACK that ended it, or a reader that was away for
 * at least half of it. */
enum blamed stall_blamed(const struct trace_stall *s);

/* The kept copy of the text; NULL: the text is empty, or there is no room for it. */
const char *stalls_text(struct stalls *l, const char *text);
/* How many texts had no room. May be called while another thread adds. */
uint64_t stalls_texts_lost(const struct stalls *l);
void stalls_add(struct stalls *l, const struct stall *s);
const struct stall *stalls_at(const struct stalls *l, size_t i);
void stalls_free(struct stalls *l);

#endif
