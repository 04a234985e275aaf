// SPDX-License-Identifier: GPL-2.0-only
#include "base/clock.h"

#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/prctl.h>

#define CLOCKSOURCE_DIR "/sys/devices/system/clocksource/clocksource0/"
#define BRACKETS	200

/* PR_SET_TSC can make rdtsc fault; asking first is cheaper than a signal handler. */
static bool may_read_tsc(void)
{
#if CLOCK_HAS_TSC
	int mode = PR_TSC_ENABLE;

	return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
#else
	return false;
#endif
}

/* The kernel takes "tsc" off the list when its watchdog finds it unstable (mark_tsc_unstable). */
static bool kernel_trusts_tsc(void)
{
	char list[256];

	return text_first_line(CLOCKSOURCE_DIR "available_clocksource", list, sizeof(list)) &&
	       (text_has_word(list, "tsc") || text_has_word(list, "kvm-clock") ||
		text_has_word(list, "hyperv_clocksource_tsc_page"));
}

void tsc_facts_read(struct tsc_facts *f)
{
	char flags[8192];

	*f = (struct tsc_facts){ 0 };
	text_first_line(CLOCKSOURCE_DIR "current_clocksource", f->clocksource,
			sizeof(f->clocksource));
	if (!text_field("/proc/cpuinfo", "flags", flags, sizeof(flags)))
		return;
	f->present = may_read_tsc() && text_has_word(flags, "tsc");
	f->constant_tsc = text_has_word(flags, "constant_tsc");
	f->nonstop_tsc = text_has_word(flags, "nonstop_tsc");
	f->rdtscp = text_has_word(flags, "rdtscp");
	f->kernel_trusts = kernel_trusts_tsc();
}

bool tsc_usable(const struct tsc_facts *f)
{
	return f->present && f->constant_tsc && f->nonstop_tsc && f->rdtscp && f->kernel_trusts;
}

static const char *why_not_tsc(const struct tsc_facts *f)
{
	if (!f->present)
		return "CLOCK_MONOTONIC: there is no readable time stamp counter";
	if (!f->constant_tsc)
		return "CLOCK_MONOTONIC: the TSC's rate follows the CPU's frequency (no "
		       "constant_tsc)";
	if (!f->nonstop_tsc)
		return "CLOCK_MONOTONIC: the TSC stops in deep idle states (no nonstop_tsc)";
	if (!f->rdtscp)
		return "CLOCK_MONOTONIC: no rdtscp, and a bare rdtsc may run ahead of the work it "
		       "should follow";
	return "CLOCK_MONOTONIC: the kernel has marked the TSC unstable";
}

void tick_clock_monotonic(struct tick_clock *c, const char *why)
{
	*c = (struct tick_clock){ .mult = 1ULL << TICK_SHIFT, .hz = 1e9, .name = "monotonic" };
	snprintf(c->why, sizeof(c->why), "%s", why);
}

#if CLOCK_HAS_TSC
/* CLOCK_MONOTONIC said `ns` at some instant between the stamps t0 and t0 + width. */
struct bracket {
	uint64_t t0, width, ns;
};

static struct bracket tightest_bracket(void)
{
	struct bracket best = { .width = UINT64_MAX };

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t t0 = clock_rdtscp(), ns = now_ns(), t1 = clock_rdtscp();

		if (t1 - t0 < best.width)
			best = (struct bracket){ t0, t1 - t0, ns };
	}
	return best;
}

static bool calibrate(struct tick_clock *c, uint64_t window_ns)
{
	struct bracket a = tightest_bracket(), b;
	double ticks, ns;

	sleep_until_ns(a.ns + window_ns);
	b = tightest_bracket();
	ticks = (double)(b.t0 - a.t0) + ((double)b.width - (double)a.width) / 2;
	ns = (double)(b.ns - a.ns);
	if (b.t0 <= a.t0 || b.ns <= a.ns || ticks / ns < 0.01)
		return false;
	c->window_ns = b.ns - a.ns;
	c->hz = ticks / ns * 1e9;
	c->rel_error = (double)(a.width + b.width) / 2 / ticks + 2 / ns;
	c->mult = (uint64_t)llround(ldexp(ns / ticks, TICK_SHIFT));
	return true;
}
#else
static bool calibrate(struct tick_clock *c, uint64_t window_ns)
{
	(void)c;
	(void)window_ns;
	return false;
}
#endif

void tick_clock_init(struct tick_clock *c, uint64_t window_ns)
{
	struct tsc_facts f;

	tsc_facts_read(&f);
	if (!tsc_usable(&f)) {
		tick_clock_monotonic(c, why_not_tsc(&f));
		return;
	}
	*c = (struct tick_clock){ .tsc = true, .name = "tsc" };
	if (!calibrate(c, window_ns)) {
		tick_clock_monotonic(
			c, "CLOCK_MONOTONIC: the TSC did not advance as a counter should");
		return;
	}
	snprintf(c->why, sizeof(c->why),
		 "TSC by rdtscp: invariant (constant_tsc, nonstop_tsc) and trusted by the kernel; "
		 "%.6f GHz",
		 c->hz / 1e9);
}

void sleep_until_ns(uint64_t when)
{
	struct timespec ts = { .tv_sec = (time_t)(when / 1000000000u),
		.tv_nsec = (long)(when % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}
