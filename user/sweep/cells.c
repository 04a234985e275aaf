// SPDX-License-Identifier: GPL-2.0-only
#include "sweep/cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/rng.h"

static int push(struct variable *v, const char *text, struct err *e)
{
	char **grown = array_resize(v->values, v->n, 1, sizeof(*grown));

	if (!grown)
		return err_resource(e, "--vary %s: out of memory; give fewer values", v->row->name);
	v->values = grown;
	v->values[v->n++] = strdup(text);
	return 0;
}

/* Expands a size range: each size becomes an option value of its own. */
static int push_sizes(struct variable *v, const char *list, struct err *e)
{
	struct size_list l = {};
	char text[32];
	int rc = parse_sizes(list, &l, e);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		snprintf(text, sizeof(text), "%" PRId64, l.v[i]);
		rc = push(v, text, e);
	}
	free(l.v);
	return rc;
}

/* For size options other than the message size: check_values() applies the option's own limits. */
static int push_amounts(struct variable *v, const char *list, struct err *e)
{
	char *copy = strdup(list), *rest = copy, *item, text[32];
	int rc = 0;

	while (rc == 0 && (item = strsep(&rest, ","))) {
		int64_t amount;
		bool is_one = !parse_size(item, &amount);

		if (is_one)
			snprintf(text, sizeof(text), "%" PRId64, amount);
		rc = push(v, is_one ? text : item, e);
	}
	free(copy);
	return rc;
}

/* A value with commas of its own (a link) needs another mark between values. */
static int push_list(struct variable *v, const char *list, struct err *e)
{
	const char *mark = strchr(list, ';') ? ";" : ",";
	char *copy = strdup(list), *rest = copy, *item;
	int rc = 0;

	while (rc == 0 && (item = strsep(&rest, mark)))
		rc = *item ? push(v, item, e)
			   : err_usage(e,
				       "--vary %s=%s: an empty value; give values with commas "
				       "between",
				       v->row->name, list);
	free(copy);
	return rc;
}

static int parse_variable(struct variable *v, const struct opt *rows, const char *text,
			  struct err *e)
{
	const char *eq = strchr(text, '=');
	char name[64];

	if (!eq || eq == text || !eq[1])
		return err_usage(e,
				 "--vary '%s': not OPTION=VALUES; try --vary size=1453:21000:+500 "
				 "or --vary nodelay=0,1",
				 text);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
	v->row = opt_find(rows, name);
	if (!v->row || v->row->hidden_from_result)
		return err_usage(
			e,
			"--vary %s: no option of a benchmark; `ipcstall bench --help` lists them",
			name);
	if (v->row->type == OPT_SIZES || (v->row->type == OPT_SIZE && strchr(eq, ':')))
		return push_sizes(v, eq + 1, e);
	if (v->row->type == OPT_SIZE)
		return push_amounts(v, eq + 1, e);
	return push_list(v, eq + 1, e);
}

static int cmp_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Rejects a value that is given twice: a reader of the file would see two cells as "repeat 0". */
static int check_distinct(const struct variable *v, struct err *e)
{
	char **sorted = array_new(v->n, 0, sizeof(*sorted));
	int rc = sorted ? 0 : err_resource(e, "--vary: out of memory; give fewer values");

	if (sorted) {
		memcpy(sorted, v->values, v->n * sizeof(*sorted));
		qsort(sorted, v->n, sizeof(*sorted), cmp_text);
	}
	for (size_t i = 1; rc == 0 && i < v->n; i++)
		if (!strcmp(sorted[i - 1], sorted[i]))
			rc = err_usage(e,
				       "--vary %s: %s is given twice; give it once (--repeats N "
				       "runs every value N times)",
				       v->row->name, sorted[i]);
	free(sorted);
	return rc;
}

/* Rejects a second list for a variable, which would replace the first. */
static int check_new(const struct cells *c, const struct variable *v, struct err *e)
{
	for (const struct variable *before = c->v; before < v; before++)
		if (before->row == v->row)
			return err_usage(e,
					 "--vary %s: given twice; give all its values in one list",
					 v->row->name);
	return 0;
}

