// SPDX-License-Identifier: GPL-2.0-only
/* Timelines, lists of stalls, names of addresses: what is kept, in which order, and what is said of
 * the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/stalls.h"
#include "verdict/timeline.h"
#include "render/ledger_outputs.h"
#include "tracer/symbols.h"

static void step(struct timeline *t, uint64_t serial, bool rx, uint64_t at, uint64_t ns,
		 unsigned int from)
{
	struct trace_transition tr = { .serial = serial, .at_ns = at, .ns = ns, .rx = rx,
		.from = (uint8_t)from };

	timeline_add(t, &tr);
}

/* an endpoint that sent something, in `now` since `since`, looked at at `at` */
static struct trace_endpoint endpoint(uint64_t serial, uint64_t since, uint64_t at)
{
	struct trace_endpoint ep = { .serial = serial, .born_ns = 100, .at_ns = at };

	ep.tx_calls.bytes = 1;
	ep.tx.now = TX_IDLE;
	ep.rx.now = RX_IDLE;
	ep.tx.since_ns = since;
	ep.rx.since_ns = 100;
	return ep;
}

static void spans_follow_from_the_steps(void **state)
{
	struct timeline t = { .max = 100 };
	struct trace_endpoint ep[] = { endpoint(1, 350, 400), endpoint(2, 100, 400) };
	struct trace_snapshot end = { .n = 2, .ep = ep };
	struct spans s;

	ep[1].tx_calls.bytes = 0;		/* did nothing: not told of */
	step(&t, 1, false, 350, 50, TX_FLIGHT); /* reported late, by another processor */
	step(&t, 1, false, 200, 100, TX_IDLE);
	step(&t, 1, false, 300, 100, TX_NAGLE);
	step(&t, 1, false, 300, 0, TX_WORK); /* no time passed */
	step(&t, 2, false, 150, 50, TX_IDLE);
	step(&t, 1, false, 450, 100, TX_IDLE); /* taken after the snapshot */
	step(&t, 1, true, 400, 300, RX_IDLE);  /* the same, dated back to it */
	step(&t, 3, false, 380, 10, TX_WORK);  /* an endpoint that the snapshot does not know */
	assert_int_equal(timeline_spans(&t, &end, &s), 0);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.end, 400);
	for (size_t i = 0; i < 3; i++)
		assert_true(s.v[i].joined && s.v[i].end == s.v[i + 1].start);
	assert_int_equal(s.v[1].state, TX_NAGLE);
	assert_int_equal(s.v[3].state, TX_IDLE);
	assert_false(s.v[3].joined);
	assert_true(s.v[3].lasts && !s.v[2].lasts);
	assert_true(s.v[4].rx && s.v[4].start == 100 && s.v[4].end == 400);
	spans_free(&s);
	timeline_free(&t);
}

/* as probe_proves() reports it: after the flight's end, by two steps of before */
static void what_flew_and_was_lost_is_cut_out_of_the_flight(void **state)
{
	struct timeline t = { .max = 100 };
	struct trace_endpoint ep = endpoint(1, 500, 500);
	struct trace_snapshot end = { .n = 1, .ep = &ep };
	struct spans s;

	step(&t, 1, false, 200, 100, TX_FLIGHT);
	step(&t, 1, false, 300, 100, TX_FLIGHT); /* of this, from its beginning to 290 */
	step(&t, 1, false, 500, 200, TX_DEVICE);
	step(&t, 1, false, 200, 0, TX_FLIGHT);
	step(&t, 1, false, 290, 90, TX_RECOVERY);
	assert_int_equal(timeline_spans(&t, &end, &s), 0);
	assert_int_equal(s.v[0].state, TX_FLIGHT);
	assert_int_equal(s.v[1].state, TX_RECOVERY);
	assert_true(s.v[1].start == 200 && s.v[1].end == 290);
	assert_int_equal(s.v[2].state, TX_FLIGHT);
	assert_true(s.v[2].start == 290 && s.v[2].end == 300);
	assert_int_equal(s.v[3].state, TX_DEVICE);
	assert_true(s.v[0].joined && s.v[1].joined && s.v[2].joined);
	spans_free(&s);
	timeline_free(&t);
}

