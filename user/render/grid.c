// SPDX-License-Identifier: GPL-2.0-only
#include "render/grid.h"
#include "base/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/human.h"
#include "base/text.h"
#include "render/paint.h"

#define COLUMNS 24
enum { GAP = 2 };

struct grid {
	int columns;
	bool left[COLUMNS];
	int rank[COLUMNS]; /* the highest is hidden first if there is no room; 0: never */
	char **cell;
	size_t n, cap;
};

static void add_cell(struct grid *g, char *text)
{
	if (array_grow(&g->cell, g->n, &g->cap, sizeof(*g->cell)))
		g->cell[g->n++] = text;
	else
		free(text);
}

struct grid *grid_new(const char *columns)
{
	struct grid *g = calloc(1, sizeof(*g));

	while (g && g->columns < COLUMNS) {
		size_t len;

		if (*columns >= '1' && *columns <= '9' && columns[1] == ':') {
			g->rank[g->columns] = *columns - '0';
			columns += 2;
		}
		len = strcspn(columns, "|");
		g->left[g->columns] = *columns == '<';
		add_cell(g, strndup(columns + (*columns == '<'), len - (*columns == '<')));
		g->columns++;
		if (!columns[len])
			break;
		columns += len + 1;
	}
	return g;
}

void grid_text(struct grid *g, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (g && vasprintf(&text, fmt, ap) >= 0)
		add_cell(g, text);
	va_end(ap);
}

void grid_figure(struct grid *g, double v)
{
	if (!isfinite(v))
		grid_text(g, "-");
	else if (v == 0)
		grid_text(g, "0");
	else
		grid_text(g, "%.*f",
			  fabs(v) >= 1000  ? 0
			  : fabs(v) >= 100 ? 1
			  : fabs(v) >= 1   ? 2
					   : 3,
			  v);
}

/* Columns on the screen, not bytes: continuation bytes of UTF-8 take none. */
static int display_width(const char *s)
{
	int n = 0;

	for (; s && *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static int column_width(const struct grid *g, int column)
{
	int width = 0;

	for (size_t i = (size_t)column; i < g->n; i += (size_t)g->columns) {
		int w = display_width(g->cell[i]);

		width = w > width ? w : width;
	}
	return width;
}

/* The rightmost column of the highest rank; -1: no column is left that may be hidden. */
static int least_important(const struct grid *g, const bool *hidden)
{
	int least = -1;

	for (int c = 0; c < g->columns; c++)
		if (!hidden[c] && g->rank[c] && (least < 0 || g->rank[c] >= g->rank[least]))
			least = c;
	return least;
}

static void hide_to_fit(const struct grid *g, const int *width, int most, bool *hidden)
{
	int total = -GAP, c;

	for (c = 0; c < g->columns; c++)
		total += width[c] + GAP;
	while (most && total > most && (c = least_important(g, hidden)) >= 0) {
		hidden[c] = true;
		total -= width[c] + GAP;
	}
}

static void name_hidden(const struct grid *g, const bool *hidden, FILE *out)
{
	struct paint p = paint_on(out, COLOUR_NEVER);
	char names[400] = "";
	int n = 0;

	for (int c = 0; c < g->columns; c++)
		if (hidden[c])
			text_append(names, sizeof(names), "%s %s", n++ ? "," : "", g->cell[c]);
	if (n)
		paint_paragraph(&p, INK_PLAIN, 0, 2, "no room for %d column%s:%s", n,
				plural((size_t)n), names);
}

static void print_cell(const struct grid *g, size_t i, const int *width, bool last, FILE *out)
{
	int column = (int)(i % (size_t)g->columns), pad = width[column] - display_width(g->cell[i]);

	if (g->left[column])
		fprintf(out, "%s%*s%s", g->cell[i] ? g->cell[i] : "", last ? 0 : pad, "",
			last ? "\n" : "  ");
	else
		fprintf(out, "%*s%s%s", pad, "", g->cell[i] ? g->cell[i] : "", last ? "\n" : "  ");
}

void grid_print(struct grid *g, FILE *out)
{
	bool hidden[COLUMNS] = {};
	int width[COLUMNS], last = 0;

	if (!g)
		return;
	for (int c = 0; c < g->columns; c++)
		width[c] = column_width(g, c);
	hide_to_fit(g, width, terminal_width(out), hidden);
	for (int c = 0; c < g->columns; c++)
		last = hidden[c] ? last : c;
	for (size_t i = 0; i < g->n; i++)
		if (!hidden[i % (size_t)g->columns])
			print_cell(g, i, width, (int)(i % (size_t)g->columns) == last, out);
	name_hidden(g, hidden, out);
	for (size_t i = 0; i < g->n; i++)
		free(g->cell[i]);
	free(g->cell);
	free(g);
}
