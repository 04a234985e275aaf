// SPDX-License-Identifier: GPL-2.0-only
/*
 * load COMMAND...: run it on a busy host. On each CPU a real-time task (SCHED_FIFO) takes 30 % in
 * slices of 1 to 50 ms, and four loops run at normal priority. All of it ends with this process,
 * however that ends: tests/under-load runs it in tests/contain, and the tasks die with their parent
 * besides.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHARE	      0.3
#define SLICE_FROM_NS 1e6
#define SLICE_TO_NS   50e6
#define LOOPS	      4
#define PRIORITY      10

static void die(const char *what)
{
	fprintf(stderr, "under-load: %s: %s\n", what, strerror(errno));
	exit(125);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void spin(double ns)
{
	double end = now() + ns;

	while (now() < end)
		;
}

static void rest(double ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1e9) };

	t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
	nanosleep(&t, NULL);
}

/* From 1 to 50 ms, uniform. */
static double slice(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return SLICE_FROM_NS +
	       (SLICE_TO_NS - SLICE_FROM_NS) * (double)(*seed >> 33) / (double)(1ULL << 31);
}

static void take_slices(int cpu)
{
	struct sched_param p = { .sched_priority = PRIORITY };
	uint64_t seed = (uint64_t)cpu + 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &p))
		_exit(1);
	for (;;) {
		double ns = slice(&seed);

		spin(ns);
		rest(ns * (1 - SHARE) / SHARE);
	}
}

static void compute(int unused)
{
	(void)unused;
	for (volatile uint64_t i = 0;; i++)
		;
}

static pid_t tasks[2 * CPU_SETSIZE];
static int n_tasks;

static void beside(void (*work)(int), int arg)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid) {
		tasks[n_tasks++] = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		work(arg);
	_exit(1);
}

static void start_load(void)
{
	struct sched_param p = { .sched_priority = PRIORITY };
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	/* tried here, where it can be said */
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		die("real-time priority is refused (it needs CAP_SYS_NICE: run as root)");
	p.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &p);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			beside(take_slices, i);
	for (int i = 0; i < LOOPS; i++)
		beside(compute, 0);
}

static void end_load(void)
{
	for (int i = 0; i < n_tasks; i++)
		kill(tasks[i], SIGKILL);
	for (int i = 0; i < n_tasks; i++)
		waitpid(tasks[i], NULL, 0);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: tests/under-load COMMAND...\n");
		return 125;
	}
	start_load();
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "under-load: %s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	end_load();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
