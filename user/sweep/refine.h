/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds where exactly a dip begins and ends, by bisection: if two neighbouring sizes differ by more
 * than chance (dips_edge()), the middle is measured next, until they are one byte apart. The dips
 * are judged anew each time, with all sizes measured by then. */
#ifndef IPCSTALL_SWEEP_REFINE_H
#define IPCSTALL_SWEEP_REFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct refine_seen {
	uint32_t series; /* everything but the size; series are not compared with each other */
	int64_t size;
	double cost; /* time per message */
};

struct refiner {
	struct refine_seen *v;
	size_t n, room;
	uint64_t seed;
};

/* Returns -1 without memory. */
int refine_note(struct refiner *r, uint32_t series, int64_t size, double cost);
/* The size to measure next in this series, at least DIPS_REPEATS_LEAST times; false: every edge is
 * found, or none can be. */
bool refine_next(const struct refiner *r, uint32_t series, int64_t *size);
void refine_free(struct refiner *r);

#endif
