// SPDX-License-Identifier: GPL-2.0-only
#include "host/noise.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

static double field_number(const char *path, const char *key)
{
	char value[64], *end;
	double v;

	if (!text_field(path, key, value, sizeof(value)))
		return NAN;
	v = strtod(value, &end);
	return end != value ? v : NAN;
}

/* Second column of schedstat: sched_info.run_delay, ns. */
static double run_delay(const char *path)
{
	unsigned long long ran, waited;
	char line[128];

	if (!text_first_line(path, line, sizeof(line)) ||
	    sscanf(line, "%llu %llu", &ran, &waited) != 2)
		return NAN;
	return (double)waited;
}

static void add_thread(struct task_counts *t, pid_t pid, int tid)
{
	struct proc_path status = proc_path(pid, "task/%d/status", tid);

	t->involuntary += field_number(status.text, "nonvoluntary_ctxt_switches");
	t->voluntary += field_number(status.text, "voluntary_ctxt_switches");
	t->migrations +=
		field_number(proc_path(pid, "task/%d/sched", tid).text, "se.nr_migrations");
	t->run_delay_ns += run_delay(proc_path(pid, "task/%d/schedstat", tid).text);
}

/* The process's CPU clock covers all threads, dead ones too, in ns. */
static double cpu_time(pid_t pid)
{
	struct timespec ts;
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &ts))
		return NAN;
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static struct task_counts read_tasks(pid_t pid)
{
	struct task_counts t = { 0 };
	struct dirent *d;
	DIR *dir = opendir(proc_path(pid, "task").text);

	if (!dir)
		return (struct task_counts){ NAN, NAN, NAN, NAN, NAN };
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			add_thread(&t, pid, atoi(d->d_name));
	closedir(dir);
	t.cpu_ns = cpu_time(pid);
	return t;
}

static double tick_ns(void)
{
	return 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static void add_cpu(struct cpu_counts *c, const char *fields)
{
	unsigned long long user, nice, sys, idle, iowait, irq, soft, steal;

	if (sscanf(fields, "%llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &sys, &idle,
		   &iowait, &irq, &soft, &steal) != 8) {
		*c = (struct cpu_counts){ NAN, NAN, NAN };
		return;
	}
	c->task_ns += (double)(user + nice + sys) * tick_ns();
	c->irq_ns += (double)(irq + soft) * tick_ns();
	c->steal_ns += (double)steal * tick_ns();
}

static struct cpu_counts read_cpus(const cpu_set_t *cpus)
{
	struct cpu_counts c = { 0 };
	int seen = 0, cpu, skip;

	for_each_line (l, "/proc/stat")
		if (sscanf(l.text, "cpu%d %n", &cpu, &skip) == 1 && cpu < CPU_SETSIZE &&
		    CPU_ISSET(cpu, cpus)) {
			add_cpu(&c, l.text + skip);
			seen++;
		}
	return seen ? c : (struct cpu_counts){ NAN, NAN, NAN };
}

static double mean_frequency(const cpu_set_t *cpus)
{
	double sum = 0;

	for (int i = 0; i < CPU_SETSIZE; i++) {
		char path[96];
		uint64_t khz;

		if (!CPU_ISSET(i, cpus))
			continue;
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i);
		if (!text_u64(path, &khz))
			return NAN;
		sum += (double)khz;
	}
	return sum / CPU_COUNT(cpus);
}

static void take(const struct noise_window *w, struct noise_snapshot *s)
{
	for (int i = 0; i < w->n_pids; i++)
		s->tasks[i] = read_tasks(w->pids[i]);
	s->cpus = read_cpus(&w->cpus);
	s->freq_khz = mean_frequency(&w->cpus);
	s->at = now_ns();
}

static void all_cpus(cpu_set_t *set)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	CPU_ZERO(set);
	for (long i = 0; i < n && i < CPU_SETSIZE; i++)
		CPU_SET(i, set);
}

/* The canary and the listing of BPF programs are work themselves, so both stay outside the
 * window. */
void noise_begin(struct noise_window *w, const pid_t *pids, int n_pids, const cpu_set_t *cpus)
{
	memset(w, 0, sizeof(*w));
	w->n_pids = n_pids < NOISE_PIDS ? n_pids : NOISE_PIDS;
	for (int i = 0; i < w->n_pids; i++)
		w->pids[i] = pids[i];
	if (cpus && CPU_COUNT(cpus))
		w->cpus = *cpus;
	else
		all_cpus(&w->cpus);
	cpu_probe_run(&w->before.canary);
	take(w, &w->before);
}

static void add_change(struct task_counts *sum, const struct task_counts *a,
		       const struct task_counts *b)
{
	sum->involuntary += b->involuntary - a->involuntary;
	sum->voluntary += b->voluntary - a->voluntary;
	sum->migrations += b->migrations - a->migrations;
	sum->run_delay_ns += b->run_delay_ns - a->run_delay_ns;
	sum->cpu_ns += b->cpu_ns - a->cpu_ns;
}

void noise_end(const struct noise_window *w, struct noise_report *out)
{
	struct noise_snapshot after = { 0 };

	take(w, &after);
	cpu_probe_run(&after.canary);
	*out = (struct noise_report){
		.window_ns = (double)(after.at - w->before.at),
		.n_cpus = CPU_COUNT(&w->cpus),
		.tick_ns = tick_ns(),
		.steal_ns = after.cpus.steal_ns - w->before.cpus.steal_ns,
		.interrupt_ns = after.cpus.irq_ns - w->before.cpus.irq_ns,
		.freq_khz_before = w->before.freq_khz,
		.freq_khz_after = after.freq_khz,
		.tracers = noise_count_tracers(),
		.cpu_probe_before = w->before.canary,
		.cpu_probe_after = after.canary,
	};
	for (int i = 0; i < w->n_pids; i++) {
		add_change(&out->tasks, &w->before.tasks[i], &after.tasks[i]);
		out->run_delay_ns[i] =
			after.tasks[i].run_delay_ns - w->before.tasks[i].run_delay_ns;
	}
	out->competing_ns = after.cpus.task_ns - w->before.cpus.task_ns - out->tasks.cpu_ns;
	if (out->competing_ns <
	    0) /* ticks round; a sum of rounded figures may fall short of an exact one */
		out->competing_ns = 0;
}
