// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall diagnose: is this workload healthy, and if not: what waits for whom, and which fix is
 * proven? */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json/json_options.h"
#include "commands/command.h"
#include "diagnose/report.h"
#include "diagnose/saved.h"
#include "base/clock.h"
#include "base/progress.h"
#include "render/json_file.h"
#include "render/ledger_point.h"
#include "render/schema_rows.h"
#include "render/sink.h"

/* The benchmark's options come first, so that its rows fill this struct as they are. */
struct diagnose_opts {
	struct bench_options bench;
	int64_t rounds, pairs;
	int fixes;
	char *from;
	bool json_schema;
};

enum { FIXES_AUTO, FIXES_RUN, FIXES_NAME };
static const char *const fixes_names[] = { "auto", "run", "name", NULL };

#define AT(field) offsetof(struct diagnose_opts, field)

static const char *const test_words[] = { "latency", "throughput", "oneway", "connect", NULL };

static const struct opt own_rows[] = {
	OPT_HEAD("The diagnosis"),
	{ OPT_INT, 0, "rounds", "N", "rounds of the unchanged workload, then as many with the "
		"ledger (default 5)", AT(rounds), 3, 25 },
	{ OPT_INT, 0, "pairs", "N", "rounds that run the unchanged workload and every fix "
		"(default 9)",
		AT(pairs), PAIRS_LEAST, ROUNDS_ROOM },
	{ OPT_ENUM, 0, "fixes", "WHAT", "run: test the fixes that fit; name: only list them "
		"(default auto: run, but name with --from)", AT(fixes), 0, 0, fixes_names },
	{ OPT_STRING, 0, "from", "FILE", "judge a saved sweep or result; with --fixes run its "
		"options are run again", AT(from) },
	{ OPT_FLAG, 0, "json-schema", NULL, "print the schema of the document and exit",
		AT(json_schema) },
	OPT_HEAD("What differs from `ipcstall bench`"),
	{ OPT_SIZES, 0, "size", "LIST", "message sizes, as for `bench` (default: 16K)",
		AT(bench.sizes) },
	{ OPT_STRING, 't', "test", "LIST", "what to measure (default: throughput)",
		AT(bench.tests), 0, 0, test_words },
	OPT_END,
};

enum { ROWS_MAX = 80 };
static struct opt all_rows[ROWS_MAX];

static void __attribute__((constructor)) join_rows(void)
{
	static const char *const but[] = { "csv", "raw", "timeline", "perfetto", "repeat", "nist",
		"mean", "ledger", "json-schema", "size", "test", NULL };

	opt_join(all_rows, ROWS_MAX, own_rows, bench_option_rows, but);
}

static void diagnose_defaults(void *opts)
{
	struct diagnose_opts *o = opts;

	bench_defaults(&o->bench);
	o->bench.duration = 150000000;
	o->bench.sizes.n = 0;
	o->rounds = BASE_ROUNDS;
	o->pairs = PAIRS_LEAST;
}

/* One size unless some were given, and the test that the workload is about. */
static int settle_options(struct bench_options *o, struct err *e)
{
	if (!o->sizes.n)
		o->sizes.v[o->sizes.n++] = 16384;
	if (!o->tests)
		o->tests = strdup("throughput");
	if (o->connect)
		return err_usage(e, "diagnose with --connect: it changes options at both ends, "
				    "which it cannot do on another host; leave out --connect");
	return 0;
}

/* Without options of its own where it comes from a file: that has them. */
static json_t *document(const struct diagnosis_run *x, const struct bench_plan *plan,
			const char *from, json_t *diagnoses, json_t *ranges, const char *verdict)
{
	char now[40];
	time_t t = time(NULL);
	struct tm tm;
	json_t *o;

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	o = json_result_head("ipcstall.diagnosis", 1, plan, now);
	json_object_set(o, "trace", x->trace_json ? x->trace_json : json_null());
	if (from)
		json_object_set_new(o, "options", json_null());
	json_object_set_new(o, "from", from ? json_string(from) : json_null());
	json_object_set_new(o, "verdict", json_string(verdict));
	json_object_set(o, "diagnoses", diagnoses);
	json_object_set(o, "ranges", ranges);
	return o;
}

