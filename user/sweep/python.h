/* SPDX-License-Identifier: GPL-2.0-only */
/* How Python is started: isolated (-I), so that it searches neither the current directory nor
 * PYTHONPATH nor the user's site for modules. The directory of analysis/ is the only one that it
 * searches besides its own. */
#ifndef IPCSTALL_SWEEP_PYTHON_H
#define IPCSTALL_SWEEP_PYTHON_H

#include <limits.h>
#include <stdbool.h>

enum { PYTHON_WORDS = 5 }; /* words before the analysis's own */

struct python {
	char share[PATH_MAX];
};

/* Fills argv[0..PYTHON_WORDS) with the start of `python3 -m analysis`; the caller adds the words of
 * the analysis and a NULL. false: the analysis is not installed. */
bool python_start(struct python *p, const char *argv[PYTHON_WORDS]);

#endif
