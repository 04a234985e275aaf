// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "json/json_options.h"

struct demo {
	bool flag;
	int64_t count, size, wait;
	char *text, *out;
	int kind;
	struct size_list sizes;
	struct cpu_pair cpus;
	struct str_list several;
};

static const char *const kinds[] = { "pipe", "tcp", "udp", NULL };
static const struct opt rows[] = {
	OPT_HEAD("Demo"),
	{ OPT_FLAG, 'f', "flag", NULL, "a flag", offsetof(struct demo, flag) },
	{ OPT_INT, 'n', "count", "N", "a count", offsetof(struct demo, count), 1, 100 },
	{ OPT_SIZE, 0, "size", "BYTES", "bytes", offsetof(struct demo, size), 1, 1 << 20 },
	{ OPT_TIME, 0, "wait", "TIME", "a time", offsetof(struct demo, wait) },
	{ OPT_STRING, 0, "text", "TEXT", "text", offsetof(struct demo, text) },
	{ OPT_ENUM, 0, "kind", "KIND", "one of", offsetof(struct demo, kind), 0, 0, kinds },
	{ OPT_SIZES, 0, "sizes", "LIST", "sizes", offsetof(struct demo, sizes) },
	{ OPT_CPUS, 0, "cpus", "A,B", "cpus", offsetof(struct demo, cpus) },
	{ OPT_MULTI, 0, "several", "KIND", "any of", offsetof(struct demo, several), 0, 0, kinds },
	{ OPT_STRING, 0, "out", "FILE", "where it goes", offsetof(struct demo, out),
		.hidden_from_result = true },
	OPT_END,
};

static int parse(struct demo *d, struct err *e, char *a, char *b)
{
	char *argv[] = { "x", a, b, NULL };

	memset(e, 0, sizeof(*e));
	return opt_parse(rows, d, b ? 3 : 2, argv, NULL, e);
}

static void sizes_as_list_and_range(void **state)
{
	struct size_list l;
	struct err e = {};

	assert_int_equal(parse_sizes("4,1K,64K", &l, &e), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[2], 65536);
	free(l.v);
	assert_int_equal(parse_sizes("1400:1409:+4", &l, &e), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[2], 1408);
	free(l.v);
	assert_int_equal(parse_sizes("4:512K:*2", &l, &e), 0);
	assert_int_equal(l.n, 18);
	assert_int_equal(l.v[17], 524288);
	free(l.v);
}

static void bad_values_are_usage_errors(void **state)
{
	static char *const bad[][2] = {
		{ "--sizes", "64Q" }, { "--sizes", "0" }, { "--sizes", "-4" }, { "--sizes", "" },
			{ "--sizes", "4," },
		{ "--sizes", "9:4:+1" }, { "--sizes", "4:9:+0" }, { "--sizes", "4:9:*1" },
			{ "--sizes", "4:9" }, { "--sizes", "2G" },
		{ "--sizes", "nan" }, { "--sizes", "0x10" }, { "--sizes", "1e400" },
			{ "--sizes", "4.5" }, { "--sizes", "1:1G:+1" },
		{ "--count", "0" },   { "--count", "101" }, { "--count", "ten" },
			{ "--count", "1x" }, { "--count", "" },
		{ "--size", "2M" },   { "--wait", "-1s" }, { "--wait", "3 parsecs" },
			{ "--kind", "tpc" }, { "--several", "tpc" }, { "--cpus", "-1" },
		{ "--cpus", "0,x" },  { "--cpus", "0,1,2" }, { "--text", "" }, { "--flag=7", NULL },
			{ "--nonsense", NULL },
		{ "--count", NULL },  { "-n", NULL }, { "-z", NULL }, { "operand", NULL },
			{ "--no-count", NULL },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct demo d = {};
		struct err e;

		assert_int_equal(parse(&d, &e, bad[i][0], bad[i][1]), -1);
		assert_int_equal(e.code, EXIT_BAD_USAGE);
		assert_null(strchr(e.text, '\n'));
		assert_true(strlen(e.text) > 10);
		opt_free(rows, &d);
	}
}

