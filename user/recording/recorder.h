/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes a recording while a session runs. Any thread may queue steps and stalls; the thread that
 * calls recorder_flush() and recorder_snapshot() writes them. The file never grows beyond its
 * maximum size: before it would, the older half of the steps and stalls is dropped, every second
 * snapshot, and the half of the closed endpoints that stalled less. The file counts them. */
#ifndef IPCSTALL_RECORDING_RECORDER_H
#define IPCSTALL_RECORDING_RECORDER_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/stalls.h"
#include "tracer/trace.h"

struct recorder;

/* counts of what was dropped; they are in the file, and are shown with the rest of it */
struct dropped {
	uint64_t events, stalls, closed, snapshots;
};

/* NULL: no memory. Steps and stalls can be queued from now on. */
struct recorder *recorder_new(const char *path, uint64_t max_size);
/* Makes the file, with head as the recording's header. With its first snapshot it replaces an older
 * file of that name. */
int recorder_begin(struct recorder *r, json_t *head, struct err *e);
void recorder_stall(struct recorder *r, const struct stall *s);
void recorder_transition(struct recorder *r, const struct trace_transition *tr);
/* Write what is queued. -1: the file cannot be written; what is in it stays good. */
int recorder_flush(struct recorder *r, struct err *e);
/* A whole snapshot; the closed endpoints in it must not be in the next one. */
int recorder_snapshot(struct recorder *r, const struct trace_snapshot *s, struct err *e);
/* Writes the last block, unless something failed, closes the file and frees the recorder. */
int recorder_close(struct recorder *r, struct err *e);
uint64_t recorder_size(const struct recorder *r);
const struct dropped *recorder_dropped(const struct recorder *r);

/* compact.c: rewrites the file at `path` without what may be dropped; fd and size become the new
 * file's. Returns 0 or an errno value. */
int recording_compact(const char *path, int *fd, uint64_t *size, struct dropped *d);
/* the content of a BLOCK_DROPPED */
struct codec;
void codec_dropped(struct codec *c, struct dropped *d);

#endif
