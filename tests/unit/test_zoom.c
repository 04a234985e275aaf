// SPDX-License-Identifier: GPL-2.0-only
/* How long a zoom may look, so that it ends with the session. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/zoom.h"

#define MS 1000000ull

static void samples_two_seconds_at_most(void **state)
{
	assert_int_equal(zoom_time(5, UINT64_MAX, 0), ZOOM_MOST_NS);
	assert_int_equal(zoom_time(5, 5 + 10 * ZOOM_MOST_NS, 0), ZOOM_MOST_NS);
}

static void ends_with_the_session(void **state)
{
	assert_int_equal(zoom_time(1000 * MS, 1500 * MS, 0), 500 * MS);
}

static void loading_is_taken_off(void **state)
{
	assert_int_equal(zoom_time(1000 * MS, 2500 * MS, 800 * MS), 700 * MS);
}

static void too_short_is_none(void **state)
{
	assert_int_equal(zoom_time(1000 * MS, 1010 * MS, 0), 0);
	assert_int_equal(zoom_time(1000 * MS, 2000 * MS, 900 * MS), 0);
	assert_int_equal(zoom_time(1000 * MS, 2000 * MS, 5000 * MS), 0);
}

static void after_the_end_is_none(void **state)
{
	assert_int_equal(zoom_time(2000 * MS, 1000 * MS, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_two_seconds_at_most),
		cmocka_unit_test(ends_with_the_session),
		cmocka_unit_test(loading_is_taken_off),
		cmocka_unit_test(too_short_is_none),
		cmocka_unit_test(after_the_end_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
