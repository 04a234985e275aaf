// SPDX-License-Identifier: GPL-2.0-only
#include "try/live_trial.h"

#include <math.h>

const char *const trial_outcome_names[TRIAL_OUTCOMES] = { "proven", "refuted", "too-noisy",
	"not-run" };

/* A stall that is cured falls to less than half; a buffer that only takes more in shows by what has
 * not arrived. */
#define CURED	   2
#define BUFFERED   1.02
#define NOT_SLOWER 0.95

struct window window_between(const struct mark *a, const struct mark *b)
{
	return (struct window){
		.from_ns = a->at_ns,
		.to_ns = b->at_ns,
		.messages = b->messages - a->messages,
		.bytes = b->bytes - a->bytes,
		.delivered = b->delivered - a->delivered,
		.stall_ns = b->stall_ns - a->stall_ns,
		.cause_ns = b->cause_ns - a->cause_ns,
		.time_ns = b->time_ns - a->time_ns,
	};
}

static double length(const struct window *w)
{
	return (double)(w->to_ns - w->from_ns);
}

/* Where nothing arrived, half of one byte did at the most. */
static double arrived(const struct window *w)
{
	return w->delivered ? (double)w->delivered : 0.5;
}

static double time_per_byte(const struct window *w)
{
	return length(w) / arrived(w);
}

/* A microsecond more: none at all is no ratio. */
static double stall_per_byte(const struct window *w)
{
	return ((double)w->stall_ns + 1000) / arrived(w);
}

static double messages_per_s(const struct window *w)
{
	return (double)w->messages * 1e9 / length(w);
}

static double bytes_per_s(const struct window *w)
{
	return (double)w->delivered * 1e9 / length(w);
}

static double stall_share(const struct window *w)
{
	return w->time_ns ? (double)w->stall_ns / (double)w->time_ns : NAN;
}

static double cause_share(const struct window *w)
{
	return w->time_ns ? (double)w->cause_ns / (double)w->time_ns : 0;
}

static size_t gather(const struct live_trial *t, int first, int last,
		     double (*of)(const struct window *), double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		for (int k = first; k <= last; k++)
			v[n++] = of(&t->rounds[i].w[k]);
	return n;
}

static double median(const struct live_trial *t, bool fixed, double (*of)(const struct window *))
{
	double v[2 * TRIAL_ROUNDS_MAX];

	return stats_median(v, gather(t, fixed ? 2 : 0, fixed ? 2 : 1, of, v));
}

static void judge_by(const struct live_trial *t, double (*cost)(const struct window *),
		     const struct diag_finding *f, size_t tested, struct rng *rng,
		     struct diag_gain *out)
{
	double before[TRIAL_ROUNDS_MAX], again[TRIAL_ROUNDS_MAX], after[TRIAL_ROUNDS_MAX];

	gather(t, 0, 0, cost, before);
	gather(t, 1, 1, cost, again);
	gather(t, 2, 2, cost, after);
	diag_judge_gain(before, again, after, t->n, tested, f, rng, out);
}

/* What the cure of this cause would gain at the least, were there nothing else to wait for. */
static struct diag_finding promise_of(const struct live_trial *t, struct rng *rng)
{
	struct diag_finding f = { .class = WAIT_CLEAR };
	double v[2 * TRIAL_ROUNDS_MAX];
	size_t n = gather(t, 0, 1, cause_share, v);

	stats_sort_f64(v, n);
	f.lost = stats_median_interval(v, n, DIAG_LEVEL, rng);
	return f;
}

static bool only_buffered(const struct live_trial *t)
{
	double sent = 0, came = 0;

	for (size_t i = 0; i < t->n; i++) {
		sent += (double)t->rounds[i].w[2].bytes;
		came += arrived(&t->rounds[i].w[2]);
	}
	return sent > BUFFERED * came;
}

static bool cured_at_its_pace(const struct live_trial *t)
{
	return t->stall.class == GAIN_CONFIRMED && t->stall.ci.lo > CURED &&
	       t->rate.ci.hi > NOT_SLOWER && !only_buffered(t);
}

void trial_judge(struct live_trial *t, size_t tested, struct rng *rng)
{
	static const enum trial_outcome outcomes[] = {
		[GAIN_CONFIRMED] = TRIAL_PROVEN, [GAIN_REFUTED] = TRIAL_REFUTED,
			[GAIN_NOISY] = TRIAL_NOISY
	};
	struct diag_finding promise = promise_of(t, rng);

	judge_by(t, time_per_byte, &promise, tested, rng, &t->rate);
	judge_by(t, stall_per_byte, &promise, tested, rng, &t->stall);
	for (int fixed = 0; fixed < 2; fixed++) {
		t->per_s[fixed] = t->messages_known ? median(t, fixed, messages_per_s) : NAN;
		t->bytes_per_s[fixed] = median(t, fixed, bytes_per_s);
		t->stall_share[fixed] = median(t, fixed, stall_share);
	}
	t->outcome = outcomes[t->rate.class];
	t->by_stall = t->outcome != TRIAL_PROVEN && cured_at_its_pace(t);
	if (t->by_stall)
		t->outcome = TRIAL_PROVEN;
}
