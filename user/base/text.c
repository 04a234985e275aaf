// SPDX-License-Identifier: GPL-2.0-only
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void trim_end(char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
}

bool text_first_line(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	out[0] = 0;
	if (!f)
		return false;
	ok = fgets(out, (int)size, f) != NULL;
	fclose(f);
	trim_end(out);
	return ok;
}

bool text_u64(const char *path, uint64_t *out)
{
	char line[64], *end;

	if (!text_first_line(path, line, sizeof(line)) || !isdigit((unsigned char)line[0]))
		return false;
	errno = 0;
	*out = strtoull(line, &end, 10);
	return !errno && !*end;
}

struct proc_path proc_path(pid_t pid, const char *fmt, ...)
{
	struct proc_path p;
	int n = snprintf(p.text, sizeof(p.text), "/proc/%d/", (int)pid);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p.text + n, sizeof(p.text) - (size_t)n, fmt, ap);
	va_end(ap);
	return p;
}

struct text_lines text_lines(const char *path)
{
	return (struct text_lines){ .f = fopen(path, "re") };
}

bool text_lines_next(struct text_lines *l)
{
	return l->f && getline(&l->text, &l->room, l->f) > 0;
}

void text_lines_end(struct text_lines *l)
{
	free(l->text);
	if (l->f)
		fclose(l->f);
}

/* The value when the line has this key, else NULL. */
static char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n))
		return NULL;
	line += n;
	line += strspn(line, " \t");
	if (*line++ != ':')
		return NULL;
	return line + strspn(line, " \t");
}

bool text_field(const char *path, const char *key, char *out, size_t size)
{
	out[0] = 0;
	for_each_line (l, path) {
		char *value = value_of(l.text, key);

		if (!value)
			continue;
		trim_end(value);
		snprintf(out, size, "%s", value);
		return true;
	}
	return false;
}

bool text_has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; n && (p = strstr(p, word)); p += n) {
		bool starts = p == list || isspace((unsigned char)p[-1]);

		if (starts && (!p[n] || isspace((unsigned char)p[n])))
			return true;
	}
	return false;
}

void text_append(char *out, size_t size, const char *fmt, ...)
{
	size_t used = strnlen(out, size);
	va_list ap;

	if (used >= size)
		return;
	va_start(ap, fmt);
	vsnprintf(out + used, size - used, fmt, ap);
	va_end(ap);
}

/* ---- foreign text ---- */

/* The length of the UTF-8 character at s (RFC 3629: the shortest form, no surrogates), and its
 * number; 0: none is there. */
static size_t read_character(const unsigned char *s, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = s[0] < 0x80       ? 1
		     : s[0] >> 5 == 6  ? 2
		     : s[0] >> 4 == 14 ? 3
		     : s[0] >> 3 == 30 ? 4
				       : 0;

	if (!len || len > n)
		return 0;
	*c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return *c < least[len] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : len;
}

/* The two sets of control characters (escape sequences begin in both), the ends of lines and
 * paragraphs, and the direction marks. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void clean(char *s, size_t size, bool lines)
{
	size_t n = size ? strnlen(s, size - 1) : 0, at = 0, out = 0;

	if (!size)
		return;
	while (at < n) {
		uint32_t c = 0;
		size_t len = read_character((unsigned char *)s + at, n - at, &c);

		if (!len || (is_control(c) && !(lines && c == '\n'))) {
			s[out++] = '?';
		} else {
			memmove(s + out, s + at, len);
			out += len;
		}
		at += len ? len : 1;
	}
	memset(s + out, 0, n + 1 - out);
}

void text_clean(char *s, size_t size)
{
	clean(s, size, false);
}

void text_clean_lines(char *s, size_t size)
{
	clean(s, size, true);
}

void text_comm(char out[16], const char in[16])
{
	memcpy(out, in, 16);
	clean(out, 16, false);
}

uint64_t text_link_inode(const char *link)
{
	uint64_t inode;

	return sscanf(link, "socket:[%" SCNu64, &inode) == 1 ||
			       sscanf(link, "pipe:[%" SCNu64, &inode) == 1
		       ? inode
		       : 0;
}
