/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading a recording: what a session would have shown, from its file. */
#ifndef IPCSTALL_RECORDING_RECORDING_H
#define IPCSTALL_RECORDING_RECORDING_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/stalls.h"
#include "verdict/timeline.h"
#include "recording/recorder.h"
#include "recording/relink.h"
#include "tracer/trace.h"

struct recording {
	const uint8_t *file;
	size_t size;
	const char *path;
};

/* In the file's order. What is passed lives for the call only, but the texts of a stall, which live
 * as long as the list. */
struct recording_visitor {
	void *ctx;
	void (*on_snapshot)(
		void *ctx,
		const struct trace_snapshot *s); /* with those that closed since the one before */
	void (*on_stall)(void *ctx, const struct stall *s);
	void (*on_transition)(void *ctx, const struct trace_transition *tr);
	struct stalls *texts; /* keeps the texts of stalls */
};

/* what became of the file on the way */
struct recording_state {
	json_t *head;  /* owned by the caller */
	bool complete; /* the session ended in good order */
	bool cut;      /* the file breaks off, at cut_at */
	size_t cut_at;
	size_t damaged, unknown; /* blocks left out: not what was written; of a kind this program
				    does not know */
	size_t snapshots;
	uint32_t lacks;		 /* sections of endpoints that another build did not write:
				    codec_endpoint_section() by bit */
	size_t unknown_sections; /* and those that it wrote and this one does not know */
	struct dropped dropped;
};

int recording_open(struct recording *r, const char *path, struct err *e);
void recording_close(struct recording *r);
/* -1: nothing can be had from it at all. */
int recording_walk(const struct recording *r, const struct recording_visitor *v,
		   struct recording_state *st, struct err *e);

/* Everything at once: the last figures of every endpoint, all stalls and all steps that are in the
 * file. `want`: NULL, or which endpoints (and their peers) to keep. */
struct replay {
	struct recording_state state;
	struct trace_snapshot end;
	struct stalls stalls;
	struct timeline timeline;
	uint64_t *wanted; /* serials, sorted; NULL: all */
	size_t n_wanted;
	struct endpoints gone; /* for replay_so_far() */
	struct trace_counters dropped;
};

int replay_load(const struct recording *r, endpoint_filter want, void *ctx, size_t timeline_max,
		struct replay *out, struct err *e);
bool replay_wants(const struct replay *p, uint64_t serial);
/* only the wanted endpoints, their peers found anew; *out is new memory. -1: no memory. */
int replay_filter(const struct replay *p, const struct trace_snapshot *s,
		  struct trace_snapshot *out);
/* The same for the snapshots of a file one after the other: with those that closed before, which
 * stand in one of them only. */
int replay_so_far(struct replay *p, const struct trace_snapshot *s, struct trace_snapshot *out);
void replay_free(struct replay *p);

/* the part of the counters that is about closed endpoints no longer kept */
void counters_add_dropped(struct trace_counters *to, const struct trace_counters *c);

#endif
