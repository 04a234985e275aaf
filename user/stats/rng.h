/* SPDX-License-Identifier: GPL-2.0-only */
/* Seeded random numbers: xoshiro256** (Blackman and Vigna), state filled by splitmix64 as its
 * authors advise. The same seed gives the same sequence on every machine, so a run can be repeated
 * from its result file. Not for secrets. */
#ifndef IPCSTALL_STATS_RNG_H
#define IPCSTALL_STATS_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

static inline uint64_t rng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t rng_u64(struct rng *r)
{
	uint64_t result = rng_rotl(r->s[1] * 5, 7) * 9;
	uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rng_rotl(r->s[3], 45);
	return result;
}

/* Uniform in [0, 1): the top 53 bits, so every value is exact. */
static inline double rng_unit(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* True with probability p; p <= 0 is never, p >= 1 always. */
static inline bool rng_chance(struct rng *r, double p)
{
	return rng_unit(r) < p;
}

void rng_seed(struct rng *r, uint64_t seed);

/* Uniform in [0, n) without modulo bias; n must not be 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

double rng_normal(struct rng *r);      /* mean 0, standard deviation 1 */
double rng_exponential(struct rng *r); /* mean 1: the gaps of a Poisson process */

/* Gamma(shape, 1) and Beta(a, b); shapes must be positive. */
double rng_gamma(struct rng *r, double shape);
double rng_beta(struct rng *r, double a, double b);

/* Fisher-Yates: every order equally likely. size is that of one element, up to RNG_ELEMENT_MAX
 * bytes. */
#define RNG_ELEMENT_MAX 256
void rng_shuffle(struct rng *r, void *base, size_t n, size_t size);

#endif
