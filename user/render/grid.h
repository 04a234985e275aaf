/* SPDX-License-Identifier: GPL-2.0-only */
/* A text table. It keeps all cells until grid_print(), which makes each column as wide as its
 * longest cell. Columns are flush right by default. */
#ifndef IPCSTALL_RENDER_GRID_H
#define IPCSTALL_RENDER_GRID_H

#include <stdio.h>

struct grid;

/* columns: titles separated by '|'. A '<' before a title makes the column flush left. "N:" before
 * it lets the column be left out if the terminal (or COLUMNS) is too narrow, the highest N first; a
 * line below the table names the columns left out. Returns NULL without memory: all calls then do
 * nothing. */
struct grid *grid_new(const char *columns);
void grid_text(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A figure with up to three decimals, fewer the larger it is; "-" if it is unknown. */
void grid_figure(struct grid *g, double v);
void grid_print(struct grid *g, FILE *out); /* prints and frees */

#endif
