// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall bench, the default command: every test asked for at every size, then the output. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json/json_text.h"
#include "base/array.h"
#include "json/json_options.h"
#include "bench/bench.h"
#include "bench/traced.h"
#include "commands/command.h"
#include "base/progress.h"
#include "remote/remote.h"
#include "render/json_file.h"
#include "render/ledger_point.h"
#include "render/ledger_outputs.h"
#include "render/schema_rows.h"
#include "render/sink.h"

#define PROGRESS_FROM_NS 2000000000ULL

static void stamp_start(struct result *r)
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* The connect test has no message: one point. */
static size_t sizes_of(const struct bench_plan *p, enum test t)
{
	return t == TEST_CONNECT ? 1 : p->o.sizes.n;
}

static size_t count_points(const struct bench_plan *p)
{
	size_t n = 0;

	for (int t = 0; t < TESTS; t++)
		n += p->tests >> t & 1 ? sizes_of(p, (enum test)t) : 0;
	return n;
}

static void progress(const struct bench_plan *p, size_t done, size_t total, const char *what,
		     enum test t, int64_t size)
{
	char buf[24], text[96];

	snprintf(text, sizeof(text), "%s%s %s %s", what, p->w->name, test_name(t),
		 size_text(size, buf));
	progress_show(p->o.quiet || bench_point_ns(p) * total < PROGRESS_FROM_NS, done + 1, total,
		      text, (double)(bench_point_ns(p) * (total - done)) / 1e9);
}

static int run_points(struct result *r, size_t total, struct err *e)
{
	for (int t = 0; t < TESTS; t++) {
		for (size_t i = 0; r->plan->tests >> t & 1 && i < sizes_of(r->plan, (enum test)t);
		     i++) {
			int64_t size = t == TEST_CONNECT ? 1 : r->plan->o.sizes.v[i];

			progress(r->plan, r->n, total, "", (enum test)t, size);
			if (bench_run_point(r->plan, (enum test)t, size, NULL, &r->points[r->n], e))
				return -1;
			r->n++;
		}
	}
	return 0;
}

/* What was asked for by name and hangs on the ledger; a benchmark without these does without it. */
static int check_traced(const struct traced *tr, const struct bench_options *o, bool insists,
			struct err *e)
{
	const struct {
		bool asked;
		const char *option;
	} rows[] = { { o->timeline, "timeline" }, { o->perfetto, "perfetto" }, { o->ab, "ab" },
		{ o->nist, "nist" }, { insists, "trace" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].asked && traced_needed(tr, rows[i].option, e))
			return -1;
	return 0;
}

/* A second run of every point with the ledger on, once all figures are in. */
static int trace_points(struct traced *tr, struct result *r, bool insists, struct err *e)
{
	const struct bench_plan *plan = r->plan;

	if (!plan->o.trace)
		return 0;
	if (traced_begin(tr, plan, (enum trace_backend)plan->o.backend, e))
		return -1;
	for (size_t i = 0; tr->t && i < r->n; i++) {
		if (r->points[i].test == TEST_CONNECT)
			continue;
		progress(plan, i, r->n, "ledger of ", r->points[i].test, r->points[i].size);
		if (traced_again(tr, plan, &r->points[i], e))
			return -1;
	}
	r->trace = traced_to_json(tr);
	return check_traced(tr, &plan->o, insists, e);
}

static bool is_of(const struct point_ledger *l, enum role r, const struct trace_endpoint *ep)
{
	return l && l->pids[r] > 0 &&
	       (ep->tx_calls.tgid == l->pids[r] ||
		(!ep->tx_calls.tgid && ep->rx_calls.tgid == l->pids[r]));
}

static const char *role_of(const void *ctx, const struct trace_endpoint *ep)
{
	const struct result *r = ctx;

	for (size_t i = 0; i < r->n; i++) {
		if (is_of(r->points[i].ledger, ROLE_CLIENT, ep))
			return "client";
		if (is_of(r->points[i].ledger, ROLE_SERVER, ep))
			return "server";
	}
	return "control";
}

static int write_timeline(const struct result *r, struct traced *tr, struct err *e)
{
	const struct bench_options *o = &r->plan->o;
	struct trace_snapshot s = {};
	struct ledger_view view = { .s = &s, .timeline = &tr->timeline, .role = role_of, .ctx = r };
	int rc;

	if ((!o->timeline && !o->perfetto) || !tr->t) /* untraced: check_traced() has said so */
		return 0;
	view.head = json_result_head("ipcstall.timeline", 1, r->plan, r->started);
	rc = traced_whole(tr, &s, e);
	if (rc == 0 && o->timeline)
		rc = ledger_timeline_write(&view, o->timeline, e);
	if (rc == 0 && o->perfetto)
		rc = ledger_perfetto_write(&view, o->perfetto, e);
	json_decref(view.head);
	trace_snapshot_free(&s);
	return rc;
}

static int write_all(const struct result *r, struct traced *tr, struct err *e)
{
	const struct bench_options *o = &r->plan->o;

	if (!o->quiet && !sink_is_stdout(o->json) && !sink_is_stdout(o->csv) &&
	    !sink_is_stdout(o->raw) && !sink_is_stdout(o->timeline) &&
	    !sink_is_stdout(o->perfetto)) {
		ledgers_print(r, tr, o->nist, stdout);
		table_print(r, stdout);
	}
	if (o->json && json_to_file(json_of_result(r), o->json, JSON_INDENT(1), e))
		return -1;
	if (o->csv && csv_write(r, o->csv, e))
		return -1;
	if (o->raw && raw_write(r, o->raw, e))
		return -1;
	return write_timeline(r, tr, e);
}

