// SPDX-License-Identifier: GPL-2.0-only
/* Row 1 of docs/SECURITY.md: memory that processes share ends where nobody may write, and no count
 * in it is believed unchecked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/shared_mem.h"
#include "base/array.h"
#include "base/guarded.h"

/* What a process that writes there ends by; 0: it may. */
static int signal_of_writing(volatile char *at)
{
	struct rlimit none = {};
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL); /* a sanitizer's would report it */
		*at = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void row1_one_byte_further_ends_the_process(void **state)
{
	static const size_t sizes[] = { 8, 128, 4088, 4096, 4104, 131080 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct err e = {};
		char *p = guarded_map(sizes[i], NULL, &e);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 8, 0);
		assert_int_equal(signal_of_writing(p), 0);
		assert_int_equal(signal_of_writing(p + sizes[i] - 1), 0);
		assert_int_equal(signal_of_writing(p + sizes[i]), SIGSEGV);
		assert_int_equal(signal_of_writing(p - 4096), SIGSEGV);
		assert_int_equal(p[0], 1); /* shared: what the other process wrote */
		guarded_unmap(p, sizes[i]);
	}
}

static void row1_more_than_there_can_be_is_refused(void **state)
{
	struct err e = {};

	assert_null(guarded_map(SIZE_MAX, "give less", &e));
	assert_int_equal(e.code, EXIT_NO_RESOURCE);
	guarded_unmap(NULL, 4096);
}

struct rig {
	struct bench_options o;
	struct bench_plan plan;
	struct run run;
};

static void rig_up(struct rig *g, enum test t, bool rate)
{
	struct err e = {};

	memset(g, 0, sizeof(*g));
	bench_defaults(&g->o);
	assert_int_equal(opt_set(opt_find(bench_option_rows, "mode"), &g->o, "tcp", &e), 0);
	g->o.rate = rate ? 1000 : 0;
	g->plan = (struct bench_plan){ .o = g->o };
	g->run = (struct run){ .plan = &g->plan, .w = workloads[g->o.mode], .test = t, .size = 64 };
	assert_int_equal(shared_mem_map(&g->run, &e), 0);
}

static void rig_down(struct rig *g)
{
	shared_mem_unmap(&g->run);
	opt_free(bench_option_rows, &g->o);
}

static void row1_a_sample_too_many_ends_the_process(void **state)
{
	struct rig g;

	rig_up(&g, TEST_ONEWAY, false);
	for (int i = 0; i < ROLES; i++) {
		assert_int_equal(signal_of_writing((char *)&g.run.samples[i][g.run.max_samples]),
				 0);
		assert_int_equal(
			signal_of_writing((char *)&g.run.samples[i][g.run.max_samples + 1]),
			SIGSEGV);
	}
	assert_int_equal(signal_of_writing((char *)&g.run.sh->slices[MAX_SLICES]), SIGSEGV);
	rig_down(&g);
}

/* -1: refused, and the reason says `word`. */
static void judged(struct rig *g, enum role role, const struct tally *t, const char *word)
{
	struct err e = {};
	int rc;

	g->run.sh->tally[role] = *t;
	rc = counts_take(&g->run, role, &e);
	if (rc != (word ? -1 : 0) || (word && !strstr(e.text, word)))
		fail_msg("%s: %d, %s", word ? word : "good", rc, e.text);
}

static void row1_counts_are_checked(void **state)
{
	struct rig g;

	rig_up(&g, TEST_ONEWAY, false);
	for (int i = 0; i < ROLES; i++) {
		judged(&g, (enum role)i,
		       &(struct tally){ .n = g.run.max_samples,
				       .messages = 5,
				       .lost = 5,
				       .n_slices = MAX_SLICES },
		       NULL);
		judged(&g, (enum role)i, &(struct tally){ .n = g.run.max_samples + 1 }, "samples");
		judged(&g, (enum role)i, &(struct tally){ .n = UINT64_MAX }, "samples");
		judged(&g, (enum role)i, &(struct tally){ .n_slices = MAX_SLICES + 1 }, "slices");
		judged(&g, (enum role)i, &(struct tally){ .messages = UINT64_MAX }, "messages");
		judged(&g, (enum role)i, &(struct tally){ .messages = 4, .lost = 5 }, "lost");
		judged(&g, (enum role)i, &(struct tally){ .bytes = 1ull << 63 }, "bytes");
		judged(&g, (enum role)i, &(struct tally){ .reliable.dropped = 1 }, "dropped");
	}
	rig_down(&g);
	rig_up(&g, TEST_THROUGHPUT, false); /* there a server's n is a number of calls */
	judged(&g, ROLE_SERVER, &(struct tally){ .n = g.run.max_samples + 1 }, NULL);
	judged(&g, ROLE_CLIENT, &(struct tally){ .n = g.run.max_samples + 1 }, "samples");
	rig_down(&g);
}

static void row1_a_text_from_an_end_has_an_end(void **state)
{
	struct rig g;
	struct err e = {};

	rig_up(&g, TEST_LATENCY, false);
	memset(g.run.sh->tally[ROLE_SERVER].facts.cc, 'x',
	       sizeof(g.run.sh->tally[ROLE_SERVER].facts.cc));
	assert_int_equal(counts_take(&g.run, ROLE_SERVER, &e), 0);
	assert_int_equal(strlen(g.run.counted[ROLE_SERVER].facts.cc),
			 sizeof(g.run.counted[ROLE_SERVER].facts.cc) - 1);
	rig_down(&g);
}

static void row2_a_product_that_overflows_is_no_memory(void **state)
{
	uint64_t *p = array_new(0, 0, 8);

	assert_non_null(p);
	free(p);
	assert_null(array_new(SIZE_MAX, 1, 1));
	assert_null(array_new(SIZE_MAX, 1, 8));
	assert_null(array_new(SIZE_MAX / 8, 1, 8));
	assert_null(array_new(((size_t)1 << 61) - 1, 1, 8));
	assert_null(array_resize(NULL, SIZE_MAX, 1, 1));
	assert_null(array_resize(NULL, SIZE_MAX / 4, 0, 8));
	p = array_resize(NULL, 3, 1, 8);
	assert_non_null(p);
	p[3] = 1;
	free(p);
	assert_int_equal(product(INT64_MAX, 2), INT64_MAX);
	assert_int_equal(product(4096, 1 << 30), (int64_t)4096 << 30);
	assert_int_equal(sum(INT64_MAX, 1), INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row1_one_byte_further_ends_the_process),
		cmocka_unit_test(row1_more_than_there_can_be_is_refused),
		cmocka_unit_test(row1_a_sample_too_many_ends_the_process),
		cmocka_unit_test(row1_counts_are_checked),
		cmocka_unit_test(row1_a_text_from_an_end_has_an_end),
		cmocka_unit_test(row2_a_product_that_overflows_is_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
