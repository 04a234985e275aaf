// SPDX-License-Identifier: GPL-2.0-only
#include "bench/traced.h"
#include "base/array.h"
#include "bench/tune.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

void point_ledger_free(struct point_ledger *l)
{
	if (!l)
		return;
	trace_snapshot_free(&l->phase);
	free(l);
}

/* A pipe has one ledger for both ends: the writer decides. */
enum role point_ledger_sender(const struct point_ledger *l, const struct trace_endpoint *ep)
{
	pid_t tx = ep->tx_calls.tgid, who = tx ? tx : ep->rx_calls.tgid;

	if (ep->proto == TRACE_PIPE)
		return tx && tx == l->pids[ROLE_SERVER] ? ROLE_SERVER : ROLE_CLIENT;
	return who == l->pids[ROLE_CLIENT] ? ROLE_CLIENT : ROLE_SERVER;
}

static unsigned int protos_of(const struct workload *w)
{
	if (w->flags & WL_PIPE)
		return 1u << TRACE_PIPE;
	if (w->flags & WL_TCP)
		return 1u << TRACE_TCP;
	if (w->flags & WL_INET)
		return 1u << TRACE_UDP;
	return 1u << TRACE_UNIX_STREAM | 1u << TRACE_UNIX_DGRAM | 1u << TRACE_UNIX_SEQPACKET;
}

enum { STEPS_KEPT = 1000000 };

static bool wants_timeline(const struct bench_plan *plan)
{
	return plan->o.timeline || plan->o.perfetto;
}

static void on_transition(void *ctx, const struct trace_transition *tr)
{
	struct traced *t = ctx;

	timeline_add(&t->timeline, tr);
}

/* The workers' pids become known one point at a time, so the filter starts with this process, which
 * sends nothing. */
static struct trace *prepare(struct traced *tr, const struct bench_plan *plan,
			     enum trace_backend backend, struct err *e)
{
	struct trace_options o = { .backend = backend, .filter = TRACE_FILTER_TREE,
		.protos = protos_of(plan->w), .n_tgids = 1 };

	o.tgids[0] = getpid();
	if (wants_timeline(plan)) {
		o.timeline = TRACE_TIMELINE_ALL;
		o.on_transition = on_transition;
		o.ctx = tr;
		tr->timeline.max = STEPS_KEPT;
	}
	return trace_prepare(&o, e);
}

static bool begin(struct traced *tr, const struct bench_plan *plan, enum trace_backend backend,
		  struct err *e)
{
	struct trace_hook hooks[128];

	tr->t = prepare(tr, plan, backend, e);
	if (tr->t && plan->o.ab)
		tr->beside = prepare(tr, plan, backend, e);
	if (!tr->t || (plan->o.ab && !tr->beside))
		return false;
	/* --ab attaches after the fork of the workers: they would inherit the links, and keep them
	 * when they must be gone */
	if (!tr->beside && trace_start(tr->t, e))
		return false;
	tr->n_programs = (int)trace_hooks(tr->t, hooks, 128) +
			 2; /* the settling and counting programs hook nothing */
	if (tr->beside)
		tr->n_programs *= 2;
	return true;
}

int traced_begin(struct traced *tr, const struct bench_plan *plan, enum trace_backend backend,
		 struct err *e)
{
	struct err failed = {};

	*tr = (struct traced){ .plan = plan };
	if (begin(tr, plan, backend, &failed))
		return 0;
	traced_end(tr);
	if (backend != TRACE_AUTO)
		return err_set(e, failed.code, "%s", failed.text);
	tr->failed = failed;
	return 0;
}

int traced_needed(const struct traced *tr, const char *option, struct err *e)
{
	return tr->t ? 0
		     : err_set(e, tr->failed.code, "--%s: nothing could be traced: %s", option,
			       tr->failed.text);
}

static int on_prepare(void *ctx, const pid_t pids[ROLES], struct err *e)
{
	struct traced *tr = ctx;

	if (tr->beside && trace_start(tr->t, e))
		return -1;
	tr->current = calloc(1, sizeof(*tr->current));
	if (!tr->current)
		return err_resource(e, "ledger: out of memory; free some, or run with --no-trace");
	tr->current->traced_headline = tr->current->cost_ratio = NAN;
	for (int r = 0; r < ROLES; r++) {
		tr->current->pids[r] = pids[r];
		if (pids[r] > 0 && trace_follow(tr->t, pids[r], e))
			return -1;
	}
	return 0;
}

static int no_memory(struct err *e)
{
	return err_resource(e, "ledger: out of memory; free some, or run with --no-trace");
}

static int on_phase_begin(void *ctx, struct err *e)
{
	struct traced *tr = ctx;
	struct trace_snapshot now;
	int rc;

	trace_packed_free(&tr->begin);
	if (trace_snapshot(tr->t, &now, e))
		return -1;
	rc = trace_pack(&tr->begin, &now);
	trace_snapshot_free(&now);
	return rc ? no_memory(e) : 0;
}

static int on_phase_end(void *ctx, struct err *e)
{
	struct traced *tr = ctx;
	struct trace_snapshot *phase = &tr->current->phase;

	if (trace_snapshot(tr->t, phase, e))
		return -1;
	if (trace_subtract(phase, &tr->begin) == 0)
		return 0;
	trace_snapshot_free(phase);
	return no_memory(e);
}