static void a_flight_that_lasts_can_have_been_lost_in_part(void **state)
{
	struct timeline t = { .max = 100 };
	struct trace_endpoint ep = endpoint(1, 200, 500);
	struct trace_snapshot end = { .n = 1, .ep = &ep };
	struct spans s;

	ep.tx.now = TX_FLIGHT;
	step(&t, 1, false, 250, 0, TX_FLIGHT);
	step(&t, 1, false, 400, 150, TX_RECOVERY);
	assert_int_equal(timeline_spans(&t, &end, &s), 0);
	assert_true(s.v[0].state == TX_FLIGHT && s.v[0].end == 250 && s.v[0].joined &&
		    !s.v[0].lasts);
	assert_true(s.v[1].state == TX_RECOVERY && s.v[1].end == 400 && s.v[1].joined);
	assert_true(s.v[2].state == TX_FLIGHT && s.v[2].end == 500 && s.v[2].lasts);
	spans_free(&s);
	timeline_free(&t);
}

static void a_lost_step_leaves_a_gap(void **state)
{
	struct timeline t = { .max = 100 };
	struct trace_endpoint ep = endpoint(1, 350, 400);
	struct trace_snapshot end = { .n = 1, .ep = &ep };
	struct spans s;

	step(&t, 1, false, 200, 100, TX_IDLE);
	step(&t, 1, false, 350, 50, TX_FLIGHT);
	assert_int_equal(timeline_spans(&t, &end, &s), 0);
	assert_false(s.v[0].joined);
	assert_true(s.v[1].joined);
	spans_free(&s);
	timeline_free(&t);
}

static void the_newest_stay(void **state)
{
	struct timeline t = { .max = 5000 };

	for (uint64_t i = 0; i < 12345; i++)
		step(&t, i, false, i, 1, TX_IDLE);
	assert_int_equal(t.n, 5000);
	assert_int_equal(t.dropped, 7345);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(timeline_at(&t, i)->serial, 7345 + i);
	timeline_free(&t);
}

static void equal_texts_are_kept_once(void **state)
{
	struct stalls l = { .max = 3 };
	char text[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			struct stall st = { .s.serial = (uint64_t)i };

			snprintf(text, sizeof(text), "frame %d\n", i);
			st.stack[STACK_USER] = stalls_text(&l, text);
			assert_string_equal(st.stack[STACK_USER], text);
			stalls_add(&l, &st);
		}
	}
	assert_null(stalls_text(&l, ""));
	assert_int_equal(l.n_texts, 1000);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.dropped, 1997);
	assert_int_equal(stalls_at(&l, 0)->s.serial, 997);
	stalls_free(&l);
}

static void a_stall_says_what_is_known(void **state)
{
	struct stall st = { .s = { .from_ns = 1000, .to_ns = 40001000, .state = TX_NAGLE, .tgid = 7,
		.comm = "writer" } };
	json_t *o = stall_to_json(&st);
	char line[512];

	assert_true(json_is_null(json_object_get(o, "held")));
	assert_true(json_is_null(json_object_get(o, "peer_ack")));
	assert_true(json_is_null(json_object_get(o, "released_by")));
	assert_true(json_is_null(json_object_get(o, "peer_unread_ns")));
	assert_true(json_is_null(json_object_get(o, "user_stack")));
	json_decref(o);
	stall_line(&st, line, sizeof(line));
	assert_string_equal(line, "stall: 40.0 ms nagle of writer[7]");

	st.s.held = (struct trace_held){ .known = true, .queued = 1000, .small = 16 };
	st.s.by_delack = TRACE_DELACK_FIRED;
	st.s.peer_tgid = 8;
	st.s.peer_serial = 2;
	memcpy(st.s.peer_comm, "reader", 7);
	st.s.ack_owed_ns = 1000;
	st.s.ack_went_ns = 40000000;
	st.s.ack_at_ns = 40000500;
	st.s.ack_bytes = 16;
	st.stack[STACK_USER] = "write+0x10 (libc.so.6)\nmain+0x5 (a)\n";
	stall_line(&st, line, sizeof(line));
	assert_string_equal(line, "stall: 40.0 ms nagle of writer[7], kept waiting by reader[8] "
				  "(its delayed ACK): 1000 B held behind 16 B of small "
				  "segments not acknowledged; NODELAY off, CORK off; the peer owed "
				  "an ACK for 40.0 ms until its timer fired; ended "
				  "by the ACK of 16 B");
	o = stall_to_json(&st);
	assert_int_equal(json_array_size(json_object_get(o, "user_stack")), 2);
	assert_string_equal(json_string_value(json_object_get(o, "blamed")), "peer delayed ACK");
	json_decref(o);
}

