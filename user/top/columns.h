/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the list: which of them fit a width, and the text of a row. A terminal of 20
 * columns shows the program and its stall share, a wide terminal shows everything. */
#ifndef IPCSTALL_TOP_COLUMNS_H
#define IPCSTALL_TOP_COLUMNS_H

#include "top/rows.h"

enum { COLUMNS_MAX = 16 };

struct layout {
	int n, width;
	int column[COLUMNS_MAX], at[COLUMNS_MAX], w[COLUMNS_MAX];
};

/* Chooses the columns that fit `width` characters, by rank, and gives spare room to the columns
 * that can use it. The names of p's rows are whole if they fit; p NULL: the rows are not known. */
void layout_choose(struct layout *l, int width, const struct rows *p);

/* `buf` gets at most l->width characters and a 0: blanks at the end are left out. size > l->width.
 */
void layout_title(const struct layout *l, char *buf, size_t size);
void layout_row(const struct layout *l, const struct rows *p, const struct row *r, char *buf,
		size_t size);

#endif
