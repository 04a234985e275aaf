/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON Schemas (draft 2020-12) made from keys and their types. */
#ifndef IPCSTALL_RENDER_SCHEMA_ROWS_H
#define IPCSTALL_RENDER_SCHEMA_ROWS_H

#include <jansson.h>

#include "base/err.h"
#include "verdict/verdict.h"

/* fields: "key:type key:type". A type is the name of a definition ("count", say), or "=a|b|c", one
 * of these words. "[]" after a type makes it a list; "?" before it allows null. A key with "~"
 * before it may be missing; all other keys are required. The word "*" allows keys not listed. */
struct schema_def {
	const char *name, *fields;
};

json_t *schema_object(const char *fields);
/* Makes an object of definitions; the array ends with one without a name. */
json_t *schema_objects(const struct schema_def *defs);
/* Adds fields to an object; adds one; removes one. */
void schema_add(json_t *object, const char *fields);
void schema_add_key(json_t *object, const char *key, const char *type);
void schema_drop(json_t *object, const char *key);
/* Adds the constants "schema" and "version": 1. */
void schema_set_kind(json_t *object, const char *schema);

/* {"enum": [...]} of names[0..n); a NULL name becomes null. */
json_t *schema_enum(const char *const *names, size_t n);

/* A whole schema, with definitions of the basic types added: text, count, index, integer, number
 * (not below 0), real, bool, object, any. Takes over `top` and `defs`. */
json_t *schema_document(const char *id, const char *title, json_t *top, json_t *defs);
/* Prints to standard output. Takes over the reference. Returns the exit code. */
int schema_print(json_t *schema, struct err *e);

/* The key of a kind of finding in a ledger, and its type; NULL: the kind has no key of its own. */
const char *ledger_kind_key(enum finding_kind k, const char **type);

/* The schema of `run`, `attach` and `replay` (--json; $defs/line: a line of --ndjson). */
json_t *ledger_schema(void);
/* The schema of a line of `top --json`. */
json_t *top_schema(void);

#endif
