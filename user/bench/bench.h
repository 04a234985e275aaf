/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The benchmark's engine. One point is one test of one workload at one size: two fresh processes,
 * warm-up, one measured phase. bench_run_point() can be called by any command with options it set
 * itself.
 */
#ifndef IPCSTALL_BENCH_BENCH_H
#define IPCSTALL_BENCH_BENCH_H

#include <signal.h>

#include "base/clock.h"
#include "host/link.h"
#include "base/opt.h"
#include "bench/point.h"
#include "workloads/workload.h"

enum placement { PLACE_AUTO, PLACE_SAME, PLACE_CROSS, PLACE_CROSS_AWAKE, PLACE_SPIN, PLACE_NONE };
enum ack { ACK_FINAL, ACK_MESSAGE };
enum pattern_kind { PATTERN_SINGLE, PATTERN_HEADER, PATTERN_TRAILER, PATTERN_CHUNKS };

struct pattern {
	enum pattern_kind kind;
	int64_t bytes; /* of the header, the trailer or each chunk */
};

/* Filled by the option rows; everything here is restated in the result. */
struct bench_options {
	int mode;
	bool v6;
	struct size_list sizes;
	char *tests, *pattern, *link, *cc;
	int ack, placement, engine;
	int64_t outstanding;
	bool nodelay, nagle, cork, quickack, more, tuned;
	int64_t sndbuf, rcvbuf, pipe_size, mss, delack_max, pacing, reader_pause;
	struct cpu_pair cpus;
	int64_t trials, warmup, duration, bytes, count, timeout, port, seed;
	double rate, drop;
	int64_t rto, window;
	int payload, transport, nagle_end; /* enum rpc_payload, rpc_transport, rpc_nagle_end */
	bool unoptimised;
	/* where output goes; not part of what was measured */
	char *json, *csv, *raw, *repeat, *timeline, *perfetto;
	char *connect; /* the host with the other end */
	char *key;     /* the file with the secret shared with that host */
	bool quiet, progress, mean, json_schema, ledger;
	int colour; /* enum colour_when */
	/* the ledger */
	bool trace, nist, ab;
	int backend;
	bool serving; /* this is the other end: set by no option */
};

#define RTO_NS		1000000000LL
#define BENCH_WARMUP_NS 50000000

extern const struct opt bench_option_rows[];
void bench_defaults(void *opts);

struct bench_plan;
struct run;

/* How a plan opens and closes its other end on another host. */
struct far_end_ops {
	/* Connect to plan->o.connect and agree on what is to be run; sets plan->remote. The plan is
	 * otherwise complete. */
	int (*open)(struct bench_plan *plan, struct err *e);
	void (*close)(struct bench_plan *plan);
	/* Replaces the server's worker, from fork to exit. */
	void (*worker)(struct run *r, int orders, int reports);
};

/* The options with all defaults resolved: what every point of the run shares. */
struct bench_plan {
	struct bench_options o; /* a view: strings and lists belong to the caller's options */
	const struct workload *w;
	struct pattern pattern;
	unsigned int tests;	  /* 1 << enum test */
	enum placement placement; /* never AUTO */
	int cpus[ROLES];	  /* -1: not pinned */
	struct link_spec link_spec;
	struct link link;
	bool has_link;
	uint64_t warmup_ns; /* least duration of the warm-up */
	struct tick_clock clock;
	struct remote *remote;		   /* the other host; NULL: both ends are here */
	const struct far_end_ops *far_end; /* the operations on `remote` */
};

/* One more phase over a point's connection; the point's figures contain nothing of it. */
struct bench_slice {
	uint64_t messages, elapsed_ns, cpu_ns; /* cpu: of both ends */
};
struct bench_extra {
	void *point_run;
	int (*run)(void *point_run, uint64_t duration_ns, struct bench_slice *s, struct err *e);
};

/* The callbacks of a tracer; every member may be NULL. If prepare fails, the point fails. */
struct bench_hooks {
	void *ctx;
	int own_tracers; /* BPF programs it loads: no other tool's */
	int (*prepare)(void *ctx, const pid_t pids[ROLES],
		       struct err *e);		      /* the ends are connected, nothing was sent */
	int (*phase_begin)(void *ctx, struct err *e); /* warm-up is over */
	int (*phase_end)(void *ctx, struct err *e);   /* both ends are quiet */
	int (*finish)(void *ctx, struct point *p, struct err *e); /* the ends are about to close */
	int (*extra)(void *ctx, const struct bench_extra *x,
		     struct err *e); /* the point is summed up; its connection still stands */
};

const char *placement_name(enum placement p);

/* 0, or -1 with the reason why these options cannot work together. */
int bench_plan(const struct bench_options *o, struct bench_plan *plan, struct err *e);
int bench_plan_check_point(const struct bench_plan *plan, enum test t, int64_t size, struct err *e);
/* Make the link, or connect to the other host with far_end, if the plan has either.
 * bench_teardown() undoes this. far_end may be NULL if the options name no other host. */
int bench_setup(struct bench_plan *plan, const struct far_end_ops *far_end, struct err *e);
void bench_teardown(struct bench_plan *plan);

/* hooks may be NULL. On success *p is the caller's, to be freed by point_free(). */
int bench_run_point(const struct bench_plan *plan, enum test t, int64_t size,
		    const struct bench_hooks *hooks, struct point *p, struct err *e);

/* Refuse options that were given but would have no effect, which their values alone do not show. */
int bench_check_given(const struct bench_options *o, const struct opt_operands *given,
		      struct err *e);
/* unused_options.c: bench_uses() returns what a plan's tests use, as a mask; the caller ORs the
 * masks of all plans of the run. The checks refuse one option, or any given one, without a use. */
unsigned int bench_uses(const struct bench_plan *plan);
int unused_options_check(unsigned int uses, const char *name, struct err *e);
int unused_options_check_all(unsigned int uses, const struct opt_operands *given, struct err *e);

/* Rough time a point takes, for the progress line. */
uint64_t bench_point_ns(const struct bench_plan *plan);
bool bench_nodelay(const struct bench_plan *plan, enum test t);

/* After this, SIGINT and SIGTERM end the current point with EXIT_INTERRUPTED instead of the
 * process. */
void bench_catch_signals(void);
extern volatile sig_atomic_t bench_interrupted;

int pattern_parse(const char *text, struct pattern *p, struct err *e);

#endif