static int64_t number_of(const json_t *o, const char *of, const char *name)
{
	const json_t *v = json_object_get(json_object_get(o, of), name);

	return v && json_is_integer(v) ? json_integer_value(v) : -1;
}

/* the ACK went on the peer's own data, before its timer fired */
static void an_ack_that_rode_says_so(void **state)
{
	struct stall st = { .s = { .serial = 1,
				   .from_ns = 1000,
				   .to_ns = 15000000,
				   .state = TX_NAGLE,
				   .tgid = 7,
				   .by_delack = TRACE_DELACK_RODE,
				   .ack_owed_ns = 2000,
				   .ack_went_ns = 14002000,
				   .peer_serial = 2,
				   .peer_tgid = 8,
				   .comm = "writer",
				   .peer_comm = "broker" } };
	json_t *o = stall_to_json(&st);
	char line[512];

	assert_int_equal(number_of(o, "peer_ack", "rode_ns"), 14002000);
	assert_int_equal(number_of(o, "peer_ack", "withheld_ns"), 14000000);
	assert_int_equal(number_of(o, "peer_ack", "timer_fired_ns"), -1);
	assert_string_equal(json_string_value(json_object_get(o, "blamed")), "peer delayed ACK");
	json_decref(o);
	stall_line(&st, line, sizeof(line));
	assert_string_equal(line, "stall: 15.0 ms nagle of writer[7], kept waiting by broker[8] "
				  "(its delayed ACK); the peer owed an ACK for 14.0 ms "
				  "until it had data to send with it");
	st.s.state = TX_RWND; /* a withheld ACK shuts no window */
	assert_int_equal(stall_blamed(&st.s), BLAME_NOBODY);
}

/* The program keeps its symbols for life. */
static void symbols_free(struct symbols *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
	*s = (struct symbols){};
}

/* the nearest one below, within its size; size 0 reaches up to the next */
static void symbols_are_found_by_address(void **state)
{
	struct symbols s = {};

	assert_true(symbols_add(&s, 300, 10, "c") && symbols_add(&s, 100, 0, "a") &&
		    symbols_add(&s, 200, 10, "b"));
	symbols_sort(&s);
	assert_null(symbols_find(&s, 99));
	assert_string_equal(symbols_find(&s, 100)->name, "a");
	assert_string_equal(symbols_find(&s, 199)->name, "a");
	assert_string_equal(symbols_find(&s, 209)->name, "b");
	assert_null(symbols_find(&s, 210));
	assert_null(symbols_find(&s, 310));
	symbols_free(&s);
}

static void files_have_symbols(void **state)
{
	struct symbols s = {};
	bool here = false;

	assert_true(symbols_of_file("/proc/self/exe", &s));
	for (size_t i = 0; i < s.n; i++)
		here |= !strcmp(s.v[i].name, "files_have_symbols");
	assert_true(here);
	symbols_free(&s);
	assert_false(symbols_of_file("/dev/null", &s));
	assert_false(symbols_of_file("/etc/passwd", &s));
	assert_false(symbols_of_file("/nonexistent", &s));
	assert_int_equal(s.n, 0);
	symbols_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_follow_from_the_steps),
		cmocka_unit_test(what_flew_and_was_lost_is_cut_out_of_the_flight),
		cmocka_unit_test(a_flight_that_lasts_can_have_been_lost_in_part),
		cmocka_unit_test(a_lost_step_leaves_a_gap), cmocka_unit_test(the_newest_stay),
		cmocka_unit_test(equal_texts_are_kept_once),
		cmocka_unit_test(a_stall_says_what_is_known),
		cmocka_unit_test(an_ack_that_rode_says_so),
		cmocka_unit_test(symbols_are_found_by_address),
		cmocka_unit_test(files_have_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
