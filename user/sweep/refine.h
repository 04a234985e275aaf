/* SPDX-License-Identifier: GPL-2.0-only */
/* Where exactly does a dip begin and end? Between two neighbouring sizes that differ so by more
 * than chance, the middle is measured next, until they are neighbouring bytes. What is in a dip is
 * judged anew each time, with all sizes known by then. */
#ifndef IPCSTALL_SWEEP_REFINE_H
#define IPCSTALL_SWEEP_REFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct refine_seen {
	uint32_t series; /* everything but the size: not compared across */
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
/* The size to be measured next in this series, DIPS_REPEATS_LEAST times at least; false: every edge
 * is found, or none can be. */
bool refine_next(const struct refiner *r, uint32_t series, int64_t *size);
void refine_free(struct refiner *r);

#endif
