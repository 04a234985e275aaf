// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/progress.h"
#include "remote/remote.h"
#include "stats/rng.h"
#include "render/ledger_point.h"

enum { WARMUP_NS = 15000000, SAMPLES_KEPT = 20000, PROGRESS_FROM_NS = 1000000000 };

/* Keeps only the size of these points. The file's other sizes, or the default ones, need not fit
 * the options. */
static void only_size(struct bench_options *o, int64_t size)
{
	if (!size)
		return;
	o->sizes.v[0] = size;
	o->sizes.n = 1;
}

int variant_plan(struct variant *v, const struct bench_options *options, int64_t size,
		 const char *sets, struct err *e)
{
	*v = (struct variant){ .o = *options };
	if (opt_own(bench_option_rows, &v->o))
		return err_resource(e, "diagnose: out of memory; free some and run again");
	only_size(&v->o, size);
	return (*sets && fix_apply(sets, &v->o, e)) || bench_plan(&v->o, &v->plan, e) ? -1 : 0;
}

int variant_open(struct variant *v, const struct bench_options *options, int64_t size,
		 const char *sets, struct err *e)
{
	if (variant_plan(v, options, size, sets, e))
		return -1;
	v->plan.warmup_ns = WARMUP_NS;
	if (bench_setup(&v->plan, &remote_far_end, e))
		return -1;
	v->ready = true;
	return 0;
}

static void variant_close(struct variant *v)
{
	if (v->ready)
		bench_teardown(&v->plan);
	v->ready = false;
	opt_free(bench_option_rows, &v->o);
}

/* A connect test has no message size. Its options may have other tests too, which keep their sizes.
 */
int64_t diagnosed_workload_size(const struct diagnosed_workload *p)
{
	return p->test == TEST_CONNECT ? 0 : p->size;
}

static void progress(struct diagnosis_run *x, const char *what)
{
	uint64_t gone = now_ns() - x->began_ns;
	double each = x->done ? (double)gone / (double)x->done : 0;

	x->done++;
	if (gone < PROGRESS_FROM_NS)
		return;
	if (x->planned < x->done)
		x->planned = x->done;
	progress_show(x->quiet, x->done, x->planned, what,
		      each * (double)(x->planned - x->done + 1) / 1e9);
}

static void keep_samples(struct diagnosed_workload *p, const struct point *pt)
{
	size_t room = SAMPLES_KEPT - p->n_samples, step;

	if (!p->samples)
		p->samples = calloc(SAMPLES_KEPT, sizeof(*p->samples));
	if (!p->samples || !pt->latency.present || !pt->n_samples || !room)
		return;
	step = pt->n_samples / (SAMPLES_KEPT / BASE_ROUNDS) + 1; /* evenly over the round */
	for (size_t i = 0; i < pt->n_samples && p->n_samples < SAMPLES_KEPT; i += step)
		p->samples[p->n_samples++] = (double)pt->samples[i];
}

/* Runs a variant once; tr: NULL for a run without the ledger. */
static int run_once(struct diagnosed_workload *p, struct variant *v, struct traced *tr, bool keep,
		    struct diag_round *out, struct err *e)
{
	struct point pt = {};
	int rc;

	if (tr ? traced_run_point(tr, &v->plan, p->test, p->size, &pt, e)
	       : bench_run_point(&v->plan, p->test, p->size, NULL, &pt, e))
		return -1;
	rc = observe_point(&pt, out);
	if (keep)
		keep_samples(p, &pt);
	point_ledger_free(pt.ledger);
	pt.ledger = NULL;
	point_free(&pt);
	return rc ? err_peer(e, "diagnose: a round in which no message arrived; give a longer "
				"--duration")
		  : 0;
}

int diagnose_once(struct diagnosis_run *x, struct diagnosed_workload *p, struct diag_round *out,
		  struct err *e)
{
	progress(x, "all sizes");
	return run_once(p, &p->v, NULL, false, out, e);
}

static int base_rounds(struct diagnosis_run *x, struct diagnosed_workload *p, struct traced *tr,
		       struct err *e)
{
	for (size_t i = 0; i < x->base_rounds && p->n_rounds < ROUNDS_ROOM; i++) {
		progress(x, tr ? "with the ledger" : "as it is");
		if (run_once(p, &p->v, tr, !tr, &p->rounds[p->n_rounds], e))
			return -1;
		p->n_rounds++;
	}
	return 0;
}

