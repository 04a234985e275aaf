// SPDX-License-Identifier: GPL-2.0-only
#include "export/openmetrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct exposition *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool make_room(struct exposition *x, size_t more)
{
	size_t room = 2 * (x->n + more) + 4096;
	char *p;

	if (x->n + more < x->room)
		return true;
	p = realloc(x->text, room);
	if (!p) {
		x->failed = true;
		return false;
	}
	x->text = p;
	x->room = room;
	return true;
}

static void put(struct exposition *x, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || x->failed || !make_room(x, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(x->text + x->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	x->n += (size_t)n;
}

static const char *suffix(const struct metric *m)
{
	return m->type == METRIC_COUNTER ? "_total" : m->type == METRIC_INFO ? "_info" : "";
}

/* The older text format has no `info` type, and puts the suffix of the samples into the family's
 * name. */
void expo_family(struct exposition *x, const struct metric *m)
{
	static const char *const now[] = { "counter", "gauge", "histogram", "info" };
	static const char *const before[] = { "counter", "gauge", "histogram", "gauge" };
	const char *end = x->openmetrics ? "" : suffix(m);

	put(x, "# HELP %s%s %s\n", m->name, end, m->help);
	put(x, "# TYPE %s%s %s\n", m->name, end, (x->openmetrics ? now : before)[m->type]);
}

static void put_name(struct exposition *x, const char *name, const char *end, const char *labels)
{
	put(x, "%s%s%s%s%s ", name, end, *labels ? "{" : "", labels, *labels ? "}" : "");
}

void expo_u64(struct exposition *x, const struct metric *m, const char *labels, uint64_t v)
{
	put_name(x, m->name, suffix(m), labels);
	put(x, "%" PRIu64 "\n", v);
}

/* Whole nanoseconds: a double would lose them after a hundred days. */
static void put_seconds(struct exposition *x, uint64_t ns)
{
	put(x, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

void expo_seconds(struct exposition *x, const struct metric *m, const char *labels, uint64_t ns)
{
	put_name(x, m->name, suffix(m), labels);
	put_seconds(x, ns);
}

void expo_histogram(struct exposition *x, const struct metric *m, const char *labels,
		    const double *le, const uint64_t *n, size_t buckets, uint64_t sum_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < buckets; i++) {
		sum += n[i];
		if (isinf(le[i]))
			put(x, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", m->name, labels,
			    *labels ? "," : "", sum);
		else
			put(x, "%s_bucket{%s%sle=\"%.9g\"} %" PRIu64 "\n", m->name, labels,
			    *labels ? "," : "", le[i], sum);
	}
	put_name(x, m->name, "_count", labels);
	put(x, "%" PRIu64 "\n", sum);
	put_name(x, m->name, "_sum", labels);
	put_seconds(x, sum_ns);
}

void expo_end(struct exposition *x)
{
	if (x->openmetrics)
		put(x, "# EOF\n");
}

void expo_free(struct exposition *x)
{
	free(x->text);
	*x = (struct exposition){};
}

void label_add(char *labels, size_t size, const char *name, const char *value)
{
	size_t n = strlen(labels);

	n += (size_t)snprintf(labels + n, size - n, "%s%s=\"", n ? "," : "", name);
	for (; *value && n + 4 < size; value++) {
		if (*value == '"' || *value == '\\')
			labels[n++] = '\\';
		labels[n++] = *value == '\n' || ((unsigned char)*value >= ' ' && *value != 0x7f)
				      ? *value
				      : '?';
		if (*value == '\n')
			memcpy(labels + n - 1, "\\n", 2), n++;
	}
	if (n + 2 <= size)
		memcpy(labels + n, "\"", 2);
}
