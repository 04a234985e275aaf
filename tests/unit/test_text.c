// SPDX-License-Identifier: GPL-2.0-only
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

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

static void assert_cleaned(const char *in, const char *want)
{
	char s[64];

	snprintf(s, sizeof(s), "%s", in);
	text_clean(s, sizeof(s));
	assert_string_equal(s, want);
}

static void what_can_be_shown_stays(void **state)
{
	(void)state;
	assert_cleaned("", "");
	assert_cleaned("nginx: worker ~", "nginx: worker ~");
	assert_cleaned("привет, 世界 \xf0\x9f\x90\xa7", "привет, 世界 \xf0\x9f\x90\xa7");
}

static void what_is_no_character_is_replaced(void **state)
{
	(void)state;
	assert_cleaned("привети\xd0", "привети?");
	assert_cleaned("a\x80z", "a?z");
	assert_cleaned("\xc0\xaf", "??");		/* '/' in two bytes */
	assert_cleaned("\xe0\x80\xaf", "???");
	assert_cleaned("\xed\xa0\x80", "???");	/* half of a pair */
	assert_cleaned("\xf4\x90\x80\x80", "????");	/* beyond the last */
	assert_cleaned("\xff\xfe", "??");
	assert_cleaned("\xe4\xb8", "??");
}

static void what_moves_a_cursor_is_replaced(void **state)
{
	(void)state;
	assert_cleaned("\x1b[2J\n\t\x7f", "?[2J???");
	assert_cleaned("\xc2\x9b" "2J", "?2J");		/* the same in one character */
	assert_cleaned("\xe2\x80\xae" "gpj.exe", "?gpj.exe");	/* from right to left */
	assert_cleaned("\xe2\x80\xa8", "?");
}

static void lines_may_stay(void **state)
{
	char s[] = "main+0x1 (a)\n\x1b[2J\rwrite\n";

	(void)state;
	text_clean_lines(s, sizeof(s));
	assert_string_equal(s, "main+0x1 (a)\n?[2J?write\n");
}

static void a_name_has_fifteen_bytes(void **state)
{
	char out[16];

	(void)state;
	text_comm(out, "abcdefghijklmnop");
	assert_string_equal(out, "abcdefghijklmno");
	text_comm(out, "\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0");
	assert_string_equal(out, "\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf\xd0\xbf?");
}

static void json_takes_any_text(void **state)
{
	json_t *s = text_json("\xd0\n");

	(void)state;
	assert_non_null(s);
	assert_string_equal(json_string_value(s), "??");
	json_decref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(fields),
		cmocka_unit_test(words),
		cmocka_unit_test(appends_within_bounds),
		cmocka_unit_test(what_can_be_shown_stays),
		cmocka_unit_test(what_is_no_character_is_replaced),
		cmocka_unit_test(what_moves_a_cursor_is_replaced),
		cmocka_unit_test(lines_may_stay),
		cmocka_unit_test(a_name_has_fifteen_bytes),
		cmocka_unit_test(json_takes_any_text),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
