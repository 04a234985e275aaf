// SPDX-License-Identifier: GPL-2.0-only
/* How a message is cut into writes. */
#include <string.h>

#include "bench/run.h"

enum { HEADER_DEFAULT = 16, TRAILER_DEFAULT = 4 };

static const struct {
	const char *name;
	enum pattern_kind kind;
	int64_t bytes; /* default; 0: must be given */
} kinds[] = {
	{ "single", PATTERN_SINGLE, 0 },
	{ "header", PATTERN_HEADER, HEADER_DEFAULT },
	{ "trailer", PATTERN_TRAILER, TRAILER_DEFAULT },
	{ "chunks", PATTERN_CHUNKS, 0 },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int unknown(const char *text, const char *name, struct err *e)
{
	const char *names[KINDS], *near;

	for (size_t i = 0; i < KINDS; i++)
		names[i] = kinds[i].name;
	near = nearest_word(name, names, KINDS);
	return err_usage(
		e, "--pattern '%s': unknown; %s%s%s single, header[=N], trailer[=N] or chunks=N",
		text, near ? "did you mean '" : "give", near ? near : "",
		near ? "'? Known:" : " one of");
}

int pattern_parse(const char *text, struct pattern *p, struct err *e)
{
	char name[32];
	const char *eq = strchr(text, '=');

	snprintf(name, sizeof(name), "%.*s", eq ? (int)(eq - text) : (int)strlen(text), text);
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(name, kinds[i].name))
			continue;
		*p = (struct pattern){ kinds[i].kind, kinds[i].bytes };
		if (eq && (p->kind == PATTERN_SINGLE || parse_size(eq + 1, &p->bytes) ||
			   p->bytes < 1 || p->bytes > 1 << 30))
			return err_usage(
				e, "--pattern '%s': '%s' is not a number of bytes for it; try %s",
				text, eq + 1,
				p->kind == PATTERN_SINGLE ? "single"
							  : "header=16, trailer=4 or chunks=4096");
		if (p->kind != PATTERN_SINGLE && !p->bytes)
			return err_usage(
				e,
				"--pattern '%s': the number of bytes is missing; try chunks=4096",
				text);
		return 0;
	}
	return unknown(text, name, e);
}

static enum io two(struct run *r, size_t first, size_t size)
{
	enum io rc = r->w->send_msg(&r->conn, r->buf, first, r->plan->o.more);

	return rc == IO_OK ? r->w->send_msg(&r->conn, r->buf + first, size - first, false) : rc;
}

static enum io chunks(struct run *r, size_t chunk, size_t size)
{
	enum io rc = IO_OK;

	for (size_t at = 0; at < size && rc == IO_OK; at += chunk) {
		size_t part = size - at < chunk ? size - at : chunk;

		rc = r->w->send_msg(&r->conn, r->buf + at, part,
				    r->plan->o.more && at + part < size);
	}
	return rc;
}

enum io pattern_send(struct run *r, size_t size)
{
	size_t n = (size_t)r->plan->pattern.bytes;

	switch (r->plan->pattern.kind) {
	case PATTERN_HEADER: return two(r, n, size);
	case PATTERN_TRAILER: return two(r, size - n, size);
	case PATTERN_CHUNKS: return chunks(r, n, size);
	default: return r->w->send_msg(&r->conn, r->buf, size, false);
	}
}
