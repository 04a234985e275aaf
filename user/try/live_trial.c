// SPDX-License-Identifier: GPL-2.0-only
#include "try/live_trial.h"

#include <math.h>

const char *const trial_outcome_names[TRIAL_OUTCOMES] = { "proven", "refuted", "too-noisy",
	"not-run" };

/* CURED: a cured stall falls to less than half. BUFFERED: if more than this is sent per byte that
 * arrives, a larger buffer only took in more. */
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
		.written = b->written - a->written,
	};
}

static double length(const struct window *w)
{
	return (double)(w->to_ns - w->from_ns);
}

/* If nothing arrived, half a byte is taken as the most that did. */
static double arrived(const struct window *w)
{
	return w->delivered ? (double)w->delivered : 0.5;
}

static double time_per_byte(const struct window *w)
{
	return length(w) / arrived(w);
}

/* A microsecond is added, so that a stall of 0 gives a ratio. */
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

struct rounds {
	const struct trial_round *v;
	size_t n;
};

static struct rounds watched(const struct live_trial *t)
{
	return (struct rounds){ t->rounds, t->n };
}

static struct rounds unwatched(const struct live_trial *t)
{
	return (struct rounds){ t->unwatched, t->n_unwatched };
}

static size_t gather(struct rounds r, int first, int last, double (*of)(const struct window *),
		     double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < r.n; i++)
		for (int k = first; k <= last; k++)
			v[n++] = of(&r.v[i].w[k]);
	return n;
}

static double median(struct rounds r, bool fixed, double (*of)(const struct window *))
{
	double v[2 * TRIAL_ROUNDS_MAX];

	return stats_median(v, gather(r, fixed ? 2 : 0, fixed ? 2 : 1, of, v));
}

static void judge_by(struct rounds r, double (*cost)(const struct window *),
		     const struct diag_finding *f, size_t tested, struct rng *rng,
		     struct diag_gain *out)
{
	double before[TRIAL_ROUNDS_MAX], again[TRIAL_ROUNDS_MAX], after[TRIAL_ROUNDS_MAX];

	gather(r, 0, 0, cost, before);
	gather(r, 1, 1, cost, again);
	gather(r, 2, 2, cost, after);
	diag_judge_gain(before, again, after, r.n, tested, f, rng, out);
}

/* The least gain that curing this cause would bring, if there is nothing else to wait for. */
static struct diag_finding promise_of(const struct live_trial *t, struct rng *rng)
{
	struct diag_finding f = { .class = WAIT_CLEAR };
	double v[2 * TRIAL_ROUNDS_MAX];
	size_t n = gather(watched(t), 0, 1, cause_share, v);

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

static const enum trial_outcome outcomes[] = {
	[GAIN_CONFIRMED] = TRIAL_PROVEN, [GAIN_REFUTED] = TRIAL_REFUTED, [GAIN_NOISY] = TRIAL_NOISY
};

void trial_judge(struct live_trial *t, size_t tested, struct rng *rng)
{
	struct diag_finding promise = promise_of(t, rng);

	judge_by(watched(t), time_per_byte, &promise, tested, rng, &t->rate);
	judge_by(watched(t), stall_per_byte, &promise, tested, rng, &t->stall);
	for (int fixed = 0; fixed < 2; fixed++) {
		t->per_s[fixed] =
			t->messages_known ? median(watched(t), fixed, messages_per_s) : NAN;
		t->bytes_per_s[fixed] = median(watched(t), fixed, bytes_per_s);
		t->stall_share[fixed] = median(watched(t), fixed, stall_share);
	}
	t->outcome = outcomes[t->rate.class];
	t->by_stall = t->outcome != TRIAL_PROVEN && cured_at_its_pace(t);
	if (t->by_stall)
		t->outcome = TRIAL_PROVEN;
}

bool trial_sends_all_it_writes(const struct live_trial *t)
{
	double sent = 0, written = 0;

	for (size_t i = 0; i < t->n; i++)
		for (int k = 0; k < TRIAL_WINDOWS; k++) {
			sent += (double)t->rounds[i].w[k].bytes;
			written += (double)t->rounds[i].w[k].written;
		}
	return fabs(written - sent) < 0.02 * sent;
}

void trial_judge_unwatched(struct live_trial *t, size_t tested, struct rng *rng)
{
	struct diag_finding promise = promise_of(t, rng);

	judge_by(unwatched(t), time_per_byte, &promise, tested, rng, &t->rate);
	t->outcome = outcomes[t->rate.class];
	for (int fixed = 0; fixed < 2; fixed++) {
		double before = t->bytes_per_s[fixed];

		t->bytes_per_s[fixed] = median(unwatched(t), fixed, bytes_per_s);
		/* messages scale with bytes: their size is the same as with the ledger */
		t->per_s[fixed] *= t->bytes_per_s[fixed] / before;
	}
}