struct outcome_so_far {
	json_t *list, *ranges;
	char verdict[1200]; /* of the worst */
	enum diag_outcome worst;
	bool any, print;
};

static const int badness[] = { [DIAG_HEALTHY] = 0, [DIAG_UNKNOWN] = 1, [DIAG_NOISY] = 2,
	[DIAG_ILL] = 3 };

static void rule(const struct diagnosis_run *x, const struct outcome_so_far *out)
{
	progress_clear(x->quiet);
	if (out->any)
		fputs("\n----\n\n", stdout);
}

static void note(struct diagnosis_run *x, const struct diagnosed_workload *p,
		 struct outcome_so_far *out)
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
	if (out->print) {
		struct paint paint = paint_on(stdout, (enum colour_when)x->colour);

		rule(x, out);
		report_text(x, p, &paint);
	}
	out->any = true;
}

static void note_range(struct diagnosis_run *x, const struct range *r, struct outcome_so_far *out)
{
	struct paint paint = paint_on(stdout, (enum colour_when)x->colour);

	json_array_append_new(out->ranges, report_range_json(r));
	if (!out->print)
		return;
	rule(x, out);
	report_range_text(r, &paint);
	out->any = true;
}

/* Where the rounds of one size come from: measured now, or a series of a file. */
struct source {
	struct diagnosis_run *x;
	const struct series *saved; /* NULL: measure */
	enum test test;
};

static int take_saved(const struct source *from, struct diagnosed_workload *p, struct err *e)
{
	for (size_t i = 0; i < from->saved->n && p->n_rounds < ROUNDS_ROOM; i++)
		if (from->saved->rounds[i].size == p->size)
			p->rounds[p->n_rounds++] = from->saved->rounds[i];
	return variant_plan(&p->v, from->x->options, diagnosed_workload_size(p), "", e)
		       ? -1
		       : diagnose_from_stalls(from->x, p, e);
}

static int diagnose_size(const struct source *from, int64_t size, struct diagnosed_workload *p,
			 struct err *e)
{
	memset(p, 0, sizeof(*p));
	p->test = from->test;
	p->size = size;
	return from->saved && !from->x->run_fixes ? take_saved(from, p, e)
						  : diagnose_workload(from->x, p, e);
}

/* One size by itself. */
static int one_size(const struct source *from, int64_t size, struct diagnosed_workload *p,
		    struct outcome_so_far *out, struct err *e)
{
	int rc = diagnose_size(from, size, p, e);

	if (rc == 0)
		note(from->x, p, out);
	diagnosed_workload_free(p);
	return rc;
}

static bool told_before(const struct range *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (r->bands[k].cause == r->bands[i].cause)
			return true;
	return false;
}

/* A band: first what waits there; its fixes are tried only where no deeper band has had the same
 * cause. */
static int one_band(const struct source *from, struct range *r, size_t i,
		    struct diagnosed_workload *p, struct outcome_so_far *out, struct err *e)
{
	bool run = from->x->run_fixes;
	struct band *b = &r->bands[i];
	int64_t size = r->sizes[b->b.deepest].size;
	int rc;

	from->x->run_fixes = run && i == 0;
	rc = diagnose_size(from, size, p, e);
	from->x->run_fixes = run;
	if (rc == 0)
		range_explain(r, b, p);
	if (rc == 0 && i == 0) {
		note(from->x, p, out);
	} else if (rc == 0 && b->cause < DIAG_CAUSES && !told_before(r, i)) {
		diagnosed_workload_free(p);
		return one_size(from, size, p, out, e);
	}
	diagnosed_workload_free(p);
	return rc;
}

static int all_bands(const struct source *from, struct range *r, struct outcome_so_far *out,
		     struct err *e)
{
	struct diagnosed_workload *p = calloc(1, sizeof(*p));
	int rc = p ? 0 : err_resource(e, "diagnose: out of memory; free some and run again");

	for (size_t i = 0; rc == 0 && i < r->n_bands; i++)
		rc = one_band(from, r, i, p, out, e);
	if (rc == 0 && !r->n_bands) /* no size is worse than its neighbours: one stands for all */
		rc = one_size(from, r->sizes[r->n / 2].size, p, out, e);
	if (rc == 0)
		note_range(from->x, r, out);
	free(p);
	return rc;
}

