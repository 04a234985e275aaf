/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may run what: a stranger's introduction judged, and its options made a plan of this end. */
#ifndef IPCSTALL_REMOTE_ADMIT_H
#define IPCSTALL_REMOTE_ADMIT_H

#include <jansson.h>

#include "bench/bench.h"

/* o: set to the defaults before. Strings in it are the caller's to free by opt_free(). */
int admit(const json_t *hello, struct bench_options *o, struct bench_plan *plan, struct err *e);

#endif
