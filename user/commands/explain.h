/* SPDX-License-Identifier: GPL-2.0-only */
/* What a word of the screens means: `ipcstall explain WORD`, `ipcstall causes WORD`. */
#ifndef IPCSTALL_COMMANDS_EXPLAIN_H
#define IPCSTALL_COMMANDS_EXPLAIN_H

#include <stdio.h>

#include "base/err.h"

/* In any case, with - or _ or a space between its parts. Returns 0; else -1, and the error names a
 * word that is near. */
int explain_word(const char *word, FILE *out, struct err *e);
/* the words there are, one by one; NULL: there are no more */
const char *explain_known(size_t i);

#endif