/* Runs the untraced rounds first: while the ledger's programs are loaded, none is undisturbed. */
static int measure_as_is(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e)
{
	struct traced tr = {};
	int rc;

	if (base_rounds(x, p, NULL, e))
		return -1;
	if (x->trace && p->test == TEST_CONNECT)
		snprintf(x->why_untraced, sizeof(x->why_untraced),
			 "the ledger does not cover --test connect");
	if (!x->trace || p->test == TEST_CONNECT)
		return 0;
	if (traced_begin(&tr, &p->v.plan, (enum trace_backend)x->backend, e))
		return -1;
	if (!x->trace_json)
		x->trace_json = traced_to_json(&tr);
	if (!tr.t)
		snprintf(x->why_untraced, sizeof(x->why_untraced), "%.511s", tr.failed.text);
	rc = tr.t ? base_rounds(x, p, &tr, e) : 0;
	traced_end(&tr);
	return rc;
}

/* Whether others used our CPUs too much, by the same limit as in a result's warnings. */
static void judge_noise(struct diagnosed_workload *p)
{
	double v[ROUNDS_ROOM];

	for (size_t i = 0; i < p->n_rounds; i++)
		v[i] = p->rounds[i].competing;
	p->competing = stats_median(v, p->n_rounds);
	p->disturbed = p->competing > noise_default_limits.share;
}

static void open_trials(struct diagnosis_run *x, struct diagnosed_workload *p)
{
	struct proposal list[FIXES_TRIED];

	p->n_trials = fixes_propose(&p->v.plan, &p->stalls, list);
	for (size_t i = 0; i < p->n_trials; i++) {
		struct trial *t = &p->trials[i];
		struct err e = {};

		*t = (struct trial){ .p = list[i], .wait_before = NAN, .wait_after = NAN };
		if (x->run_fixes &&
		    variant_open(&t->v, x->options, diagnosed_workload_size(p), list[i].sets, &e))
			snprintf(t->why_not, sizeof(t->why_not), "%.255s", e.text);
	}
}

/* The figure that is compared: time per message; for a loss, the messages sent for each that
 * arrives. */
static double figure(const struct diag_round *r, bool loss)
{
	if (!loss)
		return r->cost_ns;
	return r->sent / fmax(1, r->sent - r->lost);
}

struct pairs_of_runs {
	double before[FIXES_TRIED][ROUNDS_ROOM], again[FIXES_TRIED][ROUNDS_ROOM],
		after[FIXES_TRIED][ROUNDS_ROOM];
};

static bool is_loss(const struct diagnosed_workload *p, const struct trial *t)
{
	return p->stalls.v[t->p.finding].cause >= DIAG_LOSS_RCVBUF;
}

/* Runs one fix. A fix that cannot run here (a congestion control that is not allowed, say) is
 * dropped, and the others go on. */
static int run_fix(struct diagnosed_workload *p, struct trial *t, struct diag_round *out,
		   struct err *e)
{
	struct err own = {};

	if (run_once(p, &t->v, NULL, false, out, &own) == 0)
		return 0;
	if (own.code == EXIT_INTERRUPTED)
		return err_set(e, own.code, "%s", own.text);
	snprintf(t->why_not, sizeof(t->why_not), "%.255s", own.text);
	t->judged = false;
	variant_close(&t->v);
	return 0;
}

/* One round: the unchanged workload, every fix in random order, the unchanged workload again. */
static int one_round(struct diagnosis_run *x, struct diagnosed_workload *p, size_t k,
		     struct rng *rng, struct pairs_of_runs *m, struct err *e)
{
	struct diag_round first, last, with;
	size_t order[FIXES_TRIED];

	for (size_t i = 0; i < p->n_trials; i++)
		order[i] = i;
	rng_shuffle(rng, order, p->n_trials, sizeof(order[0]));
	progress(x, "as it is, between the fixes");
	if (run_once(p, &p->v, NULL, false, &first, e))
		return -1;
	for (size_t i = 0; i < p->n_trials; i++) {
		struct trial *t = &p->trials[order[i]];

		if (!t->v.ready)
			continue;
		progress(x, t->p.fix->name);
		if (run_fix(p, t, &with, e))
			return -1;
		m->after[order[i]][k] = t->v.ready ? figure(&with, is_loss(p, t)) : NAN;
	}
	progress(x, "as it is, between the fixes");
	if (run_once(p, &p->v, NULL, false, &last, e))
		return -1;
	for (size_t i = 0; i < p->n_trials; i++) {
		m->before[i][k] = figure(&first, is_loss(p, &p->trials[i]));
		m->again[i][k] = figure(&last, is_loss(p, &p->trials[i]));
	}
	return 0;
}

static size_t ready_trials(const struct diagnosed_workload *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_trials; i++)
		n += p->trials[i].v.ready;
	return n;
}

static void judge_trials(struct diagnosed_workload *p, const struct pairs_of_runs *m, size_t tested,
			 struct rng *rng)
{
	for (size_t i = 0; i < p->n_trials; i++) {
		struct trial *t = &p->trials[i];

		if (!t->v.ready)
			continue;
		diag_judge_gain(m->before[i], m->again[i], m->after[i], p->pairs, tested,
				&p->stalls.v[t->p.finding], rng, &t->gain);
		t->judged = true;
	}
}

