/* SPDX-License-Identifier: GPL-2.0-only */
/* The output files for the ledgers of live programs. All are written from the same view after the
 * session's end, whether it was live or replayed. */
#ifndef IPCSTALL_RENDER_LEDGER_OUTPUTS_H
#define IPCSTALL_RENDER_LEDGER_OUTPUTS_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/stalls.h"
#include "verdict/timeline.h"
#include "verdict/verdict.h"

struct ledger_view {
	const struct trace_snapshot *s;
	const struct verdict *v;
	const struct stalls *stalls;
	const struct timeline *timeline;
	bool wants_stalls,
		wants_timeline; /* false: not requested, so the list is empty */
	/* the name of an endpoint's role ("client"); NULL: endpoints have no roles, and are told
	 * apart by port or inode */
	const char *(*role)(const void *ctx, const struct trace_endpoint *ep);
	const void *ctx;
	json_t *head; /* top-level keys of a document: tool, machine, trace, what was traced */
};

/* One row for each output file: OUT(symbol, option, operand's help). */
#define LEDGER_OUTPUTS(OUT) \
	OUT(OUT_JSON, json, "the ledgers, the verdict and the single stalls as one JSON document") \
	OUT(OUT_CSV, csv, "one line for each endpoint") \
	OUT(OUT_TIMELINE, timeline, "every change of state, to be drawn: ipcstall figure " \
		"timeline FILE") \
	OUT(OUT_PERFETTO, perfetto, "the same as trace events, for ui.perfetto.dev or " \
		"chrome://tracing") \
	OUT(OUT_FOLDED, folded, "who kept whom waiting, as folded stacks in microseconds, for " \
		"flame graphs")

#define OUT_ENUM(sym, name, help) sym,
enum ledger_output { LEDGER_OUTPUTS(OUT_ENUM) LEDGER_OUTPUTS_N };

/* "-" is standard output */
int ledger_json_write(const struct ledger_view *view, const char *path, struct err *e);
int ledger_csv_write(const struct ledger_view *view, const char *path, struct err *e);
int ledger_timeline_write(const struct ledger_view *view, const char *path, struct err *e);
int ledger_perfetto_write(const struct ledger_view *view, const char *path, struct err *e);
int ledger_folded_write(const struct ledger_view *view, const char *path, struct err *e);
int ledger_write(enum ledger_output which, const struct ledger_view *view, const char *path,
		 struct err *e);

/* One stall as a JSON object, and as one line of text without the stacks. */
json_t *stall_to_json(const struct stall *st);
void stall_line(const struct stall *st, char *buf, size_t len);

#endif
