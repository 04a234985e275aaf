/* SPDX-License-Identifier: GPL-2.0-only */
/* Where results go. Every sink renders the same model; none of them runs while something is
 * measured. */
#ifndef IPCSTALL_RENDER_SINK_H
#define IPCSTALL_RENDER_SINK_H

#include <jansson.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/point.h"

/* What stands above the points of a result. */
struct result {
	const struct bench_plan *plan;
	char started[40]; /* ISO 8601, UTC */
	struct point *points;
	size_t n;
	bool complete; /* false: interrupted or failed; `points` holds what was finished */
	json_t *trace; /* owned; NULL: nothing was traced */
};

/* JSON: one object a point, for whoever makes documents of points. ledger: NULL or a new reference,
 * taken over. */
json_t *json_of_point(const struct point *p, json_t *ledger);
/* schema, version, tool, machine, clock, options, started: the document without its points. */
json_t *json_result_head(const char *schema, int version, const struct bench_plan *plan,
			 const char *started);
json_t *json_of_result(const struct result *r);
/* A tracer's way to put its part of a point into the document. NULL: nothing. */
extern json_t *(*json_ledger_of_point)(const struct point *p);
json_t *result_schema(void);

int csv_write(const struct result *r, const char *path, struct err *e);
int raw_write(const struct result *r, const char *path, struct err *e);
void table_print(const struct result *r, FILE *out);

/* "-" is standard output. */
bool sink_is_stdout(const char *path);
/* As an error names it. */
const char *sink_name(const char *path);
/* A path that cannot be written, and two outputs to one file, are found out before the run, not
 * after it. NULL: no output. */
int outputs_check(const char *const *paths, size_t n, struct err *e);
/* Nor may one replace what is read: before outputs_check(). */
int outputs_spare(const char *input, const char *const *paths, size_t n, struct err *e);
/* Close with sink_close(), which reports what a full disk swallowed. A regular file that was there
 * stays until then, and where something failed; an output that is not whole for another reason goes
 * by sink_drop(). */
FILE *sink_open(const char *path, struct err *e);
/* For what is read while it grows: there from the first line on; closed by fclose(). */
FILE *sink_open_stream(const char *path, struct err *e);
void sink_drop(FILE *f);
/* What is written so far takes its place; what follows goes there, to the stream that is returned,
 * and is there at once. NULL: it could not. */
FILE *sink_settle(FILE *f, const char *path, struct err *e);
int sink_close(FILE *f, const char *path, struct err *e);

/* "64K", "1448": as --size takes it. */
const char *size_text(int64_t size, char buf[24]);

#endif
