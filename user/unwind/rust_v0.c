// SPDX-License-Identifier: GPL-2.0-only
/* Rust's newer mangling (RFC 2603): _R and a path. A letter says what follows, a name has its
 * length in front, and a back reference repeats an earlier part. Lifetimes and constants are left
 * out. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "unwind/frame_sources.h"

enum { DEPTH_MOST = 64, STEPS_MOST = 2000 };

struct mangled {
	const char *text; /* after the _R: positions count from there */
	size_t at;
	char *out; /* NULL: parse only, write nothing */
	size_t len;
	int depth, steps;
	bool bad;
};

static void path(struct mangled *m);
static void type(struct mangled *m);

static void put(struct mangled *m, const char *text)
{
	if (m->out)
		text_append(m->out, m->len, "%s", text);
}

static bool take(struct mangled *m, char c)
{
	if (m->bad || m->text[m->at] != c)
		return false;
	m->at++;
	return true;
}

static char next(struct mangled *m)
{
	char c = m->bad ? '\0' : m->text[m->at];

	if (c)
		m->at++;
	else
		m->bad = true;
	return c;
}

static int digit62(char c)
{
	return isdigit((unsigned char)c)   ? c - '0'
	       : islower((unsigned char)c) ? c - 'a' + 10
	       : isupper((unsigned char)c) ? c - 'A' + 36
					   : -1;
}

/* "_" is 0, "0_" is 1 */
static size_t base62(struct mangled *m)
{
	size_t value = 0;

	if (take(m, '_'))
		return 0;
	while (!m->bad && !take(m, '_')) {
		int digit = digit62(next(m));

		m->bad |= digit < 0; /* a large number may wrap: it may be a hash */
		value = value * 62 + (size_t)digit;
	}
	return value + 1;
}

static void disambiguator(struct mangled *m)
{
	if (take(m, 's'))
		base62(m);
}

static void name(struct mangled *m)
{
	size_t n = 0;

	take(m, 'u');
	while (isdigit((unsigned char)m->text[m->at]) && n < 4096)
		n = n * 10 + (size_t)(next(m) - '0');
	take(m, '_');
	if (m->bad || n > strlen(m->text + m->at)) {
		m->bad = true;
		return;
	}
	if (m->out)
		text_append(m->out, m->len, "%.*s", (int)n, m->text + m->at);
	m->at += n;
}

/* a back reference: parses an earlier part again */
static void again(struct mangled *m, void (*what)(struct mangled *m))
{
	size_t there = base62(m), here = m->at;

	m->bad |= there >= here;
	if (m->bad || !m->out)
		return;
	m->at = there;
	what(m);
	m->at = here;
}

static void silently(struct mangled *m, void (*what)(struct mangled *m))
{
	char *out = m->out;

	m->out = NULL;
	what(m);
	m->out = out;
}

static void constant(struct mangled *m)
{
	put(m, "_");
	if (take(m, 'p'))
		return;
	if (take(m, 'B')) {
		base62(m);
		return;
	}
	silently(m, type);
	while (!m->bad && next(m) != '_')
		;
}

static void argument(struct mangled *m)
{
	if (take(m, 'L')) {
		base62(m);
		put(m, "'_");
	} else if (take(m, 'K')) {
		constant(m);
	} else {
		type(m);
	}
}

static void list(struct mangled *m, void (*what)(struct mangled *m), const char *from,
		 const char *to)
{
	put(m, from);
	for (int n = 0; !m->bad && !take(m, 'E'); n++) {
		if (n)
			put(m, ", ");
		what(m);
	}
	put(m, to);
}

/* 'a' to 'z' */
static const char *const basic[26] = { "i8",   "bool",	"char",	 "f64", "str", "f32", NULL,
				       "u8",   "isize", "usize", NULL,	"i32", "u32", "i128",
				       "u128", "_",	NULL,	 NULL,	"i16", "u16", "()",
				       "...",  NULL,	"i64",	 "u64", "!" };

