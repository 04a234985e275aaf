// SPDX-License-Identifier: GPL-2.0-only
/* What the endpoints of one process have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "verdict/processes.h"

#define ENDS 60

static struct trace_call_stats calls(unsigned int k)
{
	struct trace_call_stats b = { .tgid = (pid_t)(k * 7 % 5), .bytes = k % 3 };

	b.bytes_res = k % 11 ? TRACE_EXACT : TRACE_UNKNOWN;
	b.no_cpu_res = k % 2 ? TRACE_EXACT : TRACE_UNKNOWN;
	b.stopped_ns = 1000 * k;
	b.open_stop_ns = k % 13 ? 0 : 7;
	return b;
}

static void the_index_knows_what_a_search_finds(void **state)
{
	struct trace_endpoint ep[ENDS] = {};
	struct trace_snapshot s = { .ep = ep, .n = ENDS };
	struct processes all;

	for (unsigned int i = 0; i < ENDS; i++) {
		ep[i].tx_calls = calls(i);
		ep[i].rx_calls = calls(3 * i + 1);
		ep[i].rx.resolution[RX_IDLE] = i % 2 ? TRACE_BY_SAMPLES : TRACE_EXACT;
	}
	all = processes_find(&s);
	assert_int_equal(all.n, 4); /* nobody is no process */
	for (pid_t tgid = 0; tgid < 6; tgid++) {
		struct process searched = process_of(&s, tgid), found;

		s.processes = &all;
		found = process_of(&s, tgid);
		s.processes = NULL;
		assert_int_equal(found.tgid, tgid);
		assert_int_equal(found.reads, searched.reads);
		assert_int_equal(found.writes, searched.writes);
		assert_int_equal(found.stopped_ns, searched.stopped_ns);
		assert_int_equal(found.uncounted, searched.uncounted);
	}
	free(all.v);
}

static void a_stop_counts_where_it_is_known(void **state)
{
	struct trace_endpoint ep[2] = {};
	struct trace_snapshot s = { .ep = ep, .n = 2 };

	ep[0].rx_calls.tgid = ep[1].tx_calls.tgid = 9;
	ep[0].rx_calls.stopped_ns = 500;
	assert_int_equal(process_of(&s, 9).stopped_ns, 0);
	ep[0].rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep[1].tx_calls.open_stop_ns = 300;
	assert_int_equal(process_of(&s, 9).stopped_ns, 500);
	ep[1].tx_calls.stopped_ns = 300;
	assert_int_equal(process_of(&s, 9).stopped_ns, 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_index_knows_what_a_search_finds),
		cmocka_unit_test(a_stop_counts_where_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
