// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall check: what this kernel lets ipcstall see, what is lost, and how to get it. */
#include <jansson.h>

#include "commands/command.h"
#include "render/check_text.h"
#include "render/json_file.h"
#include "render/sink.h"
#include "tracer/trace.h"

struct check_opts {
	char *json;
};

static const struct opt check_options[] = {
	{ OPT_STRING, 0, "json", "FILE", "as one JSON document (-: standard output, without the "
		"text)",
		offsetof(struct check_opts, json) },
	OPT_END,
};

static int to_json(const struct trace_feature *f, size_t n, enum trace_backend best,
		   const char *why, const char *path, struct err *e)
{
	json_t *rows = json_array(), *doc;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, json_pack("{s:s, s:b, s:s?, s:s?, s:s?}", "name",
						      f[i].name, "there", f[i].there, "why_not",
						      f[i].there ? NULL : f[i].why_not, "lost",
						      f[i].lost, "mend", f[i].fix));
	doc = json_pack("{s:s, s:i, s:s?, s:s?, s:o}", "schema", "ipcstall.check", "version", 1,
			"backend", best == TRACE_AUTO ? NULL : trace_backend_name(best), "why", why,
			"features", rows);
	return json_to_file(doc, path, JSON_INDENT(2), e);
}

static int run_check(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct check_opts *o = opts;
	const struct trace_feature *f;
	struct paint paint = paint_on(stdout, COLOUR_AUTO);
	const char *why = "";
	size_t n = trace_features(&f);
	enum trace_backend best = trace_best_backend(&why);

	if (o->json && to_json(f, n, best, why, o->json, e))
		return (int)e->code;
	if (!o->json || !sink_is_stdout(o->json))
		check_text(f, n, best, why, best == TRACE_AUTO ? NULL : trace_not_covered(best),
			   &paint);
	return best == TRACE_AUTO ? EXIT_NO_FEATURE : EXIT_DONE;
}

const struct command command_check = {
	.name = "check",
	.summary = "Show what this kernel lets ipcstall see, and how to get the rest",
	.description = "Exit status 0: this kernel can be traced; 4: it cannot, but benchmarks "
		"run without ledgers.",
	.examples = "sudo ipcstall check\twhich backend this kernel allows, and what it cannot "
		"see\nsudo ipcstall check --json -\tthe same for a program\n",
	.options = check_options,
	.options_size = sizeof(struct check_opts),
	.run = run_check,
};
