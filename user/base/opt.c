// SPDX-License-Identifier: GPL-2.0-only
/* Parsing the command line by the caller's rows. */
#include "base/opt.h"

#include "base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(row, base, type)	((type *)((char *)(base) + (row)->offset))
#define CFIELD(row, base, type) ((const type *)((const char *)(base) + (row)->offset))

const struct opt *opt_find(const struct opt *rows, const char *name)
{
	for (; !opt_is_end(rows); rows++)
		if (rows->name && strcmp(rows->name, name) == 0)
			return rows;
	return NULL;
}

bool opt_is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (name && strcmp(name, *names) == 0)
			return true;
	return false;
}

void opt_join(struct opt *into, size_t room, const struct opt *own, const struct opt *more,
	      const char *const *but)
{
	size_t n = 0;

	for (; !opt_is_end(own) && n + 1 < room; own++)
		into[n++] = *own;
	for (; !opt_is_end(more) && n + 1 < room; more++)
		if (!opt_is_among(more->name, but))
			into[n++] = *more;
	into[n] = (struct opt)OPT_END;
}

static const struct opt *find_short(const struct opt *rows, char c)
{
	for (; !opt_is_end(rows); rows++)
		if (rows->shorthand == c)
			return rows;
	return NULL;
}

static int bad_value(const struct opt *row, const char *text, const char *want, struct err *e)
{
	return err_usage(e, "--%s '%s': not %s; see --help", row->name, text, want);
}

/* As one would type it: in the largest unit that divides it. */
void opt_amount_text(const struct opt *row, double v, char *buf, size_t len)
{
	static const struct unit {
		double factor;
		const char *name;
	} times[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } },
	  sizes[] = { { 1 << 30, "G" }, { 1 << 20, "M" }, { 1 << 10, "K" }, { 1, "" } },
	  plain[] = { { 1, "" } };
	const struct unit *u = row->type == OPT_TIME   ? times
			       : row->type == OPT_SIZE ? sizes
						       : plain;

	while (u->factor > 1 && (v < u->factor || fmod(v, u->factor) != 0))
		u++;
	if (v == floor(v))
		snprintf(buf, len, "%.0f%s", v / u->factor, v == 0 ? "" : u->name);
	else
		snprintf(buf, len, "%.10g%s", v / u->factor, u->name);
}

static int out_of_range(const struct opt *row, const char *text, struct err *e)
{
	char least[32], most[32];

	opt_amount_text(row, row->min, least, sizeof(least));
	opt_amount_text(row, row->max ? row->max : INT64_LIMIT, most, sizeof(most));
	return err_usage(e, "--%s '%s': out of range; give %s to %s", row->name, text, least, most);
}

static int check_range(const struct opt *row, const char *text, double v, struct err *e)
{
	if (row->min == 0 && row->max == 0)
		return v < 0 ? err_usage(e, "--%s '%s': negative; give zero or more", row->name,
					 text)
			     : 0;
	if (v >= row->min && v <= row->max)
		return 0;
	return out_of_range(row, text, e);
}

static int set_int(const struct opt *row, void *into, const char *text,
		   int (*parse)(const char *, int64_t *), const char *want, struct err *e)
{
	int64_t v;
	int rc = parse(text, &v);

	if (rc == PARSE_RANGE)
		return out_of_range(row, text, e);
	if (rc)
		return bad_value(row, text, want, e);
	if (check_range(row, text, (double)v, e))
		return -1;
	*FIELD(row, into, int64_t) = v;
	return 0;
}

static int parse_plain_int(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return end == text || *end ? -1 : errno ? PARSE_RANGE : 0;
}

static int set_real(const struct opt *row, void *into, const char *text, struct err *e)
{
	double v;

	if (parse_real(text, &v))
		return bad_value(row, text, "a number (10, 2.5k, 1M)", e);
	if (check_range(row, text, v, e))
		return -1;
	*FIELD(row, into, double) = v;
	return 0;
}

static size_t count_words(const char *const *w)
{
	size_t n = 0;

	while (w[n])
		n++;
	return n;
}

