// SPDX-License-Identifier: GPL-2.0-only
#include "lib/hdr.h"
#include "lib/rng.h"
#include "lib/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 50000

static struct hdr h, g;

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
		worst = fmax(worst, fmax(relative_error(hdr_bucket_lo(i)), relative_error(hdr_bucket_hi(i))));
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
	assert_true(isnan(hdr_quantile(&h, 0.5)));
	assert_true(isnan(hdr_mean(&h)));
	assert_false(hdr_next(&h, &pos, &b));
	assert_int_equal(hdr_count_above(&h, 0), 0);
}

/* Log-normal latencies around 8 us with a tail: every quantile within the bound of the sorted sample's own. */
static void fill(uint64_t *v, struct hdr *into, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	for (int i = 0; i < N; i++) {
		v[i] = (uint64_t)exp(9 + rng_normal(&r) * 1.5);
		hdr_record(into, v[i]);
	}
}

static void quantiles_follow_the_sample(void **state)
{
	uint64_t *v = malloc(N * sizeof(*v));
	struct sample s = sample_u64(v, N);

	(void)state;
	hdr_reset(&h);
	fill(v, &h, 1);
	stats_sort_u64(v, N);
	for (int i = 0; i <= 1000; i++) {
		double want = stats_quantile(&s, i / 1000.0), got = hdr_quantile(&h, i / 1000.0);

		assert_true(fabs(got - want) <= want * HDR_REL_ERROR * (1 + 1e-9));
	}
	assert_true(hdr_quantile(&h, 0) == (double)v[0]);
	assert_true(hdr_quantile(&h, 1) == (double)v[N - 1]);
	assert_true(fabs(hdr_mean(&h) - stats_mean(&s)) < 1e-6);
	assert_true(isnan(hdr_quantile(&h, 1.5)) && isnan(hdr_quantile(&h, NAN)));
	free(v);
}

static void merge_is_recording_both(void **state)
{
	static struct hdr both;
	uint64_t *v = malloc(N * sizeof(*v));

	(void)state;
	hdr_reset(&h);
	hdr_reset(&g);
	hdr_reset(&both);
	fill(v, &h, 1);
	fill(v, &g, 2);
	fill(v, &both, 1);
	fill(v, &both, 2);
	hdr_merge(&h, &g);
	assert_memory_equal(&h, &both, sizeof(h));
	hdr_reset(&g);
	hdr_merge(&h, &g); /* an empty one changes nothing, its min included */
	assert_memory_equal(&h, &both, sizeof(h));
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
	assert_int_equal(hdr_count_above(&h, 999), 8);
	assert_int_equal(hdr_count_above(&h, 1000), 1);
	assert_int_equal(hdr_count_above(&h, UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_range),      cmocka_unit_test(error_is_within_the_stated_bound),
		cmocka_unit_test(empty_is_unknown),	       cmocka_unit_test(quantiles_follow_the_sample),
		cmocka_unit_test(merge_is_recording_both),     cmocka_unit_test(iteration_gives_back_what_was_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
