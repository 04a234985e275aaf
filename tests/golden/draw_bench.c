// SPDX-License-Identifier: GPL-2.0-only
/* What a benchmark says, from made samples and a kept ledger: draw_bench stalled|sizes|plain|cut
 * RECORDING. */
#include <math.h>
#include <string.h>

#include "golden/kept.h"
#include "render/ledger_point.h"
#include "stats/rng.h"

enum { SAMPLES = 2000, POINTS = 8 };

static const struct workload *workload(const char *name)
{
	for (size_t i = 0; workloads[i]; i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}

/* a tenth of them 44 ms late */
static void latency(struct point *p, struct rng *rng)
{
	static struct hdr histograms[POINTS];
	static size_t used;
	static uint64_t v[SAMPLES];
	struct sample s;

	p->latency.present = true;
	p->latency.histogram = &histograms[used++];
	hdr_reset(p->latency.histogram);
	for (size_t i = 0; i < SAMPLES; i++) {
		v[i] = 9000 + rng_u64(rng) % 4000 + (i % 10 ? 0 : 22000000);
		hdr_record(p->latency.histogram, v[i]);
	}
	stats_sort_u64(v, SAMPLES);
	s = sample_u64(v, SAMPLES);
	stats_summarise(&s, &p->latency.s);
}

static void throughput(struct point *p)
{
	p->throughput.present = true;
	p->throughput.bytes_per_s = 2.3e6 * (double)p->size / 4096;
	p->throughput.ci = (struct interval){ 2.28e6, 2.33e6, 0.95, "bootstrap" };
	p->throughput.n_trials = 10;
	p->latency.s.median = p->latency.s.p99 = NAN;
}

static void point(struct point *p, enum test t, int64_t size, struct rng *rng)
{
	p->test = t;
	p->size = size;
	p->messages = 20000;
	p->elapsed_ns = 1000000000;
	if (t == TEST_LATENCY)
		latency(p, rng);
	else
		throughput(p);
}

static void ledger(struct point *p, const char *recording)
{
	struct point_ledger *l = calloc(1, sizeof(*l));
	struct replay r = {};

	kept_load(recording, &r);
	l->phase = r.end;
	verdict_make(&l->phase, &l->verdict);
	l->stall_per_message_ns = 43900000;
	l->cost_ratio = 1.04;
	p->ledger = l;
}

int main(int argc, char **argv)
{
	const char *scene = argc > 2 ? argv[1] : "";
	bool sizes = !strcmp(scene, "sizes"), plain = !strcmp(scene, "plain");
	struct bench_plan plan = { .placement = PLACE_SAME, .clock = { .name = "tsc" } };
	struct point points[POINTS] = {};
	struct result r = { .plan = &plan, .points = points, .complete = strcmp(scene, "cut") };
	struct traced tr = { .failed = { EXIT_NO_FEATURE, "fentry: the kernel is locked down; see "
							  "`ipcstall check`" } };
	struct rng rng;

	if (argc < 3)
		return 2;
	rng_seed(&rng, 1);
	bench_defaults(&plan.o);
	plan.o.nodelay = true;
	plan.o.colour = kept_colour();
	plan.w = workload(sizes ? "pipe" : "tcp");
	for (int64_t size = 4096; r.n < (sizes ? 6u : 2u); r.n++, size *= sizes ? 4 : 1)
		point(&points[r.n], r.n < (sizes ? 3u : 1u) ? TEST_LATENCY : TEST_THROUGHPUT, size,
		      &rng);
	for (size_t i = 0; i < r.n && !plain; i++)
		ledger(&points[i], argv[2]);
	tr.t = plain ? NULL : (struct trace *)&tr; /* only whether there is one is asked */
	point_warn(&points[0], "the CPU clock moved between 2.1 and 3.4 GHz during the test");
	ledgers_print(&r, &tr, false, stdout);
	table_print(&r, stdout);
	return 0;
}
