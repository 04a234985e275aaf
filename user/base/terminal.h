/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a stream a terminal, and how wide is it? */
#ifndef IPCSTALL_BASE_TERMINAL_H
#define IPCSTALL_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool terminal_is(FILE *f);
/* Columns, as COLUMNS or the terminal has them; 0: neither does. */
int terminal_width(FILE *f);

#endif
