/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screen of W x H cells. It is drawn in memory, and only the cells that differ from the screen
 * are sent to the terminal. So nothing flickers, and a test can read what a person would see. It
 * uses ANSI sequences that every terminal of the last thirty years knows.
 */
#ifndef IPCSTALL_TOP_CANVAS_H
#define IPCSTALL_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum attr {
	ATTR_PLAIN,
	ATTR_BOLD,
	ATTR_DIM,
	ATTR_REVERSE,
	ATTR_RED,
	ATTR_YELLOW,
	ATTR_GREEN,
	ATTR_CYAN,
	ATTRS
};

struct cell {
	char ch;
	uint8_t attr;
};

struct canvas {
	int w, h;
	struct cell *cells, *shown; /* w * h each; shown: what the terminal has */
	bool no_colour;		    /* use bold, dim and reverse only */
	bool all;		    /* the terminal's contents are unknown: send everything */
	char *out;		    /* the bytes that canvas_diff() made */
	size_t n, room;
};

/* -1: no memory. What is drawn is lost when the size changes. */
int canvas_resize(struct canvas *c, int w, int h);
void canvas_free(struct canvas *c);

void canvas_clear(struct canvas *c);
/* Clipped at every side; returns the column after the text. */
int canvas_text(struct canvas *c, int y, int x, enum attr attr, const char *text);
int canvas_printf(struct canvas *c, int y, int x, enum attr attr, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Draws as many whole pieces of the text, separated by `between`, as the row has room for. Returns
 * the column after them. */
int canvas_pieces(struct canvas *c, int y, int x, enum attr attr, const char *text,
		  const char *between);
/* Draws a text broken at blanks, from column 0 of row y on; further rows begin at `indent`. Returns
 * the row after it. */
int canvas_wrapped(struct canvas *c, int y, int indent, enum attr attr, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Like canvas_wrapped(), but the first row begins at `indent` too. */
int canvas_hung(struct canvas *c, int y, int indent, enum attr attr, const char *text);
/* Fills a whole row with one attribute. */
void canvas_fill(struct canvas *c, int y, enum attr attr);

/* The sequence that turns an attribute on, as this canvas shows it. */
const char *canvas_sgr(const struct canvas *c, unsigned int attr);

/* Makes the bytes that bring the terminal up to date: c->out, c->n. They stay valid until the next
 * call. */
void canvas_diff(struct canvas *c);

#endif