static void binder(struct mangled *m)
{
	if (take(m, 'G'))
		base62(m);
}

static void function_type(struct mangled *m)
{
	binder(m);
	take(m, 'U');
	if (take(m, 'K') && !take(m, 'C'))
		silently(m, name);
	list(m, type, "fn(", ")");
	put(m, " -> ");
	type(m);
}

static void bound(struct mangled *m)
{
	path(m);
	while (take(m, 'p')) {
		silently(m, name);
		silently(m, type);
	}
}

static void pointed_at(struct mangled *m, const char *mark)
{
	put(m, mark);
	if (take(m, 'L'))
		base62(m);
	type(m);
}

static void compound_type(struct mangled *m, char c)
{
	switch (c) {
	case 'A':
	case 'S':
		put(m, "[");
		type(m);
		if (c == 'A')
			silently(m, constant);
		put(m, "]");
		break;
	case 'T':
		list(m, type, "(", ")");
		break;
	case 'R':
		pointed_at(m, "&");
		break;
	case 'Q':
		pointed_at(m, "&mut ");
		break;
	case 'P':
		pointed_at(m, "*const ");
		break;
	case 'O':
		pointed_at(m, "*mut ");
		break;
	case 'F':
		function_type(m);
		break;
	case 'D':
		binder(m);
		list(m, bound, "dyn ", "");
		if (take(m, 'L'))
			base62(m);
		break;
	case 'B':
		again(m, type);
		break;
	default:
		m->at--;
		path(m);
	}
}

/* The text is not trusted: both the depth and the number of steps are limited. */
static bool enters(struct mangled *m)
{
	m->bad |= ++m->depth > DEPTH_MOST || ++m->steps > STEPS_MOST;
	return !m->bad;
}

static void type(struct mangled *m)
{
	char c = enters(m) ? next(m) : '\0';

	if (!m->bad && islower((unsigned char)c))
		put(m, basic[c - 'a'] ? basic[c - 'a'] : "_");
	else if (!m->bad)
		compound_type(m, c);
	m->depth--;
}

/* after "N": types and values have lower-case letters, closures and the like upper-case ones */
static void nested(struct mangled *m)
{
	char space = next(m);

	path(m);
	put(m, "::");
	disambiguator(m);
	if (isupper((unsigned char)space)) {
		silently(m, name);
		put(m, space == 'C' ? "{{closure}}" : "{{shim}}");
	} else {
		name(m);
	}
}

static void implemented(struct mangled *m, char c)
{
	if (c != 'Y') {
		disambiguator(m);
		silently(m, path);
	}
	put(m, "<");
	type(m);
	if (c != 'M') {
		put(m, " as ");
		path(m);
	}
	put(m, ">");
}

static void path(struct mangled *m)
{
	char c = enters(m) ? next(m) : '\0';

	if (c == 'C') {
		disambiguator(m);
		name(m);
	} else if (c == 'N') {
		nested(m);
	} else if (c == 'M' || c == 'X' || c == 'Y') {
		implemented(m, c);
	} else if (c == 'I') {
		path(m);
		list(m, argument, "<", ">");
	} else if (c == 'B') {
		again(m, path);
	} else {
		m->bad = true;
	}
	m->depth--;
}

/* Removes the brackets around a method's type, as debug information writes it:
 * app::Server::answer. */
static void without_brackets(char *text)
{
	char *end = text[0] == '<' ? strstr(text, ">::") : NULL;

	if (!end || strstr(text, " as ") || memchr(text + 1, '<', (size_t)(end - text - 1)))
		return;
	memmove(end, end + 1, strlen(end + 1) + 1);
	memmove(text, text + 1, strlen(text + 1) + 1);
}

bool rust_v0(const char *mangled, char *buf, size_t len)
{
	struct mangled m = { .text = mangled + 2, .out = buf, .len = len };

	if (strncmp(mangled, "_R", 2))
		return false;
	buf[0] = '\0';
	path(&m);
	if (m.bad)
		return false;
	without_brackets(buf);
	return true;
}
