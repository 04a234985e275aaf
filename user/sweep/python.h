/* SPDX-License-Identifier: GPL-2.0-only */
/* How Python is started: isolated (-I), so that neither the current directory nor PYTHONPATH nor a
 * user's own site is searched for modules, and with the installed analysis/ as the one directory
 * that is searched besides Python's own. */
#ifndef IPCSTALL_SWEEP_PYTHON_H
#define IPCSTALL_SWEEP_PYTHON_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { PYTHON_WORDS = 5 }; /* before those of the analysis */

struct python {
	char share[PATH_MAX];
};

/* argv[0..PYTHON_WORDS) becomes the start of `python3 -m analysis`; its words and a NULL follow.
 * false: the analysis is not installed. */
bool python_start(struct python *p, const char *argv[PYTHON_WORDS]);

#endif
