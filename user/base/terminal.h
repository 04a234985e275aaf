/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a stream a terminal, and how wide is it? */
#ifndef IPCSTALL_BASE_TERMINAL_H
#define IPCSTALL_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool terminal_is(FILE *f);
/* The width in columns, from COLUMNS or from the terminal; 0: unknown. */
int terminal_width(FILE *f);

#endif
