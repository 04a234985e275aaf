// SPDX-License-Identifier: GPL-2.0-only
/* ipcstall sweep: a benchmark over every combination of some options' values, with the ledger of
 * each point. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/json_text.h"
#include "json/json_options.h"
#include "base/terminal.h"
#include "sweep/subprocess.h"
#include "sweep/cells.h"
#include "base/array.h"
#include "bench/traced.h"
#include "commands/command.h"
#include "diagnose/observe.h"
#include "base/clock.h"
#include "base/progress.h"
#include "base/text.h"
#include "stats/dips.h"
#include "sweep/refine.h"
#include "remote/remote.h"
#include "render/ledger_point.h"
#include "render/sink.h"

/* The benchmark's options come first, so that its rows fill this struct as they are, and ours too
 * where they say the same in other words. */
struct sweep_opts {
	struct bench_options bench;
	struct str_list vary;
	int64_t repeats;
	char *out;
	bool resume, refine;
};

#define AT(field) offsetof(struct sweep_opts, field)

static const struct opt sweep_rows[] = {
	OPT_HEAD("What is varied"),
	{ OPT_MULTI, 'V', "vary", "OPTION=VALUES",
		"any option of a benchmark: size=1453:21000:+500, nodelay=0,1, cc=cubic,reno, "
		"'link=lo;veth,tso=off' (several: repeat)", AT(vary) },
	{ OPT_INT, 0, "repeats", "N", "run every combination N times, each time in another random "
		"order (default 1; --seed changes the orders)", AT(repeats), 1, 10000 },
	{ OPT_FLAG, 0, "refine", NULL, "afterwards find the very bytes at which dips over size "
		"begin and end, by bisection (at least 3 repeats)", AT(refine) },
	OPT_HEAD("What is the same throughout, and differs from `ipcstall bench`"),
	{ OPT_SIZES, 0, "size", "SIZE", "of a message, where the size does not vary: one",
		AT(bench.sizes) },
	{ OPT_FLAG, 0, "trace", NULL, "run each point with both ends' ledgers on (default, where "
		"they can be kept; given by name: or fail; --no-trace: without)", AT(bench.trace) },
	OPT_HEAD("Output"),
	{ OPT_STRING, 'o', "out", "FILE", "NDJSON: a header, a point a line, an end line (default: "
		"standard output)", AT(out) },
	{ OPT_FLAG, 0, "resume", NULL, "go on with FILE where an interrupted sweep stopped",
		AT(resume) },
	OPT_END,
};

/* Both tables as one: the sweep's rows, then the benchmark's without those that a sweep replaces.
 */
enum { ROWS_MAX = 80 };
static struct opt all_rows[ROWS_MAX];

static void __attribute__((constructor)) join_rows(void)
{
	static const char *const but[] = { "json", "csv", "raw", "timeline", "perfetto", "repeat",
		"json-schema", "nist", "size", "trace", NULL };

	opt_join(all_rows, ROWS_MAX, sweep_rows, bench_option_rows, but);
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
	bool headed; /* out has its first line, and no other: a whole sweep that was there stays
			until there is a point to replace it */
	unsigned int *done; /* by index in the order: the tests that an interrupted file has, a bit
			       each */
	size_t n_done, n_points; /* cells begun there; points, there and here */
	bool complete;		 /* nothing is missing there */
	struct traced tr;
	struct {
		const struct workload *of; /* what it was begun for */
		int64_t backend;
		size_t cells; /* that it served */
	} session;
	bool said;    /* why nothing is traced */
	bool insists; /* on the ledgers: --trace was given */
	uint64_t started_ns;
	struct refiner refiner;
	size_t n_refined;
};

static size_t total(const struct sweep *s)
{
	return s->cells.n * s->cells.repeats;
}

