// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall diagnose: is this workload healthy, and if not: what waits for whom, and which fix is proven? */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/command.h"
#include "diagnose/report.h"
#include "lib/clock.h"
#include "sinks/json_file.h"
#include "sinks/ledger_point.h"
#include "sinks/sink.h"

/* The benchmark's options come first, so that its rows fill this struct as they are. */
struct diagnose_opts {
	struct bench_options bench;
	int64_t rounds, pairs;
	bool run_fixes;
};

#define AT(field) offsetof(struct diagnose_opts, field)

static const struct opt own_rows[] = {
	OPT_HEAD("The diagnosis"),
	{ OPT_INT, 0, "rounds", "N", "rounds of the workload as it is, and as many with the ledger (default 5)", AT(rounds), 3, 25 },
	{ OPT_INT, 0, "pairs", "N", "rounds in which the fixes run beside it (default 9)", AT(pairs), PAIRS_LEAST, ROUNDS_ROOM },
	{ OPT_FLAG, 0, "run-fixes", NULL, "run the fixes that fit (default; --no-run-fixes: only name them)", AT(run_fixes) },
	OPT_END,
};

enum { ROWS_MAX = 80 };
static struct opt all_rows[ROWS_MAX];

static bool left_out(const struct opt *row)
{
	static const char *const names[] = { "csv", "raw", "repeat", "nist", "mean", "json-schema" };

	for (size_t i = 0; row->name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(row->name, names[i]) == 0)
			return true;
	return false;
}

static void __attribute__((constructor)) join_rows(void)
{
	size_t n = 0;

	for (const struct opt *r = own_rows; r->name || r->help; r++)
		all_rows[n++] = *r;
	for (const struct opt *r = bench_option_rows; (r->name || r->help) && n < ROWS_MAX - 1; r++)
		if (!left_out(r))
			all_rows[n++] = *r;
}

static void diagnose_defaults(void *opts)
{
	struct diagnose_opts *o = opts;

	bench_defaults(&o->bench);
	o->bench.duration = 150000000;
	o->bench.sizes.n = 0;
	o->rounds = BASE_ROUNDS;
	o->pairs = PAIRS_LEAST;
	o->run_fixes = true;
}

/* One size unless some were given, and the test that the workload is about. */
static int settle_options(struct bench_options *o, struct err *e)
{
	if (!o->sizes.n)
		o->sizes.v[o->sizes.n++] = 16384;
	if (!o->tests)
		o->tests = strdup("throughput");
	if (o->connect)
		return err_set(e, EXIT_BAD_USAGE, "diagnose with --connect: it changes options at both ends and cannot on another host; leave --connect out");
	return 0;
}

static json_t *document(const struct examiner *x, const struct bench_plan *plan, json_t *diagnoses, const char *verdict)
{
	char now[40];
	time_t t = time(NULL);
	struct tm tm;
	json_t *o;

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	o = json_result_head("ipcstall.diagnosis", 1, plan, now);
	json_object_set(o, "trace", x->trace_json ? x->trace_json : json_null());
	json_object_set_new(o, "verdict", json_string(verdict));
	json_object_set_new(o, "diagnoses", diagnoses);
	return o;
}

