/* SPDX-License-Identifier: GPL-2.0-only */
/* The stream of a running session: one JSON object a line. See docs/SCHEMA.md, "The stream". */
#ifndef IPCSTALL_RENDER_LEDGER_STREAM_H
#define IPCSTALL_RENDER_LEDGER_STREAM_H

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>

#include "base/err.h"
#include "verdict/stalls.h"
#include "verdict/verdict.h"

struct ledger_stream {
	FILE *f; /* NULL: no stream was requested */
	const char *path;
	pthread_mutex_t lock; /* stalls come from the session's own thread */
	int error;	      /* errno of the first write that failed */
};

int ledger_stream_open(struct ledger_stream *st, const char *path, json_t *head, struct err *e);
void ledger_stream_stall(struct ledger_stream *st, const struct stall *stall);
/* Writes every endpoint that ever did anything, with its figures up to now, and the verdict. */
void ledger_stream_snapshot(struct ledger_stream *st, const struct trace_snapshot *s,
			    const struct verdict *v);
/* false: a write has failed, and nothing more is written */
bool ledger_stream_works(const struct ledger_stream *st);
/* Writes the last line and closes the stream. Reports the first write that failed. */
int ledger_stream_close(struct ledger_stream *st, bool complete, struct err *e);

#endif
