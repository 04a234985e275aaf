/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses how often to sample, and how many endpoints each time, within a budget of CPU time.
 * The cost of a sample is measured, as a cost per wake-up and a cost per endpoint. CPU time
 * spent beyond the budget is saved later. */
#ifndef IPCSTALL_SAMPLER_SAMPLE_RATE_H
#define IPCSTALL_SAMPLER_SAMPLE_RATE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_RATE_LEAST_HZ 10.0
#define SAMPLE_RATE_MOST_HZ  1000.0
#define SAMPLE_RATE_AT_ONCE  256 /* endpoints in one run of the program */

struct sample_rate {
	double budget;		 /* of one CPU */
	double wake_ns, each_ns; /* the cost of a sample, and of each endpoint in it */
	double debt_ns;		 /* CPU time used beyond the budget; below 0: left over */
	double hz;		 /* samples a second */
	uint64_t n;		 /* samples measured */
	size_t at_once;		 /* endpoints in each sample; all of them, if few enough */
};

void sample_rate_begin(struct sample_rate *t, double budget);
/* A sample of `n` endpoints took `ns` of CPU time. */
void sample_rate_measured(struct sample_rate *t, size_t n, uint64_t ns);
/* Sampling and other work used `cpu_ns` of CPU time in `time_ns`. */
void sample_rate_spent(struct sample_rate *t, uint64_t cpu_ns, uint64_t time_ns);
/* Sets hz and at_once for this number of endpoints. */
void sample_rate_choose(struct sample_rate *t, size_t endpoints);
/* The time until the next sample, from a random number in [0, 1): 0.5 to 1.5 times the mean, so
 * that no timer of the machine keeps step with the samples. */
uint64_t sample_rate_gap_ns(const struct sample_rate *t, double random);

#endif