/* Only a file can be gone on with. */
static int write_error(const struct sweep *s, struct err *e)
{
	if (s->out == stdout)
		return err_sys(e, EXIT_IO, "give it room or a reader and run again",
			       "standard output");
	return err_sys(e, EXIT_IO, "give it room, then go on with --resume", "%s", s->o->out);
}

static int write_line(struct sweep *s, json_t *line, struct err *e)
{
	if (!line)
		return err_set(e, EXIT_BUG,
			       "sweep: a line that JSON cannot hold: a fault of ipcstall; please "
			       "report it");

	if (s->headed && !(s->out = sink_settle(s->out, s->o->out, e))) {
		json_decref(line);
		return -1;
	}
	s->headed = false;

	int bad = json_dumpf(line, s->out, JSON_COMPACT) || fputc('\n', s->out) == EOF ||
		  fflush(s->out);

	json_decref(line);
	return bad ? write_error(s, e) : 0;
}

static json_t *vary_to_json(const struct cells *c)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->n_v; i++) {
		json_t *a = json_array();

		for (size_t j = 0; j < c->v[i].n; j++)
			json_array_append_new(a, text_json(c->v[i].values[j]));
		json_object_set_new(o, c->v[i].row->name, a);
	}
	return o;
}

/*
 * One session serves so many cells: loading takes the verifier a second or more, which is longer
 * than most points. It follows each cell's processes by a table, and that one grows.
 */
enum { SESSION_CELLS = 32 };

/* --ab attaches and detaches in the course of a point. */
static bool serves(const struct sweep *s, const struct bench_plan *plan)
{
	return s->tr.t && !plan->o.ab && s->session.cells < SESSION_CELLS &&
	       s->session.of == plan->w && s->session.backend == plan->o.backend;
}

static int begin_session(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	traced_end(&s->tr);
	s->session.of = plan->w;
	s->session.backend = plan->o.backend;
	s->session.cells = 0;
	return traced_begin(&s->tr, plan, (enum trace_backend)plan->o.backend, e);
}

/* A sweep runs on where nothing can be traced, as a benchmark does, and says so. */
static int trace_cell(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	if (!plan->o.trace)
		return 0;
	if (!serves(s, plan) && begin_session(s, plan, e))
		return -1;
	s->session.cells++;
	if (s->tr.t)
		return 0;
	if ((plan->o.ab && traced_needed(&s->tr, "ab", e)) ||
	    (s->insists && traced_needed(&s->tr, "trace", e)))
		return -1;
	if (!s->said)
		fprintf(stderr, "ipcstall: sweep: without ledgers: %s\n", s->tr.why);
	s->said = true;
	return 0;
}

static json_t *header(struct sweep *s, const struct bench_plan *plan)
{
	char now[40];
	time_t t = time(NULL);
	struct tm tm;
	json_t *h;

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	h = json_result_head("ipcstall.sweep", 1, plan, now);
	json_object_set_new(h, "trace", plan->o.trace ? traced_to_json(&s->tr) : json_null());
	json_object_set_new(h, "vary", vary_to_json(&s->cells));
	json_object_set_new(h, "order_seed", json_integer((json_int_t)s->cells.seed));
	json_object_set_new(h, "repeats", json_integer((json_int_t)s->cells.repeats));
	return h;
}

/* As the option itself is in a result, a time in ns: a number is a number for whoever reads it. */
static json_t *vars_of(const struct sweep *s)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->cells.n_v; i++) {
		const struct opt *row = s->cells.v[i].row;
		json_t *v = opt_value_to_json(row, &s->o->bench);

		/* of a size's list there is one, and of what may be repeated too */
		json_object_set(o, row->name, json_is_array(v) ? json_array_get(v, 0) : v);
		json_decref(v);
	}
	return o;
}

static void progress(struct sweep *s, size_t at)
{
	double gone = (double)(now_ns() - s->started_ns) / 1e9;
	size_t ran = at - s->n_done;

	progress_show(s->o->bench.quiet, at, total(s), NULL,
		      ran ? gone / (double)ran * (double)(total(s) - at) : -1);
}

