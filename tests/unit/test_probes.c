// SPDX-License-Identifier: GPL-2.0-only
/* The probes of clocks and calls, and the grid that shows them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/call_probe.h"
#include "host/clock_probe.h"
#include "render/grid.h"
#include "render/json_file.h"

static void clocks_step_and_cost(void **state)
{
	struct clock_probe p[CLOCK_PROBES];
	int n = clock_probe_all(p, NAN);

	(void)state;
	assert_int_equal(n, 3); /* without a usable TSC its rows are left out */
	for (int i = 0; i < n; i++) {
		assert_true(p[i].resolution > 0);
		assert_true(p[i].step >= 1 && p[i].step < 1e8);
		assert_true(p[i].cost_min > 0 && p[i].cost_median >= p[i].cost_min);
	}
	assert_string_equal(p[0].name, "CLOCK_MONOTONIC");
}

static void raw_calls_enter_the_kernel(void **state)
{
	double samples[100];
	struct err e = {};
	struct summary raw;

	(void)state;
	for (const struct call_row *r = call_rows; r->name; r++) {
		assert_int_equal(call_measure(r, true, samples, 100, &raw, &e), 0);
		assert_int_equal(raw.n, 100);
		assert_true(raw.min > 10); /* no CPU enters and leaves a kernel faster */
	}
}

static long cached(int fd)
{
	static volatile long answer = 42;

	return answer;
}

static long entered(int fd)
{
	return syscall(SYS_getppid);
}

static void a_cached_answer_is_told(void **state)
{
	const struct call_row fake = { "fake", entered, cached, NULL }, honest = { "honest",
		entered, entered, NULL };
	const struct call_row nowhere = { "nowhere", entered, entered, "/nonexistent/device" };
	struct summary raw, libc;
	double samples[400];
	struct err e = {};

	(void)state;
	assert_int_equal(call_measure(&fake, true, samples, 400, &raw, &e), 0);
	assert_int_equal(call_measure(&fake, false, samples, 400, &libc, &e), 0);
	assert_true(call_was_faked(&raw, &libc));
	assert_int_equal(call_measure(&honest, false, samples, 400, &libc, &e), 0);
	assert_false(call_was_faked(&raw, &libc));
	assert_int_equal(call_measure(&nowhere, true, samples, 400, &raw, &e), -1);
	assert_non_null(strstr(e.text, "/nonexistent/device"));
}

static void grid_aligns(void **state)
{
	struct grid *g = grid_new("<name|µs");
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	grid_text(g, "a");
	grid_figure(g, 1234.5);
	grid_text(g, "longer");
	grid_figure(g, NAN);
	grid_text(g, "z");
	grid_figure(g, 0);
	grid_print(g, f);
	fclose(f);
	assert_string_equal(text, "name      µs\n"
				  "a       1234\n"
				  "longer     -\n"
				  "z          0\n");
	free(text);
}

static void json_files_fail_aloud(void **state)
{
	struct err e = {};

	(void)state;
	assert_int_equal(json_to_file(json_object(), "/nonexistent/dir/x.json", JSON_INDENT(1), &e),
			 -1);
	assert_int_equal(e.code, EXIT_IO);
	e = (struct err){};
	assert_int_equal(json_to_file(json_object(), "/dev/full", JSON_INDENT(1), &e), -1);
	assert_int_equal(e.code, EXIT_IO);
	e = (struct err){};
	assert_int_equal(json_to_file(NULL, "-", JSON_INDENT(1), &e), -1);
	assert_int_equal(e.code, EXIT_NO_RESOURCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_step_and_cost),
		cmocka_unit_test(raw_calls_enter_the_kernel),
		cmocka_unit_test(a_cached_answer_is_told), cmocka_unit_test(grid_aligns),
		cmocka_unit_test(json_files_fail_aloud),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
