// SPDX-License-Identifier: GPL-2.0-only
#include "stats/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix64(&seed);
}

/* Lemire's multiply-and-reject: the low half of the product tells when a draw would favour small
 * results. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
	unsigned __int128 m = (unsigned __int128)rng_u64(r) * n;

	if ((uint64_t)m < n) {
		uint64_t reject_below = -n % n;

		while ((uint64_t)m < reject_below)
			m = (unsigned __int128)rng_u64(r) * n;
	}
	return (uint64_t)(m >> 64);
}

/* Marsaglia's polar method; the second deviate is dropped to keep the state to four words. */
double rng_normal(struct rng *r)
{
	double u, v, s;

	do {
		u = 2 * rng_unit(r) - 1;
		v = 2 * rng_unit(r) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * log(s) / s);
}

double rng_exponential(struct rng *r)
{
	return -log1p(-rng_unit(r));
}

/* Marsaglia and Tsang (2000) for shape >= 1. */
static double gamma_large(struct rng *r, double shape)
{
	double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = rng_normal(r), t = 1 + c * x, v = t * t * t;

		if (t > 0 && log1p(-rng_unit(r)) < 0.5 * x * x + d - d * v + d * log(v))
			return d * v;
	}
}

double rng_gamma(struct rng *r, double shape)
{
	double boost;

	if (shape >= 1)
		return gamma_large(r, shape);
	boost = pow(1 - rng_unit(r), 1 / shape);
	return gamma_large(r, shape + 1) * boost;
}

double rng_beta(struct rng *r, double a, double b)
{
	double x = rng_gamma(r, a), y = rng_gamma(r, b);

	return x / (x + y);
}

static void swap_bytes(char *a, char *b, size_t size)
{
	char tmp[RNG_ELEMENT_MAX];

	memcpy(tmp, a, size);
	memcpy(a, b, size);
	memcpy(b, tmp, size);
}

void rng_shuffle(struct rng *r, void *base, size_t n, size_t size)
{
	char *v = base;

	assert(size <= RNG_ELEMENT_MAX);
	for (size_t i = n; i > 1; i--) {
		size_t j = rng_below(r, i);

		if (j != i - 1)
			swap_bytes(v + (i - 1) * size, v + j * size, size);
	}
}
