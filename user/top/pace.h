/* SPDX-License-Identifier: GPL-2.0-only */
/* How often top reads the endpoints: at the requested interval, or less often if reading so many
 * endpoints would use more CPU time than the session may use. */
#ifndef IPCSTALL_TOP_PACE_H
#define IPCSTALL_TOP_PACE_H

#include <stdint.h>

struct pace {
	double limit;	     /* CPU time per time; 0: no limit */
	uint64_t refresh_ns; /* CPU time of the last refresh */
	uint64_t began_ns;
	unsigned int refreshes;
};

/* called around each refresh, on the thread that makes it */
void pace_begin(struct pace *p);
void pace_end(struct pace *p);
/* The time from one refresh to the next. The first interval is never longer than `wanted`. */
uint64_t pace_interval(const struct pace *p, uint64_t wanted);

#endif
