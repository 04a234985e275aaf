/* SPDX-License-Identifier: GPL-2.0-only */
/* A text table: cells are kept until the end, so that columns are as wide as they need. Numbers
 * stand to the right. */
#ifndef IPCSTALL_RENDER_GRID_H
#define IPCSTALL_RENDER_GRID_H

#include <stdio.h>

struct grid;

/* Columns separated by '|'; one that starts with '<' is flush left. "N:" before it: it is left out
 * where the terminal (or COLUMNS) is too narrow, the highest N first, and a line below says so.
 * NULL without memory: all calls then do nothing. */
struct grid *grid_new(const char *columns);
void grid_text(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A figure with three significant digits or more, "-" when unknown. */
void grid_figure(struct grid *g, double v);
void grid_print(struct grid *g, FILE *out); /* prints and frees */

#endif