static void join_words(const char *const *w, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (; *w && at < len; w++)
		at += snprintf(buf + at, len - at, "%s%s", at ? ", " : "", *w);
}

/* The index of `text` among the row's choices, or -1. */
static int word_of(const struct opt *row, const char *text, struct err *e)
{
	size_t n = count_words(row->choices);
	const char *near;
	char all[256];

	for (size_t i = 0; i < n; i++)
		if (strcmp(text, row->choices[i]) == 0)
			return (int)i;
	near = nearest_word(text, row->choices, n);
	join_words(row->choices, all, sizeof(all));
	if (near)
		return err_usage(e, "--%s '%s': unknown; did you mean '%s'? (one of: %s)",
				 row->name, text, near, all);
	return err_usage(e, "--%s '%s': unknown; give one of: %s", row->name, text, all);
}

static int set_enum(const struct opt *row, void *into, const char *text, struct err *e)
{
	int i = word_of(row, text, e);

	if (i < 0)
		return -1;
	*FIELD(row, into, int) = i;
	return 0;
}

static int set_cpus(const struct opt *row, void *into, const char *text, struct err *e)
{
	struct cpu_pair c;
	char *end;

	c.a = c.b = (int)strtol(text, &end, 10);
	if (end == text || c.a < 0 || c.a > 65535)
		return bad_value(row, text, "one CPU number or two (0 or 0,1)", e);
	if (*end == ',') {
		const char *second = end + 1;

		c.b = (int)strtol(second, &end, 10);
		if (end == second || c.b < 0 || c.b > 65535)
			return bad_value(row, text, "one CPU number or two (0 or 0,1)", e);
	}
	if (*end)
		return bad_value(row, text, "one CPU number or two (0 or 0,1)", e);
	*FIELD(row, into, struct cpu_pair) = c;
	return 0;
}

static int set_sizes(const struct opt *row, void *into, const char *text, struct err *e)
{
	struct size_list *l = FIELD(row, into, struct size_list), fresh;

	if (parse_sizes(text, &fresh, e))
		return -1;
	free(l->v);
	*l = fresh;
	return 0;
}

static int add_string(const struct opt *row, void *into, const char *text, struct err *e)
{
	struct str_list *l = FIELD(row, into, struct str_list);
	const char **grown;

	if (row->choices && word_of(row, text, e) < 0)
		return -1;
	grown = array_resize(l->v, l->n, 1, sizeof(*grown));
	if (!grown)
		return err_resource(e, "--%s: out of memory; give it fewer times", row->name);
	l->v = grown;
	l->v[l->n++] = strdup(text);
	return 0;
}

static int set_string(const struct opt *row, void *into, const char *text, struct err *e)
{
	char **field = FIELD(row, into, char *);

	if (!*text)
		return err_usage(e, "--%s: empty; give a value or leave the option out", row->name);
	free(*field);
	*field = strdup(text);
	return 0;
}

static int set_flag(const struct opt *row, void *into, const char *text, struct err *e)
{
	if (strcmp(text, "1") && strcmp(text, "0"))
		return err_usage(e, "--%s=%s: takes no value; give --%s or --no-%s", row->name,
				 text, row->name, row->name);
	*FIELD(row, into, bool) = *text == '1';
	return 0;
}

int opt_set(const struct opt *row, void *into, const char *text, struct err *e)
{
	switch (row->type) {
	case OPT_FLAG: return set_flag(row, into, text, e);
	case OPT_INT: return set_int(row, into, text, parse_plain_int, "a whole number", e);
	case OPT_SIZE:
		return set_int(row, into, text, parse_size, "a number of bytes (4, 64K, 1M)", e);
	case OPT_TIME:
		return set_int(row, into, text, parse_time_ns, "a time (500ms, 3s, 20us)", e);
	case OPT_REAL:
	case OPT_RATE: return set_real(row, into, text, e);
	case OPT_STRING: return set_string(row, into, text, e);
	case OPT_ENUM: return set_enum(row, into, text, e);
	case OPT_SIZES: return set_sizes(row, into, text, e);
	case OPT_CPUS: return set_cpus(row, into, text, e);
	case OPT_MULTI: return add_string(row, into, text, e);
	case OPT_GROUP: break;
	}
	return err_set(e, EXIT_BUG,
		       "option row without a type: a bug in ipcstall; please report it");
}