static const struct variable *size_variable(const struct cells *c)
{
	for (size_t i = 0; i < c->n_v; i++)
		if (!strcmp(c->v[i].row->name, "size"))
			return &c->v[i];
	return NULL;
}

/* All that varies but the size, and the test, as one number. */
static uint32_t series_of(const struct cells *c, size_t cell, int test)
{
	size_t series = 0, scale = 1;

	for (size_t i = 0; i < c->n_v; i++) {
		if (&c->v[i] != size_variable(c)) {
			series += cell % c->v[i].n * scale;
			scale *= c->v[i].n;
		}
		cell /= c->v[i].n;
	}
	return (uint32_t)(series * TESTS + (size_t)test);
}

/* For the refinement: what a message took. A point in which none arrived says nothing. */
static int note_cost(struct sweep *s, const json_t *line, size_t cell, int test, struct err *e)
{
	struct diag_round r;

	if (!s->o->refine || test == TEST_CONNECT || observe_point(line, &r))
		return 0;
	if (refine_note(&s->refiner, series_of(&s->cells, cell, test), r.size, r.cost_ns))
		return err_set(e, EXIT_NO_RESOURCE,
			       "sweep: out of memory; give fewer values or no --refine");
	return 0;
}

/* What is being run: a cell of the order, or, refined, a size of its own in some cell's series. */
struct job {
	size_t cell, repeat, index;
	int64_t size; /* 0: the cell's own */
};

static void describe(struct sweep *s, const struct job *j, json_t *line)
{
	json_t *vars = vars_of(s);

	json_object_set_new(line, "vars", vars);
	json_object_set_new(line, "repeat", json_integer((json_int_t)j->repeat));
	json_object_set_new(line, "index", json_integer((json_int_t)j->index));
	json_object_set_new(line, "refined", json_boolean(j->size != 0));
}

/* the tests of this job that are still to be run; refined ones are none of an interrupted file's */
static unsigned int tests_left(const struct sweep *s, const struct bench_plan *plan,
			       const struct job *j)
{
	return plan->tests & ~(j->index < total(s) ? s->done[j->index] : 0);
}

static int run_tests(struct sweep *s, struct bench_plan *plan, const struct job *j, struct err *e)
{
	unsigned int tests = tests_left(s, plan, j);
	struct traced *tr = &s->tr;

	for (int t = 0; t < TESTS; t++) {
		int64_t size = t == TEST_CONNECT ? 1 : plan->o.sizes.v[0];
		struct point p = {};
		json_t *line;

		if (!(tests >> t & 1))
			continue;
		if (tr->t ? traced_run_point(tr, plan, (enum test)t, size, &p, e)
			  : bench_run_point(plan, (enum test)t, size, NULL, &p, e))
			return -1;
		line = json_of_point(&p, NULL);
		describe(s, j, line);
		point_ledger_free(p.ledger);
		p.ledger = NULL;
		point_free(&p);
		s->n_points++;
		if (note_cost(s, line, j->cell, t, e) || write_line(s, line, e))
			return -1;
	}
	return 0;
}

/*
 * A link's namespaces go after it, in a worker of the kernel (cleanup_net), which by its schedstat
 * was at that until 52 to 86 ms later: the next cell is not measured beside it.
 */
static void end_cell(struct bench_plan *plan)
{
	static const struct timespec cleaned_up = { .tv_nsec = 100000000 };
	bool had_link = plan->has_link;

	bench_teardown(plan);
	if (had_link)
		nanosleep(&cleaned_up, NULL);
}

