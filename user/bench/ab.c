// SPDX-License-Identifier: GPL-2.0-only
#include "bench/ab.h"

enum { SETTLE_NS = 5000000 };
#define LEVEL 0.95

/* What one message cost in each slice of each arm, ns. */
struct table {
	double cpu[AB_ARMS][AB_PAIRS], elapsed[AB_ARMS][AB_PAIRS];
};

/* The first messages after the code of the hooks was patched are not counted. */
static int slice(struct trace *t, const struct bench_extra *x, uint64_t ns, struct bench_slice *s,
		 struct err *e)
{
	int rc;

	if (t && trace_start(t, e))
		return -1;
	rc = x->run(x->point_run, SETTLE_NS, s, e) || x->run(x->point_run, ns, s, e);
	if (t)
		trace_stop(t);
	return rc ? -1 : 0;
}

static int round_of(struct trace *const session[AB_ARMS], const struct bench_extra *x, uint64_t ns,
		    struct rng *r, struct table *t, size_t i, struct err *e)
{
	unsigned char order[AB_ARMS] = { AB_OFF, AB_TRACED, AB_BESIDE };

	rng_shuffle(r, order, AB_ARMS, sizeof(order[0]));
	for (int k = 0; k < AB_ARMS; k++) {
		struct bench_slice s;

		if (slice(session[order[k]], x, ns, &s, e))
			return -1;
		if (!s.messages || !s.cpu_ns)
			return err_peer(e,
					"--ab: a slice of %.0f ms moved no message; give a longer "
					"--duration",
					(double)ns / 1e6);
		t->cpu[order[k]][i] = (double)s.cpu_ns / (double)s.messages;
		t->elapsed[order[k]][i] = (double)s.elapsed_ns / (double)s.messages;
	}
	return 0;
}

static struct ab_ratio ratio(const double *on, const double *off, struct rng *r)
{
	double ratios[AB_PAIRS];
	struct pairs p = stats_pairs(on, off, AB_PAIRS, ratios, LEVEL, r);

	return (struct ab_ratio){ p.median_ratio, p.ratio };
}

int ab_run(struct trace *traced, struct trace *beside, const struct bench_extra *x,
	   uint64_t slice_ns, uint64_t seed, struct ab_result *out, struct err *e)
{
	struct trace *const session[AB_ARMS] = { NULL, traced, beside };
	struct table t;
	struct rng r;

	rng_seed(&r, seed);
	*out = (struct ab_result){ .slice_ns = slice_ns };
	for (size_t i = 0; i < AB_PAIRS; i++)
		if (round_of(session, x, slice_ns, &r, &t, i, e))
			return -1;
	for (int a = 0; a < AB_ARMS; a++) {
		out->cpu[a] = ratio(t.cpu[a], t.cpu[AB_OFF], &r);
		out->elapsed[a] = ratio(t.elapsed[a], t.elapsed[AB_OFF], &r);
	}
	out->off_cpu_ns = stats_median(t.cpu[AB_OFF], AB_PAIRS);
	out->off_elapsed_ns = stats_median(t.elapsed[AB_OFF], AB_PAIRS);
	out->pairs = AB_PAIRS;
	return 0;
}
