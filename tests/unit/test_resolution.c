// SPDX-License-Identifier: GPL-2.0-only
/* What is said of how well a figure was seen: never more than the backend's hooks can tell, and
 * nothing of what went unseen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tracer/internal.h"

#include <cmocka.h>

static struct trace_endpoint seen_by(enum trace_backend b, bool exact, enum trace_proto proto)
{
	struct trace_endpoint ep = { .proto = proto };

	resolution_fill(&ep, b, exact);
	return ep;
}

static void fentry_with_all_its_hooks_is_exact(void **state)
{
	struct trace_endpoint ep = seen_by(TRACE_FENTRY, true, TRACE_TCP);

	(void)state;
	for (int i = 0; i < TX_N; i++)
		assert_int_equal(ep.tx.resolution[i], TRACE_EXACT);
	for (int i = 0; i < RX_N; i++)
		assert_int_equal(ep.rx.resolution[i], TRACE_EXACT);
}

static void who_looks_back_is_bounded(void **state)
{
	struct trace_endpoint tcp = seen_by(TRACE_FENTRY, false, TRACE_TCP),
			      pipe = seen_by(TRACE_FENTRY, false, TRACE_PIPE);

	(void)state;
	assert_int_equal(tcp.tx.resolution[TX_NAGLE], TRACE_BOUNDED);
	assert_int_equal(tcp.tx.resolution[TX_DEVICE], TRACE_BOUNDED);
	assert_int_equal(tcp.rx.resolution[RX_UNREAD], TRACE_BOUNDED);
	assert_int_equal(tcp.rx.resolution[RX_WAIT], TRACE_EXACT);
	assert_int_equal(pipe.tx.resolution[TX_SNDBUF], TRACE_EXACT);
	assert_int_equal(pipe.rx.resolution[RX_UNREAD], TRACE_EXACT);
}

static void kprobes_are_bounded(void **state)
{
	struct trace_endpoint tcp = seen_by(TRACE_KPROBE, false, TRACE_TCP),
			      pipe = seen_by(TRACE_KPROBE, false, TRACE_PIPE);

	(void)state;
	assert_int_equal(tcp.tx.resolution[TX_RWND], TRACE_BOUNDED);
	assert_int_equal(tcp.tx.resolution[TX_WORK], TRACE_BOUNDED);
	assert_int_equal(pipe.rx.resolution[RX_WORK], TRACE_BOUNDED);
	assert_int_equal(pipe.rx.resolution[RX_WAIT], TRACE_EXACT);
}

/* where nobody's calls are seen, that nobody was in one is no figure; a call that was seen is one,
 * and may not be all */
static void nothing_unseen_is_a_figure(void **state)
{
	struct trace_endpoint ep = seen_by(TRACE_RAWTP, false, TRACE_TCP);

	(void)state;
	ep.tx.ns[TX_IDLE] = ep.tx.ns[TX_WORK] = ep.rx.ns[RX_UNREAD] = ep.rx.ns[RX_IDLE] =
		ep.rx.ns[RX_WAIT] = 1000;
	resolution_unseen(&ep, true, true);
	assert_int_equal(trace_state_resolution(&ep.tx, TX_IDLE, false), TRACE_UNKNOWN);
	assert_int_equal(trace_state_resolution(&ep.tx, TX_SNDBUF, false), TRACE_UNKNOWN);
	assert_int_equal(trace_state_resolution(&ep.rx, RX_UNREAD, true), TRACE_UNKNOWN);
	assert_int_equal(trace_state_resolution(&ep.rx, RX_IDLE, true), TRACE_UNKNOWN);
	assert_int_equal(trace_state_resolution(&ep.tx, TX_WORK, false), TRACE_BOUNDED);
	assert_int_equal(trace_state_resolution(&ep.rx, RX_WAIT, true), TRACE_BOUNDED);
	assert_int_equal(trace_state_resolution(&ep.tx, TX_RWND, false), TRACE_BOUNDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fentry_with_all_its_hooks_is_exact),
		cmocka_unit_test(who_looks_back_is_bounded), cmocka_unit_test(kprobes_are_bounded),
		cmocka_unit_test(nothing_unseen_is_a_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
