/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a recording, to show what the session would have shown. */
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

/* Called in the file's order. What is passed lives for the call only, except for the texts of a
 * stall, which live as long as `texts`. */
struct recording_visitor {
	void *ctx;
	void (*on_snapshot)(
		void *ctx,
		const struct trace_snapshot *s); /* with what closed since the snapshot before */
	void (*on_stall)(void *ctx, const struct stall *s);
	void (*on_transition)(void *ctx, const struct trace_transition *tr);
	struct stalls *texts; /* keeps the texts of stalls */
};

/* what the reader found out about the file */
struct recording_state {
	json_t *head;  /* owned by the caller */
	bool complete; /* the session ended in good order */
	bool cut;      /* the file breaks off, at cut_at */
	size_t cut_at;
	size_t damaged, unknown; /* blocks left out: damaged; of a type this program does not
				    know */
	size_t snapshots;
	uint32_t lacks;		 /* sections of endpoints that another build did not write: a bit
				    for each row of codec_endpoint_section() */
	size_t unknown_sections; /* sections that another build wrote and this one does not know */
	struct dropped dropped;
};

int recording_open(struct recording *r, const char *path, struct err *e);
void recording_close(struct recording *r);
/* -1: nothing of it can be shown. */
int recording_walk(const struct recording *r, const struct recording_visitor *v,
		   struct recording_state *st, struct err *e);

/* The whole file at once: the last figures of every endpoint, all stalls and all steps. `want`
 * selects endpoints, which are kept with their peers; NULL: all. */
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
/* The same for the snapshots of a file, in their order: adds the endpoints that closed before, each
 * of which is in one snapshot only. */
int replay_so_far(struct replay *p, const struct trace_snapshot *s, struct trace_snapshot *out);
void replay_free(struct replay *p);

/* adds the counters of closed endpoints that are no longer kept */
void counters_add_dropped(struct trace_counters *to, const struct trace_counters *c);

#endif
