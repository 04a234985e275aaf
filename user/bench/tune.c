// SPDX-License-Identifier: GPL-2.0-only
/* --tuned: short trials of the point itself find which buffers and which congestion control serve
 * it best, one knob after the other. The best must then win against the kernel's own choice, in
 * alternating trials. Finally the point is measured afresh, so that no trial's luck is in its
 * figure. Options that the user set are left alone. The gain is largest where TCP is paced (bbr),
 * which loopback does not need, and where a buffer is too small to keep both a writer and a reader
 * awake on two CPUs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bench/run.h"
#include "bench/tune.h"
#include "bench/rpc_overhead.h"

enum {
	TRIAL_NS = 60000000,
	/* bbr's loss on a path that it misjudges shows only after a while */
	PAIR_NS = 200000000,
	/* the median counts: a choice that is fast in some trials only, as bbr on loopback, is not
	 * fast */
	TRIAL_ROUNDS = 3,
	PAIRS = 5, /* of trials with and without the best knobs */
	/* question and answer: the buffers do not matter to smaller messages */
	BUFFERS_FROM = 16 << 10,
};

/* A gain below this is noise, and the kernel's own choice is kept. */
#define GAIN_LEAST 1.03

static const struct knobs none; /* the kernel's own choice */
static const int64_t socket_buffers[] = { 128 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20, 0 };
static const int64_t pipe_sizes[] = { 128 << 10, 256 << 10, 1 << 20, 0 };
static const char *const controls[] = { "cubic", "reno", NULL };

struct search {
	const struct bench_plan *plan;
	enum test test;
	int64_t size;
	struct tuned *found;
	double best;
};

void knobs_apply(const struct knobs *k, struct bench_options *o)
{
	o->tuned = false;
	if (k->cc)
		o->cc = (char *)k->cc;
	if (k->sndbuf)
		o->sndbuf = k->sndbuf;
	if (k->rcvbuf)
		o->rcvbuf = k->rcvbuf;
	if (k->pipe_size)
		o->pipe_size = k->pipe_size;
}

static double score_of(const struct point *p)
{
	if (p->test == TEST_THROUGHPUT)
		return p->throughput.present ? p->throughput.bytes_per_s : NAN;
	return p->latency.present ? p->latency.s.median : NAN;
}

static bool better(enum test t, double a, double than, double by)
{
	return t == TEST_THROUGHPUT ? a > than * by : a * by < than;
}

/* NAN: these knobs cannot be set here (a congestion control for the privileged, pipes beyond the
 * limit). */
static double try_once(const struct search *s, const struct bench_plan *trial, struct err *e)
{
	struct point p;
	double score;

	if (bench_run_as_planned(trial, s->test, s->size, NULL, &p, e))
		return NAN;
	score = score_of(&p);
	point_free(&p);
	return score;
}

static struct bench_plan trial_of(const struct search *s, const struct knobs *k, int64_t duration)
{
	struct bench_plan trial = *s->plan;

	knobs_apply(k, &trial.o);
	trial.o.duration = duration;
	trial.o.count = trial.o.bytes = 0;
	return trial;
}

/* ascending; what could not be measured comes last */
static int by_score(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return COMPARE(x, y);
}

static double middle(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_score);
	return v[n / 2];
}

static double try_knobs(const struct search *s, const struct knobs *k, struct err *e)
{
	struct bench_plan trial = trial_of(s, k, TRIAL_NS);
	double score[TRIAL_ROUNDS];

	for (int i = 0; i < TRIAL_ROUNDS; i++) {
		score[i] = try_once(s, &trial, e);
		if (err_is_set(e))
			return NAN;
	}
	return middle(score, TRIAL_ROUNDS);
}

/* A further knob must be worth it. For the first knob confirm() decides: its pairs see more. */
static double gain_needed(const struct tuned *t)
{
	return memcmp(&t->chosen, &none, sizeof(none)) ? GAIN_LEAST : 1;
}

/* -1: interrupted. A candidate that cannot be set is no error. */
static int consider(struct search *s, const struct knobs *k, struct err *e)
{
	struct err why = {};
	double score = try_knobs(s, k, &why);

	if (bench_interrupted) {
		*e = why;
		return -1;
	}
	if (s->found->n_tried < TUNED_TRIED)
		s->found->tried[s->found->n_tried++] = (struct tried){ *k, score };
	if (better(s->test, score, s->best, gain_needed(s->found))) {
		s->best = score;
		s->found->chosen = *k;
	}
	return 0;
}

