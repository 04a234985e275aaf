// SPDX-License-Identifier: GPL-2.0-only
/* Least-significant-digit radix sort, 11 bits a pass. All digit counts are taken in one read; a
 * digit in which all keys agree costs no pass, so latencies under 4 ms (22 bits) take two. */
#include "base/array.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS	   ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define RADIX	   (1u << DIGIT_BITS)
#define SMALL	   64

static void insertion_sort(uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = v[i];
		size_t j = i;

		for (; j && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static unsigned int digit(uint64_t v, int pass)
{
	return (v >> (pass * DIGIT_BITS)) & (RADIX - 1);
}

static void count_digits(const uint64_t *v, size_t n, size_t (*count)[RADIX])
{
	for (size_t i = 0; i < n; i++)
		for (int p = 0; p < DIGITS; p++)
			count[p][digit(v[i], p)]++;
}

static void counts_to_starts(size_t *count)
{
	size_t at = 0;

	for (unsigned int i = 0; i < RADIX; i++) {
		size_t c = count[i];

		count[i] = at;
		at += c;
	}
}

static void scatter(const uint64_t *from, uint64_t *to, size_t n, size_t *start, int pass)
{
	for (size_t i = 0; i < n; i++)
		to[start[digit(from[i], pass)]++] = from[i];
}

static void radix_sort(uint64_t *v, uint64_t *scratch, size_t n, size_t (*count)[RADIX])
{
	uint64_t *from = v, *to = scratch;

	count_digits(v, n, count);
	for (int p = 0; p < DIGITS; p++) {
		uint64_t *tmp = from;

		if (count[p][digit(v[0], p)] == n)
			continue;
		counts_to_starts(count[p]);
		scatter(from, to, n, count[p], p);
		from = to;
		to = tmp;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

void stats_sort_u64(uint64_t *v, size_t n)
{
	size_t(*count)[RADIX];
	uint64_t *scratch;

	if (n <= SMALL) {
		insertion_sort(v, n);
		return;
	}
	scratch = array_resize(NULL, n, 0, sizeof(*v));
	count = calloc(DIGITS, sizeof(*count));
	if (scratch && count)
		radix_sort(v, scratch, n, count);
	else
		qsort(v, n, sizeof(*v), order_u64);
	free(count);
	free(scratch);
}

/* IEEE doubles order like integers once the sign bit is flipped, and all bits of the negative ones.
 */
static uint64_t key_of(uint64_t bits)
{
	return bits ^ (bits >> 63 ? UINT64_MAX : 1ULL << 63);
}

static uint64_t bits_of(uint64_t key)
{
	return key ^ (key >> 63 ? 1ULL << 63 : UINT64_MAX);
}

static int cmp_f64(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

void stats_sort_f64(double *v, size_t n)
{
	uint64_t *keys = n > SMALL ? array_resize(NULL, n, 0, sizeof(*keys)) : NULL;

	if (!keys) {
		qsort(v, n, sizeof(*v), cmp_f64);
		return;
	}
	memcpy(keys, v, n * sizeof(*keys));
	for (size_t i = 0; i < n; i++)
		keys[i] = key_of(keys[i]);
	stats_sort_u64(keys, n);
	for (size_t i = 0; i < n; i++)
		keys[i] = bits_of(keys[i]);
	memcpy(v, keys, n * sizeof(*keys));
	free(keys);
}
