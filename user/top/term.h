/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal: take it over, give it back in every case, its size and its keys. */
#ifndef IPCSTALL_TOP_TERM_H
#define IPCSTALL_TOP_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "top/canvas.h"

/* Keys come from standard input, or from /dev/tty if standard input is no terminal. The terminal is
 * also given back at exit(). */
int term_take(struct err *e);
void term_give_back(void);

/* The size, at least 1 x 1; true if it has changed since the last call, or the contents were lost.
 */
bool term_size(int *w, int *h);
/* Brings the terminal up to date; -1: it is gone. */
int term_show(struct canvas *c);

enum { TERM_TIMEOUT = -1, TERM_GONE = -2 };
/* Returns a key (see keys.h), TERM_GONE, or TERM_TIMEOUT at `until_ns` (CLOCK_MONOTONIC) or a
 * signal. */
int term_key(uint64_t until_ns);

#endif
