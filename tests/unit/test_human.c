// SPDX-License-Identifier: GPL-2.0-only
#include "base/human.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void counts(void **state)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = { { 0, "0" },	 { 7, "7" },	      { 7.25, "7.25" },
		     { 99.96, "100" },	 { 999, "999" },      { 999.6, "1.00k" },
		     { 12345, "12.3k" }, { 999600, "1.00M" }, { 3.3e9, "3.30G" },
		     { 1.5e15, "1500T" } };
	char text[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		human_count(rows[i].v, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void figures(void **state)
{
	static const struct {
		double v;
		int digits;
		const char *text;
	} rows[] = { { 0, 3, "0" },	      { 132, 2, "130" },
		     { 132, 3, "132" },	      { 1394, 3, "1390" },
		     { 45.06, 3, "45.1" },    { 1.316, 3, "1.32" },
		     { 0.03124, 2, "0.031" }, { 0.0000123, 2, "0.000012" },
		     { -132, 2, "-130" },     { 1e7, 2, "10000000" },
		     { 100, 3, "100" },	      { NAN, 3, "-" },
		     { INFINITY, 3, "inf" } };
	char text[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		human_figure(rows[i].v, rows[i].digits, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void times(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} rows[] = { { 7, "7 ns" }, { 44100, "44.1 us" }, { 836e6, "836 ms" },
		{ 1.234e9, "1.23 s" } };
	char text[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		human_ns(rows[i].ns, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void plurals(void **state)
{
	assert_string_equal(plural(0), "s");
	assert_string_equal(plural(1), "");
	assert_string_equal(plural(2), "s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts), cmocka_unit_test(figures), cmocka_unit_test(times),
		cmocka_unit_test(plurals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
