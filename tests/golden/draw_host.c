// SPDX-License-Identifier: GPL-2.0-only
/* What `clock`, `syscall` and `machine` print, from made figures: draw_host clock|calls|machine. */
#include <math.h>
#include <string.h>

#include "render/host_text.h"

static struct summary around(double ns)
{
	return (struct summary){ .n = 200,
				 .min = 0.9 * ns,
				 .q1 = 0.95 * ns,
				 .median = ns,
				 .q3 = 1.1 * ns,
				 .p99 = 2 * ns };
}

static void draw_clock(void)
{
	struct clock_findings f = { .n = CLOCK_PROBES };
	static const char *const names[CLOCK_PROBES] = { "CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW",
							 "CLOCK_REALTIME", "rdtsc", "rdtscp" };

	f.facts.constant_tsc = f.facts.nonstop_tsc = f.facts.rdtscp = f.facts.kernel_trusts = true;
	snprintf(f.facts.clocksource, sizeof(f.facts.clocksource), "tsc");
	f.clock.tsc = true;
	f.clock.hz = 2445405925;
	f.clock.rel_error = 52e-9;
	f.clock.window_ns = 3000000000;
	snprintf(f.clock.why, sizeof(f.clock.why),
		 "TSC by rdtscp: invariant (constant_tsc, nonstop_tsc) and trusted by the kernel");
	for (int i = 0; i < f.n; i++) {
		f.probe[i].name = names[i];
		f.probe[i].ticks = i > 2;
		f.probe[i].resolution = i > 2 ? NAN : 1;
		f.probe[i].step = 20;
		f.probe[i].cost_min = i > 2 ? 20 : 29;
		f.probe[i].cost_median = i > 2 ? 21.5 : 30.5;
	}
	clock_text(&f, stdout);
}

static void draw_calls(void)
{
	struct call_findings f = {};

	for (; call_rows[f.n].name; f.n++) {
		f.raw[f.n] = around(170 + 20 * f.n);
		f.libc[f.n] = around(f.n == 7 ? 29 : 175 + 20 * f.n);
	}
	calls_text(&f, stdout);
}

static void draw_machine(void)
{
	static const struct build made = {
		"0.1.0", "0123456789", "gcc 14.2.0", "-O2", "none", "O2"
	};
	struct machine_findings f = {
		.build = &made,
		.machine = { .hostname = "vm",
			     .kernel = "6.12.0",
			     .arch = "x86_64",
			     .distribution = "Debian GNU/Linux 13 (trixie)",
			     .cpu_model = "AMD EPYC",
			     .cpus_online = 2,
			     .cpus_configured = 2,
			     .memory_bytes = 24ull << 30,
			     .l1d_bytes = 32768,
			     .l2_bytes = 524288,
			     .l3_bytes = 32 << 20,
			     .clocksource = "tsc",
			     .mitigations = "spectre_v1: Mitigation, spectre_v2: Mitigation" },
	};

	for (; ladder_rungs[f.n].name; f.n++) {
		f.rung[f.n].known = f.n != 5;
		f.rung[f.n].s = around(pow(4, f.n));
		if (!f.rung[f.n].known)
			f.rung[f.n].s = (struct summary){
				.min = NAN, .q1 = NAN, .median = NAN, .q3 = NAN, .p99 = NAN
			};
		snprintf(f.rung[f.n].note, sizeof(f.rung[f.n].note), "%s",
			 f.rung[f.n].known ? "dependent loads over 16 KiB"
					   : "libsnappy.so.1 is not installed");
	}
	machine_text(&f, stdout);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "";

	if (!strcmp(scene, "clock"))
		draw_clock();
	else if (!strcmp(scene, "calls"))
		draw_calls();
	else
		draw_machine();
	return 0;
}
