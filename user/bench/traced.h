/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces a benchmark: hooks of a run that keep one tracing session over all its points. */
#ifndef IPCSTALL_BENCH_TRACED_H
#define IPCSTALL_BENCH_TRACED_H

#include "bench/ab.h"
#include "bench/bench.h"
#include "verdict/timeline.h"
#include "verdict/verdict.h"

/* What the tracer found in one point's measured phase: the ledger of a struct point. */
struct point_ledger {
	struct trace_snapshot phase;
	struct verdict verdict;
	pid_t pids[ROLES];
	double stall_per_message_ns; /* NAN when no message was counted */
	double normalised_stall;     /* worst sender's stall time over the phase's length */
	/* If the point's own figures were measured untraced: the same figure with tracing on, and
	 * the cost of tracing. */
	double traced_headline, cost_ratio; /* NAN: the point's figures are the traced ones */
	struct ab_result ab;
};

void point_ledger_free(struct point_ledger *l);
/* The end of the benchmark that sends through this endpoint. */
enum role point_ledger_sender(const struct point_ledger *l, const struct trace_endpoint *ep);

struct traced {
	struct trace *t;	       /* NULL: nothing is traced, and `failed` says why not */
	struct trace *beside;	       /* --ab: a session that traces no worker */
	const struct bench_plan *plan; /* of the current point */
	struct err failed;
	int n_programs; /* BPF programs that we loaded: no other tool's */
	struct trace_packed begin;
	struct point_ledger *current;
	struct timeline timeline; /* of all points; only if an option asks for it */
};

/* Try to trace the plan's kind of endpoints. If the kernel refuses, the benchmark runs untraced and
 * says so, and this returns 0. It fails only if the backend was chosen by name. */
int traced_begin(struct traced *tr, const struct bench_plan *plan, enum trace_backend backend,
		 struct err *e);
/* For an option that needs the ledger: -1 with the reason if nothing is traced. */
int traced_needed(const struct traced *tr, const char *option, struct err *e);
/* Run a point with the ledger on: p->ledger is a struct point_ledger, to be freed by
 * point_ledger_free(). */
int traced_run_point(struct traced *tr, const struct bench_plan *plan, enum test t, int64_t size,
		     struct point *p, struct err *e);
/* Run a finished, untraced point once more with the ledger on, and attach the ledger to it. Its
 * figures stay those of the untraced run. */
int traced_again(struct traced *tr, const struct bench_plan *plan, struct point *p, struct err *e);
/* A snapshot of every endpoint of every point so far; a timeline needs it beside its steps. */
int traced_whole(struct traced *tr, struct trace_snapshot *s, struct err *e);
void traced_end(struct traced *tr);

#endif
