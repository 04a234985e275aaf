// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall sweep: a benchmark over every combination of some options' values, with the ledger of each point. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/cells.h"
#include "bench/traced.h"
#include "commands/command.h"
#include "lib/clock.h"
#include "sinks/ledger_point.h"
#include "sinks/sink.h"

/* The benchmark's options come first, so that its rows fill this struct as they are. */
struct sweep_opts {
	struct bench_options bench;
	struct str_list vary;
	int64_t repeats;
	char *out;
	bool resume;
};

#define AT(field) offsetof(struct sweep_opts, field)

static const struct opt sweep_rows[] = {
	OPT_HEAD("What is varied"),
	{ OPT_MULTI, 'V', "vary", "OPTION=VALUES", "any option of a benchmark: size=1453:21000:+500, nodelay=0,1, cc=cubic,reno, 'link=lo;veth,tso=off' (several: repeat)", AT(vary) },
	{ OPT_INT, 0, "repeats", "N", "run every combination N times, each time in another random order (default 1; --seed changes the orders)", AT(repeats), 1, 10000 },
	OPT_HEAD("Output"),
	{ OPT_STRING, 'o', "out", "FILE", "NDJSON: a header, a point a line, an end line (default: standard output)", AT(out) },
	{ OPT_FLAG, 0, "resume", NULL, "go on with FILE where an interrupted sweep stopped", AT(resume) },
	OPT_END,
};

/* Both tables as one: the sweep's rows, then the benchmark's without those that a sweep replaces. */
enum { ROWS_MAX = 80 };
static struct opt all_rows[ROWS_MAX];

static bool replaced(const struct opt *row)
{
	static const char *const names[] = { "json", "csv", "raw", "repeat", "json-schema", "nist" };

	for (size_t i = 0; row->name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(row->name, names[i]) == 0)
			return true;
	return false;
}

static void __attribute__((constructor)) join_rows(void)
{
	size_t n = 0;

	for (const struct opt *r = sweep_rows; r->name || r->help; r++)
		all_rows[n++] = *r;
	for (const struct opt *r = bench_option_rows; (r->name || r->help) && n < ROWS_MAX - 1; r++)
		if (!replaced(r))
			all_rows[n++] = *r;
}

static void sweep_defaults(void *opts)
{
	struct sweep_opts *o = opts;

	bench_defaults(&o->bench);
	o->repeats = 1;
}

struct sweep {
	struct sweep_opts *o;
	struct cells cells;
	FILE *out;
	bool *done; /* by index in the order; from an interrupted file */
	size_t n_done, n_points;
	uint64_t started_ns;
};

static size_t total(const struct sweep *s)
{
	return s->cells.n * s->cells.repeats;
}

static int write_line(struct sweep *s, json_t *line, struct err *e)
{
	if (!line)
		return err_set(e, EXIT_BUG, "sweep: a line that JSON cannot hold: a fault of ipcstall; please report it");

	int bad = json_dumpf(line, s->out, JSON_COMPACT) || fputc('\n', s->out) == EOF || fflush(s->out);

	json_decref(line);
	return bad ? err_sys(e, EXIT_IO, "give it room, then go on with --resume", "%s", s->o->out ? s->o->out : "standard output") : 0;
}

static json_t *vary_to_json(const struct cells *c)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->n_v; i++) {
		json_t *a = json_array();

		for (size_t j = 0; j < c->v[i].n; j++)
			json_array_append_new(a, json_string(c->v[i].values[j]));
		json_object_set_new(o, c->v[i].row->name, a);
	}
	return o;
}

static json_t *header(struct sweep *s, const struct bench_plan *plan)
{
	char now[40];
	time_t t = time(NULL);
	struct tm tm;
	json_t *h;

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	h = json_result_head("ipcstall.sweep", 1, plan, now);
	json_object_set_new(h, "vary", vary_to_json(&s->cells));
	json_object_set_new(h, "order_seed", json_integer((json_int_t)s->cells.seed));
	json_object_set_new(h, "repeats", json_integer((json_int_t)s->cells.repeats));
	return h;
}

