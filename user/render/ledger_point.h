/* SPDX-License-Identifier: GPL-2.0-only */
/* The ledger of a benchmark point, as JSON and as text. */
#ifndef IPCSTALL_RENDER_LEDGER_POINT_H
#define IPCSTALL_RENDER_LEDGER_POINT_H

#include "bench/traced.h"
#include "render/sink.h"

/* The function for json_ledger_of_point (render/sink.h). */
json_t *point_ledger_to_json(const struct point *p);
/* The result's "trace": backend and hooks, or {"backend": null, "why": ...}. */
json_t *traced_to_json(const struct traced *tr);
/* Prints below the result table: up to two points whole; of more the worst point's card and a line
 * for each; all whole with --ledger; with `nist` only NIST's stopwatch for each. */
void ledgers_print(const struct result *r, const struct traced *tr, bool nist, FILE *out);

#endif
