// SPDX-License-Identifier: GPL-2.0-only
#include "base/text.h"
#include "json/json_text.h"

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
	assert_cleaned("\xc0\xaf", "??"); /* '/' in two bytes */
	assert_cleaned("\xe0\x80\xaf", "???");
	assert_cleaned("\xed\xa0\x80", "???");	    /* half of a pair */
	assert_cleaned("\xf4\x90\x80\x80", "????"); /* beyond the last */
	assert_cleaned("\xff\xfe", "??");
	assert_cleaned("\xe4\xb8", "??");
}

static void what_moves_a_cursor_is_replaced(void **state)
{
	(void)state;
	assert_cleaned("\x1b[2J\n\t\x7f", "?[2J???");
	assert_cleaned("\xc2\x9b"
		       "2J",
		       "?2J"); /* the same in one character */
	assert_cleaned("\xe2\x80\xae"
		       "gpj.exe",
		       "?gpj.exe"); /* from right to left */
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

static bool is_fit(const char *s)
{
	json_t *o = json_string(s); /* NULL: not UTF-8 */
	bool fit = o != NULL;

	json_decref(o);
	for (const unsigned char *c = (const unsigned char *)s; fit && *c; c++)
		fit = *c >= 0x20 && *c != 0x7f && !(c[0] == 0xc2 && c[1] < 0xa0) &&
		      !(c[0] == 0xe2 && c[1] == 0x80 &&
			(c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae))) &&
		      !(c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
	return fit;
}

/* Rows of characters that matter, whole and cut, and of any bytes. */
static void row8_no_text_stays_unfit(void **state)
{
	static const char *const parts[] = {
		"\x1b[2J",	"\xc2\x9b",	"\xc2\x80",	    "\xc2\x9f",	    "\xc2\xa0",
		"\x7f",		"\xe2\x80\xaa", "\xe2\x80\xae",	    "\xe2\x81\xa6", "\xe2\x81\xa9",
		"\xe2\x81\xa5", "\xe2\x80",	"\xf0\x9f\x90\xa7", "\xf0\x9f",	    "a",
		"\xd0\xbf",	"\xed\xa0\x80", "\xc0\xaf",	    "\xff",	    "\r\n",
		"\xd8\x9c"
	};

	(void)state;
	srand(32);
	for (int i = 0; i < 200000; i++) {
		char s[64] = "", again[64];

		for (int k = rand() % 12; k > 0; k--)
			strcat(s, parts[(size_t)rand() % (sizeof(parts) / sizeof(parts[0]))]);
		for (int k = rand() % 4; k > 0 && s[0]; k--)
			s[(size_t)rand() % strlen(s)] = (char)(1 + rand() % 255);
		text_clean(s, 1 + (size_t)rand() % sizeof(s));
		if (!is_fit(s))
			fail_msg("after %d texts: %s", i, s);
		strcpy(again, s);
		text_clean(again, sizeof(again));
		assert_string_equal(s, again);
	}
}

static void row8_json_of_others_is_cleaned_through(void **state)
{
	json_t *v = json_loads("{\"a\\u009bb\":[\"\\u202ex\",{\"k\\u001b\":{\"z\":\"\\u0007\"}},5,"
			       "null],\"ok\":\"plain\"}",
			       0, NULL),
	       *inside;

	(void)state;
	assert_ptr_equal(text_clean_json(v), v);
	inside = json_object_get(v, "a?b");
	assert_string_equal(json_string_value(json_array_get(inside, 0)), "?x");
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(json_array_get(inside, 1), "k?"), "z")),
			    "?");
	assert_int_equal(json_integer_value(json_array_get(inside, 2)), 5);
	assert_string_equal(json_string_value(json_object_get(v, "ok")), "plain");
	assert_int_equal(json_object_size(v), 2);
	json_decref(v);
	assert_null(text_clean_json(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(fields), cmocka_unit_test(words),
		cmocka_unit_test(appends_within_bounds), cmocka_unit_test(what_can_be_shown_stays),
		cmocka_unit_test(what_is_no_character_is_replaced),
		cmocka_unit_test(what_moves_a_cursor_is_replaced), cmocka_unit_test(lines_may_stay),
		cmocka_unit_test(a_name_has_fifteen_bytes), cmocka_unit_test(json_takes_any_text),
		cmocka_unit_test(row8_no_text_stays_unfit),
		cmocka_unit_test(row8_json_of_others_is_cleaned_through),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