static int each_size(const struct source *from, const struct range *r, struct outcome_so_far *out,
		     struct err *e)
{
	struct diagnosed_workload *p = calloc(1, sizeof(*p));
	int rc = p ? 0 : err_resource(e, "diagnose: out of memory; free some and run again");

	for (size_t i = 0; rc == 0 && i < r->n; i++)
		rc = one_size(from, r->sizes[i].size, p, out, e);
	free(p);
	return rc;
}

static int live_test(struct diagnosis_run *x, enum test t, const struct size_list *sizes,
		     struct outcome_so_far *out, struct err *e)
{
	struct source from = { .x = x, .test = t };
	struct range r = { .test = t };
	int rc = 0;

	if (t != TEST_CONNECT && sizes->n >= RANGE_LEAST) {
		rc = range_measure(x, &r, t, sizes, e);
		rc = rc == 0 ? all_bands(&from, &r, out, e) : rc;
	} else {
		struct dip_size few[RANGE_LEAST] = { { .size = 1 } };

		r.n = t == TEST_CONNECT ? 1 : sizes->n;
		for (size_t i = 0; t != TEST_CONNECT && i < sizes->n; i++)
			few[i].size = sizes->v[i];
		r.sizes = few;
		rc = each_size(&from, &r, out, e);
		r.sizes = NULL;
	}
	range_free(&r);
	return rc;
}

static int diagnose_live(struct diagnosis_run *x, const struct bench_plan *plan,
			 struct outcome_so_far *out, struct err *e)
{
	int rc = 0;

	for (int t = 0; rc == 0 && t < TESTS; t++)
		if (plan->tests >> t & 1)
			rc = live_test(x, (enum test)t, &plan->o.sizes, out, e);
	return rc;
}

static int saved_series(struct diagnosis_run *x, const struct series *s, struct outcome_so_far *out,
			struct err *e)
{
	struct source from = { .x = x, .saved = s, .test = s->test };
	struct range r = { .test = s->test };
	struct bench_options options;
	int rc;

	bench_defaults(&options);
	x->options = &options;
	rc = opt_from_json(bench_option_rows, &options, s->options, e);
	rc = rc ? rc : range_of_rounds(&r, s->rounds, s->n, x->seed, e);
	if (rc == 0)
		rc = r.judged ? all_bands(&from, &r, out, e) : each_size(&from, &r, out, e);
	range_free(&r);
	opt_free(bench_option_rows, &options);
	x->options = NULL;
	return rc;
}

static int diagnose_saved(struct diagnosis_run *x, const char *path, struct outcome_so_far *out,
			  struct err *e)
{
	struct saved s;
	int rc = saved_load(path, &s, e);

	if (rc == 0 && !s.complete && out->print)
		printf("%s: the file is incomplete; judging the points that it has.\n\n", path);
	x->from_file = true;
	for (size_t i = 0; rc == 0 && i < s.n; i++) {
		if (out->print && s.n > 1)
			printf("%sSeries %zu of %zu: %s\n\n", out->any ? "\n====\n\n" : "", i + 1,
			       s.n, s.v[i].label);
		rc = saved_series(x, &s.v[i], out, e);
	}
	saved_free(&s);
	return rc;
}

static int run_source(struct diagnosis_run *x, struct diagnose_opts *o,
		      const struct bench_plan *plan, struct outcome_so_far *out, struct err *e)
{
	if (o->from)
		return diagnose_saved(x, o->from, out, e);
	x->options = &o->bench;
	return diagnose_live(x, plan, out, e);
}

static int write_document(struct diagnosis_run *x, const struct diagnose_opts *o,
			  const struct bench_plan *plan, const struct outcome_so_far *out,
			  struct err *e)
{
	if (!o->bench.json)
		return 0;
	return json_to_file(document(x, plan, o->from, out->list, out->ranges, out->verdict),
			    o->bench.json, JSON_INDENT(1), e);
}

