// SPDX-License-Identifier: GPL-2.0-only
/* Numbers with units, and the nearest word to a mistyped one. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/opt.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit size_units[] = {
	{ "", 1 },	     { "B", 1 },	       { "K", 1024 },	 { "KB", 1024 },
	{ "KiB", 1024 },     { "M", 1 << 20 },	       { "MB", 1 << 20 }, { "MiB", 1 << 20 },
	{ "G", 1 << 30 },    { "GB", 1 << 30 },	       { "GiB", 1 << 30 }, { NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", 1e9 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 },
		{ "min", 60e9 }, { "h", 3600e9 }, { NULL, 0 },
};

static const struct unit count_units[] = {
	{ "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { NULL, 0 },
};

/* strtod() also takes hex, inf and nan: a quantity starts with a digit, a sign or a point, and is
 * finite. */
static int parse_quantity(const char *text, const struct unit *units, double *out)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]) && !strchr("+-.", text[0]))
		return -1;
	if (strpbrk(text, "xXpP"))
		return -1;
	errno = 0;
	v = strtod(text, &end);
	if (end == text || errno == ERANGE || !isfinite(v))
		return -1;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name) == 0) {
			*out = v * units->factor;
			return 0;
		}
	}
	return -1;
}

static int to_int64(double v, int64_t *out)
{
	if (v != floor(v))
		return -1;
	if (fabs(v) > INT64_LIMIT)
		return PARSE_RANGE;
	*out = (int64_t)v;
	return 0;
}

int parse_size(const char *text, int64_t *out)
{
	double v;

	return *text && parse_quantity(text, size_units, &v) == 0 ? to_int64(v, out) : -1;
}

int parse_pid(const char *text, long *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*out = strtol(text, &end, 10);
	return *end || errno || *out < 1 || *out > 4 * 1024 * 1024 ? -1 : 0;
}

int parse_time_ns(const char *text, int64_t *out)
{
	double v;

	if (!*text || parse_quantity(text, time_units, &v))
		return -1;
	return to_int64(nearbyint(v), out);
}

int parse_real(const char *text, double *out)
{
	return *text ? parse_quantity(text, count_units, out) : -1;
}

static int push_size(struct size_list *l, int64_t v, const char *text, struct err *e)
{
	int64_t *grown;

	if (v < 1 || v > SIZE_LIMIT)
		return err_usage(
			e, "size '%s': a message is 1 byte to 1G; give a size in that range", text);
	if (l->n >= SIZES_MOST)
		return err_usage(e, "size '%s': more than %d sizes; use a larger step", text,
				 SIZES_MOST);
	grown = array_resize(l->v, l->n, 1, sizeof(*l->v));
	if (!grown)
		return err_resource(e, "size list: out of memory; give fewer sizes");
	l->v = grown;
	l->v[l->n++] = v;
	return 0;
}

/* FROM:TO:+STEP or FROM:TO:*FACTOR, both ends included when they are met. */
static int push_range(struct size_list *l, char *text, struct err *e)
{
	char whole[96], *to, *step;
	int64_t from, upto, by;

	snprintf(whole, sizeof(whole), "%s", text);
	to = strchr(text, ':');
	*to++ = '\0';
	step = strchr(to, ':');
	if (step)
		*step++ = '\0';
	if (!step || (*step != '+' && *step != '*') || parse_size(text, &from) ||
	    parse_size(to, &upto) || parse_size(step + 1, &by) || by < (*step == '*' ? 2 : 1) ||
	    from > upto)
		return err_usage(e,
				 "size range '%s': not FROM:TO:+STEP or FROM:TO:*FACTOR; try "
				 "1400:9000:+4 or 4:512K:*2",
				 whole);
	for (int64_t v = from; v <= upto; v = *step == '+' ? sum(v, by) : product(v, by))
		if (push_size(l, v, whole, e))
			return -1;
	return 0;
}

static int push_item(struct size_list *l, char *item, struct err *e)
{
	int64_t v;

	if (strchr(item, ':'))
		return push_range(l, item, e);
	if (parse_size(item, &v))
		return err_usage(e,
				 "size '%s': not a number of bytes; try 4, 16K, 1M, a list 4,16,64 "
				 "or a range 4:512K:*2",
				 item);
	return push_size(l, v, item, e);
}

int parse_sizes(const char *text, struct size_list *out, struct err *e)
{
	char *copy = strdup(text), *rest = copy, *item;
	struct size_list l = {};
	int rc = copy ? 0 : err_resource(e, "size list: out of memory; give fewer sizes");

	while (rc == 0 && (item = strsep(&rest, ",")))
		rc = push_item(&l, item, e);
	free(copy);
	if (rc) {
		free(l.v);
		return rc;
	}
	*out = l;
	return 0;
}

static size_t distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), row[64];

	if (lb >= 63 || la >= 63)
		return 64;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t change = diag + (a[i - 1] != b[j - 1]);
			size_t best = row[j] + 1 < row[j - 1] + 1 ? row[j] + 1 : row[j - 1] + 1;

			diag = row[j];
			row[j] = best < change ? best : change;
		}
	}
	return row[lb];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t least = strlen(word) / 2 + 1;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, candidates[i]);

		if (d <= least && (!best || d < least)) {
			least = d;
			best = candidates[i];
		}
	}
	return best;
}
