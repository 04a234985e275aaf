// SPDX-License-Identifier: GPL-2.0-only
/* From figures to sentences. An unknown figure fails every comparison and so never warns. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "host/noise.h"

const struct noise_limits noise_default_limits = {
	.share = 0.02,
	.switches_per_s = 50,
	.cpu_probe_change = 0.05,
	.min_window_ns = 1e8,
};

struct warnings {
	char (*text)[NOISE_TEXT];
	int n;
};

static void __attribute__((format(printf, 2, 3))) warn(struct warnings *w, const char *fmt, ...)
{
	va_list ap;

	if (w->n >= NOISE_WARNINGS)
		return;
	va_start(ap, fmt);
	vsnprintf(w->text[w->n++], NOISE_TEXT, fmt, ap);
	va_end(ap);
}

/* Above the share, and above the two ticks on each CPU that rounding alone can cause. */
static int too_much(const struct noise_report *r, const struct noise_limits *l, double ns)
{
	return ns > l->share * r->window_ns * r->n_cpus && ns > 2 * r->tick_ns * r->n_cpus;
}

static double percent(const struct noise_report *r, double ns)
{
	return 100 * ns / (r->window_ns * r->n_cpus);
}

static void warn_cpus(struct warnings *w, const struct noise_report *r,
		      const struct noise_limits *l)
{
	if (too_much(r, l, r->steal_ns))
		warn(w,
		     "the host took %.0f ms (%.1f %%, steal) of the CPUs used: tail latencies and "
		     "maxima are not reliable",
		     r->steal_ns / 1e6, percent(r, r->steal_ns));
	if (too_much(r, l, r->competing_ns))
		warn(w,
		     "other processes used %.0f ms (%.1f %%) of the CPUs used: stop them or choose "
		     "other --cpus",
		     r->competing_ns / 1e6, percent(r, r->competing_ns));
}

/* Two ends on one CPU preempt each other all the time, and should. Switches are a disturbance only
 * if other processes used the CPU, or if that is unknown. */
static void warn_tasks(struct warnings *w, const struct noise_report *r,
		       const struct noise_limits *l)
{
	double per_s = r->tasks.involuntary / (r->window_ns / 1e9);

	if (per_s > l->switches_per_s &&
	    (isnan(r->competing_ns) || too_much(r, l, r->competing_ns)))
		warn(w,
		     "%.0f involuntary context switches (%.0f a second): the ends were preempted",
		     r->tasks.involuntary, per_s);
	if (r->tasks.migrations > 0)
		warn(w, "%.0f migrations between CPUs: pin the ends with --cpus A,B",
		     r->tasks.migrations);
}

static double change(double before, double after)
{
	return after / before - 1;
}

static void warn_machine(struct warnings *w, const struct noise_report *r,
			 const struct noise_limits *l)
{
	double freq = change(r->freq_khz_before, r->freq_khz_after);
	double loop = change(r->cpu_probe_before.loop_ns, r->cpu_probe_after.loop_ns);
	double call = change(r->cpu_probe_before.call_ns, r->cpu_probe_after.call_ns);

	if (fabs(freq) > l->cpu_probe_change)
		warn(w,
		     "the CPU's frequency went from %.0f to %.0f MHz: fix it with the performance "
		     "governor",
		     r->freq_khz_before / 1e3, r->freq_khz_after / 1e3);
	if (fabs(loop) > l->cpu_probe_change)
		warn(w,
		     "fixed work took %.3f ns before and %.3f ns after (%+.1f %%): the CPU changed "
		     "speed or was shared",
		     r->cpu_probe_before.loop_ns, r->cpu_probe_after.loop_ns, 100 * loop);
	/* system calls vary more by themselves than a loop in registers does */
	if (fabs(call) > 3 * l->cpu_probe_change)
		warn(w,
		     "a system call took %.0f ns before and %.0f ns after (%+.1f %%): a tracer or "
		     "other load started or stopped",
		     r->cpu_probe_before.call_ns, r->cpu_probe_after.call_ns, 100 * call);
	if (r->tracers - l->own_tracers == 1)
		warn(w, "another program has a BPF tracing program loaded: every hooked path is "
			"slower (bpftool prog list)");
	else if (r->tracers > l->own_tracers)
		warn(w,
		     "%.0f BPF tracing programs of other programs are loaded: every hooked path is "
		     "slower (bpftool prog list)",
		     r->tracers - l->own_tracers);
}

int noise_warnings(const struct noise_report *r, const struct noise_limits *l,
		   char text[NOISE_WARNINGS][NOISE_TEXT])
{
	struct warnings w = { .text = text };

	if (r->window_ns < l->min_window_ns)
		warn(&w,
		     "the measurement took %.0f ms: too short to see steal and competing load "
		     "(ticks of %.0f ms)",
		     r->window_ns / 1e6, r->tick_ns / 1e6);
	warn_cpus(&w, r, l);
	warn_tasks(&w, r, l);
	warn_machine(&w, r, l);
	return w.n;
}
