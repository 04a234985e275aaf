// SPDX-License-Identifier: GPL-2.0-only
#include "host/clock_probe.h"

#include <math.h>

#include "base/clock.h"
#include "stats/stats.h"

#define GOES	    2000
#define NOPS_ALWAYS 64
#define NOPS_MAX    (1 << 28)
#define BATCH	    64
#define SAMPLES	    2000

static inline __attribute__((always_inline)) void nops(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("nop");
}

struct step {
	uint64_t smallest;
	int nops;
};

typedef uint64_t (*reader)(void);

/* Two readings with n nops between, n growing; the smallest difference above zero is the step. A
 * coarse clock stands still for many nops, so past NOPS_ALWAYS n doubles until it moves. */
static inline __attribute__((always_inline)) struct step find_step(reader read)
{
	struct step s = { UINT64_MAX, 0 };

	for (int n = 0; n <= NOPS_ALWAYS || (s.smallest == UINT64_MAX && n < NOPS_MAX);
	     n = n < NOPS_ALWAYS ? n + 1 : 2 * n) {
		int goes = n <= NOPS_ALWAYS ? GOES : 1;

		for (int i = 0; i < goes; i++) {
			uint64_t a = read(), d;

			nops(n);
			d = read() - a;
			if (d && d < s.smallest && d < UINT64_MAX / 2)
				s = (struct step){ d, n };
		}
	}
	return s;
}

/* ns per reading over batches, so that the clock that times a batch adds only 1/64 of its own
 * cost. */
static inline __attribute__((always_inline)) void time_reader(reader read, double *per_call)
{
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t t0 = now_ns();

		for (int j = 0; j < BATCH; j++)
			read();
		per_call[i] = (double)(now_ns() - t0) / BATCH;
	}
}

/* Each clock's loops are compiled with its reading inlined: a call by pointer would add to its
 * cost. */
#define PROBE(id, expr) \
	static uint64_t read_##id(void) { return (expr); } \
	static struct step step_##id(void) { return find_step(read_##id); } \
	static void cost_##id(double *out) { time_reader(read_##id, out); }

PROBE(monotonic, clock_ns(CLOCK_MONOTONIC))
PROBE(monotonic_raw, clock_ns(CLOCK_MONOTONIC_RAW))
PROBE(realtime, clock_ns(CLOCK_REALTIME))
#if CLOCK_HAS_TSC
PROBE(rdtsc, clock_rdtsc())
PROBE(rdtscp, clock_rdtscp())
#endif

static const struct row {
	const char *name;
	bool ticks;
	clockid_t id;
	struct step (*step)(void);
	void (*cost)(double *);
} rows[] = {
	{ "CLOCK_MONOTONIC", false, CLOCK_MONOTONIC, step_monotonic, cost_monotonic },
	{ "CLOCK_MONOTONIC_RAW", false, CLOCK_MONOTONIC_RAW, step_monotonic_raw,
		cost_monotonic_raw },
	{ "CLOCK_REALTIME", false, CLOCK_REALTIME, step_realtime, cost_realtime },
#if CLOCK_HAS_TSC
	{ "rdtsc", true, 0, step_rdtsc, cost_rdtsc },
	{ "rdtscp", true, 0, step_rdtscp, cost_rdtscp },
#endif
};

static double resolution(const struct row *r)
{
	struct timespec ts;

	if (r->ticks || clock_getres(r->id, &ts))
		return NAN;
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void probe(const struct row *r, double tick_ns, struct clock_probe *out)
{
	double samples[SAMPLES];
	struct sample s = sample_f64(samples, SAMPLES);
	struct step step = r->step();

	r->cost(samples);
	stats_sort_f64(samples, SAMPLES);
	*out = (struct clock_probe){
		.name = r->name,
		.ticks = r->ticks,
		.resolution = resolution(r),
		.step = step.smallest == UINT64_MAX
				? NAN
				: (double)step.smallest * (r->ticks ? tick_ns : 1),
		.nops = step.nops,
		.cost_min = samples[0],
		.cost_median = stats_quantile(&s, 0.5),
	};
}

int clock_probe_all(struct clock_probe out[CLOCK_PROBES], double tick_ns)
{
	int n = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!rows[i].ticks || isfinite(tick_ns))
			probe(&rows[i], tick_ns, &out[n++]);
	return n;
}
