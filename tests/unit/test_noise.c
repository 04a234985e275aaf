// SPDX-License-Identifier: GPL-2.0-only
/* Noise that the test itself makes must be seen; noise that nobody made must not be reported. On a
 * clock: canary_is_steady */
#include "host/noise.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"

static cpu_set_t original;

static int first_cpu(void)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &original))
			return i;
	return 0;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static uint64_t burnt(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Until it has had so much CPU time, however long a busy host makes that. */
static void burn(uint64_t ns)
{
	while (burnt() < ns)
		;
}

static int setup(void **state)
{
	(void)state;
	return sched_getaffinity(0, sizeof(original), &original);
}

static int restore(void **state)
{
	(void)state;
	return sched_setaffinity(0, sizeof(original), &original);
}

/* A second process spins on the same CPU: at least half of the window is not ours, and we are
 * preempted for it. */
static void competition_is_seen(void **state)
{
	char text[NOISE_WARNINGS][NOISE_TEXT];
	pid_t self = getpid(), other = fork();
	struct noise_report r;
	struct noise_window w;
	int found = 0, n;
	cpu_set_t cpus;

	(void)state;
	pin(first_cpu());
	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		burn(UINT64_MAX);
		_exit(0);
	}
	CPU_ZERO(&cpus);
	CPU_SET(first_cpu(), &cpus);
	noise_begin(&w, &self, 1, &cpus);
	burn(burnt() + 200000000);
	noise_end(&w, &r);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	assert_int_equal(r.n_cpus, 1);
	assert_true(r.window_ns >= 2e8);
	assert_true(r.competing_ns > 0.2 * r.window_ns);
	assert_true(r.tasks.involuntary >= 5);
	assert_true(r.tasks.cpu_ns >= 2e8 && r.tasks.cpu_ns < 0.9 * r.window_ns);
	n = noise_warnings(&r, &noise_default_limits, text);
	for (int i = 0; i < n; i++)
		found |= strstr(text[i], "other processes used") != NULL;
	assert_true(found);
}

static void migrations_are_counted(void **state)
{
	pid_t self = getpid();
	struct noise_report r;
	struct noise_window w;
	int cpus[2], n = 0;

	(void)state;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &original))
			cpus[n++] = i;
	if (n < 2)
		skip();
	pin(cpus[0]);
	noise_begin(&w, &self, 1, NULL);
	for (int i = 1; i <= 7; i++)
		pin(cpus[i % 2]);
	noise_end(&w, &r);
	if (isnan(r.tasks.migrations))
		skip(); /* no /proc/PID/sched on this kernel */
	assert_int_equal((int)r.tasks.migrations, 7);
}

static void the_absent_is_unknown(void **state)
{
	char text[NOISE_WARNINGS][NOISE_TEXT];
	struct noise_report r;
	struct noise_window w;
	pid_t gone = fork();
	cpu_set_t none;

	(void)state;
	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	CPU_ZERO(&none);
	CPU_SET(CPU_SETSIZE - 1, &none);
	noise_begin(&w, &gone, 1, &none);
	noise_end(&w, &r);
	assert_true(isnan(r.tasks.involuntary) && isnan(r.tasks.migrations) &&
		    isnan(r.tasks.cpu_ns));
	assert_true(isnan(r.steal_ns) && isnan(r.competing_ns) && isnan(r.freq_khz_before));
	for (int i = 0, n = noise_warnings(&r, &noise_default_limits, text); i < n; i++)
		assert_null(strstr(text[i], "nan"));
}

static struct noise_report quiet_report(void)
{
	struct cpu_probe c = { .loop_ns = 1.5, .loop_spread = 1, .call_ns = 60 };

	return (struct noise_report){ .window_ns = 1e9,
				      .n_cpus = 1,
				      .tick_ns = 1e7,
				      .freq_khz_before = NAN,
				      .freq_khz_after = NAN,
				      .cpu_probe_before = c,
				      .cpu_probe_after = c };
}

static void expect_warning(const struct noise_report *r, const char *what)
{
	char text[NOISE_WARNINGS][NOISE_TEXT];

	assert_int_equal(noise_warnings(r, &noise_default_limits, text), 1);
	assert_non_null(strstr(text[0], what));
}

/* Each cause alone makes exactly its own warning, with its figure. */
static void one_cause_one_warning(void **state)
{
	char text[NOISE_WARNINGS][NOISE_TEXT];
	struct noise_report r = quiet_report();

	(void)state;
	assert_int_equal(noise_warnings(&r, &noise_default_limits, text), 0);
	r.steal_ns = 5e7;
	expect_warning(&r, "host took 50 ms (5.0 %, steal)");
	r = quiet_report();
	r.competing_ns = 4e7;
	expect_warning(&r, "used 40 ms (4.0 %)");
	r.competing_ns = 1.9e7; /* within two ticks: could be rounding */
	assert_int_equal(noise_warnings(&r, &noise_default_limits, text), 0);
	r = quiet_report();
	r.tasks.involuntary = 51;
	assert_int_equal(noise_warnings(&r, &noise_default_limits, text),
			 0); /* nobody else was there */
	r.competing_ns = NAN;
	expect_warning(&r, "51 involuntary");
	r = quiet_report();
	r.tasks.migrations = 1;
	expect_warning(&r, "1 migrations");
	r = quiet_report();
	r.freq_khz_before = 3e6, r.freq_khz_after = 2e6;
	expect_warning(&r, "3000 to 2000 MHz");
	r = quiet_report();
	r.cpu_probe_after.loop_ns = 1.8;
	expect_warning(&r, "+20.0 %");
	r = quiet_report();
	r.cpu_probe_after.call_ns = 90;
	expect_warning(&r, "+50.0 %");
	r = quiet_report();
	r.tracers = 3;
	expect_warning(&r, "3 BPF");
	r = quiet_report();
	r.window_ns = 5e7;
	expect_warning(&r, "took 50 ms: too short");
}

static void canary_is_steady(void **state)
{
	struct cpu_probe a, b;
	double best_ratio = 10;

	(void)state;
	for (int i = 0; i < 20 && best_ratio > 1.05; i++) {
		cpu_probe_run(&a);
		cpu_probe_run(&b);
		best_ratio =
			fmin(best_ratio, fmax(a.loop_ns, b.loop_ns) / fmin(a.loop_ns, b.loop_ns));
	}
	assert_true(best_ratio <= 1.05);
	assert_true(a.loop_ns > 0.1 && a.loop_ns < 100);
	assert_true(a.loop_spread >= 1);
	assert_true(a.call_ns > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(competition_is_seen, restore),
		cmocka_unit_test_teardown(migrations_are_counted, restore),
		cmocka_unit_test(the_absent_is_unknown), cmocka_unit_test(one_cause_one_warning),
		cmocka_unit_test(canary_is_steady),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
