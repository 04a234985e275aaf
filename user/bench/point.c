// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/point.h"

static const char *const names[TESTS] = { "latency", "throughput", "oneway", "connect" };

const char *test_name(enum test t)
{
	return names[t];
}

/* Warnings beyond the room for them are dropped: the first ones are the nearest to the cause. */
void point_warn(struct point *p, const char *fmt, ...)
{
	va_list ap;

	if (p->n_warnings == POINT_WARNINGS)
		return;
	va_start(ap, fmt);
	vsnprintf(p->warnings[p->n_warnings++], WARNING_TEXT, fmt, ap);
	va_end(ap);
}

void point_free(struct point *p)
{
	free(p->latency.histogram);
	free(p->throughput.trials);
	free(p->throughput.trial_ns);
	free((void *)p->samples);
	memset(p, 0, sizeof(*p));
}