enum { AB_SLICES_A_POINT = 5 };

/* The ledgers have been read by now: none contains the slices. */
static int on_extra(void *ctx, const struct bench_extra *x, struct err *e)
{
	struct traced *tr = ctx;
	const struct bench_options *o = &tr->plan->o;

	trace_stop(tr->t);
	return ab_run(tr->t, tr->beside, x, (uint64_t)o->duration / AB_SLICES_A_POINT,
		      (uint64_t)o->seed, &tr->current->ab, e);
}

static bool is_worker(const struct point_ledger *l, pid_t tgid)
{
	return tgid > 0 && (tgid == l->pids[ROLE_CLIENT] || tgid == l->pids[ROLE_SERVER]);
}

/* Keep the endpoints of this point's workers only: those of earlier points are closed, and control
 * pipes moved no message. */
static void keep_own(struct point_ledger *l)
{
	size_t n = 0, *at = array_new(l->phase.n, 1, sizeof(*at));

	for (size_t i = 0; at && i < l->phase.n; i++) {
		struct trace_endpoint *ep = &l->phase.ep[i];

		at[i] = SIZE_MAX;
		if (!is_worker(l, ep->tx_calls.tgid) && !is_worker(l, ep->rx_calls.tgid))
			continue;
		at[i] = n;
		l->phase.ep[n++] = *ep;
	}
	for (size_t i = 0; at && i < n; i++) {
		int peer = l->phase.ep[i].peer;

		l->phase.ep[i].peer = peer < 0 || (size_t)peer >= l->phase.n || at[peer] == SIZE_MAX
					      ? -1
					      : (int)at[peer];
	}
	if (at)
		l->phase.n = n;
	free(at);
}

/* The ledger contains the messages that fill and drain a window, but the figures' time does not. */
static double ledger_ns(const struct point_ledger *l, const struct bench_plan *plan,
			const struct point *p)
{
	uint64_t longest = p->elapsed_ns;

	for (size_t i = 0; i < l->phase.n && plan->o.outstanding > 1; i++)
		if (l->phase.ep[i].tx.lifetime_ns > longest)
			longest = l->phase.ep[i].tx.lifetime_ns;
	return (double)longest;
}

static void relate_to_messages(struct point_ledger *l, const struct bench_plan *plan,
			       const struct point *p)
{
	double whole = ledger_ns(l, plan, p), worst = 0;

	for (size_t i = 0; i < l->phase.n; i++)
		worst = fmax(worst, (double)ledger_stall_ns(&l->phase.ep[i].tx));
	l->stall_per_message_ns = p->messages ? (double)l->verdict.stall_ns *
							((double)p->elapsed_ns / whole) /
							(double)p->messages
					      : NAN;
	l->normalised_stall = p->elapsed_ns ? worst / whole : NAN;
}

static void settle(struct traced *tr, struct point *p)
{
	struct point_ledger *l = tr->current;

	keep_own(l);
	verdict_make(&l->phase, &l->verdict);
	relate_to_messages(l, tr->plan, p);
	p->ledger = l;
	tr->current = NULL;
	if (!wants_timeline(tr->plan))
		trace_forget_closed(tr->t);
}

int traced_run_point(struct traced *tr, const struct bench_plan *plan, enum test t, int64_t size,
		     struct point *p, struct err *e)
{
	struct bench_hooks hooks = {
		.ctx = tr,
		.own_tracers = tr->n_programs,
		.prepare = on_prepare,
		.phase_begin = on_phase_begin,
		.phase_end = on_phase_end,
		.extra = tr->beside ? on_extra : NULL,
	};

	tr->plan = plan;
	if (bench_run_point(plan, t, size, &hooks, p, e)) {
		point_ledger_free(tr->current);
		tr->current = NULL;
		return -1;
	}
	settle(tr, p);
	return 0;
}

/* The figure by which a test is judged: half a round trip, or bytes a second. */
static double headline(const struct point *p)
{
	return p->throughput.present ? p->throughput.bytes_per_s
	       : p->latency.present  ? p->latency.s.median
				     : NAN;
}

int traced_again(struct traced *tr, const struct bench_plan *plan, struct point *p, struct err *e)
{
	struct bench_plan same = *plan; /* traced with the knobs found for the figures */
	struct point again = {};
	struct point_ledger *l;

	if (p->tuned.present)
		knobs_apply(&p->tuned.chosen, &same.o);
	if (traced_run_point(tr, &same, p->test, p->size ? p->size : 1, &again, e))
		return -1;
	l = again.ledger;
	l->traced_headline = headline(&again);
	l->cost_ratio = p->throughput.present ? headline(p) / headline(&again)
					      : headline(&again) / headline(p);
	p->ledger = l;
	again.ledger = NULL;
	point_free(&again);
	return 0;
}

int traced_whole(struct traced *tr, struct trace_snapshot *s, struct err *e)
{
	if (trace_snapshot(tr->t, s, e))
		return -1;
	trace_stop(tr->t);
	return 0;
}

void traced_end(struct traced *tr)
{
	timeline_free(&tr->timeline);
	trace_packed_free(&tr->begin);
	point_ledger_free(tr->current);
	tr->current = NULL;
	trace_finish(tr->beside);
	trace_finish(tr->t);
	tr->t = tr->beside = NULL;
}
