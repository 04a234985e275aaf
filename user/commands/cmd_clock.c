// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall clock: which clocks there are, what they resolve and cost, and which one the tool stamps
 * with. */
#include <math.h>

#include "json/json_options.h"
#include "base/terminal.h"
#include "commands/command.h"
#include "base/clock.h"
#include "host/clock_probe.h"
#include "render/environment.h"
#include "render/host_text.h"
#include "render/json_file.h"
#include "render/sink.h"

struct options {
	int64_t window;
	const char *json;
};

static const struct opt rows[] = {
	{ OPT_TIME, 0, "window", "TIME", "calibrate the TSC for this long (default 3s)",
		offsetof(struct options, window),
	  1e6, 600e9 },
	{ OPT_STRING, 0, "json", "FILE", "write the result as JSON to FILE, - for standard output",
	  offsetof(struct options, json), .hidden_from_result = true },
	OPT_END,
};

static void defaults(void *opts)
{
	*(struct options *)opts = (struct options){ .window = 3000000000LL };
}

static json_t *probes_to_json(const struct clock_findings *f)
{
	json_t *list = json_array();

	for (int i = 0; i < f->n; i++) {
		const struct clock_probe *p = &f->probe[i];

		json_array_append_new(
			list, json_pack("{ss, so, so, si, so, so}", "name", p->name, "getres_ns",
					json_figure(p->resolution), "step_ns", json_figure(p->step),
					"nops", p->nops, "cost_min_ns", json_figure(p->cost_min),
					"cost_median_ns", json_figure(p->cost_median)));
	}
	return list;
}

static json_t *to_json(const struct clock_findings *f, const struct options *o)
{
	const struct tsc_facts *t = &f->facts;
	struct machine m;

	machine_read(&m);
	return json_pack("{si, ss, so, so, so, so, so, s{sb, sb, sb, sb, so}}", "schema_version", 1,
			 "kind", "clock", "options", opt_to_json(rows, o), "build",
			 build_to_json(&build), "machine", machine_to_json(&m), "clock",
			 tick_clock_to_json(&f->clock), "clocks", probes_to_json(f), "tsc",
			 "constant_tsc", t->constant_tsc, "nonstop_tsc", t->nonstop_tsc, "rdtscp",
			 t->rdtscp, "kernel_trusts", t->kernel_trusts, "clocksource",
			 json_text(t->clocksource));
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct options *o = opts;
	struct clock_findings f = { 0 };

	if (outputs_check(&o->json, 1, e))
		return e->code;
	tsc_facts_read(&f.facts);
	if (tsc_usable(&f.facts) && terminal_is(stderr) && o->window > 1000000000)
		fprintf(stderr, "calibrating the TSC for %.0f s...\n", (double)o->window / 1e9);
	tick_clock_init(&f.clock, (uint64_t)o->window);
	f.n = clock_probe_all(f.probe, f.clock.tsc ? 1e9 / f.clock.hz : NAN);
	if (!sink_is_stdout(o->json))
		clock_text(&f, stdout);
	if (o->json && json_to_file(to_json(&f, o), o->json, JSON_INDENT(1), e))
		return e->code;
	return EXIT_DONE;
}

const struct command command_clock = {
	.name = "clock",
	.summary = "Show what each clock resolves and costs, and which one is used",
	.description = "For each clock: clock_getres(), the smallest non-zero difference between "
		"two readings with a growing "
		       "number of nops between them, and the cost of a reading. The TSC's "
		       	"frequency is measured against "
		       "CLOCK_MONOTONIC with a bound of its error.",
	.examples = "ipcstall clock\tthe table, after 3 s of calibration\n"
		    "ipcstall clock --window 100ms --json clock.json\ta quicker, coarser "
		    	"calibration, and the data\n",
	.options = rows,
	.options_size = sizeof(struct options),
	.defaults = defaults,
	.run = run,
};
