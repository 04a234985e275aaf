// SPDX-License-Identifier: GPL-2.0-only
#include <time.h>

#include "base/clock.h"
#include "base/progress.h"
#include "json/json_options.h"
#include "remote/remote.h"
#include "render/ledger_point.h"
#include "stats/dips.h"
#include "sweep/sweep.h"

/* The varied options, in the same form as in a result's `options`: numbers, and times in ns. */
static json_t *vars_of(const struct sweep *s)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->cells.n_v; i++) {
		const struct opt *row = s->cells.v[i].row;
		json_t *v = opt_value_to_json(row, &s->o->bench);

		/* lists of sizes, and options that may be repeated, have one element here */
		json_object_set(o, row->name, json_is_array(v) ? json_array_get(v, 0) : v);
		json_decref(v);
	}
	return o;
}

static void progress(struct sweep *s, size_t at)
{
	double gone = (double)(now_ns() - s->started_ns) / 1e9;
	size_t ran = at - s->n_done;

	progress_show(s->o->bench.quiet, at, sweep_total(s), NULL,
		      ran ? gone / (double)ran * (double)(sweep_total(s) - at) : -1);
}

/* A run: a cell of the order, or for the refinement a size of its own in some cell's series. */
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

/* the tests of this job that are still to be run; an interrupted file has none of a refined job */
static unsigned int tests_left(const struct sweep *s, const struct bench_plan *plan,
			       const struct job *j)
{
	return plan->tests & ~(j->index < sweep_total(s) ? s->done[j->index] : 0);
}

static int run_tests(struct sweep *s, struct bench_plan *plan, const struct job *j, struct err *e)
{
	unsigned int tests = tests_left(s, plan, j);
	struct traced *tr = &s->tr;

	for (int t = 0; t < TESTS; t++) {
		int64_t size = t == TEST_CONNECT ? 1 : plan->o.sizes.v[0];
		struct point p = {};
		double cost_ns;
		json_t *line;

		if (!(tests >> t & 1))
			continue;
		if (tr->t ? traced_run_point(tr, plan, (enum test)t, size, &p, e)
			  : bench_run_point(plan, (enum test)t, size, NULL, &p, e))
			return -1;
		cost_ns = point_cost_ns(&p);
		line = json_of_point(&p, NULL);
		describe(s, j, line);
		point_ledger_free(p.ledger);
		p.ledger = NULL;
		point_free(&p);
		s->n_points++;
		if (sweep_note_cost(s, j->cell, t, size, cost_ns, e) || sweep_write(s, line, e))
			return -1;
	}
	return 0;
}

/*
 * A worker of the kernel (cleanup_net) removes a link's namespaces after the link. By its schedstat
 * it was busy until 52 to 86 ms later, so the next cell waits for 100 ms.
 */
static void end_cell(struct bench_plan *plan)
{
	static const struct timespec cleaned_up = { .tv_nsec = 100000000 };
	bool had_link = plan->has_link;

	bench_teardown(plan);
	if (had_link)
		nanosleep(&cleaned_up, NULL);
}

/* Makes a new plan for each cell: any option may vary, so nothing is carried over. */
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
	rc = bench_setup(&plan, &remote_far_end, e) || sweep_trace_cell(s, &plan, e)
		     ? -1
		     : run_tests(s, &plan, j, e);
	end_cell(&plan);
	return rc;
}

static int run_cells(struct sweep *s, struct err *e)
{
	for (size_t i = 0, at = s->n_done; i < sweep_total(s); i++) {
		struct job j = { .cell = s->cells.order[i], .repeat = i / s->cells.n, .index = i };

		progress(s, s->done[i] ? at : at++);
		if (run_job(s, &j, e))
			return -1;
	}
	return 0;
}

enum {
	REFINED_MOST = 2000
}; /* sizes, for all series together: a curve that is all noise has edges without end */

static int refine_one(struct sweep *s, size_t cell, int64_t size, struct err *e)
{
	size_t repeats =
		s->cells.repeats > DIPS_REPEATS_LEAST ? s->cells.repeats : DIPS_REPEATS_LEAST;
	char what[48];

	snprintf(what, sizeof(what), "refining: size %lld", (long long)size);
	progress_show(s->o->bench.quiet, s->n_refined + 1, REFINED_MOST, what, -1);
	for (size_t k = 0; k < repeats; k++) {
		struct job j = { .cell = cell,
				 .repeat = k,
				 .index = sweep_total(s) + s->n_refined * repeats + k,
				 .size = size };

		if (run_job(s, &j, e))
			return -1;
	}
	s->n_refined++;
	return 0;
}

/* Refines every series once, at its first cell. A run at a size makes points of all tests, so the
 * series of all tests gain by it. */
static int refine_all(struct sweep *s, struct err *e)
{
	const struct variable *v = sweep_size(&s->cells);

	for (size_t cell = 0; cell < s->cells.n; cell++) {
		if (cells_value(&s->cells, cell, (size_t)(v - s->cells.v)) != v->values[0])
			continue;
		for (int t = 0; t < TESTS; t++) {
			int64_t size;

			while (s->n_refined < REFINED_MOST &&
			       refine_next(&s->refiner, sweep_series(&s->cells, cell, t), &size))
				if (refine_one(s, cell, size, e))
					return -1;
		}
	}
	return 0;
}

int sweep_run(struct sweep *s, struct err *e)
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
	return sweep_write(s,
			   json_pack("{s:{s:I, s:b}}", "end", "points", (json_int_t)s->n_points,
				     "complete", 1),
			   e);
}