/* A file says how its rounds were made; only where the fixes are run is anything measured now. */
static int check_from(const struct opt_operands *given, bool run_fixes, struct err *e)
{
	static const char *const judging[] = { "from", "fixes", "json", "quiet", "seed", "color",
		NULL };
	static const char *const measuring[] = { "rounds", "pairs", "trace", "backend", NULL };

	for (int i = 0; i < given->n_given; i++) {
		const char *name = given->given[i]->name;
		bool measures = opt_is_among(name, measuring);

		if (measures && !run_fixes)
			return err_usage(e,
					 "--%s with --from: nothing is measured; leave it out, or "
					 "add --fixes run",
					 name);
		if (!measures && !opt_is_among(name, judging))
			return err_usage(
				e, "--%s with --from: the file says what was run; leave one out",
				name);
	}
	return 0;
}

static int check_given(const struct diagnose_opts *o, const struct opt_operands *given,
		       bool run_fixes, struct err *e)
{
	return bench_check_given(&o->bench, given, e) ||
			       (o->from && check_from(given, run_fixes, e))
		       ? -1
		       : 0;
}

static int run_diagnose(void *opts, struct opt_operands *rest, struct err *e)
{
	struct diagnose_opts *o = opts;
	struct outcome_so_far out = { .print = !o->bench.quiet && !(o->bench.json &&
		!strcmp(o->bench.json, "-")) };
	struct bench_plan plan = {};
	struct diagnosis_run x = { .trace = o->bench.trace,
				   .run_fixes = o->fixes == FIXES_RUN ||
						(o->fixes == FIXES_AUTO && !o->from),
				   .quiet = o->bench.quiet,
				   .backend = o->bench.backend,
				   .base_rounds = (size_t)o->rounds,
				   .pairs = (size_t)o->pairs,
				   .seed = (uint64_t)o->bench.seed,
				   .colour = o->bench.colour };
	int rc;

	if (o->json_schema)
		return schema_print(diagnosis_schema(), e);
	if (check_given(o, rest, x.run_fixes, e))
		return e->code;
	if (!o->from && (settle_options(&o->bench, e) || bench_plan(&o->bench, &plan, e) ||
			 unused_options_check_all(bench_uses(&plan), rest, e)))
		return e->code;
	if ((o->from && outputs_spare(o->from, &(const char *){ o->bench.json }, 1, e)) ||
	    outputs_check(&(const char *){ o->bench.json }, 1, e))
		return e->code;
	tick_clock_init(&plan.clock, TICK_CALIBRATE_NS);
	out.list = json_array();
	out.ranges = json_array();
	bench_catch_signals();
	progress_in_pipe(o->bench.progress);
	rc = run_source(&x, o, &plan, &out, e);
	progress_clear(x.quiet);
	if (rc == 0)
		rc = write_document(&x, o, &plan, &out, e);
	json_decref(out.list);
	json_decref(out.ranges);
	json_decref(x.trace_json);
	if (rc)
		return e->code;
	return out.worst == DIAG_NOISY ? EXIT_NOISY : EXIT_DONE;
}

const struct command command_diagnose = {
	.name = "diagnose",
	.summary = "Find out whether a workload is healthy; if not, who waits for whom, and which "
		"fix is proven",
	.description = "Runs the workload in identical rounds and finds the waits that exceed "
		"what the measurement can resolve. The ledger explains them and names both ends. "
		"Then every fix that fits runs beside the unchanged workload: confirmed, refuted "
		"or too noisy to say. The options are those of a benchmark; the default is "
		"throughput at 16 KiB, 150 ms for each round. Exit status 10: too noisy to say.",
	.examples = "ipcstall diagnose -m tcp --pattern header=16 --ack message --size 4K\twhy "
		"does each message "
		"take 44 ms?\n"
		    "ipcstall diagnose -m pipe --size 64K --pipe-size 4096 --placement "
			"cross\tdoes a larger "
		    	"pipe help?\n"
		    "ipcstall diagnose -m tcp -t latency --size 64 --json d.json\tfor a machine to "
		    	"read\n",
	.options = all_rows,
	.options_size = sizeof(struct diagnose_opts),
	.defaults = diagnose_defaults,
	.run = run_diagnose,
};