/* A fresh plan for each cell: any option may be a variable, so nothing is carried over. */
static int run_job(struct sweep *s, const struct job *j, struct err *e)
{
	struct sweep_opts *o = s->o;
	struct bench_plan plan;
	int rc;

	if (cells_apply(&s->cells, j->cell, &o->bench, e))
		return -1;
	if (j->size)
		o->bench.sizes.v[0] = j->size;
	if (bench_plan(&o->bench, &plan, e))
		return -1;
	if (!tests_left(s, &plan, j)) {
		bench_teardown(&plan);
		return 0;
	}
	rc = bench_setup(&plan, &remote_far_end, e) || trace_cell(s, &plan, e)
		     ? -1
		     : run_tests(s, &plan, j, e);
	end_cell(&plan);
	return rc;
}

/* A connect has no size. */
static int check_size(const struct bench_plan *plan, bool given, struct err *e)
{
	if (plan->o.sizes.n == 1 || plan->tests == 1u << TEST_CONNECT)
		return 0;
	return given ? err_set(e, EXIT_BAD_USAGE,
			       "sweep: %zu sizes in --size; vary them instead: --vary size=...",
			       plan->o.sizes.n)
		     : err_set(e, EXIT_BAD_USAGE,
			       "sweep: messages of which size?; give --size SIZE, or vary it: "
			       "--vary size=...");
}

static bool varies(const struct sweep *s, const char *name)
{
	for (size_t i = 0; i < s->cells.n_v; i++)
		if (strcmp(s->cells.v[i].row->name, name) == 0)
			return true;
	return false;
}

/* Without --nodelay some tests have TCP_NODELAY all the same, and the two values would be one. */
static int check_nodelay(const struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	for (int t = 0; t < TESTS && !plan->o.nodelay && varies(s, "nodelay"); t++)
		if (plan->tests >> t & 1 && bench_nodelay(plan, (enum test)t))
			return err_set(e, EXIT_BAD_USAGE,
				       "sweep: --vary nodelay=0 with --test %s, which has "
				       "TCP_NODELAY on by itself; vary nagle=0,1, or "
				       "take another test",
				       test_name((enum test)t));
	return 0;
}

/* Every combination is checked before the first one runs: hours later is too late for a bad one. */
static int check_cells(struct sweep *s, struct bench_plan *first, const struct opt_operands *given,
		       struct err *e)
{
	unsigned int uses = 0;

	for (size_t c = s->cells.n; c-- > 0;) {
		if (cells_apply(&s->cells, c, &s->o->bench, e) ||
		    bench_plan(&s->o->bench, first, e) ||
		    check_size(first, opt_given(given, "size"), e) || check_nodelay(s, first, e))
			return -1;
		uses |= bench_uses(first);
	}
	for (size_t i = 0; i < s->cells.n_v; i++)
		if (unused_options_check(uses, s->cells.v[i].row->name, e))
			return -1;
	return unused_options_check_all(uses, given, e);
}

static int check_same(const json_t *was, const json_t *now, const char *const keys[],
		      const char *of_which, const char *path, struct err *e)
{
	for (; *keys; keys++) {
		const json_t *a = json_object_get(was, *keys), *b = json_object_get(now, *keys);

		if ((a || b) && !json_equal(a, b))
			return err_set(e, EXIT_DATA, "--resume %s: its '%s' is not that of this %s",
				       path, *keys, of_which);
	}
	return 0;
}

