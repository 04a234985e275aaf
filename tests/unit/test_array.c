// SPDX-License-Identifier: GPL-2.0-only
/* Arrays: what stands there once, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

static void an_array_grows_up_to_its_limit(void **state)
{
	uint64_t *v = NULL;
	size_t room = 0, n = 0;

	while (array_grow_to(&v, n, &room, 100, sizeof(*v))) {
		v[n] = n;
		n++;
	}
	assert_int_equal(n, 100);
	assert_int_equal(room, 100);
	assert_true(array_grow(&v, n, &room, sizeof(*v)));
	assert_int_equal(room, 200);
	assert_int_equal(v[99], 99);
	assert_false(array_grow(&v, room, &room, SIZE_MAX / 2));
	assert_int_equal(room, 200);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_numbers_stand_once),
		cmocka_unit_test(an_array_grows_up_to_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
