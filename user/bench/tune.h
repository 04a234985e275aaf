/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IPCSTALL_BENCH_TUNE_H
#define IPCSTALL_BENCH_TUNE_H

#include "bench/bench.h"

/* Set the options to the knobs; a knob of 0 or NULL leaves its option unchanged. */
void knobs_apply(const struct knobs *k, struct bench_options *o);
/* Rough time that the trials of a point take. */
uint64_t bench_tuning_ns(const struct bench_plan *plan);

#endif
