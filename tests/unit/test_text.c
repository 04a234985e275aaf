// SPDX-License-Identifier: GPL-2.0-only
#include "lib/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/ipcstall-text-XXXXXX";

static void write_file(const char *content)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static void numbers(void **state)
{
	uint64_t v = 77;

	(void)state;
	write_file("18446744073709551615\n");
	assert_true(text_u64(path, &v));
	assert_true(v == UINT64_MAX);
	write_file("18446744073709551616\n");
	assert_false(text_u64(path, &v));
	write_file("12 apples\n");
	assert_false(text_u64(path, &v));
	write_file("-1\n");
	assert_false(text_u64(path, &v));
	write_file("");
	assert_false(text_u64(path, &v));
	assert_false(text_u64("/nonexistent/file", &v));
}

static void fields(void **state)
{
	char out[16];

	(void)state;
	write_file("model\t\t: 17\nmodel name\t: A CPU \nempty:\nVmRSS:\t  12 kB\n");
	assert_true(text_field(path, "model", out, sizeof(out)));
	assert_string_equal(out, "17");
	assert_true(text_field(path, "model name", out, sizeof(out)));
	assert_string_equal(out, "A CPU");
	assert_true(text_field(path, "empty", out, sizeof(out)));
	assert_string_equal(out, "");
	assert_true(text_field(path, "VmRSS", out, 5));
	assert_string_equal(out, "12 k");
	assert_false(text_field(path, "Vm", out, sizeof(out)));
	assert_false(text_field(path, "name", out, sizeof(out)));
	assert_string_equal(out, "");
}

static void words(void **state)
{
	(void)state;
	assert_true(text_has_word("constant_tsc tsc", "tsc"));
	assert_false(text_has_word("constant_tsc nonstop_tsc", "tsc"));
	assert_false(text_has_word("tsc_adjust", "tsc"));
	assert_true(text_has_word("tsc", "tsc"));
	assert_false(text_has_word("", "tsc"));
	assert_false(text_has_word("a b", ""));
}

static void appends_within_bounds(void **state)
{
	char out[8] = "ab";

	(void)state;
	text_append(out, sizeof(out), "%d", 345);
	assert_string_equal(out, "ab345");
	text_append(out, sizeof(out), "6789");
	assert_string_equal(out, "ab34567");
	text_append(out, sizeof(out), "x");
	assert_string_equal(out, "ab34567");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(fields),
		cmocka_unit_test(words),
		cmocka_unit_test(appends_within_bounds),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
