// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a result file to --repeat: a plan, or refused. It names no output. */
#include "commands/cmd_bench.c"

#include "fuzz/fuzz.h"

static void check_ranges(const struct bench_options *o)
{
	for (const struct opt *row = bench_option_rows; !opt_is_end(row); row++) {
		const char *at = (const char *)o + row->offset;

		if (row->type == OPT_STRING && row->hidden_from_result &&
		    strcmp(row->name, "repeat"))
			MUST(!*(char *const *)at);
		if (row->type == OPT_SIZES)
			MUST(((const struct size_list *)at)->n <= SIZES_MOST);
	}
}

static void repeat_it(char *path)
{
	struct bench_options o = {};
	struct bench_plan plan;
	struct err e = {};

	bench_defaults(&o);
	o.repeat = strdup(path);
	if (repeat_options(&o, &e)) {
		must_be_refusal(&e);
	} else {
		check_ranges(&o);
		if (!o.connect && bench_plan(&o, &plan, &e) == 0)
			bench_teardown(&plan);
		else if (!o.connect)
			must_be_refusal(&e);
	}
	opt_free(bench_option_rows, &o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file m = memory_file_open(data, size);

	repeat_it(m.path);
	memory_file_close(&m);
	return 0;
}
