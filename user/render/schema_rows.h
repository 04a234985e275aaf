/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON Schemas (draft 2020-12) made from rows: a key and what stands there. */
#ifndef IPCSTALL_RENDER_SCHEMA_ROWS_H
#define IPCSTALL_RENDER_SCHEMA_ROWS_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/verdict.h"

/*
 * type: the name of a definition, "count" for one. "[]" behind it: a list of these; "?" before it:
 * or null. A key with "~" before it may be missing; all others are always there, and no others are.
 */
struct schema_row {
	const char *key, *type;
};

/* The rows end with one without a key. */
json_t *schema_object(const struct schema_row *rows);
/* More rows for an object; the same for all of an object's own but `key`. */
void schema_add(json_t *object, const struct schema_row *rows);
void schema_drop(json_t *object, const char *key);

/* {"enum": [...]} of names[0..n); those that are NULL are null. */
json_t *schema_enum(const char *const *names, size_t n);
json_t *schema_const(json_t *value);

/* A document of this kind, with the definitions of what JSON itself has: text, count, number, bool,
 * any. Takes over `top` and `defs`. */
json_t *schema_document(const char *id, const char *title, json_t *top, json_t *defs);
/* To standard output. Takes over the reference. Returns the exit code. */
int schema_print(json_t *schema, struct err *e);

/* Of a kind of finding: its key in a ledger, and what stands there; NULL: it has no place of its
 * own. */
const struct schema_row *ledger_kind_shape(enum finding_kind k);

/* What `run`, `attach` and `replay` write (--json; $defs/line: a line of --ndjson). */
json_t *ledger_schema(void);
/* A line of `top --json`. */
json_t *top_schema(void);

#endif
