// SPDX-License-Identifier: GPL-2.0-only
/* Just enough JSON writing for one line: keys and texts are the program's own or a command's name.
 */
#include "known.h"

static void comma_key(struct json *j, const char *key)
{
	if (j->more)
		fputc(',', j->f);
	j->more = true;
	if (key)
		fprintf(j->f, "\"%s\":", key);
}

void json_open(struct json *j, const char *key, char bracket)
{
	comma_key(j, key);
	fputc(bracket, j->f);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	fputc(bracket, j->f);
	j->more = true;
}

void json_int(struct json *j, const char *key, long long value)
{
	comma_key(j, key);
	fprintf(j->f, "%lld", value);
}

void json_real(struct json *j, const char *key, double value)
{
	comma_key(j, key);
	fprintf(j->f, "%g", value);
}

void json_text(struct json *j, const char *key, const char *value)
{
	comma_key(j, key);
	fputc('"', j->f);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', j->f);
		if ((unsigned char)*value >= ' ')
			fputc(*value, j->f);
	}
	fputc('"', j->f);
}