/* The value as the option's own type, so that a number is a number for whoever reads it. */
static json_t *typed_value(const struct opt *row, const char *text)
{
	char *end;
	long long v = strtoll(text, &end, 10);

	if (*text && !*end)
		return row->type == OPT_FLAG ? json_boolean(v) : json_integer(v);
	return json_string(text);
}

static json_t *vars_of(const struct cells *c, size_t cell)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->n_v; i++)
		json_object_set_new(o, c->v[i].row->name, typed_value(c->v[i].row, cells_value(c, cell, i)));
	return o;
}

static void progress(struct sweep *s, size_t at)
{
	double gone = (double)(now_ns() - s->started_ns) / 1e9;
	size_t ran = at - s->n_done;

	if (s->o->bench.quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K[%zu/%zu] ", at, total(s));
	if (ran)
		fprintf(stderr, "about %.0f s left", gone / (double)ran * (double)(total(s) - at));
}

static int run_tests(struct sweep *s, struct bench_plan *plan, struct traced *tr, size_t index, struct err *e)
{
	size_t cell = s->cells.order[index];

	for (int t = 0; t < TESTS; t++) {
		int64_t size = t == TEST_CONNECT ? 1 : plan->o.sizes.v[0];
		struct point p = {};
		json_t *line;

		if (!(plan->tests >> t & 1))
			continue;
		if (tr->t ? traced_run_point(tr, plan, (enum test)t, size, &p, e) : bench_run_point(plan, (enum test)t, size, NULL, &p, e))
			return -1;
		line = json_of_point(&p, NULL);
		json_object_set_new(line, "vars", vars_of(&s->cells, cell));
		json_object_set_new(line, "repeat", json_integer((json_int_t)(index / s->cells.n)));
		json_object_set_new(line, "index", json_integer((json_int_t)index));
		point_ledger_free(p.ledger);
		p.ledger = NULL;
		point_free(&p);
		s->n_points++;
		if (write_line(s, line, e))
			return -1;
	}
	return 0;
}

/* A fresh plan for each cell: any option may be a variable, so nothing is carried over. */
static int run_cell(struct sweep *s, size_t index, struct err *e)
{
	struct sweep_opts *o = s->o;
	struct traced tr = {};
	struct bench_plan plan;
	int rc;

	if (cells_apply(&s->cells, s->cells.order[index], &o->bench, e) || bench_plan(&o->bench, &plan, e))
		return -1;
	if (plan.o.sizes.n != 1)
		return err_set(e, EXIT_BAD_USAGE, "sweep: %zu sizes in --size; vary them instead: --vary size=...", plan.o.sizes.n);
	rc = bench_setup(&plan, e);
	if (rc == 0 && o->bench.trace)
		rc = traced_begin(&tr, &plan, (enum trace_backend)o->bench.backend, e);
	if (rc == 0)
		rc = run_tests(s, &plan, &tr, index, e);
	traced_end(&tr);
	bench_teardown(&plan);
	return rc;
}

/* Every combination is checked before the first one runs: hours later is too late for a bad one. */
static int check_cells(struct sweep *s, struct bench_plan *first, struct err *e)
{
	for (size_t c = s->cells.n; c-- > 0;)
		if (cells_apply(&s->cells, c, &s->o->bench, e) || bench_plan(&s->o->bench, first, e))
			return -1;
	return 0;
}

static int same_sweep(const json_t *was, const json_t *now, const char *path, struct err *e)
{
	static const char *const keys[] = { "schema", "version", "vary", "order_seed", "repeats", "options" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!json_equal(json_object_get(was, keys[i]), json_object_get(now, keys[i])))
			return err_set(e, EXIT_DATA, "--resume %s: its %s differ from this command line's; repeat the command that began it", path,
				       keys[i]);
	return 0;
}

static int read_done(struct sweep *s, FILE *f, const json_t *now, struct err *e)
{
	json_error_t why;
	json_t *line = json_loadf(f, JSON_DISABLE_EOF_CHECK, &why);
	int rc = line ? same_sweep(line, now, s->o->out, e) : err_set(e, EXIT_DATA, "--resume %s: no header; start it anew without --resume", s->o->out);
	long whole = ftell(f);

	json_decref(line);
	while (rc == 0 && (line = json_loadf(f, JSON_DISABLE_EOF_CHECK, &why))) {
		json_int_t i = json_integer_value(json_object_get(line, "index"));

		if (json_object_get(line, "end"))
			rc = err_set(e, EXIT_BAD_USAGE, "--resume %s: that sweep is complete; give another --out to run it again", s->o->out);
		else if (i >= 0 && (size_t)i < total(s) && !s->done[i])
			s->n_done += s->done[i] = true;
		json_decref(line);
		whole = ftell(f);
	}
	/* A line that was cut off by the interruption is overwritten. */
	if (rc == 0 && (fseek(f, whole, SEEK_SET) || ftruncate(fileno(f), whole) || fputc('\n', f) == EOF))
		rc = err_sys(e, EXIT_IO, "start the sweep anew without --resume", "--resume %s", s->o->out);
	return rc;
}

static int open_out(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	const char *path = s->o->out;
	json_t *head = header(s, plan);
	int rc;

	if (s->o->resume) {
		s->out = path ? fopen(path, "r+e") : NULL;
		rc = s->out ? read_done(s, s->out, head, e)
			    : path ? err_sys(e, EXIT_IO, "give the file of the interrupted sweep", "--resume %s", path)
				   : err_set(e, EXIT_BAD_USAGE, "--resume: no --out; give the file of the interrupted sweep");
		json_decref(head);
		return rc;
	}
	s->out = path && strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!s->out) {
		json_decref(head);
		return err_sys(e, EXIT_IO, "give a file that can be written", "--out %s", path);
	}
	return write_line(s, head, e);
}

