// SPDX-License-Identifier: GPL-2.0-only
#include "stats/hdr.h"
#include "stats/rng.h"
#include "stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 50000

static struct hdr h;

/* Every bucket begins where the one before it ends, from 0 to the last 64-bit value. */
static void buckets_tile_the_range(void **state)
{
	(void)state;
	assert_int_equal(hdr_bucket_lo(0), 0);
	for (unsigned int i = 1; i < HDR_BUCKETS; i++)
		assert_int_equal(hdr_bucket_lo(i), hdr_bucket_hi(i - 1) + 1);
	assert_true(hdr_bucket_hi(HDR_BUCKETS - 1) == UINT64_MAX);
	for (unsigned int i = 0; i < HDR_BUCKETS; i++) {
		assert_int_equal(hdr_index(hdr_bucket_lo(i)), i);
		assert_int_equal(hdr_index(hdr_bucket_hi(i)), i);
	}
}

static double relative_error(uint64_t v)
{
	unsigned int i = hdr_index(v);
	double mid = (double)hdr_bucket_lo(i) + (double)(hdr_bucket_hi(i) - hdr_bucket_lo(i)) / 2;

	return v ? fabs(mid - (double)v) / (double)v : mid;
}

static void error_is_within_the_stated_bound(void **state)
{
	double worst = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (uint64_t v = 0; v < 256; v++)
		assert_true(relative_error(v) == 0);
	for (unsigned int i = 0; i < HDR_BUCKETS; i++) /* the edges are where it is worst */
		worst = fmax(worst, fmax(relative_error(hdr_bucket_lo(i)),
					 relative_error(hdr_bucket_hi(i))));
	for (int i = 0; i < N; i++)
		worst = fmax(worst, relative_error(rng_u64(&r) >> rng_below(&r, 64)));
	assert_true(worst <= HDR_REL_ERROR);
	assert_true(worst > HDR_REL_ERROR * 0.99); /* the bound is not padded */
}

static void empty_is_unknown(void **state)
{
	struct hdr_bucket b;
	unsigned int pos = 0;

	(void)state;
	hdr_reset(&h);
	assert_false(hdr_next(&h, &pos, &b));
	assert_true(h.count == 0 && h.min == UINT64_MAX);
}

/* Log-normal latencies around 8 us with a tail. */
static void fill(uint64_t *v, struct hdr *into, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	for (int i = 0; i < N; i++) {
		v[i] = (uint64_t)exp(9 + rng_normal(&r) * 1.5);
		hdr_record(into, v[i]);
	}
}

/* Walked from below, the buckets take the sorted sample apart in order, each value within the bound
 * of its bucket's middle. */
static void buckets_follow_the_sample(void **state)
{
	uint64_t *v = malloc(N * sizeof(*v)), sum = 0;
	struct hdr_bucket b;
	unsigned int pos = 0;
	size_t at = 0;

	(void)state;
	hdr_reset(&h);
	fill(v, &h, 1);
	stats_sort_u64(v, N);
	while (hdr_next(&h, &pos, &b)) {
		double mid = (double)b.lo + (double)(b.hi - b.lo) / 2;

		for (uint64_t i = 0; i < b.count; i++, at++) {
			assert_in_range(v[at], b.lo, b.hi);
			assert_true(fabs(mid - (double)v[at]) <= (double)v[at] * HDR_REL_ERROR);
			sum += v[at];
		}
	}
	assert_int_equal(at, N);
	assert_int_equal(h.count, N);
	assert_true(h.sum == sum && h.min == v[0] && h.max == v[N - 1]);
	free(v);
}

static void iteration_gives_back_what_was_recorded(void **state)
{
	struct hdr_bucket b;
	unsigned int pos = 0;

	(void)state;
	hdr_reset(&h);
	hdr_record(&h, 0);
	hdr_record_n(&h, 1000, 7);
	hdr_record(&h, UINT64_MAX);
	assert_true(hdr_next(&h, &pos, &b));
	assert_true(b.lo == 0 && b.hi == 0 && b.count == 1);
	assert_true(hdr_next(&h, &pos, &b));
	assert_true(b.lo <= 1000 && b.hi >= 1000 && b.count == 7);
	assert_true(hdr_next(&h, &pos, &b));
	assert_true(b.hi == UINT64_MAX && b.count == 1);
	assert_false(hdr_next(&h, &pos, &b));
	assert_false(hdr_next(&h, &pos, &b));
	assert_int_equal(h.count, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_range),
		cmocka_unit_test(error_is_within_the_stated_bound),
		cmocka_unit_test(empty_is_unknown), cmocka_unit_test(buckets_follow_the_sample),
		cmocka_unit_test(iteration_gives_back_what_was_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
