// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a command line, a word a line, the first one a command: taken whole, or refused in
 * one line. A benchmark's options, written out as text or as JSON, read back the same.
 */
#include "commands/command.h"

#include "bench/bench.h"
#include "fuzz/fuzz.h"
#include "host/link.h"
#include "json/json_options.h"
#include "remote/remote.h"
#include "sweep/cells.h"

enum { WORDS_MAX = 24 };

static int split(char *text, char *words[WORDS_MAX + 1])
{
	int n = 0;

	for (char *word; n < WORDS_MAX && (word = strsep(&text, "\n"));)
		words[n++] = word;
	words[n] = NULL;
	return n;
}

/* What a result says of an option, --repeat reads. */
static void reads_back_as_text(const struct opt *row, const struct bench_options *o,
			       struct bench_options *again)
{
	char said[4096], then[4096];
	struct err e = {};

	if (!row->name || row->type == OPT_MULTI || row->type == OPT_FLAG)
		return;
	opt_format(row, o, said, sizeof(said));
	if (!*said || strlen(said) + 1 == sizeof(said))
		return;
	MUST(opt_set(row, again, said, &e) == 0);
	opt_format(row, again, then, sizeof(then));
	MUST(!strcmp(said, then));
}

static void reads_back(const struct bench_options *o)
{
	struct bench_options again = {};
	json_t *was = opt_to_json(bench_option_rows, o), *is;
	struct err e = {};

	bench_defaults(&again);
	MUST(was && opt_from_json(bench_option_rows, &again, was, &e) == 0);
	is = opt_to_json(bench_option_rows, &again);
	MUST(json_equal(was, is));
	for (const struct opt *row = bench_option_rows; !opt_is_end(row); row++)
		reads_back_as_text(row, o, &again);
	json_decref(was);
	json_decref(is);
	opt_free(bench_option_rows, &again);
}

static void plan(const struct bench_options *o)
{
	struct bench_plan plan;
	struct err e = {};

	reads_back(o);
	if (o->connect || o->repeat)
		return;
	if (bench_plan(o, &plan, &e))
		must_be_refusal(&e);
	else
		bench_teardown(&plan);
}

static void take_line(const struct command *c, int n, char **words)
{
	char *operands[WORDS_MAX + 1];
	struct opt_operands rest = { .v = operands,
		.stop_at_first = c->stop_at_first_operand,
		.none = !c->takes_operands };
	void *opts = command_defaults(c);
	struct err e = {};

	MUST(opts);
	if (opt_parse(c->options, opts, n, words, &rest, &e))
		must_be_refusal(&e);
	else if (c == commands[0])
		plan(opts);
	command_free(c, opts);
}

static void take_parts(char *text)
{
	struct str_list one = { .v = (const char *[]){ text }, .n = 1 };
	struct size_list sizes = {};
	struct link_spec link;
	struct cells cells;
	struct err e = {};
	char host[64], port[8];
	int64_t v;

	if (remote_split(text, host, sizeof(host), port) == 0)
		MUST(strlen(host) < sizeof(host) && strlen(port) < sizeof(port));
	if (parse_sizes(text, &sizes, &e) == 0)
		free(sizes.v);
	parse_size(text, &v);
	parse_time_ns(text, &v);
	e = (struct err){};
	if (link_parse(text, &link, &e))
		must_be_refusal(&e);
	e = (struct err){};
	if (cells_make(&cells, bench_option_rows, &one, NULL, 2, 1, &e))
		must_be_refusal(&e);
	cells_free(&cells);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	command_list = commands;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *words[WORDS_MAX + 1];
	const struct command *c;
	int n;

	memcpy(text, data, size);
	text[size] = 0;
	n = split(text, words);
	c = command_find(words[0]);
	take_line(c && c->options ? c : commands[0], n, words);
	for (int i = 0; i < n; i++)
		take_parts(words[i]);
	free(text);
	return 0;
}
