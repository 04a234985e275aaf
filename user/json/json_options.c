// SPDX-License-Identifier: GPL-2.0-only
/* Converts options to JSON and back, by their rows. */
#include "json/json_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "json/json_text.h"

#define FIELD(row, opts, type)	((type *)((char *)(opts) + (row)->offset))
#define CFIELD(row, opts, type) ((const type *)((const char *)(opts) + (row)->offset))

static json_t *sizes_to_json(const struct size_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, json_integer(l->v[i]));
	return a;
}

static json_t *strings_to_json(const struct str_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, text_json(l->v[i]));
	return a;
}

json_t *opt_value_to_json(const struct opt *row, const void *from)
{
	char text[4096];

	switch (row->type) {
	case OPT_FLAG: return json_boolean(*CFIELD(row, from, bool));
	case OPT_INT:
	case OPT_SIZE:
	case OPT_TIME: /* in ns, as everything in a result */
		return json_integer(*CFIELD(row, from, int64_t));
	case OPT_REAL:
	case OPT_RATE: return json_real(*CFIELD(row, from, double));
	case OPT_SIZES: return sizes_to_json(CFIELD(row, from, struct size_list));
	case OPT_MULTI: return strings_to_json(CFIELD(row, from, struct str_list));
	default:
		opt_format(row, from, text, sizeof(text));
		return text[0] ? text_json(text) : json_null();
	}
}

json_t *opt_to_json(const struct opt *rows, const void *from)
{
	json_t *o = json_object();

	for (; !opt_is_end(rows); rows++)
		if (rows->name && !rows->hidden_from_result)
			json_object_set_new(o, rows->name, opt_value_to_json(rows, from));
	return o;
}

static int bad_in_file(const struct opt *row, const char *what, struct err *e)
{
	return err_data(e, "option '%s' in the file: %s; use an unaltered result file", row->name,
			what);
}

static int texts_from_json(const struct opt *row, void *into, const json_t *v, struct err *e)
{
	size_t i;
	json_t *item;

	json_array_foreach (v, i, item)
		if (!json_is_string(item) || opt_set(row, into, json_string_value(item), e))
			return bad_in_file(row, "not a list of texts", e);
	return 0;
}

static int sizes_from_json(const struct opt *row, void *into, const json_t *v, struct err *e)
{
	struct size_list *l = FIELD(row, into, struct size_list);
	size_t i, n = json_array_size(v);
	json_t *item;

	free(l->v);
	*l = (struct size_list){ .v = n <= SIZES_MOST ? array_new(n, 1, sizeof(int64_t)) : NULL };
	if (!l->v)
		return bad_in_file(row, "a longer list of sizes than there can be", e);
	json_array_foreach (v, i, item) {
		if (!json_is_integer(item) || json_integer_value(item) < 1 ||
		    json_integer_value(item) > SIZE_LIMIT)
			return bad_in_file(row, "not a list of sizes, each 1 byte to 1G", e);
		l->v[l->n++] = json_integer_value(item);
	}
	return 0;
}

static double least_of(const struct opt *row)
{
	return row->min == 0 && row->max == 0 ? 0 : row->min;
}

/* The range is that of the command line. The default is accepted too, as it may lie outside
 * ("unset"). */
static int number_from_json(const struct opt *row, void *into, int64_t v, struct err *e)
{
	double most = row->max != 0 ? row->max : INT64_LIMIT;
	char least_text[32], most_text[32];

	if (v != *FIELD(row, into, int64_t) && ((double)v < least_of(row) || (double)v > most)) {
		opt_amount_text(row, least_of(row), least_text, sizeof(least_text));
		opt_amount_text(row, most, most_text, sizeof(most_text));
		return err_data(e, "option '%s' in the file: %lld is out of range; give %s to %s",
				row->name, (long long)v, least_text, most_text);
	}
	*FIELD(row, into, int64_t) = v;
	return 0;
}

static bool is_whole_number(const struct opt *row)
{
	return row->type == OPT_INT || row->type == OPT_SIZE || row->type == OPT_TIME;
}

/* A value of the JSON type in which the row's type is written. A text is accepted too: older files
 * hold whole numbers as texts. */
static int plain_from_json(const struct opt *row, void *into, const json_t *v, struct err *e)
{
	char text[64];

	if (json_is_string(v))
		return opt_set(row, into, json_string_value(v), e);
	if (is_whole_number(row))
		return json_is_integer(v) ? number_from_json(row, into, json_integer_value(v), e)
					  : bad_in_file(row, "not a whole number", e);
	if (row->type == OPT_FLAG && json_is_boolean(v))
		snprintf(text, sizeof(text), "%d", json_is_true(v));
	else if ((row->type == OPT_REAL || row->type == OPT_RATE) && json_is_number(v))
		snprintf(text, sizeof(text), "%.17g", json_number_value(v));
	else
		return bad_in_file(row, "of the wrong type", e);
	return opt_set(row, into, text, e);
}

static int value_from_json(const struct opt *row, void *into, const json_t *v, struct err *e)
{
	struct err why = {};

	if (json_is_null(v))
		return 0;
	if (json_is_array(v) && row->type == OPT_SIZES)
		return sizes_from_json(row, into, v, e);
	if (json_is_array(v) && row->type == OPT_MULTI)
		return texts_from_json(row, into, v, e);
	if (plain_from_json(row, into, v, &why) == 0)
		return 0;
	if (why.code != EXIT_BAD_USAGE)
		return err_set(e, why.code, "%s", why.text);
	return err_data(e, "option '%s' in the file: %s", row->name, why.text);
}

/* A file says what is measured. Other options, such as where output goes, are for the user who
 * starts the program. */
static int check_row(const struct opt *row, const char *key, struct err *e)
{
	if (!row)
		return err_version(e,
				   "option '%s' in the file: unknown to this version; use the "
				   "version that wrote it",
				   key);
	if (row->hidden_from_result)
		return err_data(e,
				"option '%s' in the file: a file may not say that; take it out "
				"there, and give --%s yourself",
				key, key);
	return 0;
}

int opt_from_json(const struct opt *rows, void *into, const json_t *obj, struct err *e)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)obj, key, v) {
		const struct opt *row = opt_find(rows, key);

		if (check_row(row, key, e) || value_from_json(row, into, v, e))
			return -1;
	}
	return 0;
}
