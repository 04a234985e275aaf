// SPDX-License-Identifier: GPL-2.0-only
/* One point: its ends are opened and connected, warmed up and measured. */
#include <math.h>
#include <string.h>

#include "bench/point_run.h"
#include "bench/shared_mem.h"

enum {
	RELIABLE_PIECE = 65000, /* approximate part of a message in one packet */
	WARMUP_MOST_NS = 2000000000,
	RELIABLE_LEAST = 100, /* messages, if some are dropped: fewer say nothing of the waits */
};

/* Time to wait for dropped packets: twice the average for all of them, and forty times the average
 * for the unluckiest packet. */
static uint64_t bench_repeats_ns(const struct run *r, const struct phase *p)
{
	double kept = 1 - r->wo.drop, each = (double)r->wo.rto_ns * r->wo.drop / kept, packets;

	if (!(r->w->flags & WL_RELIABLE))
		return 0;
	packets = (double)p->min_count * (double)(r->size / RELIABLE_PIECE + 1);
	return (uint64_t)(2 * packets * each + 40 * each);
}

/* Messages of a measured phase that no figure counts: those that fill and drain a window, and one
 * turn of the window, for which the phase may be too short. */
static double uncounted(const struct run *r)
{
	return r->plan->o.outstanding > 1 ? 3.0 * (double)r->plan->o.outstanding : 0;
}

/* When a phase's time is over, a slow link still has to carry the contents of the send buffer
 * (tcp_wmem: up to 4 MiB) and the phase's least number of messages. */
static uint64_t drain_ns(const struct run *r, const struct phase *p)
{
	const struct bench_plan *plan = r->plan;
	double buffered = plan->o.sndbuf > 2 << 20 ? 2.0 * (double)plan->o.sndbuf : 4 << 20;
	double rate =
		plan->has_link && plan->link_spec.rate ? (double)plan->link_spec.rate : INFINITY;

	if (plan->o.pacing)
		rate = fmin(rate, 8 * (double)plan->o.pacing);
	return (uint64_t)(8e9 *
			  (buffered + ((double)p->min_count + uncounted(r)) * (double)r->size) /
			  rate);
}

/* Time limit by the number of messages: each may take ten times as long as in the warm-up. A fixed
 * number, or a schedule that is too fast, does not depend on the duration. */
static uint64_t work_ns(const struct run *r, const struct phase *p, const struct point *pt)
{
	double scheduled = r->plan->o.rate * (double)p->duration_ns / 1e9,
	       n = fmax((double)p->min_count, scheduled) + uncounted(r);

	return pt->warmup ? (uint64_t)(10 * n * (double)pt->warmup_ns / (double)pt->warmup) : 0;
}

void phase_reset(struct shared *sh)
{
	sh->last = sh->total = UINT64_MAX;
	sh->done = sh->started = 0;
}

/* the time of a phase's least number of messages on their schedule */
static uint64_t scheduled_ns(const struct run *r, const struct phase *p)
{
	return r->plan->o.rate > 0 ? (uint64_t)fmin((double)p->min_count * 1e9 / r->plan->o.rate,
						    (double)PHASE_MOST_NS)
				   : 0;
}

static int order_and_count(struct point_run *b, const struct order_msg *o, uint64_t budget,
			   struct err *e)
{
	return point_run_order_both(b, o, budget, e) || counts_take(&b->run, ROLE_CLIENT, e) ||
			       counts_take(&b->run, ROLE_SERVER, e)
		       ? -1
		       : 0;
}

/* `more`: time beyond the phase's own duration and what its path needs */
static int run_phase(struct point_run *b, const struct phase *p, uint64_t more, struct err *e)
{
	struct order_msg o = { .order = ORDER_PHASE, .phase = *p };
	uint64_t longest = p->duration_ns + scheduled_ns(&b->run, p) +
			   bench_repeats_ns(&b->run, p) + drain_ns(&b->run, p) + more;

	o.phase.budget_ns = longest + (uint64_t)b->run.plan->o.timeout;
	phase_reset(b->run.sh);
	return order_and_count(b, &o, o.phase.budget_ns, e);
}

/* The most messages in one round of the warm-up: on a slow schedule a few take all its time. */
static uint64_t round_most(const struct run *r)
{
	double scheduled =
		r->plan->o.rate > 0 ? 1 + r->plan->o.rate * WARMUP_MOST_NS / 1e9 : INFINITY;

	return scheduled < (double)r->max_samples ? (uint64_t)scheduled : r->max_samples;
}

/* Warm-up goes on until both enough messages and enough time have passed: a connection's first
 * messages are not like the rest (slow start, quick-ACK mode), and a cold CPU is not like a warm
 * one. */
