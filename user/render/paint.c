// SPDX-License-Identifier: GPL-2.0-only
#include "render/paint.h"
#include "base/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const colour_choices[] = { "auto", "always", "never", NULL };

enum { WIDTH_LEAST = 40, WIDTH_MOST = 200, WIDTH_ELSEWHERE = 80 };

static const char *const codes[INKS] = {
	[INK_BOLD] = "1", [INK_DIM] = "2", [INK_RED] = "31", [INK_YELLOW] = "33",
		[INK_GREEN] = "32", [INK_CYAN] = "36",
	[INK_BOLD_RED] = "1;31", [INK_BOLD_YELLOW] = "1;33", [INK_BOLD_GREEN] = "1;32",
};

static int width_of(FILE *out)
{
	int width = terminal_width(out);

	if (width <= 0)
		width = WIDTH_ELSEWHERE;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

static bool locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *v = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(v && *v); i++)
		v = getenv(names[i]);
	return v && (strcasestr(v, "utf-8") || strcasestr(v, "utf8"));
}

static bool wants_colour(FILE *out, enum colour_when colour)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return terminal_is(out) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

struct paint paint_on(FILE *out, enum colour_when colour)
{
	return (struct paint){ .out = out,
			       .colour = wants_colour(out, colour),
			       .utf8 = locale_is_utf8(),
			       .width = width_of(out) };
}

static bool inked(const struct paint *p, enum ink ink)
{
	return p->colour && codes[ink];
}

const char *paint_begin(const struct paint *p, enum ink ink)
{
	static char seq[INKS][12];

	if (!inked(p, ink))
		return "";
	snprintf(seq[ink], sizeof(seq[ink]), "\033[%sm", codes[ink]);
	return seq[ink];
}

const char *paint_end(const struct paint *p, enum ink ink)
{
	return inked(p, ink) ? "\033[0m" : "";
}

void paint_text(const struct paint *p, enum ink ink, const char *text)
{
	fprintf(p->out, "%s%s%s", paint_begin(p, ink), text, paint_end(p, ink));
}

/* continuation bytes of UTF-8 take no column */
static int columns(const char *s, size_t n)
{
	int w = 0;

	for (size_t i = 0; i < n && s[i]; i++)
		w += (s[i] & 0xc0) != 0x80;
	return w;
}

int paint_width(const char *text)
{
	return columns(text, strlen(text));
}

static void new_line(const struct paint *p, enum ink ink, int indent)
{
	fprintf(p->out, "%s\n%*s%s", paint_end(p, ink), indent, "", paint_begin(p, ink));
}

int paint_wrapped(const struct paint *p, enum ink ink, const char *text, int at, int indent)
{
	fputs(paint_begin(p, ink), p->out);
	for (bool first = true; *text; first = false) {
		int gap = (int)strspn(text, " ");
		size_t n = strcspn(text + gap, " ");
		int w = columns(text + gap, n);

		if (!first && at + gap + w > p->width) {
			new_line(p, ink, indent);
			at = indent;
			gap = 0;
			text += strspn(text, " ");
		}
		fprintf(p->out, "%.*s", gap + (int)n, text);
		at += gap + w;
		text += gap + (int)n;
	}
	fputs(paint_end(p, ink), p->out);
	return at;
}

void paint_paragraph(const struct paint *p, enum ink ink, int at, int indent, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(p->out, "%*s", at, "");
	paint_wrapped(p, ink, text, at, indent);
	fputc('\n', p->out);
}

static void utf8_bar(FILE *out, int eighths, int width)
{
	static const char *const part[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int whole = eighths / 8, rest = eighths % 8;

	for (int i = 0; i < whole; i++)
		fputs("█", out);
	fputs(part[rest], out);
	fprintf(out, "%*s", width - whole - (rest > 0), "");
}

void paint_bar(const struct paint *p, enum ink ink, double share, int width)
{
	int eighths = (int)((share < 0	 ? 0
			     : share > 1 ? 1
					 : share) *
				    8 * width +
			    0.5),
	    whole = (eighths + 4) / 8;

	if (share > 0 && !eighths)
		eighths = 1;
	fputs(paint_begin(p, ink), p->out);
	if (p->utf8) {
		utf8_bar(p->out, eighths, width);
	} else {
		for (int i = 0; i < width; i++)
			fputc(i < whole ? '#' : ' ', p->out);
	}
	fputs(paint_end(p, ink), p->out);
}
