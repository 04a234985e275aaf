// SPDX-License-Identifier: GPL-2.0-only
/* --help and the man page's OPTIONS, rendered from the option rows. */
#include <string.h>

#include "base/terminal.h"
#include "base/opt.h"
#include "base/text.h"

enum { HELP_COLUMN = 28, HELP_WIDTH = 100, HELP_LEAST = 40, HELP_NARROW = 72 };

/* the terminal's width, if it is known and below HELP_WIDTH */
static int help_width(FILE *out)
{
	int width = terminal_width(out);

	if (width <= 0 || width > HELP_WIDTH)
		return HELP_WIDTH;
	return width < HELP_LEAST ? HELP_LEAST : width;
}

/* the column where texts begin; on a narrow screen they stand below what they explain */
static int help_column(FILE *out)
{
	return help_width(out) < HELP_NARROW ? 8 : HELP_COLUMN;
}

static void flag_text(const struct opt *o, char *buf, size_t len)
{
	char sh[8] = "    ";

	if (o->shorthand)
		snprintf(sh, sizeof(sh), "-%c, ", o->shorthand);
	snprintf(buf, len, "%s--%s%s%s", sh, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

static size_t next_word(const char *text)
{
	return strcspn(text, " \n");
}

/* An option and its value stay on one line. */
static size_t next_argument(const char *text)
{
	size_t word = next_word(text);
	bool has_value = text[0] == '-' && text[word] && text[word + 1] != '-';

	return has_value ? word + 1 + next_word(text + word + 1) : word;
}

/* Breaks between the parts that next() finds; each line but the last ends in line_end. */
static void wrap(FILE *out, const char *text, int column, size_t (*next)(const char *),
		 const char *line_end)
{
	int at = column, width = help_width(out) - (int)strlen(line_end);

	while (*text) {
		size_t part = next(text);

		if (at > column && at + 1 + (int)part > width) {
			fprintf(out, "%s\n%*s", line_end, column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)part, text);
		at += (int)part;
		text += part + (text[part] != '\0');
	}
	fputc('\n', out);
}

void opt_wrap(FILE *out, const char *text, int column)
{
	wrap(out, text, column, next_word, "");
}

void opt_wrap_command(FILE *out, const char *command, int column)
{
	wrap(out, command, column, next_argument, " \\");
}

const char opt_values_help[] =
	"A TIME has a unit: ns, us, ms, s, m (or min), h; a bare number is seconds. Bytes may end "
	"in K, M or G (1024 each), a RATE in k, M or G (1000 each). --no-NAME undoes an option "
	"that takes no value. If an option is given twice, the last one counts.";

static bool is_set(const struct opt *o, const void *values, char *buf, size_t len)
{
	const void *field = (const char *)values + o->offset;

	buf[0] = '\0';
	if (o->type == OPT_INT || o->type == OPT_SIZE || o->type == OPT_TIME) {
		if (*(const int64_t *)field)
			opt_amount_text(o, (double)*(const int64_t *)field, buf, len);
	} else if (o->type == OPT_REAL && *(const double *)field) {
		snprintf(buf, len, "%g", *(const double *)field);
	} else if (o->type == OPT_ENUM || o->type == OPT_STRING) {
		opt_format(o, values, buf, len);
	}
	return buf[0];
}

/* The row's help, with its default if that is set and the help does not mention it. */
static void full_text(const struct opt *o, const void *values, char *buf, size_t len)
{
	char value[96];

	snprintf(buf, len, "%s", o->help);
	if (values && !strstr(o->help, "default") && is_set(o, values, value, sizeof(value)))
		text_append(buf, len, " (default %s)", value);
}

void opt_help_word(const char *name, const char *text, FILE *out)
{
	int column = help_column(out);

	fprintf(out, "      %-*s", column - 6, name);
	if ((int)strlen(name) > column - 7)
		fprintf(out, "\n%*s", column, "");
	opt_wrap(out, text, column);
}

static void help_row(const struct opt *o, const void *values, FILE *out)
{
	char left[96], text[512];
	int column = help_column(out);

	if (o->type == OPT_GROUP) {
		snprintf(text, sizeof(text), "%s:", o->help);
		fputc('\n', out);
		opt_wrap(out, text, 0);
		return;
	}
	flag_text(o, left, sizeof(left));
	fprintf(out, "  %-*s", column - 2, left);
	if ((int)strlen(left) >= column - 2)
		fprintf(out, "\n%*s", column, "");
	full_text(o, values, text, sizeof(text));
	opt_wrap(out, text, column);
}

void opt_help(const struct opt *rows, const void *values, FILE *out)
{
	for (; rows->name || rows->help; rows++)
		help_row(rows, values, out);
}

enum { ROFF_WIDTH = 78 };

static int roff_char(char c, FILE *out)
{
	if (c == '-')
		return fputs("\\-", out), 2;
	if (c == '\\')
		return fputs("\\\\", out), 2;
	return fputc(c, out), 1;
}

/* One word; at a line's beginning a dot or quote would be taken for a request. */
static int roff_word(const char *word, size_t n, bool first, FILE *out)
{
	int width = 0;

	if (first && (*word == '.' || *word == '\''))
		width += (int)fwrite("\\&", 1, 2, out);
	for (size_t i = 0; i < n; i++)
		width += roff_char(word[i], out);
	return width;
}

/* A bare hyphen would be taken for a dash. Lines are broken as style checkers of man pages ask. */
void opt_man_text_n(const char *text, size_t n, FILE *out)
{
	const char *end = text + n;
	int at = 0;

	while (text < end) {
		size_t blanks = strspn(text, " \n"), word;

		text += blanks < (size_t)(end - text) ? blanks : (size_t)(end - text);
		word = strcspn(text, " \n");
		if (word > (size_t)(end - text))
			word = (size_t)(end - text);
		if (!word)
			break;
		if (at && at + 1 + (int)word > ROFF_WIDTH) {
			fputc('\n', out);
			at = 0;
		} else if (at) {
			fputc(' ', out);
			at++;
		}
		at += roff_word(text, word, at == 0, out);
		text += word;
	}
}

void opt_man_text(const char *text, FILE *out)
{
	opt_man_text_n(text, strlen(text), out);
}

void opt_man_word(const char *name, const char *text, FILE *out)
{
	fprintf(out, ".TP\n.B %s\n", name);
	opt_man_text(text, out);
	fputc('\n', out);
}

void opt_man(const struct opt *rows, const void *values, FILE *out)
{
	char text[512];

	for (; rows->name || rows->help; rows++) {
		if (rows->type == OPT_GROUP) {
			fprintf(out, ".SS %s\n", rows->help);
			continue;
		}
		fputs(".TP\n.B ", out);
		if (rows->shorthand)
			fprintf(out, "\\-%c, ", rows->shorthand);
		fputs("\\-\\-", out);
		opt_man_text(rows->name, out);
		if (rows->arg)
			fprintf(out, " \\fI%s\\fR", rows->arg);
		fputc('\n', out);
		full_text(rows, values, text, sizeof(text));
		opt_man_text(text, out);
		fputc('\n', out);
	}
}
