// SPDX-License-Identifier: GPL-2.0-only
/* What /proc tells of a process's threads, from one time to the next. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/process_cpu.h"

#define BUSY_NS 30000000

struct worker {
	pthread_t thread;
	pid_t tid;
	sem_t begins, go, done, end;
};

static void compute(void)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < BUSY_NS);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = gettid();
	sem_post(&w->begins);
	sem_wait(&w->go);
	compute();
	sem_post(&w->done);
	sem_wait(&w->end);
	return NULL;
}

static void start(struct worker *w)
{
	sem_init(&w->begins, 0, 0);
	sem_init(&w->go, 0, 0);
	sem_init(&w->done, 0, 0);
	sem_init(&w->end, 0, 0);
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
	sem_wait(&w->begins);
}

static void the_thread_that_ran_is_told_from_others(void **state)
{
	struct cpu_book before, after, none = {};
	pid_t self = getpid();
	struct thread_cpu did;
	struct worker w;

	start(&w);
	cpu_book_make(&before, &none, &self, 1);
	assert_false(cpu_book_thread(&before, &none, self, 0, &did)); /* nothing to compare with */
	sem_post(&w.go);
	sem_wait(&w.done);
	cpu_book_make(&after, &before, &self, 1);
	assert_int_equal(cpu_book_find(&after, self)->n_threads, 2);
	assert_true(cpu_book_thread(&after, &before, self, w.tid, &did));
	assert_true(did.ran_ns >= BUSY_NS * 9 / 10);
	assert_true(cpu_book_thread(&after, &before, self, self, &did));
	assert_true(did.ran_ns < BUSY_NS);
	assert_true(cpu_book_thread(&after, &before, self, 0, &did)); /* the busiest */
	assert_int_equal(did.tid, w.tid);
	assert_false(cpu_book_thread(&after, &before, self, 1, &did));
	sem_post(&w.end);
	pthread_join(w.thread, NULL);
	cpu_book_free(&before);
	cpu_book_free(&after);
}

static void a_stop_is_seen_at_both_times(void **state)
{
	struct cpu_book first, second, third, none = {};
	pid_t child = fork();

	if (!child) {
		for (;;)
			pause();
	}
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	cpu_book_make(&first, &none, &child, 1);
	cpu_book_make(&second, &first, &child, 1);
	assert_true(cpu_book_find(&first, child)->stopped);
	assert_false(cpu_book_find(&first, child)->was_stopped);
	assert_true(cpu_book_find(&second, child)->was_stopped);
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, NULL, WCONTINUED), child);
	cpu_book_make(&third, &second, &child, 1);
	assert_false(cpu_book_find(&third, child)->stopped);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	cpu_book_free(&first);
	cpu_book_free(&second);
	cpu_book_make(&second, &third, &child, 1); /* gone */
	assert_null(cpu_book_find(&second, child));
	cpu_book_free(&second);
	cpu_book_free(&third);
}

static bool say(const char *folder, const char *file, const char *word)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "r+"); /* the kernel has made it, or this is no cgroup */
	if (!f)
		return false;
	fputs(word, f);
	return !fclose(f);
}

static bool is_seen_stopped(pid_t child)
{
	struct cpu_book book, none = {};
	bool stopped;

	cpu_book_make(&book, &none, &child, 1);
	stopped = cpu_book_find(&book, child)->stopped;
	cpu_book_free(&book);
	return stopped;
}

static void who_is_frozen_is_stopped(void **state)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char folder[200], pid[24];
	pid_t child = fork();
	bool frozen = false;

	(void)state;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(pid, sizeof(pid), "%d", child);
	for (int i = 0; i < 2 && !frozen; i++) {
		snprintf(folder, sizeof(folder), "%s/ipcstall-test-%d", mounts[i], child);
		frozen = !mkdir(folder, 0755) && say(folder, "cgroup.procs", pid) &&
			 say(folder, "cgroup.freeze", "1");
		if (!frozen)
			rmdir(folder);
	}
	alarm(60);
	while (frozen && !is_seen_stopped(child))
		;
	while (frozen && say(folder, "cgroup.freeze", "0") && is_seen_stopped(child))
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (frozen && rmdir(folder) && errno == EBUSY)
		;
	alarm(0);
	if (!frozen)
		skip(); /* no cgroup v2 that may be written */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_thread_that_ran_is_told_from_others),
		cmocka_unit_test(a_stop_is_seen_at_both_times),
		cmocka_unit_test(who_is_frozen_is_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
