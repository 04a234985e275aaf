// SPDX-License-Identifier: GPL-2.0-only
/* Numbers found by numbers; which half goes; process ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/smaller_half.h"
#include "base/index.h"
#include "base/opt.h"

static void nothing_is_in_an_empty_one(void **state)
{
	struct index x = {};

	assert_int_equal(index_find(&x, 7), 0);
	index_free(&x);
}

/* addresses and serials: close together, far apart, and with equal lower bits */
static void every_key_is_found(void **state)
{
	static const uint64_t steps[] = { 1, 16, 4096, 1ull << 32, (1ull << 32) + 64 };
	struct index x = {};

	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		for (uint32_t i = 1; i <= 50000; i++)
			assert_true(index_set(&x, steps[s] * i, i));
		for (uint32_t i = 1; i <= 50000; i++)
			assert_int_equal(index_find(&x, steps[s] * i), i);
		assert_int_equal(x.n, 50000);
		assert_int_equal(index_find(&x, steps[s] * 50001), 0);
		index_free(&x);
	}
}

static void a_key_keeps_its_newest_value(void **state)
{
	struct index x = {};

	assert_true(index_set(&x, 5, 1) && index_set(&x, 5, 2));
	assert_int_equal(index_find(&x, 5), 2);
	assert_int_equal(x.n, 1);
	index_free(&x);
}

static size_t gone(const uint64_t *v, size_t n, uint64_t *largest)
{
	uint64_t *sorted = calloc(n, sizeof(*sorted));
	struct smaller_half h;
	size_t goes = 0;

	for (size_t i = 0; i < n; i++)
		sorted[i] = v[i];
	smaller_half_begin(&h, sorted, n);
	free(sorted);
	for (size_t i = 0; i < n; i++) {
		if (!smaller_half_goes(&h, v[i]))
			continue;
		goes++;
		*largest = v[i] > *largest ? v[i] : *largest;
	}
	return goes;
}

static void the_smaller_half_goes(void **state)
{
	const uint64_t mixed[] = { 9, 1, 8, 2, 7, 3 }, equal[] = { 4, 4, 4, 4 };
	uint64_t largest = 0;

	assert_int_equal(gone(mixed, 6, &largest), 3);
	assert_int_equal(largest, 3);
	assert_int_equal(gone(equal, 4, &largest), 2);
}

static void process_ids(void **state)
{
	static const char *const bad[] = { "", "0", "-1", "+1", " 1", "12x", "1.5", "4194305",
		"99999999999999999999" };
	long pid;

	assert_int_equal(parse_pid("4194304", &pid), 0);
	assert_int_equal(pid, 4194304);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse_pid(bad[i], &pid), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_in_an_empty_one), cmocka_unit_test(every_key_is_found),
		cmocka_unit_test(a_key_keeps_its_newest_value),
		cmocka_unit_test(the_smaller_half_goes), cmocka_unit_test(process_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
