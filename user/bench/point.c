// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
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

/* Drops warnings for which there is no room: the first ones are the nearest to the cause. */
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

/* Throughput with several messages in flight: the latency of each includes time of the others. */
static bool overlap(enum test t, double mean_ns, double messages, double elapsed_ns)
{
	return t == TEST_THROUGHPUT && mean_ns * messages > 1.5 * elapsed_ns;
}

/* If each message has a sample, the cost is their mean, else the time divided by the messages: both
 * weight rare long messages as they should. If all were lost, one would have taken at least as long
 * as the round. */
double cost_of_message(enum test t, double mean_ns, double messages, double sent, double elapsed_ns)
{
	if (!isnan(mean_ns) && !overlap(t, mean_ns, messages, elapsed_ns))
		return mean_ns;
	return sent > 0 ? elapsed_ns / fmax(1, messages) : NAN;
}

double point_cost_ns(const struct point *p)
{
	return cost_of_message(p->test, p->latency.present ? p->latency.s.mean : NAN,
			       (double)p->messages, (double)p->sent, (double)p->elapsed_ns);
}