/* Half a sweep from one kernel, machine or build and half from another is none. */
static int same_sweep(const json_t *was, const json_t *now, const char *path, struct err *e)
{
	static const char *const asked[] = { "schema", "version", "vary", "order_seed", "repeats",
		"options", NULL };
	static const char *const machine[] = { "hostname", "kernel", "kernel_build", "cpu_model",
		"cpus_online", "governor", "clocksource", NULL };
	static const char *const tool[] = { "version", "git", "flavour", "sanitizers", NULL };
	static const char *const trace[] = { "backend", "object", NULL };
	const struct {
		const char *key; /* NULL: the head itself */
		const char *const *keys;
		const char *of_which;
	} rows[] = {
		{ NULL, asked, "command line; repeat the command that began it" },
		{ "machine", machine, "machine; start anew without --resume" },
		{ "tool", tool, "program; start anew without --resume, or with the program that "
			"began it" },
		{ "trace", trace, "run; start anew without --resume, or see `ipcstall check`" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *key = rows[i].key;

		if (check_same(key ? json_object_get(was, key) : was,
			       key ? json_object_get(now, key) : now, rows[i].keys,
			       rows[i].of_which, path, e))
			return -1;
	}
	return 0;
}

static int count_done(struct sweep *s, size_t i, const json_t *line, struct err *e)
{
	const char *test = json_string_value(json_object_get(line, "test"));
	int t = 0;

	while (test && t < TESTS - 1 && strcmp(test, test_name((enum test)t)))
		t++;
	s->n_done += !s->done[i];
	s->done[i] |= 1u << t;
	s->n_points++;
	return note_cost(s, line, s->cells.order[i], t, e);
}

static int read_done(struct sweep *s, FILE *f, const json_t *now, struct err *e)
{
	json_error_t why;
	json_t *line = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, &why));
	int rc =
		line ? same_sweep(line, now, s->o->out, e)
		     : err_set(e, EXIT_DATA,
			       "--resume %s: no header; start it anew without --resume", s->o->out);
	long whole = ftell(f), first_refined = -1;

	json_decref(line);
	while (rc == 0 && (line = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, &why)))) {
		json_int_t i = json_integer_value(json_object_get(line, "index"));
		bool refined = json_is_true(json_object_get(line, "refined"));

		if (json_object_get(line, "end"))
			s->complete = true;
		else if (!refined && i >= 0 && (size_t)i < total(s))
			rc = count_done(s, (size_t)i, line, e);
		json_decref(line);
		if (refined && first_refined < 0)
			first_refined = whole;
		whole = ftell(f);
	}
	if (s->complete)
		return rc;
	/* A line that was cut off by the interruption is overwritten; and so are refined sizes,
	 * which come last and depend on one another. */
	whole = first_refined >= 0 ? first_refined : whole;
	if (rc == 0 &&
	    (fseek(f, whole, SEEK_SET) || ftruncate(fileno(f), whole) || fputc('\n', f) == EOF))
		rc = err_sys(e, EXIT_IO, "start the sweep anew without --resume", "--resume %s",
			     s->o->out);
	return rc;
}

/* What took hours is not to go because --resume was forgotten. A whole sweep is replaced, as every
 * output is. */
static int spare_interrupted(const char *path, struct err *e)
{
	struct stat st; /* of what is no file, a pipe say, nothing can be read that is not yet to be
			   written */
	FILE *f = path && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	json_t *line = f ? text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)) : NULL;
	const char *schema = json_string_value(json_object_get(line, "schema"));
	bool sweep = schema && !strcmp(schema, "ipcstall.sweep"), whole = false;
	size_t points = 0;

	for (; sweep && !whole && line; points++) {
		json_decref(line);
		line = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL));
		whole = json_object_get(line, "end");
	}
	json_decref(line);
	if (f)
		fclose(f);
	if (!sweep || whole || points < 2)
		return 0;
	return err_set(e, EXIT_BAD_USAGE,
		       "--out %s: holds a sweep that was interrupted after %zu point%s; go on with "
		       "--resume, or remove it",
		       path, points - 1, points == 2 ? "" : "s");
}

static int open_out(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	const char *path = s->o->out;
	json_t *head;
	int rc;

	if ((!s->o->resume && spare_interrupted(path, e)) || trace_cell(s, plan, e))
		return -1;
	head = header(s, plan);

	if (s->o->resume) {
		s->out = path ? fopen(path, "r+e") : NULL;
		rc = s->out ? read_done(s, s->out, head, e)
		     : path ? err_sys(e, EXIT_DATA, "give the file of the interrupted sweep",
				      "--resume %s", path)
			    : err_set(e, EXIT_BAD_USAGE,
				      "--resume: no --out; give the file of the interrupted sweep");
		json_decref(head);
		return rc;
	}
	s->out = sink_open(path ? path : "-", e);
	rc = s->out ? write_line(s, head, e) : -1;
	s->headed = rc == 0 && s->out != stdout;
	if (!s->out)
		json_decref(head);
	return rc;
}

