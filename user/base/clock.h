/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time. One clock for everything that is reported: CLOCK_MONOTONIC, which is bpf_ktime_get_ns() in
 * the kernel. Inside a timed loop a stamp may be the processor's time stamp counter, if that
 * counts at a constant rate in every power state; a tick_clock turns differences of stamps into
 * nanoseconds of CLOCK_MONOTONIC.
 *
 * cpuid is never executed, neither to serialise nor to ask for features: under a hypervisor it
 * traps (microseconds). rdtscp waits for earlier instructions by itself; features are read from
 * /proc/cpuinfo.
 */
#ifndef IPCSTALL_BASE_CLOCK_H
#define IPCSTALL_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define CLOCK_HAS_TSC 1
#else
#define CLOCK_HAS_TSC 0
#endif

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The compilers' own names for __rdtsc() and __rdtscp(): <x86intrin.h>, which declares those, takes
 * longer to compile than most files that include this one. */
#if CLOCK_HAS_TSC
static inline uint64_t clock_rdtsc(void)
{
	return __builtin_ia32_rdtsc();
}

static inline uint64_t clock_rdtscp(void)
{
	unsigned int cpu;

	return __builtin_ia32_rdtscp(&cpu);
}
#endif

/* What can be known of the counter without executing cpuid. */
struct tsc_facts {
	bool present;	   /* this build and CPU have one, and the process may read it */
	bool constant_tsc; /* same rate at every CPU frequency */
	bool nonstop_tsc;  /* keeps counting in every idle state */
	bool rdtscp;
	bool kernel_trusts;   /* the kernel has not struck it off its list of clock sources */
	char clocksource[32]; /* the kernel's current one; empty when unreadable */
};

void tsc_facts_read(struct tsc_facts *f);

/* Everything a stamp needs: present, constant, nonstop, rdtscp, trusted. */
bool tsc_usable(const struct tsc_facts *f);

struct tick_clock {
	bool tsc;      /* ticks are of the TSC; else they are ns of CLOCK_MONOTONIC */
	uint64_t mult; /* ns = ticks * mult >> TICK_SHIFT, over a 128-bit product */
	double hz;
	double rel_error; /* bound of |hz - true| / true over the calibration; 0 for CLOCK_MONOTONIC
			     itself */
	uint64_t window_ns; /* how long the calibration took */
	const char *name;   /* "tsc" or "monotonic" */
	char why[160];	    /* one sentence: which clock was chosen, and on what grounds */
};

#define TICK_SHIFT \
	56 /* a rate rounded to 2^-56: under 1e-16 of a GHz counter's; 128 bits hold any product \
	    */
#define TICK_CALIBRATE_NS 50000000ULL

/* Choose the clock and, for the TSC, calibrate it over window_ns against CLOCK_MONOTONIC. Each end
 * of the window is the tightest of many brackets (stamp, clock, stamp), so the error is bounded by
 * half of both brackets' widths plus the clock's 1 ns steps, over the window: about 1 ppm for 50
 * ms. */
void tick_clock_init(struct tick_clock *c, uint64_t window_ns);

/* The fallback without calibration: CLOCK_MONOTONIC. */
void tick_clock_monotonic(struct tick_clock *c, const char *why);

/* Take a stamp. rdtscp, so that the work before it is done; the branch always goes the same way. */
static inline uint64_t tick_now(const struct tick_clock *c)
{
#if CLOCK_HAS_TSC
	if (__builtin_expect(c->tsc, 1))
		return clock_rdtscp();
#endif
	(void)c;
	return now_ns();
}

static inline uint64_t ticks_to_ns(const struct tick_clock *c, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * c->mult + (1ULL << (TICK_SHIFT - 1))) >>
			  TICK_SHIFT);
}

static inline uint64_t ns_to_ticks(const struct tick_clock *c, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns << TICK_SHIFT) / c->mult);
}

/* When a periodic task is due next. After a pause of more than one interval it starts anew, and
 * missed rounds are not made up for. */
static inline uint64_t next_due(uint64_t due, uint64_t every, uint64_t now)
{
	return now > due + every ? now + every : due + every;
}

/* The pause after work of cost_ns of CPU time so that it takes no more than `share` of a CPU; not
 * less than `least`. */
static inline uint64_t gap_for_share(uint64_t least, uint64_t cost_ns, double share)
{
	double gap = (double)cost_ns / share;

	return gap > (double)least ? (uint64_t)gap : least;
}

/* Sleep to an instant of CLOCK_MONOTONIC; returns at once when it has passed. */
void sleep_until_ns(uint64_t when);

#endif
