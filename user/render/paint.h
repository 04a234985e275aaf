/* SPDX-License-Identifier: GPL-2.0-only */
/* Text output with optional colours, bars, and lines no wider than the terminal. */
#ifndef IPCSTALL_RENDER_PAINT_H
#define IPCSTALL_RENDER_PAINT_H

#include <stdbool.h>
#include <stdio.h>

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
extern const char *const colour_choices[]; /* values of the option --color */

enum ink {
	INK_PLAIN,
	INK_BOLD,
	INK_DIM,
	INK_RED,
	INK_YELLOW,
	INK_GREEN,
	INK_CYAN,
	INK_BOLD_RED,
	INK_BOLD_YELLOW,
	INK_BOLD_GREEN,
	INKS
};

struct paint {
	FILE *out;
	bool colour, utf8;
	int width;
};

/* Colour: as requested; COLOUR_AUTO means on a terminal unless NO_COLOR is set. UTF-8: by the
 * locale. Width: COLUMNS, the terminal's, or 80. */
struct paint paint_on(FILE *out, enum colour_when colour);

/* "" without colour */
const char *paint_begin(const struct paint *p, enum ink ink);
const char *paint_end(const struct paint *p, enum ink ink);
void paint_text(const struct paint *p, enum ink ink, const char *text);

/* the number of columns that a text takes */
int paint_width(const char *text);

/* Prints a text from column `at` on, broken at blanks so that no line is wider than the screen.
 * Further lines begin at `indent`. Returns the column after the text. */
int paint_wrapped(const struct paint *p, enum ink ink, const char *text, int at, int indent);

/* Prints a paragraph: `at` blanks, then the text; further lines begin at `indent`. */
void paint_paragraph(const struct paint *p, enum ink ink, int at, int indent, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* `width` columns, of which `share` (0 to 1) are filled; the rest are blanks */
void paint_bar(const struct paint *p, enum ink ink, double share, int width);

#endif
