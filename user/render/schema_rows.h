/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON Schemas (draft 2020-12) made from keys and what stands there. */
#ifndef IPCSTALL_RENDER_SCHEMA_ROWS_H
#define IPCSTALL_RENDER_SCHEMA_ROWS_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/verdict.h"

/* fields: "key:type key:type". type: the name of a definition ("count", say), or "=a|b|c", one of
 * these words. "[]" behind it: a list of these; "?" before it: or null. A key with "~" before it
 * may be missing; all others are always there. No others are, unless the word "*" says so. */
struct schema_def {
	const char *name, *fields;
};

json_t *schema_object(const char *fields);
/* Definitions, up to one without a name. */
json_t *schema_objects(const struct schema_def *defs);
/* More for an object; the same for all of an object's own but `key`. */
void schema_add(json_t *object, const char *fields);
void schema_add_key(json_t *object, const char *key, const char *type);
void schema_drop(json_t *object, const char *key);
/* Its "schema", and "version": 1. */
void schema_set_kind(json_t *object, const char *schema);

/* {"enum": [...]} of names[0..n); those that are NULL are null. */
json_t *schema_enum(const char *const *names, size_t n);

/* A document of this kind, with the definitions of what JSON itself has: text, count, index,
 * integer, number (not below 0), real, bool, object, any. Takes over `top` and `defs`. */
json_t *schema_document(const char *id, const char *title, json_t *top, json_t *defs);
/* To standard output. Takes over the reference. Returns the exit code. */
int schema_print(json_t *schema, struct err *e);

/* Of a kind of finding: its key in a ledger, and what stands there; NULL: it has no place of its
 * own. */
const char *ledger_kind_key(enum finding_kind k, const char **type);

/* What `run`, `attach` and `replay` write (--json; $defs/line: a line of --ndjson). */
json_t *ledger_schema(void);
/* A line of `top --json`. */
json_t *top_schema(void);

#endif