/* Is `name` listed in this file? Asking the kernel for a congestion control that is not listed
 * would load a module. */
static bool control_available(const char *name)
{
	char line[256], *rest = line, *word;
	FILE *f = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");
	bool found = false;

	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		while (!found && (word = strsep(&rest, " \n")))
			found = !strcmp(word, name);
	fclose(f);
	return found;
}

static int search_control(struct search *s, struct err *e)
{
	if (!(s->plan->w->flags & WL_TCP) || s->plan->o.cc)
		return 0;
	for (int i = 0; controls[i]; i++) {
		struct knobs k = s->found->chosen;

		k.cc = controls[i];
		if (control_available(k.cc) && consider(s, &k, e))
			return -1;
	}
	return 0;
}

static int search_buffers(struct search *s, struct err *e)
{
	struct knobs from = s->found->chosen;

	if (!(s->plan->w->flags & WL_SOCKET) || s->plan->o.sndbuf || s->plan->o.rcvbuf)
		return 0;
	for (int i = 0; socket_buffers[i]; i++) {
		struct knobs k = from;

		k.sndbuf = k.rcvbuf = socket_buffers[i];
		if (consider(s, &k, e))
			return -1;
	}
	return 0;
}

static int search_pipe(struct search *s, struct err *e)
{
	if (!(s->plan->w->flags & WL_PIPE) || s->plan->o.pipe_size)
		return 0;
	for (int i = 0; pipe_sizes[i]; i++) {
		struct knobs k = { .pipe_size = pipe_sizes[i] };

		if (consider(s, &k, e))
			return -1;
	}
	return 0;
}

/* The luckiest of many candidates looks best. It must win against the kernel's own choice, in
 * alternating trials: in most pairs, and by the medians. */
static int confirm(struct search *s, struct err *e)
{
	struct bench_plan with = trial_of(s, &s->found->chosen, PAIR_NS),
			  without = trial_of(s, &none, PAIR_NS);
	double before[PAIRS] = {}, after[PAIRS] = {};
	int won = 0;

	if (!memcmp(&s->found->chosen, &none, sizeof(none)))
		return 0;
	for (int i = 0; i < PAIRS && !err_is_set(e); i++) {
		before[i] = try_once(s, &without, e);
		after[i] = try_once(s, &with, e);
		won += better(s->test, after[i], before[i], GAIN_LEAST);
	}
	if (won <= PAIRS / 2 ||
	    !better(s->test, middle(after, PAIRS), middle(before, PAIRS), GAIN_LEAST))
		s->found->chosen = none;
	return err_is_set(e) ? -1 : 0;
}

static int tune(struct search *s, struct err *e)
{
	s->found->present = true;
	s->best = try_knobs(s, &none, e);
	if (err_is_set(e)) /* the point cannot be run at all */
		return -1;
	s->found->tried[s->found->n_tried++] = (struct tried){ none, s->best };
	if (search_control(s, e))
		return -1;
	if ((s->test == TEST_THROUGHPUT || s->size >= BUFFERS_FROM) &&
	    (search_buffers(s, e) || search_pipe(s, e)))
		return -1;
	return confirm(s, e);
}

static int run_tuned(const struct bench_plan *plan, enum test t, int64_t size,
		     const struct bench_hooks *hooks, struct point *p, struct err *e)
{
	struct tuned found = {};
	struct search s = { plan, t, size, &found, NAN };
	struct bench_plan tuned = *plan;

	memset(p, 0, sizeof(*p));
	if (tune(&s, e))
		return -1;
	knobs_apply(&found.chosen, &tuned.o);
	if (bench_run_as_planned(&tuned, t, size, hooks, p, e))
		return -1;
	p->tuned = found;
	return 0;
}

int bench_run_point(const struct bench_plan *plan, enum test t, int64_t size,
		    const struct bench_hooks *hooks, struct point *p, struct err *e)
{
	int rc = plan->o.tuned && t != TEST_CONNECT
			 ? run_tuned(plan, t, size, hooks, p, e)
			 : bench_run_as_planned(plan, t, size, hooks, p, e);

	return rc || hooks ? rc : rpc_overhead_measure(plan, t, size, p, e);
}

uint64_t bench_tuning_ns(const struct bench_plan *plan)
{
	uint64_t trials = plan->w->flags & WL_TCP ? 8 : plan->w->flags & WL_PIPE ? 4 : 6;

	return plan->o.tuned ? (trials * TRIAL_ROUNDS * TRIAL_NS + 2 * PAIRS * PAIR_NS) * 2ULL : 0;
}
