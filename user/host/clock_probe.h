/* SPDX-License-Identifier: GPL-2.0-only */
/* What the clocks of this machine can do: their smallest visible step and the cost of a reading. */
#ifndef IPCSTALL_HOST_CLOCK_PROBE_H
#define IPCSTALL_HOST_CLOCK_PROBE_H

#include <stdbool.h>

struct clock_probe {
	const char *name;
	bool ticks;	   /* the clock counts TSC ticks; everything below is in ns nevertheless */
	double resolution; /* clock_getres(); NaN if it does not know the clock */
	double step; /* smallest non-zero difference of two readings; NaN when none was seen */
	int nops;    /* number of nops between those two readings */
	double cost_min, cost_median; /* of one reading */
};

#define CLOCK_PROBES 5

/* tick_ns: length of a TSC tick (NaN: no usable TSC; its rows are left out). Returns the number of
 * rows. */
int clock_probe_all(struct clock_probe out[CLOCK_PROBES], double tick_ns);

#endif
