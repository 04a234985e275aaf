// SPDX-License-Identifier: GPL-2.0-only
/* Arrays: what stands there once, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"

static void equal_numbers_stand_once(void **state)
{
	uint64_t v[] = { 7, 3, 7, 9, 3, 3, 1 };
	static const uint64_t want[] = { 1, 3, 7, 9 };

	assert_int_equal(array_unique(v, 7), 4);
	assert_memory_equal(v, want, sizeof(want));
	assert_int_equal(array_unique(v, 0), 0);
	assert_int_equal(array_unique(v, 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_numbers_stand_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
