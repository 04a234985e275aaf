// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random command lines against the benchmark's own rows: whatever comes, it is taken whole or
 * refused in one line with a known code, and what was taken can be written out and read back the
 * same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "stats/rng.h"

enum { LINES = 60000, WORDS = 7, LONGEST = 120 };

/* values that mean something to some row, and the ways in which they go wrong */
static const char *const values[] = {
	"0", "1", "-1", "+1", "64", "64K", "64Q", "1e9", "1e400", "nan", "inf", "0x10", " 7", "7 ",
		"", "4,16,64", "1400:9000:+4", "4:512K:*2",
	"9:4:+1", "4:9", ",", ":", "tcp", "tpc", "udp", "pipe", "rudp", "unix", "latency",
		"latency,throughput", "throughput,nothing", "same", "cross",
	"0,1", "0,0", "99,98", "500ms", "3s", "3 parsecs", "0.000001us", "2.5M", "header=4",
		"trailer=4", "chunks=0", "single", "veth", "lo,rate=1mbit",
	"veth,delay=1ms,loss=101%", "bridge,mtu=-1", "veth,tso=maybe", "reno", "../../etc/passwd",
		"%s%n", "\xff\xfe", "9223372036854775807",
	"9223372036854775808", "-9223372036854775809", "18446744073709551616", "1G", "16E",
		"localhost", "[::1]:1", "message", "final", "30", "100",
};
#define N_VALUES (sizeof(values) / sizeof(values[0]))

static const struct opt *any_row(struct rng *r)
{
	const struct opt *row;
	size_t n = 0;

	while (bench_option_rows[n].name || bench_option_rows[n].help)
		n++;
	do
		row = &bench_option_rows[rng_below(r, n)];
	while (!row->name);
	return row;
}

static void spoil(struct rng *r, char *word)
{
	size_t n = strlen(word);

	if (!n)
		return;
	if (rng_below(r, 2))
		word[rng_below(r, n)] = (char)(1 + rng_below(r, 255));
	else
		word[rng_below(r, n)] = '\0';
}

static void any_word(struct rng *r, char *word)
{
	static const char *const forms[] = { "--%s", "--%s=%s", "--no-%s", "-%.1s", "%s" };
	const char *name = any_row(r)->name, *value = values[rng_below(r, N_VALUES)];

	if (rng_below(r, 2))
		snprintf(word, LONGEST, "%s", value);
	else
		snprintf(word, LONGEST, forms[rng_below(r, 5)], name, value);
	if (!rng_below(r, 8))
		spoil(r, word);
}

static void is_a_refusal(const struct err *e, const char *line)
{
	if (!e->text[0] || strchr(e->text, '\n') ||
	    (e->code != EXIT_BAD_USAGE && e->code != EXIT_NO_RESOURCE &&
	     e->code != EXIT_NO_FEATURE && e->code != EXIT_NO_PERM))
		fail_msg("%s: code %d: '%s'", line, (int)e->code, e->text);
}

/* every option as text, read into fresh options, says the same again */
static void reads_back(const struct bench_options *o, const char *line)
{
	struct bench_options again = {};
	struct err e = {};

	bench_defaults(&again);
	for (const struct opt *row = bench_option_rows; row->name || row->help; row++) {
		char said[4096], then[4096];

		if (!row->name || row->type == OPT_MULTI || row->type == OPT_FLAG)
			continue;
		opt_format(row, o, said, sizeof(said));
		if (!*said || strlen(said) + 1 == sizeof(said))
			continue;
		if (opt_set(row, &again, said, &e))
			fail_msg("%s: --%s '%s' is not read back: %s", line, row->name, said,
				 e.text);
		opt_format(row, &again, then, sizeof(then));
		assert_string_equal(said, then);
	}
	opt_free(bench_option_rows, &again);
}

static void one_line(struct rng *r, size_t *taken)
{
	char words[WORDS][LONGEST], line[WORDS * (LONGEST + 1) + 1] = "",
								 *argv[WORDS + 2] = { "ipcstall" };
	struct bench_options o = {};
	struct bench_plan plan;
	struct err e = {};
	int n = 1 + (int)rng_below(r, WORDS);

	for (int i = 0; i < n; i++) {
		any_word(r, words[i]);
		argv[i + 1] = words[i];
		strcat(strcat(line, " "), words[i]);
	}
	bench_defaults(&o);
	if (opt_parse(bench_option_rows, &o, n + 1, argv, NULL, &e)) {
		is_a_refusal(&e, line);
	} else {
		reads_back(&o, line);
		++*taken;
		if (!o.connect && bench_plan(&o, &plan, &e))
			is_a_refusal(&e, line);
	}
	opt_free(bench_option_rows, &o);
}

static void any_line_is_taken_or_refused(void **state)
{
	struct rng r;
	size_t taken = 0;

	rng_seed(&r, 7);
	for (int i = 0; i < LINES; i++)
		one_line(&r, &taken);
	assert_true(taken > LINES / 100 && taken < LINES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_line_is_taken_or_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
