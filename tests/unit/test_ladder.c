// SPDX-License-Identifier: GPL-2.0-only
/* On a clock: each_rung_is_higher, cpu_rungs, loopback_round_trip_is_more_than_one_way */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <cmocka.h>

#include "host/ladder.h"
#include "stats/stats.h"

static struct ladder l;

static int setup(void **state)
{
	ladder_init(&l, "/var/tmp", 1);
	return 0;
}

static int teardown(void **state)
{
	ladder_free(&l);
	return 0;
}

static double best(int (*rung)(struct ladder *))
{
	int n = rung(&l);
	double min = INFINITY;

	for (int i = 0; i < n; i++)
		min = fmin(min, l.ns[i]);
	return n > 0 ? min : NAN;
}

/* The reason for a ladder: each level is slower than the one above it. An unmeasured loop would
 * show as 0 or out of order. */
static void each_rung_is_higher(void **state)
{
	double l1 = best(rung_l1), l2 = best(rung_l2), memory = best(rung_memory);

	assert_true(l1 > 0.2);
	if (!isnan(l2))
		assert_true(l2 > 1.5 * l1);
	assert_true(memory > 3 * l1);
	if (!isnan(l2))
		assert_true(memory > 1.5 * l2);
	assert_true(best(rung_memory_1m) > 5000); /* 200 GB/s for one core would be news */
}

static void cpu_rungs(void **state)
{
	double z = best(rung_deflate), m = best(rung_mutex), b = best(rung_branch_miss);

	assert_true(m > 1 && m < 1000);
	assert_true(z > 500);
	assert_true(b > 0.5 && b < 500);
}

static void loopback_round_trip_is_more_than_one_way(void **state)
{
	double there = best(rung_send_1k), round = best(rung_rtt);

	assert_true(there > 200);
	assert_true(round > there);
}

static void disk_reads_or_says_why(void **state)
{
	int n = rung_disk_4k(&l);

	if (n < 0) {
		assert_true(strlen(l.why) > 10);
		skip();
	}
	assert_true(n > 10 && l.ns[0] > 1000);
	assert_non_null(strstr(l.why, "/var/tmp"));
}

static void no_disk_is_told(void **state)
{
	l.dir = "/nonexistent";
	assert_int_equal(rung_disk_4k(&l), -1);
	assert_non_null(strstr(l.why, "choose another --dir"));
	l.dir = "/dev/shm";
	assert_int_equal(rung_disk_1m(&l), -1);
	l.dir = "/var/tmp";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rung_is_higher), cmocka_unit_test(cpu_rungs),
		cmocka_unit_test(loopback_round_trip_is_more_than_one_way),
		cmocka_unit_test(disk_reads_or_says_why), cmocka_unit_test(no_disk_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