static int check_values(const struct variable *v, size_t size, struct err *e)
{
	void *scratch = calloc(1, size);
	int rc = scratch ? 0 : err_resource(e, "--vary: out of memory; give fewer values");

	for (size_t i = 0; rc == 0 && i < v->n; i++)
		rc = opt_set(v->row, scratch, v->values[i], e);
	/* free the strings that opt_set() duplicated */
	const struct opt one[] = { *v->row, OPT_END };

	if (scratch)
		opt_free(one, scratch);
	free(scratch);
	return rc;
}

/* Combinations that differ only in the variable `together` are a group, which stays together.
 * Without that variable each combination is a group. */
static void draw_repeat(const struct cells *c, struct rng *r, uint32_t *out)
{
	size_t members = c->together < c->n_v ? c->v[c->together].n : 1;
	size_t stride = 1, groups = 0;

	for (size_t i = 0; members > 1 && i < c->together; i++)
		stride *= c->v[i].n;
	for (size_t cell = 0; cell < c->n; cell++)
		if (cell / stride % members == 0)
			out[groups++] = (uint32_t)cell;
	rng_shuffle(r, out, groups, sizeof(*out));
	/* from the last, so that no out[g] is overwritten before it is read */
	for (size_t g = groups; g-- > 0;) {
		uint32_t first = out[g], *group = out + g * members;

		for (size_t k = 0; k < members; k++)
			group[k] = first + (uint32_t)(k * stride);
		rng_shuffle(r, group, members, sizeof(*group));
	}
}

/* One permutation per repeat: each repeat runs every combination once, so a drift of the machine
 * affects all alike. */
static int make_order(struct cells *c, struct err *e)
{
	struct rng r;

	c->order = array_new((size_t)product((int64_t)c->n, (int64_t)c->repeats), 0,
			     sizeof(*c->order));
	if (!c->order)
		return err_resource(e, "sweep: out of memory; give fewer values or repeats");
	rng_seed(&r, c->seed);
	for (uint64_t k = 0; k < c->repeats; k++)
		draw_repeat(c, &r, c->order + k * c->n);
	return 0;
}

static int find_together(struct cells *c, const char *name, struct err *e)
{
	c->together = 0;
	while (c->together < c->n_v && (!name || strcmp(c->v[c->together].row->name, name)))
		c->together++;
	return !name || c->together < c->n_v ? 0
					     : err_usage(e,
							 "--together %s: it does not vary; give "
							 "one of the options that --vary names",
							 name);
}

enum { OPTIONS_ROOM = 1 << 16 }; /* more than any options struct */

int cells_make(struct cells *c, const struct opt *rows, const struct str_list *texts,
	       const char *together, uint64_t repeats, uint64_t seed, struct err *e)
{
	*c = (struct cells){ .n = 1, .repeats = repeats, .seed = seed };
	if (texts->n == 0)
		return err_usage(e, "sweep: nothing to vary; give --vary OPTION=VALUES, e.g. "
				    "--vary size=4:512K:*2");
	if (texts->n > VARY_MAX)
		return err_usage(
			e, "sweep: %zu variables; at most %d make a sweep a reader can follow",
			texts->n, VARY_MAX);
	for (size_t i = 0; i < texts->n; i++) {
		struct variable *v = &c->v[c->n_v++];

		if (parse_variable(v, rows, texts->v[i], e) || check_new(c, v, e) ||
		    check_values(v, OPTIONS_ROOM, e) || check_distinct(v, e))
			return -1;
		if (c->n * v->n * repeats > CELLS_MAX)
			return err_usage(e, "sweep: more than %d points; use a larger step",
					 CELLS_MAX);
		c->n *= v->n;
	}
	return find_together(c, together, e) || make_order(c, e) ? -1 : 0;
}

void cells_free(struct cells *c)
{
	for (size_t i = 0; i < c->n_v; i++) {
		for (size_t j = 0; j < c->v[i].n; j++)
			free(c->v[i].values[j]);
		free(c->v[i].values);
	}
	free(c->order);
	*c = (struct cells){};
}

const char *cells_value(const struct cells *c, size_t cell, size_t v)
{
	for (size_t i = 0; i < v; i++)
		cell /= c->v[i].n;
	return c->v[v].values[cell % c->v[v].n];
}

int cells_apply(const struct cells *c, size_t cell, void *into, struct err *e)
{
	for (size_t i = 0; i < c->n_v; i++)
		if (opt_set(c->v[i].row, into, cells_value(c, cell, i), e))
			return -1;
	return 0;
}
