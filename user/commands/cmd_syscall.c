// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall syscall: the cost of trivial kernel calls, raw and through libc. */
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "json/json_options.h"
#include "commands/command.h"
#include "host/call_probe.h"
#include "render/environment.h"
#include "render/host_text.h"
#include "render/json_file.h"
#include "render/sink.h"

struct options {
	int64_t trials;
	const char *json;
};

static const struct opt rows[] = {
	{ OPT_INT, 0, "trials", "N", "samples for each call, each the mean of 64 back-to-back "
				     "calls (default 1000)",
	  offsetof(struct options, trials), 2, 1e6 },
	{ OPT_STRING, 0, "json", "FILE", "write the result as JSON to FILE, - for standard output",
	  offsetof(struct options, json), .hidden_from_result = true },
	OPT_END,
};

static void defaults(void *opts)
{
	*(struct options *)opts = (struct options){ .trials = 1000 };
}

static int measure(const struct options *o, struct call_findings *f, struct err *e)
{
	double *samples = array_new((size_t)o->trials, 0, sizeof(*samples));
	int rc = 0;

	if (!samples)
		return err_resource(e, "--trials: no memory for so many samples; ask for fewer");
	for (f->n = 0; call_rows[f->n].name && !rc; f->n++) {
		const struct call_row *row = &call_rows[f->n];

		rc = call_measure(row, true, samples, (int)o->trials, &f->raw[f->n], e);
		if (!rc)
			rc = call_measure(row, false, samples, (int)o->trials, &f->libc[f->n], e);
	}
	free(samples);
	return rc;
}

static json_t *summary_json(const struct summary *s)
{
	return json_pack("{sI, so, so, so, so, so, so}", "n", (json_int_t)s->n, "min",
			 json_figure(s->min), "q1", json_figure(s->q1), "median",
			 json_figure(s->median), "q3", json_figure(s->q3), "max",
			 json_figure(s->max), "mad", json_figure(s->mad));
}

static json_t *calls_to_json(const struct call_findings *f)
{
	json_t *list = json_array();

	for (int i = 0; i < f->n; i++)
		json_array_append_new(list,
				      json_pack("{ss, so, so, sb}", "name", call_rows[i].name,
						"raw_ns", summary_json(&f->raw[i]), "libc_ns",
						summary_json(&f->libc[i]), "answered_in_user_space",
						call_was_faked(&f->raw[i], &f->libc[i])));
	return list;
}

static json_t *to_json(const struct call_findings *f, const struct options *o)
{
	struct machine m;

	machine_read(&m);
	return json_pack("{si, ss, so, so, so, so, so}", "schema_version", 1, "kind", "syscall",
			 "options", opt_to_json(rows, o), "build", build_to_json(&build), "machine",
			 machine_to_json(&m), "noise", noise_to_json(&f->noise), "calls",
			 calls_to_json(f));
}

static int run(void *opts, struct opt_operands *rest, struct err *e)
{
	const struct options *o = opts;
	struct call_findings f = { 0 };
	pid_t self = getpid();
	struct noise_window w;

	if (outputs_check(&o->json, 1, e))
		return e->code;
	noise_begin(&w, &self, 1, NULL);
	if (measure(o, &f, e))
		return e->code;
	noise_end(&w, &f.noise);
	if (!sink_is_stdout(o->json)) {
		calls_text(&f, stdout);
		print_noise(&f.noise);
	}
	if (o->json && json_to_file(to_json(&f, o), o->json, JSON_INDENT(1), e))
		return e->code;
	return EXIT_DONE;
}

const struct command command_syscall = {
	.name = "syscall",
	.summary = "Show what trivial system calls cost, raw and through libc",
	.description = "Minimum and quartiles in ns of each call made directly and through libc. "
		"Where libc is more than "
		       "twice as fast, it answered from the vDSO or a cached value and the kernel "
		       	"was never entered.",
	.examples = "ipcstall syscall\tthe table\n"
		    "ipcstall syscall --trials 10000 --json -\tmore samples, as JSON\n",
	.options = rows,
	.options_size = sizeof(struct options),
	.defaults = defaults,
	.run = run,
};
