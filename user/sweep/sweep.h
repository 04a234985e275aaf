/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sweep: a benchmark over every combination of some options' values, with the ledger of each
 * point.
 *
 *	sweep_plan	makes the combinations, and checks each before the first one runs
 *	sweep_open	begins the file, or reads the one to continue (sweep_file.c)
 *	sweep_run	runs the remaining combinations, then the refined sizes (sweep_run.c)
 *	sweep_close
 */
#ifndef IPCSTALL_SWEEP_SWEEP_H
#define IPCSTALL_SWEEP_SWEEP_H

#include <stdio.h>

#include <jansson.h>

#include "base/opt.h"
#include "bench/traced.h"
#include "sweep/cells.h"
#include "sweep/refine.h"

/* The benchmark's options come first, so that its option rows fill this struct too. Some of the
 * sweep's own rows fill the same fields, with another help text. */
struct sweep_opts {
	struct bench_options bench;
	struct str_list vary;
	int64_t repeats;
	char *together, *out;
	bool resume, refine;
};

struct sweep {
	struct sweep_opts *o;
	struct cells cells;
	FILE *out;
	bool headed; /* `out` has only its first line: a whole sweep in that file is kept until
			there is a point to replace it */
	unsigned int *done; /* by index in the order: a bit for each test that the interrupted file
			       has */
	size_t n_done, n_points; /* cells begun in that file; points in it and of this run */
	bool complete;		 /* the file to continue is complete */
	struct traced tr;
	struct {
		const struct workload *of; /* the workload it was begun for */
		int64_t backend;
		size_t cells; /* number of cells it has served */
	} session;
	bool said;    /* it was said why nothing is traced */
	bool insists; /* --trace was given: fail without ledgers */
	uint64_t started_ns;
	struct refiner refiner;
	size_t n_refined;
};

/* the number of cells times their repeats */
static inline size_t sweep_total(const struct sweep *s)
{
	return s->cells.n * s->cells.repeats;
}

/* *first: the plan of the first cell. */
int sweep_plan(struct sweep *s, struct bench_plan *first, const struct opt_operands *given,
	       struct err *e);
int sweep_run(struct sweep *s, struct err *e);
/* rc: the result so far; returns it, or -1 if the file cannot be closed. */
int sweep_close(struct sweep *s, int rc, struct err *e);

/* sweep_session.c: begins a session to trace a cell, or continues that of the cell before */
int sweep_trace_cell(struct sweep *s, const struct bench_plan *plan, struct err *e);

/* sweep_file.c; a line is taken over */
int sweep_spare(const struct sweep *s, struct err *e);
int sweep_open(struct sweep *s, const struct bench_plan *first, struct err *e);
int sweep_write(struct sweep *s, json_t *line, struct err *e);

/* sweep_series.c: the variable "size", or NULL if it does not vary; the test and all variables but
 * the size, as one number; notes the time per message at a size for the refinement */
const struct variable *sweep_size(const struct cells *c);
uint32_t sweep_series(const struct cells *c, size_t cell, int test);
int sweep_note_cost(struct sweep *s, size_t cell, int test, int64_t size, double cost_ns,
		    struct err *e);

#endif
