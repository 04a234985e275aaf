/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses how often to sample, and how many endpoints each time, within a budget of CPU time.
 * The cost of a sample is measured, as a cost per wake-up and a cost per endpoint. CPU time
 * spent beyond the budget is saved later. */
#ifndef IPCSTALL_SAMPLER_TEMPO_H
#define IPCSTALL_SAMPLER_TEMPO_H

#include <stddef.h>
#include <stdint.h>

#define TEMPO_LEAST_HZ 10.0
#define TEMPO_MOST_HZ  1000.0
#define TEMPO_AT_ONCE  256 /* endpoints in one run of the program */

struct tempo {
	double budget;		 /* of one CPU */
	double wake_ns, each_ns; /* the cost of a sample, and of each endpoint in it */
	double debt_ns;		 /* CPU time used beyond the budget; below 0: left over */
	double hz;		 /* samples a second */
	uint64_t n;		 /* samples measured */
	size_t at_once;		 /* endpoints in each sample; all of them, if few enough */
};

void tempo_begin(struct tempo *t, double budget);
/* A sample of `n` endpoints took `ns` of CPU time. */
void tempo_measured(struct tempo *t, size_t n, uint64_t ns);
/* Sampling and other work used `cpu_ns` of CPU time in `time_ns`. */
void tempo_spent(struct tempo *t, uint64_t cpu_ns, uint64_t time_ns);
/* Sets hz and at_once for this number of endpoints. */
void tempo_choose(struct tempo *t, size_t endpoints);
/* The time until the next sample, from a random number in [0, 1): 0.5 to 1.5 times the mean, so
 * that no timer of the machine keeps step with the samples. */
uint64_t tempo_gap_ns(const struct tempo *t, double random);

#endif
