/* SPDX-License-Identifier: GPL-2.0-only */
/* What disturbed a measurement. Read once before and once after the measurement, never during it.
 * Every figure is the change over the window; a figure that the kernel or missing privileges hide
 * is NaN (unknown), never 0. */
#ifndef IPCSTALL_HOST_NOISE_H
#define IPCSTALL_HOST_NOISE_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/cpu_probe.h"

#define NOISE_PIDS     16
#define NOISE_WARNINGS 8
#define NOISE_TEXT     200

/* Counters of the watched processes, all their threads together
 * (/proc/PID/task/TID/{status,sched,schedstat}). */
struct task_counts {
	double involuntary, voluntary; /* context switches */
	double migrations;	       /* from one CPU to another */
	double run_delay_ns; /* ready to run, but another held the CPU (each other included) */
	double cpu_ns;
};

/* Times of the CPUs used, from /proc/stat, which counts in ticks of 1/sysconf(_SC_CLK_TCK). */
struct cpu_counts {
	double task_ns, irq_ns, steal_ns;
};

struct noise_snapshot {
	uint64_t at;
	struct task_counts tasks[NOISE_PIDS];
	struct cpu_counts cpus;
	double freq_khz; /* mean scaling_cur_freq of the CPUs used */
	double tracers;	 /* loaded BPF programs of the tracing kinds */
	struct cpu_probe canary;
};

struct noise_window {
	pid_t pids[NOISE_PIDS];
	int n_pids;
	cpu_set_t cpus;
	struct noise_snapshot before;
};

struct noise_report {
	double window_ns;
	int n_cpus;
	double tick_ns;			 /* resolution of the next three */
	double steal_ns;		 /* taken by the host */
	double competing_ns;		 /* at least this much CPU went to processes not watched */
	double interrupt_ns;		 /* hard and soft interrupts, the traffic's own too */
	struct task_counts tasks;	 /* sums over the watched processes */
	double run_delay_ns[NOISE_PIDS]; /* of each of them, in the order given */
	double freq_khz_before, freq_khz_after;
	double tracers; /* at the end */
	struct cpu_probe cpu_probe_before, cpu_probe_after;
};

/* pids: the ends of the measurement, the caller's own included if it does work. cpus: NULL means
 * all. */
void noise_begin(struct noise_window *w, const pid_t *pids, int n_pids, const cpu_set_t *cpus);
void noise_end(const struct noise_window *w, struct noise_report *out);

/* BPF programs of the kinds that can hook into measured paths (kprobe, tracepoint, tracing...); NaN
 * without the right to list them. */
double noise_count_tracers(void);

/* Above which values there is a warning. */
struct noise_limits {
	double share;		 /* of the CPU time in the window, for steal and competition */
	double switches_per_s;	 /* involuntary, per watched process */
	double cpu_probe_change; /* relative, between before and after */
	double own_tracers;	 /* BPF programs which the caller itself has loaded */
	double min_window_ns; /* a shorter window cannot be judged: /proc/stat has ticks of 10 ms */
};

extern const struct noise_limits noise_default_limits;

/* Fills text[] with one sentence each, figures included; returns how many. */
int noise_warnings(const struct noise_report *r, const struct noise_limits *l,
		   char text[NOISE_WARNINGS][NOISE_TEXT]);

#endif