static void what_was_given_is_known(void **state)
{
	struct opt_operands rest = { .none = true };
	struct demo d = {};
	struct err e = {};
	char *argv[] = { "x", "-ff", "--no-flag", "--count=7", "--size", "64K", NULL };

	assert_int_equal(opt_parse(rows, &d, 6, argv, &rest, &e), 0);
	assert_int_equal(rest.n_given, 3);
	assert_true(opt_given(&rest, "flag") && opt_given(&rest, "count") &&
		    opt_given(&rest, "size"));
	assert_false(opt_given(&rest, "wait"));
	assert_int_equal(opt_parse(rows, &d, 2, (char *[]){ "x", "operand", NULL }, &rest, &e), -1);
	opt_free(rows, &d);
}

static void nearest_name_is_offered(void **state)
{
	struct demo d = {};
	struct err e;

	parse(&d, &e, "--kind", "tpc");
	assert_non_null(strstr(e.text, "did you mean 'tcp'"));
	parse(&d, &e, "--cuont", "3");
	assert_non_null(strstr(e.text, "did you mean --count"));
}

static void every_option_survives_json(void **state)
{
	struct demo d = { .cpus = { -1, -1 } }, back = { .cpus = { -1, -1 } };
	struct err e = {};
	char *argv[] = { "x",	   "-f",      "--count=7", "--size",   "64K",
			 "--wait", "1500ms",  "--text",	   "hi there", "--kind",
			 "udp",	   "--sizes", "4,8",	   "--cpus",   "0,1" };
	json_t *j, *k;

	assert_int_equal(opt_parse(rows, &d, 15, argv, NULL, &e), 0);
	assert_int_equal(d.wait, 1500000000);
	j = opt_to_json(rows, &d);
	assert_int_equal(opt_from_json(rows, &back, j, &e), 0);
	k = opt_to_json(rows, &back);
	assert_true(json_equal(j, k));
	json_decref(j);
	json_decref(k);
	opt_free(rows, &d);
	opt_free(rows, &back);
}

static void a_copy_outlives_the_original(void **state)
{
	char *argv[] = { "x", "--text", "hi", "--sizes", "4,8", "--several", "tcp" };
	struct demo d = {}, copy;
	struct err e = {};

	assert_int_equal(opt_parse(rows, &d, 7, argv, NULL, &e), 0);
	copy = d;
	assert_int_equal(opt_own(rows, &copy), 0);
	opt_free(rows, &d);
	assert_string_equal(copy.text, "hi");
	assert_null(copy.out);
	assert_int_equal(copy.sizes.n, 2);
	assert_int_equal(copy.sizes.v[1], 8);
	assert_int_equal(copy.several.n, 1);
	assert_string_equal(copy.several.v[0], "tcp");
	opt_free(rows, &copy);
}

/* NULL: it is taken; else a word of the refusal. */
static void takes(const char *json, const char *word, enum exit_code code)
{
	struct demo d = { .count = 5, .cpus = { -1, -1 } };
	json_t *j = json_loads(json, 0, NULL);
	struct err e = {};
	int rc = opt_from_json(rows, &d, j, &e);

	assert_non_null(j);
	if (rc != (word ? -1 : 0) || (word && (!strstr(e.text, word) || e.code != code)))
		fail_msg("%s: %d, %s", json, e.code, e.text);
	opt_free(rows, &d);
	json_decref(j);
}

