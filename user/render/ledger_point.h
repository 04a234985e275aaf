/* SPDX-License-Identifier: GPL-2.0-only */
/* A benchmark point's ledger, written out. */
#ifndef IPCSTALL_RENDER_LEDGER_POINT_H
#define IPCSTALL_RENDER_LEDGER_POINT_H

#include "bench/traced.h"
#include "render/sink.h"

/* For json_ledger_of_point (render/sink.h). */
json_t *point_ledger_to_json(const struct point *p);
/* The result's "trace": backend and hooks, or {"backend": null, "why": ...}. */
json_t *traced_to_json(const struct traced *tr);
/* After the table: whole ledgers for up to two points, one line each for more; with nist only the
 * stopwatch. */
void ledgers_print(const struct result *r, const struct traced *tr, bool nist, FILE *out);

#endif