static int run_all(struct sweep *s, struct err *e)
{
	s->started_ns = now_ns();
	for (size_t i = 0, at = s->n_done; i < total(s); i++) {
		if (s->done[i])
			continue;
		progress(s, at++);
		if (run_cell(s, i, e))
			return -1;
	}
	return write_line(s, json_pack("{s:{s:I, s:b}}", "end", "points", (json_int_t)(s->n_points + s->n_done), "complete", 1), e);
}

static int run_sweep(void *opts, struct opt_operands *rest, struct err *e)
{
	struct sweep_opts *o = opts;
	struct sweep s = { .o = o };
	struct bench_plan first;
	int rc;

	json_ledger_of_point = point_ledger_to_json;
	rc = cells_make(&s.cells, bench_option_rows, &o->vary, (uint64_t)o->repeats, (uint64_t)o->bench.seed, e) || check_cells(&s, &first, e);
	if (rc == 0) {
		tick_clock_init(&first.clock, TICK_CALIBRATE_NS);
		s.done = calloc(total(&s), sizeof(*s.done));
		rc = s.done ? open_out(&s, &first, e) : err_set(e, EXIT_NO_RESOURCE, "sweep: out of memory; give fewer values");
	}
	if (rc == 0) {
		bench_catch_signals();
		rc = run_all(&s, e);
		if (!o->bench.quiet && isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
	}
	if (s.out && s.out != stdout && fclose(s.out) && rc == 0)
		rc = err_sys(e, EXIT_IO, "give it room, then go on with --resume", "%s", o->out);
	free(s.done);
	cells_free(&s.cells);
	return rc ? (int)e->code : EXIT_DONE;
}

const struct command command_sweep = {
	.name = "sweep",
	.summary = "Benchmark every combination of some options' values, in random order",
	.description = "Each point runs with the ledger on (--no-trace: off), so that stall and time belong to the same messages. Points are written\n"
		       "as they come; an interrupted sweep goes on with --resume. `python3 -m analysis report FILE` draws it.",
	.examples = "ipcstall sweep -m tcp -p trailer=4 -a message -t throughput -L veth,rate=100mbit,tso=off -V size=1453:21000:+500 -V nodelay=0,1 -o comb.ndjson\tthe comb of Nagle and delayed ACK\n"
		    "ipcstall sweep -m pipe -t throughput -V size=1K:256K:*2 -V pipe-size=64K,1M -o pipe.ndjson\tdoes a larger pipe help?\n",
	.options = all_rows,
	.options_size = sizeof(struct sweep_opts),
	.defaults = sweep_defaults,
	.run = run_sweep,
};
