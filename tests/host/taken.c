// SPDX-License-Identifier: GPL-2.0-only
#include "taken.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* More than this is noise. A figure that a test holds against a clock may be wrong by a millisecond
 * or a percent. */
#define STOLEN	       0.01 /* of all CPU time */
#define OTHERS	       0.05 /* of all CPU time */
#define LATE_NS	       5000000
#define SELDOM_NS      5e8     /* so seldom late: it does not explain each of three failures */
#define PROBE_NS       2000000 /* a probe asks for the CPU so often */
#define ROUNDING_TICKS 2       /* for each CPU, in /proc/stat */

static struct sums {
	double others_ns; /* of programs that are not below this process */
	double stolen_ns;
	double at_ns;
} before;

static atomic_llong latest_ns; /* the latest that a probe woke */
static atomic_long n_late;     /* how often one woke more than LATE_NS late */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double tick_ns(void)
{
	return 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static double time_ns(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

/* CPU time of this process and of all that ended below it. */
static double own_ns(void)
{
	struct rusage self, below;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &below);
	return time_ns(self.ru_utime) + time_ns(self.ru_stime) + time_ns(below.ru_utime) +
	       time_ns(below.ru_stime);
}

static double thread_of_kernel_ns(const char *pid)
{
	unsigned long long user, sys;
	char path[300], line[512], *end;
	int parent;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	end = strrchr(line, ')');
	if (!end || sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
			   &parent, &user, &sys) != 3)
		return 0;
	return parent == 2 ? (double)(user + sys) * tick_ns() : 0;
}

/* The kernel's own threads work for whoever sends or writes: for the test as well. */
static double kernel_ns(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	double sum = 0;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			sum += thread_of_kernel_ns(d->d_name);
	if (dir)
		closedir(dir);
	return sum;
}

static struct sums look(void)
{
	unsigned long long user = 0, nice = 0, sys = 0, stolen = 0;
	struct sums s = { 0 };
	FILE *f = fopen("/proc/stat", "re");

	if (f) {
		if (fscanf(f, "cpu %llu %llu %llu %*u %*u %*u %*u %llu", &user, &nice, &sys,
			   &stolen) != 4)
			user = nice = sys = stolen = 0;
		fclose(f);
	}
	s.others_ns = (double)(user + nice + sys) * tick_ns() - kernel_ns() - own_ns();
	s.stolen_ns = (double)stolen * tick_ns();
	s.at_ns = now();
	return s;
}

static void note_late(long long ns)
{
	long long seen = atomic_load(&latest_ns);

	if (ns > LATE_NS)
		atomic_fetch_add(&n_late, 1);
	while (ns > seen && !atomic_compare_exchange_weak(&latest_ns, &seen, ns))
		;
}

/*
 * With the lowest real-time priority it waits for the host and for real-time tasks, and not for
 * programs: those of the test itself would be taken for noise. What programs of others take is in
 * /proc/stat.
 */
static void *probe(void *cpu)
{
	struct sched_param lowest = { .sched_priority = 1 };
	struct timespec next;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((int)(intptr_t)cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest))
		return NULL;
	for (;;) {
		double due = now() + PROBE_NS;

		next = (struct timespec){ .tv_sec = (time_t)(due / 1e9) };
		next.tv_nsec = (long)(due - (double)next.tv_sec * 1e9);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		note_late((long long)(now() - due));
	}
	return NULL;
}

void taken_start(void)
{
	pthread_t thread;
	cpu_set_t set;

	before = look();
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) &&
		    !pthread_create(&thread, NULL, probe, (void *)(intptr_t)i))
			pthread_detach(thread);
}

static bool is_more(double ns, double share, double all_ns, long n_cpus)
{
	return ns > share * all_ns && ns > ROUNDING_TICKS * tick_ns() * (double)n_cpus;
}

/* A single late wake-up explains a failure once, and not each time that the test is repeated. */
static const char *how_noisy(double ns, long times_late, bool cpu_taken)
{
	if (cpu_taken || (double)times_late > 1 + ns / SELDOM_NS)
		return "noisy";
	return times_late ? "nearly quiet" : "quiet";
}

void taken_report(const char *path)
{
	struct sums after = look();
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double all = (after.at_ns - before.at_ns) * (double)n_cpus,
	       late = (double)atomic_load(&latest_ns);
	double stolen = after.stolen_ns - before.stolen_ns,
	       others = after.others_ns - before.others_ns;
	long times_late = atomic_load(&n_late);
	const char *host = how_noisy(after.at_ns - before.at_ns, times_late,
				     is_more(stolen, STOLEN, all, n_cpus) ||
					     is_more(others, OTHERS, all, n_cpus));
	FILE *f = fopen(path, "we");

	if (!f)
		return;
	fprintf(f,
		"%s: in %.1f s the host kept %.1f %% of the CPU time, other programs got %.1f %%, "
		"%ld wake-ups came over %d ms late, the latest %.1f ms\n",
		host, (after.at_ns - before.at_ns) / 1e9, 100 * stolen / all,
		others > 0 ? 100 * others / all : 0, times_late, LATE_NS / 1000000, late / 1e6);
	fclose(f);
}
