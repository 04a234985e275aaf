/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal: taken over, given back whatever happens, its size and its keys. */
#ifndef IPCSTALL_TOP_TERM_H
#define IPCSTALL_TOP_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "top/canvas.h"

/* Keys come from standard input, or from /dev/tty where that is no terminal. Also at exit() the
 * terminal is given back. */
int term_take(struct err *e);
void term_give_back(void);

/* The size, at least 1 x 1; true when it has changed since the last call, or the contents were
 * lost. */
bool term_size(int *w, int *h);
/* Bring the terminal up to date; -1: it is gone. */
int term_show(struct canvas *c);

enum { TERM_TIMEOUT = -1, TERM_GONE = -2 };
/* A key (see keys.h), or TERM_TIMEOUT at `until_ns` (CLOCK_MONOTONIC) or a signal, or TERM_GONE. */
int term_key(uint64_t until_ns);

#endif
