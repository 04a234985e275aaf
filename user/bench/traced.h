/* SPDX-License-Identifier: GPL-2.0-only */
/* The ledger's way into a benchmark: hooks of a run that keep one session over all its points. */
#ifndef IPCSTALL_BENCH_TRACED_H
#define IPCSTALL_BENCH_TRACED_H

#include "bench/ab.h"
#include "bench/bench.h"
#include "verdict/timeline.h"
#include "verdict/verdict.h"

/* What the tracer found in one point's measured phase; hangs on struct point. */
struct point_ledger {
	struct trace_snapshot phase;
	struct verdict verdict;
	pid_t pids[ROLES];
	double stall_per_message_ns; /* NAN when no message was counted */
	double normalised_stall; /* stall of the phase over its length, by the sender that stalled
				    most */
	/* When the point's own figures were taken untraced: the same figure with the ledger on, and
	 * what that cost. */
	double traced_headline, cost_ratio; /* NAN: the point's figures are the traced ones */
	struct ab_result ab;
};

void point_ledger_free(struct point_ledger *l);
/* The end of the benchmark that sends through this endpoint. */
enum role point_ledger_sender(const struct point_ledger *l, const struct trace_endpoint *ep);

struct traced {
	struct trace *t;	       /* NULL: nothing is traced, and `why` says why not */
	struct trace *beside;	       /* --ab: the same for nobody */
	const struct bench_plan *plan; /* of the point in hand */
	char why[512];
	int why_code;	/* the exit code for that, where the ledger is needed */
	int n_programs; /* loaded by us: not a stranger's tracer */
	struct trace_packed begin;
	struct point_ledger *current;
	struct timeline timeline; /* of all points, where it is asked for */
};

/* Try to trace the plan's kind of endpoints. Returns 0 also when the kernel refuses: the benchmark
 * runs on without, and says so; only a backend that was asked for by name and is not to be had is
 * an error. */
int traced_begin(struct traced *tr, const struct bench_plan *plan, enum trace_backend backend,
		 struct err *e);
/* What cannot do without the ledger says so by this: -1 where nothing is traced. */
int traced_needed(const struct traced *tr, const char *option, struct err *e);
/* A point with the ledger on: p->ledger is a struct point_ledger, to be freed by
 * point_ledger_free(). */
int traced_run_point(struct traced *tr, const struct bench_plan *plan, enum test t, int64_t size,
		     struct point *p, struct err *e);
/* Run a finished, untraced point once more with the ledger on, and give the ledger to it: its
 * figures stay undisturbed. */
int traced_again(struct traced *tr, const struct bench_plan *plan, struct point *p, struct err *e);
/* Every endpoint of every point up to now: what a timeline needs beside its steps. */
int traced_whole(struct traced *tr, struct trace_snapshot *s, struct err *e);
void traced_end(struct traced *tr);

#endif
