// SPDX-License-Identifier: GPL-2.0-only
/* On a clock: calibration_keeps_its_word, sleeps_until */
#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* No overflow for any stamp, and the rate's rounding stays invisible: 200 ns in a century. */
static void conversion_does_not_overflow(void **state)
{
	struct tick_clock c = { .mult = (uint64_t)llround(ldexp(1e9 / 2300000000.0, TICK_SHIFT)) };
	uint64_t century = 100ULL * 366 * 86400 * 2300000000ULL;

	(void)state;
	assert_int_equal(ticks_to_ns(&c, 0), 0);
	assert_int_equal(ticks_to_ns(&c, 23), 10);
	assert_int_equal(ticks_to_ns(&c, 2300000000ULL), 1000000000ULL);
	assert_in_range(ticks_to_ns(&c, century), 100ULL * 366 * 86400 * 1000000000ULL - 200,
			100ULL * 366 * 86400 * 1000000000ULL +
				200); /* 2^-56 a tick, over 7e18 ticks */
	assert_in_range(ticks_to_ns(&c, UINT64_MAX), 8020323510308500000ULL,
			8020323510308600000ULL);
}

static void conversion_goes_back(void **state)
{
	struct tick_clock c = { .mult = (uint64_t)llround(ldexp(1e9 / 3187654321.0, TICK_SHIFT)) };

	(void)state;
	for (uint64_t ns = 1; ns < 1ULL << 60; ns = ns * 3 + 1)
		assert_in_range(ticks_to_ns(&c, ns_to_ticks(&c, ns)), ns - 1, ns);
}

static void monotonic_needs_no_conversion(void **state)
{
	struct tick_clock c;
	uint64_t before, stamp;

	(void)state;
	tick_clock_monotonic(&c, "as told");
	assert_false(c.tsc);
	assert_string_equal(c.why, "as told");
	assert_int_equal(ticks_to_ns(&c, 123456789012345ULL), 123456789012345ULL);
	assert_true(ticks_to_ns(&c, UINT64_MAX) == UINT64_MAX);
	before = now_ns();
	stamp = tick_now(&c);
	assert_in_range(stamp, before, now_ns());
}

/* Over a second window the calibrated clock must agree with CLOCK_MONOTONIC within its own stated
 * error. */
static void calibration_keeps_its_word(void **state)
{
	struct tick_clock c;
	uint64_t ns0, ns1, t0, t1, slack;
	double measured, passed;

	(void)state;
	tick_clock_init(&c, TICK_CALIBRATE_NS);
	assert_true(strlen(c.why) > 0);
	if (!c.tsc)
		skip();
	assert_true(c.rel_error > 0 && c.rel_error < 1e-4);
	assert_in_range(c.window_ns, TICK_CALIBRATE_NS, TICK_CALIBRATE_NS * 20);
	do { /* a stamp pair that an interrupt has torn apart proves nothing */
		t0 = tick_now(&c);
		ns0 = now_ns();
		slack = ticks_to_ns(&c, tick_now(&c) - t0);
	} while (slack > 1000);
	sleep_until_ns(ns0 + 100000000);
	do {
		t1 = tick_now(&c);
		ns1 = now_ns();
	} while (ticks_to_ns(&c, tick_now(&c) - t1) > 1000);
	measured = (double)ticks_to_ns(&c, t1 - t0);
	passed = (double)(ns1 - ns0);
	/* NTP may slew CLOCK_MONOTONIC by up to 500 ppm between the windows; it does not jump */
	assert_true(fabs(measured - passed) < passed * (c.rel_error + 500e-6) + 2000);
}

static void facts_agree_with_cpuinfo(void **state)
{
	char flags[8192];
	struct tsc_facts f;

	(void)state;
	tsc_facts_read(&f);
	if (!text_field("/proc/cpuinfo", "flags", flags, sizeof(flags)))
		skip();
	assert_int_equal(f.constant_tsc, strstr(flags, " constant_tsc ") != NULL);
	assert_int_equal(f.nonstop_tsc, strstr(flags, " nonstop_tsc ") != NULL);
	f.nonstop_tsc = false;
	assert_false(tsc_usable(&f));
}

static void what_was_missed_is_not_made_up_for(void **state)
{
	assert_int_equal(next_due(1000, 100, 1000), 1100);
	assert_int_equal(next_due(1000, 100, 1099), 1100); /* a little late: no drift */
	assert_int_equal(next_due(1000, 100, 1100), 1100);
	assert_int_equal(next_due(1000, 100, 5000), 5100);
}

static void sleeps_until(void **state)
{
	uint64_t t = now_ns() + 2000000;

	(void)state;
	sleep_until_ns(t);
	assert_true(now_ns() >= t);
	t = now_ns();
	sleep_until_ns(0);
	assert_true(now_ns() - t < 1000000000ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversion_does_not_overflow),
		cmocka_unit_test(conversion_goes_back),
		cmocka_unit_test(monotonic_needs_no_conversion),
		cmocka_unit_test(calibration_keeps_its_word),
		cmocka_unit_test(facts_agree_with_cpuinfo),
		cmocka_unit_test(what_was_missed_is_not_made_up_for),
		cmocka_unit_test(sleeps_until),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