static int check_outputs(const struct bench_options *o, struct err *e)
{
	const char *const paths[] = { o->json, o->csv, o->raw, o->timeline, o->perfetto };

	const size_t n = sizeof(paths) / sizeof(paths[0]);

	return (o->repeat && outputs_spare(o->repeat, paths, n, e)) || outputs_check(paths, n, e)
		       ? -1
		       : 0;
}

static int repeat_options(struct bench_options *o, struct err *e)
{
	FILE *f = fopen(o->repeat, "re");
	json_error_t why;
	json_t *doc = f ? text_clean_json(json_loadf(f, 0, &why)) : NULL;
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	int rc = 0;

	if (!f)
		return err_sys(e, EXIT_DATA, "give a file written by --json", "%s", o->repeat);
	fclose(f);
	if (!doc)
		rc = err_data(e, "%s: %s (line %d); give a file written by --json", o->repeat,
			      why.text, why.line);
	else if (!schema || strcmp(schema, "ipcstall.result") ||
		 !json_is_object(json_object_get(doc, "options")))
		rc = err_data(e, "%s: not a result of ipcstall; give a file written by --json",
			      o->repeat);
	else if (json_integer_value(json_object_get(doc, "version")) != 1)
		rc = err_version(e,
				 "%s: of version %" JSON_INTEGER_FORMAT
				 ", but this program reads 1; use the program that wrote it",
				 o->repeat, json_integer_value(json_object_get(doc, "version")));
	else
		rc = opt_from_json(bench_option_rows, o, json_object_get(doc, "options"), e);
	json_decref(doc);
	return rc;
}

/* The file says all of what was measured; where the output goes is this run's own. */
static int check_repeated(const struct opt_operands *given, struct err *e)
{
	for (int i = 0; i < given->n_given; i++)
		if (!given->given[i]->hidden_from_result)
			return err_usage(
				e, "--%s with --repeat: the file says what to run; leave one out",
				given->given[i]->name);
	return 0;
}

/* `insists`: on the ledgers, by --trace */
static int run_plan(struct bench_plan *plan, bool insists, struct err *e)
{
	struct result r = { .plan = plan };
	struct traced tr = {};
	size_t total = count_points(plan);
	struct err run_err = {};

	r.points = array_new(total, 0, sizeof(*r.points));
	if (!r.points)
		return err_resource(e, "results: out of memory; give fewer sizes");
	stamp_start(&r);
	progress_in_pipe(plan->o.progress);
	progress_word(plan->o.quiet, "setting up");
	if (bench_setup(plan, &remote_far_end, e) == 0) {
		bench_catch_signals();
		r.complete = run_points(&r, total, &run_err) == 0 &&
			     trace_points(&tr, &r, insists, &run_err) == 0;
		progress_clear(r.plan->o.quiet);
		if (r.complete || r.n)
			write_all(&r, &tr, e);
		traced_end(&tr);
	}
	if (err_is_set(&run_err)) /* why the run ended comes before what its output met */
		*e = run_err;
	bench_teardown(plan);
	for (size_t i = 0; i < r.n; i++) {
		point_ledger_free(r.points[i].ledger);
		point_free(&r.points[i]);
	}
	json_decref(r.trace);
	free(r.points);
	return err_is_set(e) ? -1 : 0;
}

static int run_bench(void *opts, struct opt_operands *rest, struct err *e)
{
	struct bench_options *o = opts;
	struct bench_plan plan;

	if (o->json_schema && !o->repeat)
		return schema_print(result_schema(), e);
	if (bench_check_given(o, rest, e) ||
	    (o->repeat && (check_repeated(rest, e) || repeat_options(o, e))))
		return e->code;
	json_ledger_of_point = point_ledger_to_json;
	if (bench_plan(o, &plan, e) || unused_options_check_all(bench_uses(&plan), rest, e) ||
	    check_outputs(o, e))
		return e->code;
	return run_plan(&plan, opt_given(rest, "trace"), e) ? (int)e->code : EXIT_DONE;
}

const struct command command_bench = {
	.name = "bench",
	.summary = "Benchmark one transport: latency, throughput, one-way time, connecting",
	.description = "Two pinned processes exchange messages: first a warm-up, then one measured "
		"phase for each test and size. Latency is half a round trip, measured by one "
		"clock; throughput counts the bytes received. Buffers have the kernel's own sizes "
		"unless set.",
	.words_title = "Keys of --link",
	.words = link_key_help,
	.examples = "ipcstall --mode tcp --size 64K\tlatency and throughput at 64 KiB\n"
		    "ipcstall --mode pipe\tthe ten classic sizes, 4 B to 512 KiB\n"
		    "ipcstall -m tcp -t throughput --ack message --pattern header=16 --size "
			"1000\theader and "
		    	"body in two writes: a stall for each message\n"
		    "ipcstall -m tcp --size 1453:21000:+500 --pattern trailer=4 -t throughput "
			"--ack message -L "
		    	"veth,rate=100mbit,tso=off\tdips at some sizes: Nagle and delayed "
			"ACKs\n"
		    "ipcstall -m udp -t oneway --rate 20k --size 64\tone-way time under a "
			"schedule\n"
		    "ipcstall -m unix --placement cross-awake --size 64,64K --json "
			"run.json\tacross two CPUs "
		    	"that never sleep\n",
	.options = bench_option_rows,
	.options_size = sizeof(struct bench_options),
	.defaults = bench_defaults,
	.run = run_bench,
};
