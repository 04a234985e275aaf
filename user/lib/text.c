// SPDX-License-Identifier: GPL-2.0-only
#include "lib/text.h"

#include <ctype.h>
#include <errno.h>
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
	FILE *f = fopen(path, "re");
	char *line = NULL, *value = NULL;
	size_t cap = 0;

	out[0] = 0;
	if (!f)
		return false;
	while (!value && getline(&line, &cap, f) > 0)
		value = value_of(line, key);
	if (value) {
		trim_end(value);
		snprintf(out, size, "%s", value);
	}
	free(line);
	fclose(f);
	return value != NULL;
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
