// SPDX-License-Identifier: GPL-2.0-only
#include "top/pace.h"

#include <sys/param.h>

#include "base/clock.h"

#define INTERVAL_MOST 60000000000ull
#define REFRESH_PART  0.6 /* of the limit; sampling may use all of it */

void pace_begin(struct pace *p)
{
	p->began_ns = thread_cpu_ns();
}

void pace_end(struct pace *p)
{
	p->refresh_ns = thread_cpu_ns() - p->began_ns;
	p->refreshes++;
}

uint64_t pace_interval(const struct pace *p, uint64_t wanted)
{
	uint64_t affordable;

	if (p->refreshes < 2 || !(p->limit > 0))
		return wanted;
	affordable = gap_for_share(0, p->refresh_ns, REFRESH_PART * p->limit);
	return MAX(wanted, MIN(affordable, INTERVAL_MOST));
}