static int run_cells(struct sweep *s, struct err *e)
{
	for (size_t i = 0, at = s->n_done; i < total(s); i++) {
		struct job j = { .cell = s->cells.order[i], .repeat = i / s->cells.n, .index = i };

		progress(s, s->done[i] ? at : at++);
		if (run_job(s, &j, e))
			return -1;
	}
	return 0;
}

enum {
	REFINED_MOST = 2000
}; /* sizes, of all series together: a curve of nothing but noise has edges without end */

static int refine_one(struct sweep *s, size_t cell, int64_t size, struct err *e)
{
	size_t repeats =
		s->cells.repeats > DIPS_REPEATS_LEAST ? s->cells.repeats : DIPS_REPEATS_LEAST;

	if (!s->o->bench.quiet && terminal_is(stderr))
		fprintf(stderr, "\r\033[K[refined %zu] size %lld", s->n_refined, (long long)size);
	for (size_t k = 0; k < repeats; k++) {
		struct job j = { .cell = cell, .repeat = k,
			.index = total(s) + s->n_refined * repeats + k, .size = size };

		if (run_job(s, &j, e))
			return -1;
	}
	s->n_refined++;
	return 0;
}

/* Every series once, through the first of its cells. A size's run makes points of all tests, so all
 * of them gain by it. */
static int refine_all(struct sweep *s, struct err *e)
{
	const struct variable *v = size_variable(&s->cells);

	for (size_t cell = 0; cell < s->cells.n; cell++) {
		if (cells_value(&s->cells, cell, (size_t)(v - s->cells.v)) != v->values[0])
			continue;
		for (int t = 0; t < TESTS; t++) {
			int64_t size;

			while (s->n_refined < REFINED_MOST &&
			       refine_next(&s->refiner, series_of(&s->cells, cell, t), &size))
				if (refine_one(s, cell, size, e))
					return -1;
		}
	}
	return 0;
}

static int check_refine(const struct sweep *s, struct err *e)
{
	if (!s->o->refine)
		return 0;
	if (!size_variable(&s->cells))
		return err_set(e, EXIT_BAD_USAGE,
			       "--refine: the size does not vary, so there is no dip to refine; "
			       "give --vary size=FIRST:LAST:+STEP");
	if (s->cells.repeats < DIPS_REPEATS_LEAST)
		return err_set(e, EXIT_BAD_USAGE,
			       "--refine: %llu repeats cannot tell a dip from chance; give "
			       "--repeats %d or more",
			       (unsigned long long)s->cells.repeats, DIPS_REPEATS_LEAST);
	return 0;
}

/* Of what varies, a value beside it would never be used; but for the seed, which also draws the
 * order. */
static int check_given(const struct sweep *s, const struct opt_operands *given, struct err *e)
{
	for (size_t i = 0; i < s->cells.n_v; i++) {
		const char *name = s->cells.v[i].row->name;

		if (opt_given(given, name) && strcmp(name, "seed"))
			return err_set(
				e, EXIT_BAD_USAGE,
				"--%s with --vary %s: one value or several; give one of them", name,
				name);
	}
	return bench_check_given(&s->o->bench, given, e);
}

static int plan_cells(struct sweep *s, struct bench_plan *first, const struct opt_operands *given,
		      struct err *e)
{
	const struct sweep_opts *o = s->o;