static int warm_up(struct point_run *b, struct point *pt, struct err *e)
{
	uint64_t t0 = now_ns(), most = (uint64_t)b->run.plan->o.warmup,
		 least_ns = b->run.plan->warmup_ns;
	uint64_t at_most = round_most(&b->run), count = most < 8 ? most : 8;
	bool least_time = most > 0;

	while (pt->warmup < most || (least_time && now_ns() - t0 < least_ns)) {
		struct phase p = { .min_count = count < at_most ? count : at_most };

		p.max_count = p.min_count;
		if (run_phase(b, &p, 0, e))
			return -1;
		pt->warmup += b->run.counted[ROLE_CLIENT].messages;
		if (now_ns() - t0 > WARMUP_MOST_NS)
			break;
		if (now_ns() - t0 < least_ns / 4 && count * 2 <= at_most)
			count *= 2;
	}
	pt->warmup_ns = now_ns() - t0;
	return 0;
}

/* The duration of a trial: from the phase's duration, or, if a number ends the phase, from the
 * duration that the warm-up predicts. */
static uint64_t slice_ns(const struct run *r, const struct phase *p, const struct point *pt)
{
	bool counted = r->plan->o.count || r->plan->o.bytes;
	double each = pt->warmup ? (double)pt->warmup_ns / (double)pt->warmup : 0;

	return (uint64_t)fmin(
		(counted && each > 0 ? each * (double)p->min_count : (double)p->duration_ns) /
			(double)r->plan->o.trials,
		(double)PHASE_MOST_NS);
}

static struct phase measured_phase(const struct run *r)
{
	const struct bench_options *o = &r->plan->o;
	struct phase p = { .record = true, .max_count = r->max_samples, .min_count = 1,
		.duration_ns = (uint64_t)o->duration };

	if (r->test == TEST_THROUGHPUT && o->ack == ACK_FINAL)
		p.max_count = UINT64_MAX;
	if (r->w->flags & WL_RELIABLE && o->drop > 0 && r->test == TEST_LATENCY)
		p.min_count = RELIABLE_LEAST;
	if (o->count)
		p.max_count = p.min_count = (uint64_t)o->count;
	if (o->bytes)
		p.max_count = p.min_count = ((uint64_t)o->bytes + r->size - 1) / r->size;
	if (p.min_count > 1 && p.max_count > r->max_samples &&
	    (r->test != TEST_THROUGHPUT || o->ack != ACK_FINAL))
		p.max_count = p.min_count = r->max_samples;
	return p;
}

static void watch(const struct point_run *b, struct noise_window *w)
{
	pid_t pids[ROLES] = { b->worker[ROLE_CLIENT].pid, b->worker[ROLE_SERVER].pid };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < ROLES; i++)
		if (b->run.plan->cpus[i] >= 0)
			CPU_SET(b->run.plan->cpus[i], &cpus);
	noise_begin(w, pids, ROLES, CPU_COUNT(&cpus) ? &cpus : NULL);
}

/* Two ends on one CPU preempt each other: their context switches are no sign of noise. */
static void judge(const struct point_run *b, const struct bench_hooks *h,
		  const struct noise_window *w, struct point *pt)
{
	struct noise_limits limits = noise_default_limits;
	char text[NOISE_WARNINGS][NOISE_TEXT];
	int n;

	limits.own_tracers = h ? h->own_tracers : 0;
	if (b->run.plan->placement == PLACE_SAME)
		limits.switches_per_s = INFINITY;
	noise_end(w, &pt->noise);
	n = noise_warnings(&pt->noise, &limits, text);
	for (int i = 0; i < n; i++)
		point_warn(pt, "%s", text[i]);
}

/* there was room for no more samples, and so the phase ended before its time */
static void warn_if_full(const struct run *r, const struct phase *p, struct point *pt)
{
	uint64_t n = r->counted[ROLE_CLIENT].messages, took = pt->ended_ns - pt->started_ns;
	bool wanted_more = r->plan->o.count   ? false
			   : r->plan->o.bytes ? n * r->size < (uint64_t)r->plan->o.bytes
					      : took < p->duration_ns;

	if (p->max_count == r->max_samples && n >= r->max_samples && wanted_more)
		point_warn(pt,
			   "the run ended early, after %llu messages (%.3g s): there was no room "
			   "for more samples",
			   (unsigned long long)n, (double)took / 1e9);
}

static int measure(struct point_run *b, const struct bench_hooks *h, struct point *pt,
		   struct err *e)
{
	struct phase p = measured_phase(&b->run);
	struct noise_window w;

