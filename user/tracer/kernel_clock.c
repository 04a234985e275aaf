// SPDX-License-Identifier: GPL-2.0-only
/* The clock of the kernel half, also if this process is in a time namespace of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "tracer/internal.h"

/* How far the CLOCK_MONOTONIC of this time namespace is ahead of the machine's, which
 * bpf_ktime_get_ns() returns. */
static int64_t namespace_ahead(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t s, ns, ahead = 0;

	if (f && fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) == 2)
		ahead = s * 1000000000 + ns;
	if (f)
		fclose(f);
	return ahead;
}

uint64_t snapshot_now(void)
{
	static _Atomic int64_t ahead = INT64_MIN;
	struct timespec now;

	if (ahead == INT64_MIN)
		ahead = namespace_ahead();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec - (uint64_t)ahead;
}
