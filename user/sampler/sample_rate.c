// SPDX-License-Identifier: GPL-2.0-only
#include "sampler/sample_rate.h"

/* assumed costs before anything was measured: rather too high */
#define FIRST_WAKE_NS 15000.0
#define FIRST_EACH_NS 1500.0
#define FORGETS	      0.05 /* weight of a new measurement; more at first */
#define OUTLIER                                                                                  \
	4.0 /* a sample that took more than this many times the expected cost was disturbed, and \
	       counts as this many times */
#define LEAST_WAKE_NS 1000.0
#define LEAST_EACH_NS 50.0
#define PAYS_IN_S     2.0  /* seconds in which an overrun is about saved again */
#define SAVES_MOST    0.75 /* share of the budget that is saved meanwhile, at most */
#define UNUSED_S      1.0  /* seconds of unused budget that may be used later, at most */

void sample_rate_begin(struct sample_rate *t, double budget)
{
	*t = (struct sample_rate){ .budget = budget,
				   .wake_ns = FIRST_WAKE_NS,
				   .each_ns = FIRST_EACH_NS };
	sample_rate_choose(t, 0);
}

static double at_least(double v, double least)
{
	return v > least ? v : least;
}

/* The error of the expected cost is split between the two costs in proportion to their parts of
 * it. */
void sample_rate_measured(struct sample_rate *t, size_t n, uint64_t ns)
{
	double each = t->each_ns * (double)n, foretold = t->wake_ns + each,
	       forgets = 1 / (double)(++t->n + 1);
	double took = (double)ns < OUTLIER * foretold ? (double)ns : OUTLIER * foretold;
	double over = (forgets > FORGETS ? forgets : FORGETS) * (took - foretold);

	t->wake_ns = at_least(t->wake_ns + over * t->wake_ns / foretold, LEAST_WAKE_NS);
	if (n)
		t->each_ns =
			at_least(t->each_ns + over * each / foretold / (double)n, LEAST_EACH_NS);
}

void sample_rate_spent(struct sample_rate *t, uint64_t cpu_ns, uint64_t time_ns)
{
	t->debt_ns = at_least(t->debt_ns + (double)cpu_ns - t->budget * (double)time_ns,
			      -UNUSED_S * 1e9 * t->budget);
}

/* CPU time for the next second */
static double allowed_ns(const struct sample_rate *t)
{
	double all = t->budget * 1e9;

	return at_least(all - t->debt_ns / PAYS_IN_S, (1 - SAVES_MOST) * all);
}

/* Each sample covers all endpoints if the budget allows that ten times a second. Otherwise a
 * part of them, at least one, ten times a second. */
void sample_rate_choose(struct sample_rate *t, size_t endpoints)
{
	double allowed = allowed_ns(t), all = t->wake_ns + t->each_ns * (double)endpoints, part;

	t->at_once = endpoints;
	t->hz = allowed / all;
	if (t->hz > SAMPLE_RATE_MOST_HZ)
		t->hz = SAMPLE_RATE_MOST_HZ;
	if (t->hz >= SAMPLE_RATE_LEAST_HZ)
		return;
	t->hz = SAMPLE_RATE_LEAST_HZ;
	part = (allowed / SAMPLE_RATE_LEAST_HZ - t->wake_ns) / t->each_ns;
	t->at_once = part < 1 ? 1 : (size_t)part;
	if (t->at_once > endpoints)
		t->at_once = endpoints;
}

uint64_t sample_rate_gap_ns(const struct sample_rate *t, double random)
{
	return (uint64_t)(1e9 / t->hz * (0.5 + random));
}
