// SPDX-License-Identifier: GPL-2.0-only
/* --help and the man page's OPTIONS, rendered from the option rows. */
#include <string.h>

#include "lib/opt.h"

enum { HELP_COLUMN = 28, HELP_WIDTH = 100 };

static void flag_text(const struct opt *o, char *buf, size_t len)
{
	char sh[8] = "    ";

	if (o->shorthand)
		snprintf(sh, sizeof(sh), "-%c, ", o->shorthand);
	snprintf(buf, len, "%s--%s%s%s", sh, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

void opt_wrap(FILE *out, const char *text, int column)
{
	int at = column;

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (at > column && at + 1 + (int)word > HELP_WIDTH) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)word, text);
		at += (int)word;
		text += word + (text[word] != '\0');
	}
	fputc('\n', out);
}

static void help_row(const struct opt *o, FILE *out)
{
	char left[96];

	if (o->type == OPT_GROUP) {
		fprintf(out, "\n%s:\n", o->help);
		return;
	}
	flag_text(o, left, sizeof(left));
	fprintf(out, "  %-*s", HELP_COLUMN - 2, left);
	if (strlen(left) >= HELP_COLUMN - 2)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	opt_wrap(out, o->help, HELP_COLUMN);
}

void opt_help(const struct opt *rows, FILE *out)
{
	for (; rows->name || rows->help; rows++)
		help_row(rows, out);
}

/* roff: a leading dot or quote would be taken for a request, a bare hyphen for a dash. */
static void roff(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\\\", out);
		else
			fputc(*text, out);
	}
}

void opt_man(const struct opt *rows, FILE *out)
{
	for (; rows->name || rows->help; rows++) {
		if (rows->type == OPT_GROUP) {
			fprintf(out, ".SS %s\n", rows->help);
			continue;
		}
		fputs(".TP\n.B ", out);
		if (rows->shorthand)
			fprintf(out, "\\-%c, ", rows->shorthand);
		fputs("\\-\\-", out);
		roff(out, rows->name);
		if (rows->arg)
			fprintf(out, " \\fI%s\\fR", rows->arg);
		fputc('\n', out);
		roff(out, rows->help);
		fputc('\n', out);
	}
}