/* security.md's row 2: what the command line refuses a file may not say either. */
static void row2_a_file_says_nothing_out_of_range(void **state)
{
	static const char *const bad[] = {
		"{\"count\":0}", "{\"count\":-1}", "{\"count\":101}",
			"{\"count\":9223372036854775807}", "{\"count\":1.5}", "{\"count\":true}",
			"{\"count\":[1]}",
		"{\"count\":\"101\"}", "{\"size\":-1}", "{\"size\":1048577}", "{\"wait\":-1}",
			"{\"wait\":9223372036854775807}", "{\"flag\":1}", "{\"flag\":\"yes\"}",
		"{\"kind\":1}", "{\"kind\":\"tpc\"}", "{\"cpus\":\"-1,2\"}", "{\"text\":5}",
			"{\"text\":{}}", "{\"sizes\":[0]}", "{\"sizes\":[1073741825]}",
		"{\"sizes\":[\"4\"]}", "{\"sizes\":\"0\"}", "{\"sizes\":{}}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		takes(bad[i], "option '", EXIT_DATA);
	takes("{\"count\":101}", "option 'count' in the file: 101 is out of range; give 1 to 100",
	      EXIT_DATA);
	takes("{\"count\":100,\"size\":1,\"wait\":0,\"flag\":true,\"kind\":\"udp\",\"cpus\":\"0,"
	      "1\",\"text\":\"t\",\"sizes\":[1,1073741824]}",
	      NULL, EXIT_DONE);
	takes("{\"count\":null,\"sizes\":\"4,8\",\"size\":\"64K\"}", NULL, EXIT_DONE);
	takes("{\"warp\":1}", "unknown to this version", EXIT_VERSION);
}

static void row2_what_stands_by_default_may_be_out_of_range(void **state)
{
	struct demo d = { .count = 0 };
	json_t *j = json_pack("{s:i}", "count", 0);
	struct err e = {};

	assert_int_equal(opt_from_json(rows, &d, j, &e), 0);
	json_decref(j);
}

/* security.md's row 3 */
static void row3_a_file_says_nothing_of_outputs(void **state)
{
	takes("{\"out\":\"/etc/passwd\"}", "option 'out' in the file: a file may not say that",
	      EXIT_DATA);
	takes("{\"out\":null}", "option 'out' in the file: a file may not say that", EXIT_DATA);
}

static void row2_a_long_list_of_sizes_is_refused(void **state)
{
	struct demo d = {};
	json_t *list = json_array(), *j = json_pack("{s:o}", "sizes", list);
	struct err e = {};

	for (int i = 0; i <= SIZES_MOST; i++)
		json_array_append_new(list, json_integer(4));
	assert_int_equal(opt_from_json(rows, &d, j, &e), -1);
	assert_int_equal(e.code, EXIT_DATA);
	opt_free(rows, &d);
	json_decref(j);
}

static void row2_sizes_and_factors_do_not_overflow(void **state)
{
	struct size_list l;
	struct err e = {};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(parse_sizes(i ? "4:9000000000000000000:*9000000000000000000"
					       : "4:9000000000000000000:+9000000000000000000",
					     &l, &e),
				 0);
		assert_int_equal(l.n, 1);
		free(l.v);
	}
}

static void random_words_never_crash_or_pass_silently(void **state)
{
	static const char letters[] = "-=nfK0159,:+*.xcount sizewptkind\xff";

	srand(7);
	for (int i = 0; i < 20000; i++) {
		struct demo d = {};
		struct err e = {};
		char a[24], b[24];
		int rc;

		for (int j = 0; j < 23; j++) {
			a[j] = letters[rand() % (sizeof(letters) - 1)];
			b[j] = letters[rand() % (sizeof(letters) - 1)];
		}
		a[rand() % 23] = b[rand() % 23] = a[23] = b[23] = '\0';
		if (i & 1)
			memcpy(a, i & 2 ? "--sizes" : "--count", 8);
		rc = parse(&d, &e, a, b);
		assert_true((rc == 0) == !err_is_set(&e));
		if (rc == 0 && d.count)
			assert_in_range(d.count, 1, 100);
		opt_free(rows, &d);
	}
}

/* A command's own rows come first, then the others without those it replaces; the table always has
 * an end. */
static void tables_are_joined(void **state)
{
	static const struct opt own[] = { { OPT_FLAG, 0, "list", NULL, "own", 0 }, OPT_END };
	static const char *const but[] = { "text", "sizes", NULL };
	struct opt all[16];

	opt_join(all, 16, own, rows, but);
	assert_ptr_equal(opt_find(all, "list"), all);
	assert_null(opt_find(all, "text"));
	assert_null(opt_find(all, "sizes"));
	assert_non_null(opt_find(all, "flag"));
	assert_non_null(opt_find(all, "cpus"));
	opt_join(all, 3, own, rows, but);
	assert_null(opt_find(all, "flag"));
	assert_true(!all[2].name && !all[2].help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_as_list_and_range),
		cmocka_unit_test(bad_values_are_usage_errors),
		cmocka_unit_test(what_was_given_is_known),
		cmocka_unit_test(nearest_name_is_offered),
		cmocka_unit_test(every_option_survives_json),
		cmocka_unit_test(a_copy_outlives_the_original), cmocka_unit_test(tables_are_joined),
		cmocka_unit_test(row2_a_file_says_nothing_out_of_range),
		cmocka_unit_test(row2_what_stands_by_default_may_be_out_of_range),
		cmocka_unit_test(row2_a_long_list_of_sizes_is_refused),
		cmocka_unit_test(row2_sizes_and_factors_do_not_overflow),
		cmocka_unit_test(row3_a_file_says_nothing_of_outputs),
		cmocka_unit_test(random_words_never_crash_or_pass_silently),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
