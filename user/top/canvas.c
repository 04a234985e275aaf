// SPDX-License-Identifier: GPL-2.0-only
#include "top/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int canvas_resize(struct canvas *c, int w, int h)
{
	size_t n = (size_t)w * (size_t)h;
	struct cell *cells = array_new(n, 1, sizeof(*cells)),
		    *shown = array_new(n, 1, sizeof(*shown));

	if (!cells || !shown) {
		free(cells);
		free(shown);
		return -1;
	}
	free(c->cells);
	free(c->shown);
	c->cells = cells;
	c->shown = shown;
	c->w = w;
	c->h = h;
	c->all = true;
	canvas_clear(c);
	return 0;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	free(c->shown);
	free(c->out);
	*c = (struct canvas){};
}

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->w * c->h; i++)
		c->cells[i] = (struct cell){ ' ', ATTR_PLAIN };
}

int canvas_text(struct canvas *c, int y, int x, enum attr attr, const char *text)
{
	for (; *text; text++, x++)
		if (y >= 0 && y < c->h && x >= 0 && x < c->w)
			c->cells[y * c->w + x] =
				(struct cell){ *text < ' ' || *text > '~' ? '?' : *text,
					       (uint8_t)attr };
	return x;
}

int canvas_printf(struct canvas *c, int y, int x, enum attr attr, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return canvas_text(c, y, x, attr, text);
}

int canvas_pieces(struct canvas *c, int y, int x, enum attr attr, const char *text,
		  const char *between)
{
	const char *from = text;

	for (;;) {
		const char *end = strstr(from + 1, between);
		size_t n = end ? (size_t)(end - from) : strlen(from);

		if (x + (int)n > c->w)
			return x;
		for (size_t i = 0; i < n; i++)
			x = canvas_text(c, y, x, attr, (char[]){ from[i], 0 });
		if (!end)
			return x;
		from = end;
	}
}

/* Draws from column x of row y on. */
static int break_words(struct canvas *c, int y, int x, int indent, enum attr attr, const char *text)
{
	for (bool first = true; *text; first = false) {
		int n = (int)strcspn(text, " ");

		if (!first && x + 1 + n > c->w) {
			y++;
			x = indent;
		} else if (!first) {
			x++;
		}
		for (int i = 0; i < n; i++)
			x = canvas_text(c, y, x, attr, (char[]){ text[i], 0 });
		text += n + (text[n] == ' ');
	}
	return y + 1;
}

int canvas_wrapped(struct canvas *c, int y, int indent, enum attr attr, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return break_words(c, y, 0, indent, attr, text);
}

int canvas_hung(struct canvas *c, int y, int indent, enum attr attr, const char *text)
{
	return break_words(c, y, indent, indent, attr, text);
}

void canvas_fill(struct canvas *c, int y, enum attr attr)
{
	for (int x = 0; y >= 0 && y < c->h && x < c->w; x++)
		c->cells[y * c->w + x].attr = (uint8_t)attr;
}

/* ---- the difference ---- */

static void emit(struct canvas *c, const char *s, size_t n)
{
	if (c->n + n > c->room) {
		size_t room = 2 * c->room + n + 256;
		char *p = realloc(c->out, room);

		if (!p)
			return;
		c->out = p;
		c->room = room;
	}
	memcpy(c->out + c->n, s, n);
	c->n += n;
}

const char *canvas_sgr(const struct canvas *c, unsigned int attr)
{
	static const char *const sgr[ATTRS] = { "\033[0m",    "\033[0;1m",    "\033[0;2m",
						"\033[0;7m",  "\033[0;1;31m", "\033[0;33m",
						"\033[0;32m", "\033[0;36m" };

	if (c->no_colour && attr > ATTR_REVERSE)
		attr = attr == ATTR_RED ? ATTR_BOLD : ATTR_PLAIN;
	return sgr[attr];
}

static void emit_attr(struct canvas *c, unsigned int attr)
{
	const char *sgr = canvas_sgr(c, attr);

	emit(c, sgr, strlen(sgr));
}

static void emit_move(struct canvas *c, int y, int x)
{
	char move[32];

	emit(c, move, (size_t)snprintf(move, sizeof(move), "\033[%d;%dH", y + 1, x + 1));
}

static bool same(const struct canvas *c, int i)
{
	return !c->all && c->cells[i].ch == c->shown[i].ch && c->cells[i].attr == c->shown[i].attr;
}

/* Sending a few unchanged cells again costs less than moving the cursor. */
enum { GAP = 4 };

static int run_end(const struct canvas *c, int y, int x)
{
	int end = x + 1;

	for (int i = x + 1; i < c->w && i - end <= GAP; i++)
		if (!same(c, y * c->w + i))
			end = i + 1;
	return end;
}

static void diff_row(struct canvas *c, int y, int *attr)
{
	for (int x = 0; x < c->w; x++) {
		int end;

		if (same(c, y * c->w + x))
			continue;
		end = run_end(c, y, x);
		emit_move(c, y, x);
		for (; x < end; x++) {
			const struct cell *cell = &c->cells[y * c->w + x];

			if (*attr != cell->attr)
				emit_attr(c, cell->attr);
			*attr = cell->attr;
			emit(c, &cell->ch, 1);
		}
	}
}

void canvas_diff(struct canvas *c)
{
	int attr = -1;

	c->n = 0;
	if (c->all)
		emit(c, "\033[0m\033[2J", 8);
	for (int y = 0; y < c->h; y++)
		diff_row(c, y, &attr);
	if (c->n)
		emit_attr(c, ATTR_PLAIN);
	memcpy(c->shown, c->cells, (size_t)c->w * (size_t)c->h * sizeof(*c->shown));
	c->all = false;
}