	s->insists = o->bench.trace && opt_given(given, "trace");
	if (cells_make(&s->cells, bench_option_rows, &o->vary, (uint64_t)o->repeats,
		       (uint64_t)o->bench.seed, e))
		return -1;
	return check_given(s, given, e) || check_refine(s, e) || check_cells(s, first, given, e)
		       ? -1
		       : 0;
}

static int run_all(struct sweep *s, struct err *e)
{
	if (s->complete) {
		if (!s->o->bench.quiet)
			fprintf(stderr,
				"ipcstall: sweep: %s is complete: nothing was left to run\n",
				s->o->out);
		return 0;
	}
	s->started_ns = now_ns();
	if (run_cells(s, e) || (s->o->refine && refine_all(s, e)))
		return -1;
	return write_line(s,
			  json_pack("{s:{s:I, s:b}}", "end", "points", (json_int_t)s->n_points,
				    "complete", 1),
			  e);
}

/* A person is told what was found; where the analysis is not installed, how to look at it. */
static void say_findings(const struct sweep_opts *o)
{
	char self[] = "/proc/self/exe", summary[] = "summary", brief[] = "--brief";
	char *argv[] = { self, summary, brief, o->out, NULL };
	struct err e = {};

	if (o->bench.quiet || !o->out || sink_is_stdout(o->out) || !terminal_is(stdout))
		return;
	subprocess_run(argv, &e);
	printf("\nsaved: %s; next: ipcstall report %s\n", o->out, o->out);
}

static int run_sweep(void *opts, struct opt_operands *rest, struct err *e)
{
	struct sweep_opts *o = opts;
	struct sweep s = { .o = o };
	struct bench_plan first;
	int rc;

	json_ledger_of_point = point_ledger_to_json;
	rc = plan_cells(&s, &first, rest, e);
	if (rc == 0) {
		tick_clock_init(&first.clock, TICK_CALIBRATE_NS);
		s.done = array_new(total(&s), 0, sizeof(*s.done));
		rc = s.done ? open_out(&s, &first, e)
			    : err_set(e, EXIT_NO_RESOURCE,
				      "sweep: out of memory; give fewer values");
	}
	if (rc == 0) {
		bench_catch_signals();
		rc = run_all(&s, e);
		if (!o->bench.quiet && terminal_is(stderr))
			fputs("\r\033[K", stderr);
	}
	traced_end(&s.tr);
	if (s.headed)
		sink_drop(s.out);
	else if (s.out && s.out != stdout && fclose(s.out) && rc == 0)
		rc = write_error(&s, e);
	free(s.done);
	refine_free(&s.refiner);
	cells_free(&s.cells);
	if (rc == 0)
		say_findings(o);
	return rc ? (int)e->code : EXIT_DONE;
}

const struct command command_sweep = {
	.name = "sweep",
	.summary = "Benchmark every combination of some options' values, in random order",
	.description = "Each point runs with the ledger on (--no-trace: off), so that stall and "
		"time belong to the same messages. Points are written\n"
		       "as they come; an interrupted sweep goes on with --resume. `ipcstall report "
		       	"FILE` draws it.",
	.examples = "ipcstall sweep -m tcp --pattern trailer=4 --ack message -t throughput -L "
		"veth,rate=100mbit,tso=off -V size=1453:21000:+500 -V nodelay=0,1 -o "
		"comb.ndjson\tthe comb of Nagle and delayed ACK\n"
		    "ipcstall sweep -m tcp --pattern chunks=4096 --ack message -t throughput -L "
			"veth,tso=off "
		    	"-V size=3500:7000:+500 --repeats 3 --refine -o edges.ndjson\twhere "
		    	"exactly?\n"
		    "ipcstall sweep -m pipe -t throughput -V size=1K:256K:*2 -V pipe-size=64K,1M "
		    	"-o pipe.ndjson\tdoes a larger pipe help?\n",
	.options = all_rows,
	.options_size = sizeof(struct sweep_opts),
	.defaults = sweep_defaults,
	.run = run_sweep,
};