/* Whether no fix is confirmed, but a noisy one could still be: then the rounds are run again. */
static bool undecided(const struct diagnosed_workload *p)
{
	bool noisy = false;

	for (size_t i = 0; i < p->n_trials; i++) {
		if (p->trials[i].judged && p->trials[i].gain.class == GAIN_CONFIRMED)
			return false;
		noisy |= p->trials[i].judged && p->trials[i].gain.class == GAIN_NOISY;
	}
	return noisy;
}

enum { LOOKS = 2 }; /* each counts in the correction of the level */

static int run_pairs(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e)
{
	size_t ready = ready_trials(p), n = x->pairs;
	struct pairs_of_runs *m = calloc(1, sizeof(*m));
	struct rng rng;
	int rc = m ? 0 : err_resource(e, "diagnose: out of memory; free some and run again");

	p->compared = ready;
	rng_seed(&rng, x->seed + 1);
	for (int look = 0;
	     rc == 0 && look < LOOKS && p->pairs + n <= ROUNDS_ROOM && (look == 0 || undecided(p));
	     look++) {
		x->planned += n * (ready + 2);
		for (size_t k = 0; rc == 0 && k < n; k++)
			rc = one_round(x, p, p->pairs + k, &rng, m, e);
		p->pairs += rc ? 0 : n;
		if (rc == 0)
			judge_trials(p, m, ready * LOOKS, &rng);
	}
	free(m);
	return rc;
}

/* Runs each confirmed fix once with the ledger, to see whether the wait itself is gone, or only the
 * figure is better. */
static int watch_fixes(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e)
{
	struct traced tr = {};
	int rc = 0;

	if (!x->trace || !p->stalls.traced ||
	    traced_begin(&tr, &p->v.plan, (enum trace_backend)x->backend, e))
		return err_is_set(e) ? -1 : 0;
	for (size_t i = 0; tr.t && rc == 0 && i < p->n_trials; i++) {
		struct trial *t = &p->trials[i];
		const struct diag_finding *f = &p->stalls.v[t->p.finding];
		struct diag_round r;

		if (!t->judged || t->gain.class != GAIN_CONFIRMED || f->cause >= TX_N)
			continue;
		progress(x, "a fix, with the ledger");
		rc = run_once(p, &t->v, &tr, false, &r, e);
		t->wait_before = f->ns_per_message;
		t->wait_after = rc ? NAN : r.wait[f->role][f->cause].share * r.each_ns;
	}
	traced_end(&tr);
	return rc;
}

static void decide(struct diagnosed_workload *p)
{
	struct diag_gain gains[FIXES_TRIED];
	size_t of[FIXES_TRIED], n = 0;

	for (size_t i = 0; i < p->n_trials; i++) {
		if (!p->trials[i].judged)
			continue;
		gains[n] = p->trials[i].gain;
		of[n++] = p->trials[i].p.finding;
	}
	p->outcome = diag_decide(&p->stalls, gains, of, n, p->disturbed, &p->culprit);
}

/* Sorts confirmed fixes first, and within a class the largest gain first. */
static int cmp_trial(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;
	int cx = x->judged ? (int)x->gain.class : 9, cy = y->judged ? (int)y->gain.class : 9;

	return COMPARE(cx, cy) ?: COMPARE(y->gain.ratio, x->gain.ratio);
}

int diagnose_from_stalls(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e)
{
	struct rng rng;

	rng_seed(&rng, x->seed);
	judge_noise(p);
	diag_find_stalls(p->rounds, p->n_rounds, &rng, &p->stalls);
	modes_find(p->samples, p->n_samples, &rng, &p->modes);
	open_trials(x, p);
	if (x->run_fixes && ready_trials(p) && (run_pairs(x, p, e) || watch_fixes(x, p, e)))
		return -1;
	qsort(p->trials, p->n_trials, sizeof(p->trials[0]), cmp_trial);
	decide(p);
	return 0;
}

int diagnose_workload(struct diagnosis_run *x, struct diagnosed_workload *p, struct err *e)
{
	if (!x->began_ns)
		x->began_ns = now_ns();
	x->planned += x->base_rounds * (x->trace ? 2 : 1);
	if (variant_open(&p->v, x->options, diagnosed_workload_size(p), "", e) ||
	    measure_as_is(x, p, e))
		return -1;
	return diagnose_from_stalls(x, p, e);
}

void diagnosed_workload_free(struct diagnosed_workload *p)
{
	for (size_t i = 0; i < p->n_trials; i++)
		variant_close(&p->trials[i].v);
	variant_close(&p->v);
	free(p->samples);
	p->samples = NULL;
}
