// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the file of an interrupted sweep, to be gone on with by --resume: what it has is
 * taken or refused, and what is cut off its end leaves whole lines.
 */
#include "commands/cmd_sweep.c"
#include "sweep/sweep_file.c"

#include "stats/dips.h"

#include "fuzz/fuzz.h"

/* A small sweep, refined, so that the points' figures are read too. */
static void begin(struct sweep *s, struct sweep_opts *o)
{
	static const char *const vary[] = { "size=1000:5000:+1000", "nodelay=0,1" };
	struct bench_plan first;
	struct opt_operands none = {};
	struct err e = {};

	sweep_defaults(o);
	o->repeats = 3;
	o->refine = true;
	o->bench.trace = false;
	o->vary.v = calloc(2, sizeof(char *));
	for (int i = 0; i < 2; i++)
		o->vary.v[o->vary.n++] = strdup(vary[i]);
	free(o->bench.tests);
	o->bench.tests = strdup("throughput");
	*s = (struct sweep){ .o = o };
	MUST(opt_set(opt_find(bench_option_rows, "mode"), &o->bench, "tcp", &e) == 0);
	MUST(sweep_plan(s, &first, &none, &e) == 0);
	s->done = calloc(sweep_total(s), sizeof(*s->done));
	MUST(s->done);
}

static void end(struct sweep *s)
{
	refine_free(&s->refiner);
	cells_free(&s->cells);
	free(s->done);
	opt_free(all_rows, s->o);
}

/* The head that is asked for: the file's own, where it has one, so that its points are read. */
static json_t *head_of(const struct memory_file *m)
{
	FILE *f = fopen(m->path, "re");
	json_t *head = text_clean_json(json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL));

	fclose(f);
	return head ? head : json_object();
}

/* As refine_all() does, where each size costs the same. */
static void refine_series(struct refiner *r, uint32_t series)
{
	int64_t size;

	for (int n = 0; n < 4 && refine_next(r, series, &size); n++)
		for (int i = 0; i < DIPS_REPEATS_LEAST; i++)
			MUST(refine_note(r, series, size, 1000) == 0);
}

static void refine(struct sweep *s)
{
	const struct variable *v = sweep_size(&s->cells);

	for (size_t i = 0; i < s->cells.n; i++)
		if (cells_value(&s->cells, i, (size_t)(v - s->cells.v)) == v->values[0])
			refine_series(&s->refiner, sweep_series(&s->cells, i, TEST_THROUGHPUT));
}

static void resume(struct memory_file *m)
{
	struct sweep_opts o = {};
	struct sweep s;
	struct err e = {};
	json_t *head = head_of(m);
	FILE *f = fopen(m->path, "r+e");

	begin(&s, &o);
	o.out = strdup(m->path);
	if (read_done(&s, f, head, &e))
		must_be_refusal(&e);
	MUST(s.n_done <= sweep_total(&s));
	refine(&s);
	fclose(f);
	json_decref(head);
	end(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file m = memory_file_open(data, size);
	struct err e = {};

	if (spare_interrupted(m.path, &e))
		must_be_refusal(&e);
	resume(&m);
	memory_file_close(&m);
	return 0;
}
