/* SPDX-License-Identifier: GPL-2.0-only */
/* The tool's own cost: short slices of one test over one connection, with the programs detached,
 * attached and recording, and attached but tracing other processes. Each round runs the three
 * slices in random order, so that drift affects all alike. A ratio divides a slice by the detached
 * slice of the same round. */
#ifndef IPCSTALL_BENCH_AB_H
#define IPCSTALL_BENCH_AB_H

#include "bench/bench.h"
#include "stats/rng.h"
#include "tracer/trace.h"

enum ab_arm { AB_OFF, AB_TRACED, AB_BESIDE, AB_ARMS };

#define AB_PAIRS 15

struct ab_ratio {
	double median; /* of the rounds' ratios; NAN: not measured */
	struct interval ci;
};

struct ab_result {
	size_t pairs; /* 0: not measured */
	uint64_t slice_ns;
	double off_cpu_ns, off_elapsed_ns;		/* of one message, detached */
	struct ab_ratio cpu[AB_ARMS], elapsed[AB_ARMS]; /* per message, to AB_OFF */
};

/* The two sessions must trace the same protocols: `traced` the workers, `beside` no process. Both
 * must be stopped, and are left stopped. */
int ab_run(struct trace *traced, struct trace *beside, const struct bench_extra *x,
	   uint64_t slice_ns, uint64_t seed, struct ab_result *out, struct err *e);

#endif