static void clear_progress(const struct examiner *x)
{
	if (!x->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

struct outcome_so_far {
	json_t *list;
	char verdict[1200]; /* of the worst */
	enum diag_outcome worst;
	bool any;
};

static const int badness[] = { [DIAG_HEALTHY] = 0, [DIAG_UNKNOWN] = 1, [DIAG_NOISY] = 2, [DIAG_ILL] = 3 };

static void note(struct examiner *x, const struct patient *p, bool print, struct outcome_so_far *out)
{
	json_t *one = report_json(p);
	char text[1200];

	report_verdict(x, p, text, sizeof(text));
	json_object_set_new(one, "verdict", json_string(text));
	json_array_append_new(out->list, one);
	if (!out->any || badness[p->outcome] > badness[out->worst]) {
		out->worst = p->outcome;
		snprintf(out->verdict, sizeof(out->verdict), "%s", text);
	}
	if (print) {
		clear_progress(x);
		if (out->any)
			fputs("\n----\n\n", stdout);
		report_text(x, p, stdout);
	}
	out->any = true;
}

static int examine_all(struct examiner *x, const struct diagnose_opts *o, const struct bench_plan *plan, struct outcome_so_far *out, struct err *e)
{
	bool print = !o->bench.quiet && !(o->bench.json && !strcmp(o->bench.json, "-"));
	struct patient *p = calloc(1, sizeof(*p));
	int rc = p ? 0 : err_set(e, EXIT_NO_RESOURCE, "diagnose: out of memory; free some and run again");

	for (int t = 0; rc == 0 && t < TESTS; t++) {
		for (size_t i = 0; rc == 0 && plan->tests >> t & 1 && i < (t == TEST_CONNECT ? 1 : plan->o.sizes.n); i++) {
			memset(p, 0, sizeof(*p));
			p->test = (enum test)t;
			p->size = t == TEST_CONNECT ? 1 : plan->o.sizes.v[i];
			rc = examine(x, p, e);
			if (rc == 0)
				note(x, p, print, out);
			patient_free(p);
		}
	}
	free(p);
	return rc;
}

static int write_document(struct examiner *x, const struct diagnose_opts *o, const struct bench_plan *plan, const struct outcome_so_far *out, struct err *e)
{
	if (!o->bench.json)
		return 0;
	return json_to_file(document(x, plan, json_incref(out->list), out->verdict), o->bench.json, JSON_INDENT(1), e);
}

static int run_diagnose(void *opts, struct opt_operands *rest, struct err *e)
{
	struct diagnose_opts *o = opts;
	struct outcome_so_far out = {};
	struct bench_plan plan;
	struct examiner x = { .trace = o->bench.trace, .run_fixes = o->run_fixes, .quiet = o->bench.quiet, .backend = o->bench.backend,
			      .base_rounds = (size_t)o->rounds, .pairs = (size_t)o->pairs, .seed = (uint64_t)o->bench.seed };
	json_t *options;
	int rc;

	if (settle_options(&o->bench, e) || bench_plan(&o->bench, &plan, e))
		return e->code;
	json_ledger_of_point = point_ledger_to_json;
	tick_clock_init(&plan.clock, TICK_CALIBRATE_NS);
	x.options = options = opt_to_json(bench_option_rows, &o->bench);
	out.list = json_array();
	bench_catch_signals();
	rc = examine_all(&x, o, &plan, &out, e);
	clear_progress(&x);
	if (rc == 0)
		rc = write_document(&x, o, &plan, &out, e);
	json_decref(out.list);
	json_decref(options);
	json_decref(x.trace_json);
	if (rc)
		return e->code;
	return out.worst == DIAG_NOISY ? EXIT_NOISY : EXIT_DONE;
}

const struct command command_diagnose = {
	.name = "diagnose",
	.summary = "Is this workload healthy? If not: what waits for whom, and which fix is proven",
	.description = "Runs the workload in identical rounds, finds the waits that exceed what the measurement can resolve, explains them by the ledger,\n"
		       "names both ends, and runs every fix that fits beside the workload as it is: confirmed, refuted or too noisy to say.\n"
		       "Options are those of a benchmark. Exit status 10: too noisy to say.",
	.examples = "ipcstall diagnose -m tcp -p header=16 -a message -s 4K\twhy does each message take 44 ms?\n"
		    "ipcstall diagnose -m pipe -s 64K --pipe-size 4096 -P cross\tdoes a larger pipe help?\n"
		    "ipcstall diagnose -m tcp -t latency -s 64 --json d.json\tfor a machine to read\n",
	.options = all_rows,
	.options_size = sizeof(struct diagnose_opts),
	.defaults = diagnose_defaults,
	.run = run_diagnose,
};