bool opt_given(const struct opt_operands *rest, const char *name)
{
	for (int i = 0; i < rest->n_given; i++)
		if (strcmp(rest->given[i]->name, name) == 0)
			return true;
	return false;
}

static int take_option(const struct opt *row, void *into, const char *text,
		       struct opt_operands *rest, struct err *e)
{
	if (opt_set(row, into, text, e))
		return -1;
	if (rest && rest->n_given < OPT_GIVEN_MAX && !opt_given(rest, row->name))
		rest->given[rest->n_given++] = row;
	return 0;
}

static int unknown_option(const struct opt *rows, const char *name, struct err *e)
{
	const char *names[256], *near;
	size_t n = 0;

	for (; !opt_is_end(rows) && n < 256; rows++)
		if (rows->name)
			names[n++] = rows->name;
	near = nearest_word(name, names, n);
	if (near)
		return err_usage(e, "--%s: no such option; did you mean --%s? (--help lists all)",
				 name, near);
	return err_usage(e, "--%s: no such option; --help lists all", name);
}

/* --NAME, --NAME=VALUE, --NAME VALUE, --no-FLAG. Returns how many words of argv it was, or -1. */
static int parse_long(const struct opt *rows, void *into, char **argv, int left,
		      struct opt_operands *rest, struct err *e)
{
	char name[64];
	const char *word = argv[0] + 2, *eq = strchr(word, '=');
	const struct opt *row;

	snprintf(name, sizeof(name), "%.*s", eq ? (int)(eq - word) : (int)strlen(word), word);
	row = opt_find(rows, name);
	if (!row && strncmp(name, "no-", 3) == 0 && !eq) {
		row = opt_find(rows, name + 3);
		if (row && row->type == OPT_FLAG)
			return take_option(row, into, "0", rest, e) ? -1 : 1;
		row = NULL;
	}
	if (!row)
		return unknown_option(rows, name, e);
	if (eq)
		return take_option(row, into, eq + 1, rest, e) ? -1 : 1;
	if (row->type == OPT_FLAG)
		return take_option(row, into, "1", rest, e) ? -1 : 1;
	if (left < 2)
		return err_usage(e, "--%s: its value is missing; write --%s %s", name, name,
				 row->arg ? row->arg : "VALUE");
	return take_option(row, into, argv[1], rest, e) ? -1 : 2;
}

/* -c VALUE, -cVALUE, and flags run together (-v4). */
static int parse_short(const struct opt *rows, void *into, char **argv, int left,
		       struct opt_operands *rest, struct err *e)
{
	for (const char *c = argv[0] + 1; *c; c++) {
		const struct opt *row = find_short(rows, *c);

		if (!row)
			return err_usage(e, "-%c: no such option; --help lists all", *c);
		if (row->type == OPT_FLAG) {
			if (take_option(row, into, "1", rest, e))
				return -1;
			continue;
		}
		if (c[1])
			return take_option(row, into, c + 1, rest, e) ? -1 : 1;
		if (left < 2)
			return err_usage(e, "-%c: its value is missing; write -%c %s", *c, *c,
					 row->arg ? row->arg : "VALUE");
		return take_option(row, into, argv[1], rest, e) ? -1 : 2;
	}
	return 1;
}

static int take_operand(struct opt_operands *rest, char *word, struct err *e)
{
	if (!rest || rest->none)
		return err_usage(e, "'%s': unexpected operand; options start with --, see --help",
				 word);
	rest->v[rest->n++] = word;
	return 0;
}

int opt_parse(const struct opt *rows, void *into, int argc, char **argv, struct opt_operands *rest,
	      struct err *e)
{
	bool only_operands = false;

	if (rest)
		rest->n = rest->n_given = 0;
	for (int i = 1; i < argc;) {
		int used = 1;

		if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
			if (take_operand(rest, argv[i], e))
				return -1;
			only_operands |= rest->stop_at_first;
		} else if (strcmp(argv[i], "--") == 0) {
			only_operands = true;
		} else if (argv[i][1] == '-') {
			used = parse_long(rows, into, argv + i, argc - i, rest, e);
		} else {
			used = parse_short(rows, into, argv + i, argc - i, rest, e);
		}
		if (used < 0)
			return -1;
		i += used;
	}
	return 0;
}

