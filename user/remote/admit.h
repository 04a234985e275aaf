/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides who may run what: checks a client's introduction, and turns its options into a plan. */
#ifndef IPCSTALL_REMOTE_ADMIT_H
#define IPCSTALL_REMOTE_ADMIT_H

#include <jansson.h>

#include "bench/bench.h"

/* o: holds the defaults on entry. The caller frees the strings in it by opt_free(). */
int admit(const json_t *hello, struct bench_options *o, struct bench_plan *plan, struct err *e);

#endif
