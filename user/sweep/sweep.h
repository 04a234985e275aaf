/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sweep: a benchmark over every combination of some options' values, with the ledger of each
 * point.
 *
 *	sweep_plan	which combinations; each is checked before the first one runs
 *	sweep_open	the file: anew, or as far as it is there (sweep_file.c)
 *	sweep_run	what is left of them, then the refined sizes (sweep_run.c)
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

/* The benchmark's options come first, so that its rows fill this struct as they are, and the
 * sweep's own too where they say the same in other words. */
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

/* cells, each as often as it is repeated */
static inline size_t sweep_total(const struct sweep *s)
{
	return s->cells.n * s->cells.repeats;
}

/* *first: the plan of the first cell. */
int sweep_plan(struct sweep *s, struct bench_plan *first, const struct opt_operands *given,
	       struct err *e);
int sweep_run(struct sweep *s, struct err *e);
/* rc: of what went before; returns it, or -1 where the file cannot be closed. */
int sweep_close(struct sweep *s, int rc, struct err *e);

/* sweep_session.c: begin to trace a cell, or go on with the session of the one before */
int sweep_trace_cell(struct sweep *s, const struct bench_plan *plan, struct err *e);

/* sweep_file.c; a line is taken over */
int sweep_spare(const struct sweep *s, struct err *e);
int sweep_open(struct sweep *s, const struct bench_plan *first, struct err *e);
int sweep_write(struct sweep *s, json_t *line, struct err *e);

/* sweep_series.c: the variable "size", NULL: it does not vary; all that varies but the size, and
 * the test, as one number; for the refinement, what a message of a size took */
const struct variable *sweep_size(const struct cells *c);
uint32_t sweep_series(const struct cells *c, size_t cell, int test);
int sweep_note_cost(struct sweep *s, size_t cell, int test, int64_t size, double cost_ns,
		    struct err *e);

#endif
