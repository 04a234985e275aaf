/* SPDX-License-Identifier: GPL-2.0-only */
/* The outputs of a result. Every sink renders the same model, and none runs during a measurement.
 */
#ifndef IPCSTALL_RENDER_SINK_H
#define IPCSTALL_RENDER_SINK_H

#include <jansson.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/point.h"

/* A result: its points, and the facts that hold for all of them. */
struct result {
	const struct bench_plan *plan;
	char started[40]; /* ISO 8601, UTC */
	struct point *points;
	size_t n;
	bool complete; /* false: interrupted or failed; `points` holds what was finished */
	json_t *trace; /* owned; NULL: nothing was traced */
};

/* A point as a JSON object. ledger: NULL or a new reference, which is taken over. */
json_t *json_of_point(const struct point *p, json_t *ledger);
/* The document without its points: schema, version, tool, machine, clock, options, started. */
json_t *json_result_head(const char *schema, int version, const struct bench_plan *plan,
			 const char *started);
json_t *json_of_result(const struct result *r);
/* A hook with which a tracer adds its ledger to a point's JSON. NULL: no ledger. */
extern json_t *(*json_ledger_of_point)(const struct point *p);
json_t *result_schema(void);

int csv_write(const struct result *r, const char *path, struct err *e);
int raw_write(const struct result *r, const char *path, struct err *e);
void table_print(const struct result *r, FILE *out);

/* "-" is standard output. */
bool sink_is_stdout(const char *path);
/* The name of an output in error messages. */
const char *sink_name(const char *path);
/* Checks before the run that every path can be written, and that no two outputs are one file. A
 * NULL path is no output. */
int outputs_check(const char *const *paths, size_t n, struct err *e);
/* Checks that no output would overwrite the input file. Call it before outputs_check(). */
int outputs_spare(const char *input, const char *const *paths, size_t n, struct err *e);
/* Opens an output; close it with sink_close(), which reports write errors (a full disk). An
 * existing regular file is replaced only by a sink_close() without an error. Call sink_drop() for
 * an output that is incomplete for another reason. */
FILE *sink_open(const char *path, struct err *e);
/* Opens an output that is read while it grows: written in place; close it with fclose(). */
FILE *sink_open_stream(const char *path, struct err *e);
void sink_drop(FILE *f);
/* Puts what is written so far in the place of the existing file, and returns a stream that appends
 * to it in place. NULL: that failed. */
FILE *sink_settle(FILE *f, const char *path, struct err *e);
int sink_close(FILE *f, const char *path, struct err *e);

/* "64K", "1448": in the notation of --size. */
const char *size_text(int64_t size, char buf[24]);

#endif