void opt_free(const struct opt *rows, void *into)
{
	for (; !opt_is_end(rows); rows++) {
		if (rows->type == OPT_STRING) {
			free(*FIELD(rows, into, char *));
			*FIELD(rows, into, char *) = NULL;
		} else if (rows->type == OPT_SIZES) {
			free(FIELD(rows, into, struct size_list)->v);
			*FIELD(rows, into, struct size_list) = (struct size_list){};
		} else if (rows->type == OPT_MULTI) {
			struct str_list *l = FIELD(rows, into, struct str_list);

			for (size_t i = 0; i < l->n; i++)
				free((char *)l->v[i]);
			free(l->v);
			*l = (struct str_list){};
		}
	}
}

static bool own_text(const char **text)
{
	bool had = *text;

	*text = had ? strdup(*text) : NULL;
	return *text || !had;
}

static bool own_sizes(struct size_list *l)
{
	const int64_t *theirs = l->v;

	l->v = array_new(l->n, 1, sizeof(*l->v));
	if (l->v && l->n)
		memcpy(l->v, theirs, l->n * sizeof(*l->v));
	l->n = l->v ? l->n : 0;
	return l->v;
}

static bool own_texts(struct str_list *l)
{
	const char **theirs = l->v;
	bool whole = true;

	l->v = array_new(l->n, 1, sizeof(*l->v));
	l->n = l->v ? l->n : 0;
	for (size_t i = 0; i < l->n; i++) {
		l->v[i] = theirs[i];
		whole &= own_text(&l->v[i]);
	}
	return l->v && whole;
}

int opt_own(const struct opt *rows, void *into)
{
	bool whole = true;

	for (; !opt_is_end(rows); rows++) {
		if (rows->type == OPT_STRING)
			whole &= own_text(FIELD(rows, into, const char *));
		else if (rows->type == OPT_SIZES)
			whole &= own_sizes(FIELD(rows, into, struct size_list));
		else if (rows->type == OPT_MULTI)
			whole &= own_texts(FIELD(rows, into, struct str_list));
	}
	return whole ? 0 : -1;
}

static void format_sizes(const struct size_list *l, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < l->n && at < len; i++)
		at += snprintf(buf + at, len - at, "%s%" PRId64, i ? "," : "", l->v[i]);
}

void opt_format(const struct opt *row, const void *from, char *buf, size_t len)
{
	buf[0] = '\0';
	switch (row->type) {
	case OPT_FLAG:
		snprintf(buf, len, "%d", *CFIELD(row, from, bool));
		break;
	case OPT_INT:
	case OPT_SIZE:
		snprintf(buf, len, "%" PRId64, *CFIELD(row, from, int64_t));
		break;
	case OPT_TIME:
		snprintf(buf, len, "%" PRId64 "ns", *CFIELD(row, from, int64_t));
		break;
	case OPT_REAL:
	case OPT_RATE:
		snprintf(buf, len, "%.17g", *CFIELD(row, from, double));
		break;
	case OPT_STRING:
		if (*CFIELD(row, from, char *))
			snprintf(buf, len, "%s", *CFIELD(row, from, char *));
		break;
	case OPT_ENUM:
		if (*CFIELD(row, from, int) >= 0) /* -1: not yet chosen */
			snprintf(buf, len, "%s", row->choices[*CFIELD(row, from, int)]);
		break;
	case OPT_SIZES:
		format_sizes(CFIELD(row, from, struct size_list), buf, len);
		break;
	case OPT_CPUS:
		if (CFIELD(row, from, struct cpu_pair)->a >= 0)
			snprintf(buf, len, "%d,%d", CFIELD(row, from, struct cpu_pair)->a,
				 CFIELD(row, from, struct cpu_pair)->b);
		break;
	case OPT_MULTI:
	case OPT_GROUP:
		break;
	}
}