	if (h && h->phase_begin && h->phase_begin(h->ctx, e))
		return -1;
	shared_mem_clear(&b->run);
	p.slice_ns = slice_ns(&b->run, &p, pt);
	watch(b, &w);
	pt->started_ns = now_ns();
	if (run_phase(b, &p, work_ns(&b->run, &p, pt), e))
		return -1;
	pt->ended_ns = now_ns();
	warn_if_full(&b->run, &p, pt);
	judge(b, h, &w, pt);
	return h && h->phase_end ? h->phase_end(h->ctx, e) : 0;
}

static uint64_t cpu_ns(const struct worker_usage *u)
{
	return (uint64_t)(u->user_us + u->system_us) * 1000;
}

static int extra_phase(void *point_run, uint64_t duration_ns, struct bench_slice *s, struct err *e)
{
	struct point_run *b = point_run;
	struct phase p = measured_phase(&b->run);
	const struct tally *t = b->run.counted;
	uint64_t t0 = now_ns();

	p.record = false; /* no figure: the cost of every message counts */
	p.min_count = 1;
	p.max_count = b->run.test == TEST_THROUGHPUT && b->run.plan->o.ack == ACK_FINAL
			      ? UINT64_MAX
			      : b->run.max_samples;
	p.duration_ns = duration_ns;
	if (run_phase(b, &p, 0, e))
		return -1;
	*s = (struct bench_slice){ t[ROLE_CLIENT].messages, now_ns() - t0,
				   cpu_ns(&t[ROLE_CLIENT].usage) + cpu_ns(&t[ROLE_SERVER].usage) };
	return 0;
}

static int connect_ends(struct point_run *b, struct err *e)
{
	struct order_msg o = { .order = ORDER_ACCEPT };

	if (point_run_order_one(b, ROLE_SERVER, ORDER_OPEN, e) ||
	    point_run_order_one(b, ROLE_CLIENT, ORDER_OPEN, e))
		return -1;
	return point_run_order_both(b, &o, (uint64_t)b->run.plan->o.timeout, e);
}

static int play(struct point_run *b, const struct bench_hooks *h, struct point *pt, struct err *e)
{
	struct order_msg facts = { .order = ORDER_FACTS };
	/* the stand-in for another host's end has nothing to trace but the control channel */
	pid_t pids[ROLES] = { b->worker[ROLE_CLIENT].pid,
			      b->run.plan->remote ? 0 : b->worker[ROLE_SERVER].pid };

	if (connect_ends(b, e))
		return -1;
	if (h && h->prepare && h->prepare(h->ctx, pids, e))
		return -1;
	if (warm_up(b, pt, e) || measure(b, h, pt, e) ||
	    order_and_count(b, &facts, (uint64_t)b->run.plan->o.timeout, e))
		return -1;
	if (h && h->finish && h->finish(h->ctx, pt, e))
		return -1;
	if (summarise_point(&b->run, pt, e))
		return -1;
	return h && h->extra ? h->extra(h->ctx, &(struct bench_extra){ b, extra_phase }, e) : 0;
}

static void describe(const struct run *r, struct point *p)
{
	p->mode = r->w->name;
	p->placement = placement_name(r->plan->placement);
	p->ack = r->test != TEST_THROUGHPUT	 ? NULL
		 : r->plan->o.ack == ACK_MESSAGE ? "message"
						 : "final";
	p->test = r->test;
	p->size = r->test == TEST_CONNECT ? 0 : (int64_t)r->size; /* a connect carries no message */
	p->nodelay = r->wo.nodelay && r->w->flags & WL_TCP;
	for (int i = 0; i < ROLES; i++)
		p->cpus[i] = r->plan->cpus[i];
}

int bench_run_as_planned(const struct bench_plan *plan, enum test t, int64_t size,
			 const struct bench_hooks *hooks, struct point *p, struct err *e)
{
	struct point_run b;
	int rc;

	memset(p, 0, sizeof(*p));
	point_run_init(&b, plan, t, size);
	describe(&b.run, p);
	rc = point_run_open(&b, e);
	if (rc == 0)
		rc = point_run_spawn(&b, ROLE_SERVER, e) || point_run_spawn(&b, ROLE_CLIENT, e);
	if (plan->w->open_pair) { /* ours would keep a dead worker's connection open */
		conn_close(&b.ends[0]);
		conn_close(&b.ends[1]);
	}
	if (rc == 0)
		rc = play(&b, hooks, p, e);
	point_run_end(&b, rc != 0);
	if (rc)
		point_free(p);
	return rc ? -1 : 0;
}
