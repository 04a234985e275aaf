/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing a recording while a session runs. Steps and stalls are queued by whichever thread brings
 * them; the thread that calls recorder_flush() and recorder_snapshot() writes. The file never grows
 * beyond what was asked: when it would, the older half of the steps and stalls goes, every second
 * snapshot, and of the closed endpoints those that stalled less; all counted in the file. */
#ifndef IPCSTALL_RECORDING_RECORDER_H
#define IPCSTALL_RECORDING_RECORDER_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/stalls.h"
#include "tracer/trace.h"

struct recorder;

/* what had to go; stands in the file, and is shown with what is left */
struct dropped {
	uint64_t events, stalls, closed, snapshots;
};

/* NULL: no memory. Takes steps and stalls from now on. */
struct recorder *recorder_new(const char *path, uint64_t max_size);
/* Make the file; head becomes the recording's header. It takes the place of one that was there with
 * its first snapshot. */
int recorder_begin(struct recorder *r, json_t *head, struct err *e);
void recorder_stall(struct recorder *r, const struct stall *s);
void recorder_transition(struct recorder *r, const struct trace_transition *tr);
/* Write what is queued. -1: the file cannot be written; what is in it stays good. */
int recorder_flush(struct recorder *r, struct err *e);
/* A whole snapshot; the closed endpoints in it must not be in the next one. */
int recorder_snapshot(struct recorder *r, const struct trace_snapshot *s, struct err *e);
/* The last block, unless something failed, and the end of the file. */
int recorder_close(struct recorder *r, struct err *e);
uint64_t recorder_size(const struct recorder *r);
const struct dropped *recorder_dropped(const struct recorder *r);

/* compact.c: the file at `path` written anew without what may go; fd and size are the new file's. 0
 * or an errno. */
int recording_compact(const char *path, int *fd, uint64_t *size, struct dropped *d);
/* the content of a BLOCK_DROPPED */
struct codec;
void codec_dropped(struct codec *c, struct dropped *d);

#endif
