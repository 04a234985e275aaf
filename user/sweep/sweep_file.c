// SPDX-License-Identifier: GPL-2.0-only
/* The file of a sweep, in NDJSON: a header, one line for each point, an end line. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "diagnose/observe.h"
#include "json/json_text.h"
#include "render/ledger_point.h"
#include "render/sink.h"
#include "sweep/sweep.h"

/* Only a file can be continued with --resume. */
static int write_error(const struct sweep *s, struct err *e)
{
	if (s->out == stdout)
		return err_sys(e, EXIT_IO, "free some space or start its reader, and run again",
			       "standard output");
	return err_sys(e, EXIT_IO, "free some space, then continue with --resume", "%s", s->o->out);
}

int sweep_write(struct sweep *s, json_t *line, struct err *e)
{
	if (!line)
		return err_set(e, EXIT_BUG,
			       "sweep: a line that JSON cannot hold: a bug in ipcstall; please "
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
	json_object_set_new(h, "together",
			    s->o->together ? text_json(s->o->together) : json_null());
	json_object_set_new(h, "repeats", json_integer((json_int_t)s->cells.repeats));
	return h;
}

static int check_same(const json_t *was, const json_t *now, const char *const keys[],
		      const char *of_which, const char *path, struct err *e)
{
	for (; *keys; keys++) {
		const json_t *a = json_object_get(was, *keys), *b = json_object_get(now, *keys);

		if ((a || b) && !json_equal(a, b))
			return err_data(e, "--resume %s: its '%s' differs from that of this %s",
					path, *keys, of_which);
	}
	return 0;
}

/* Checks that the file is of the same sweep, and that kernel, machine and build are the same. */
static int same_sweep(const json_t *was, const json_t *now, const char *path, struct err *e)
{
	static const char *const asked[] = { "schema",	 "version", "vary",    "order_seed",
					     "together", "repeats", "options", NULL };
	static const char *const machine[] = { "hostname",    "kernel",	     "kernel_build",
					       "cpu_model",   "cpus_online", "governor",
					       "clocksource", NULL };
	static const char *const tool[] = { "version", "git", "flavour", "sanitizers", NULL };
	static const char *const trace[] = { "backend", "object", NULL };
	const struct {
		const char *key; /* NULL: the head itself */
		const char *const *keys;
		const char *of_which;
	} rows[] = {
		{ NULL, asked, "command line; repeat the command that began it" },
		{ "machine", machine, "machine; start again without --resume" },
		{ "tool", tool,
		  "program; start again without --resume, or with the program that began it" },
		{ "trace", trace, "run; start again without --resume, or see `ipcstall check`" },
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

/* TESTS: the line is of no known test */
static int test_of(const json_t *line)
{
	const char *test = json_string_value(json_object_get(line, "test"));
	int t = 0;

	while (t < TESTS && (!test || strcmp(test, test_name((enum test)t))))
		t++;
	return t;
}

/* Counts a point, which the file may hold only once: the data to judge must not grow with the file.
 */
static int count_done(struct sweep *s, size_t i, const json_t *line, struct err *e)
{
	struct diag_round r;
	int t = test_of(line);

	if (t == TESTS || s->done[i] & 1u << t)
		return err_data(e, "--resume %s: point %zu %s; start it again without --resume",
				s->o->out, i,
				t == TESTS ? "names no known test" : "is there twice");
	s->n_done += !s->done[i];
	s->done[i] |= 1u << t;
	s->n_points++;
	if (!s->o->refine || observe_saved(line, &r))
		return 0;
	return sweep_note_cost(s, s->cells.order[i], t, r.size, r.cost_ns, e);
}

static int read_done(struct sweep *s, FILE *f, const json_t *now, struct err *e)
{
	json_error_t why;
	json_t *line = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, &why));
	int rc = line ? same_sweep(line, now, s->o->out, e)
		      : err_data(e, "--resume %s: no header; start it again without --resume",
				 s->o->out);
	long whole = ftell(f), first_refined = -1;

	json_decref(line);
	while (rc == 0 && (line = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, &why)))) {
		json_int_t i = json_integer_value(json_object_get(line, "index"));
		bool refined = json_is_true(json_object_get(line, "refined"));

		if (json_object_get(line, "end"))
			s->complete = true;
		else if (!refined && i >= 0 && (size_t)i < sweep_total(s))
			rc = count_done(s, (size_t)i, line, e);
		json_decref(line);
		if (refined && first_refined < 0)
			first_refined = whole;
		whole = ftell(f);
	}
	if (s->complete)
		return rc;
	/* Overwrites a line that the interruption cut off, and refined sizes, which come last and
	 * depend on one another. */
	whole = first_refined >= 0 ? first_refined : whole;
	if (rc == 0 &&
	    (fseek(f, whole, SEEK_SET) || ftruncate(fileno(f), whole) || fputc('\n', f) == EOF))
		rc = err_sys(e, EXIT_IO, "start the sweep again without --resume", "--resume %s",
			     s->o->out);
	return rc;
}

/* Refuses to overwrite an interrupted sweep, which may have taken hours: --resume may have been
 * forgotten. A complete sweep is replaced, like every output. */
static int spare_interrupted(const char *path, struct err *e)
{
	struct stat st; /* only a regular file can hold an earlier sweep; a pipe, say, cannot */
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
	return err_usage(e,
			 "--out %s: holds a sweep that was interrupted after %zu point%s; continue "
			 "it with --resume, or remove it",
			 path, points - 1, points == 2 ? "" : "s");
}

int sweep_spare(const struct sweep *s, struct err *e)
{
	return s->o->resume ? 0 : spare_interrupted(s->o->out, e);
}

int sweep_open(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	const char *path = s->o->out;
	json_t *head;
	int rc;

	head = header(s, plan);
	if (s->o->resume) {
		s->out = path ? fopen(path, "r+e") : NULL;
		rc = s->out ? read_done(s, s->out, head, e)
		     : path ? err_sys(e, EXIT_DATA, "give the file of the interrupted sweep",
				      "--resume %s", path)
			    : err_usage(
				      e,
				      "--resume: no --out; give the file of the interrupted sweep");
		json_decref(head);
		return rc;
	}
	s->out = sink_open(path ? path : "-", e);
	rc = s->out ? sweep_write(s, head, e) : -1;
	s->headed = rc == 0 && s->out != stdout;
	if (!s->out)
		json_decref(head);
	return rc;
}

int sweep_close(struct sweep *s, int rc, struct err *e)
{
	if (s->headed)
		sink_drop(s->out);
	else if (s->out && s->out != stdout && fclose(s->out) && rc == 0)
		rc = write_error(s, e);
	return rc;
}
