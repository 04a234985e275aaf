/* SPDX-License-Identifier: GPL-2.0-only */
/* How often to look, and at how many endpoints each time, so that looking takes no more of a CPU
 * than was allowed. What a look costs is measured: so much for waking up, so much for each
 * endpoint. What was spent beyond the budget is saved again. */
#ifndef IPCSTALL_SAMPLER_TEMPO_H
#define IPCSTALL_SAMPLER_TEMPO_H

#include <stddef.h>
#include <stdint.h>

#define TEMPO_LEAST_HZ 10.0
#define TEMPO_MOST_HZ  1000.0
#define TEMPO_AT_ONCE  256 /* endpoints in one run of the program */

struct tempo {
	double budget;		 /* of one CPU */
	double wake_ns, each_ns; /* what a look costs, and each endpoint in it */
	double debt_ns;		 /* CPU time used beyond the budget; below 0: left over */
	double hz;		 /* looks a second */
	uint64_t n;		 /* looks measured */
	size_t at_once;		 /* endpoints in each look; all of them where there are so few */
};

void tempo_begin(struct tempo *t, double budget);
/* A look at `n` endpoints took so much of a CPU. */
void tempo_measured(struct tempo *t, size_t n, uint64_t ns);
/* So much of a CPU was used, for looks and else, in so much time. */
void tempo_spent(struct tempo *t, uint64_t cpu_ns, uint64_t time_ns);
/* Of so many endpoints: sets hz and at_once. */
void tempo_choose(struct tempo *t, size_t endpoints);
/* Until the next look, from a number in [0, 1): half to one and a half of the mean, so that no
 * timer of the machine keeps step with it. */
uint64_t tempo_gap_ns(const struct tempo *t, double random);

#endif
