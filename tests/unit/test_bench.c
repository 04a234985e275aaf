// SPDX-License-Identifier: GPL-2.0-only
/* The benchmark's pure parts: patterns, plans, and figures from made-up tallies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run.h"
#include "render/sink.h"

static struct bench_options options(const char *mode)
{
	struct bench_options o;
	struct err e = {};

	bench_defaults(&o);
	assert_int_equal(opt_set(opt_find(bench_option_rows, "mode"), &o, mode, &e), 0);
	return o;
}

static void patterns(void **state)
{
	static const struct {
		const char *text;
		enum pattern_kind kind;
		int64_t bytes;
	} good[] = {
		{ "single", PATTERN_SINGLE, 0 }, { "header", PATTERN_HEADER, 16 },
			{ "header=1", PATTERN_HEADER, 1 },
		{ "trailer", PATTERN_TRAILER, 4 }, { "trailer=1K", PATTERN_TRAILER, 1024 },
			{ "chunks=4096", PATTERN_CHUNKS, 4096 },
	};
	static const char *const bad[] = { "", "=", "chunks", "chunks=", "chunks=0", "chunks=-1",
		"header=", "single=1", "singles", "headers=4", "chunks=2G" };
	struct pattern p;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct err e = {};

		assert_int_equal(pattern_parse(good[i].text, &p, &e), 0);
		assert_int_equal(p.kind, good[i].kind);
		assert_int_equal(p.bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {};

		assert_int_equal(pattern_parse(bad[i], &p, &e), -1);
		assert_int_equal(e.code, EXIT_BAD_USAGE);
		assert_null(strchr(e.text, '\n'));
	}
}

static void nodelay_is_for_single_questions(void **state)
{
	struct bench_options o = options("tcp");
	struct bench_plan p;
	struct err e = {};

	assert_int_equal(bench_plan(&o, &p, &e), 0);
	assert_true(bench_nodelay(&p, TEST_LATENCY));
	assert_true(bench_nodelay(&p, TEST_ONEWAY));
	assert_false(bench_nodelay(&p, TEST_THROUGHPUT));
	p.pattern.kind = PATTERN_HEADER;
	assert_false(bench_nodelay(&p, TEST_LATENCY));
	p.o.nodelay = true;
	assert_true(bench_nodelay(&p, TEST_THROUGHPUT));
	p.o.nodelay = false;
	p.o.nagle = true;
	p.pattern.kind = PATTERN_SINGLE;
	assert_false(bench_nodelay(&p, TEST_LATENCY));
	opt_free(bench_option_rows, &o);
}

static void placement_follows_the_cpus(void **state)
{
	struct bench_options o = options("pipe");
	struct bench_plan p;
	struct err e = {};

	assert_int_equal(bench_plan(&o, &p, &e), 0);
	assert_int_equal(p.placement, PLACE_SAME);
	assert_int_equal(p.cpus[0], p.cpus[1]);
	o.cpus = (struct cpu_pair){ p.cpus[0], p.cpus[0] };
	assert_int_equal(bench_plan(&o, &p, &e), 0);
	assert_int_equal(p.placement, PLACE_SAME);
	o.placement = PLACE_SPIN;
	assert_int_equal(bench_plan(&o, &p, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_USAGE);
	opt_free(bench_option_rows, &o);
}

static void default_sizes_are_the_ten(void **state)
{
	struct bench_options o = options("pipe");

	assert_int_equal(o.sizes.n, 10);
	assert_int_equal(o.sizes.v[0], 4);
	assert_int_equal(o.sizes.v[9], 512 * 1024);
	opt_free(bench_option_rows, &o);
}

struct scene {
	struct bench_options o;
	struct bench_plan plan;
	struct run run;
	struct point point;
	struct err e;
};

/* A run whose ticks are nanoseconds, with room for samples. */
static struct scene *scene(const char *mode, enum test t, size_t size)
{
	struct scene *s = calloc(1, sizeof(*s));

	s->o = options(mode);
	assert_int_equal(bench_plan(&s->o, &s->plan, &s->e), 0);
	tick_clock_monotonic(&s->run.clock, "test");
	s->run.plan = &s->plan;
	s->run.w = s->plan.w;
	s->run.test = s->point.test = t;
	s->run.size = size;
	s->run.sh = aligned_alloc(128, sizeof(*s->run.sh));
	memset(s->run.sh, 0, sizeof(*s->run.sh));
	for (int i = 0; i < ROLES; i++)
		s->run.samples[i] = calloc(1000, sizeof(uint64_t));
	return s;
}

static void scene_free(struct scene *s)
{
	point_free(&s->point);
	opt_free(bench_option_rows, &s->o);
	free(s->run.sh);
	free(s->run.samples[0]);
	free(s->run.samples[1]);
	free(s);
}

static void latency_is_half_a_round_trip(void **state)
{
	struct scene *s = scene("tcp", TEST_LATENCY, 64);
	struct tally *c = &s->run.counted[ROLE_CLIENT];

	*c = (struct tally){
		.n = 101, .messages = 101, .bytes = 101 * 64, .from = 1000, .to = 1000 + 101 * 200
	};
	for (int i = 0; i < 101; i++)
		s->run.samples[ROLE_CLIENT][i] = 200 + 2 * (uint64_t)i;
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_true(s->point.latency.s.min == 100);
	assert_true(s->point.latency.s.median == 150);
	assert_true(s->point.latency.s.max == 200);
	assert_int_equal(s->point.latency.histogram->count, 101);
	assert_int_equal(s->point.elapsed_ns, 101 * 200);
	scene_free(s);
}

/* Each end's part is of the handshakes that its TCP measured; a round trip below 1 us is 0, and not
 * unknown. */
static void a_handshake_has_its_parts(void **state)
{
	struct scene *s = scene("tcp", TEST_CONNECT, 0);
	struct tally *c = &s->run.counted[ROLE_CLIENT];
	uint32_t syn[1000] = {}, synack[1000] = {};

	*c = (struct tally){ .n = 101, .messages = 101, .from = 0, .to = 101 * 200 };
	for (uint32_t i = 0; i < 101; i++) {
		s->run.samples[ROLE_CLIENT][i] = 200;
		syn[i] = 1 + i;
		synack[i] = i % 2 ? 0 : 1 + 7;
	}
	s->run.rtt[ROLE_CLIENT] = syn;
	s->run.rtt[ROLE_SERVER] = synack;
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_true(s->point.latency.has_syn && s->point.latency.has_synack);
	assert_int_equal(s->point.latency.syn.n, 101);
	assert_true(s->point.latency.syn.min == 0 && s->point.latency.syn.median == 50000);
	assert_int_equal(s->point.latency.synack.n, 51);
	assert_true(s->point.latency.synack.median == 7000);
	scene_free(s);
}

static void both_ways_add_up(void **state)
{
	struct scene *s = scene("tcp", TEST_ONEWAY, 64);
	struct tally *c = &s->run.counted[ROLE_CLIENT], *v = &s->run.counted[ROLE_SERVER];
	uint64_t at = 5000;

	*c = (struct tally){ .n = 200, .messages = 200, .from = at, .to = at + 200 * 100 };
	v->n = 200;
	for (int i = 0; i < 200; i++, at += 100) {
		s->run.samples[ROLE_SERVER][i] = at + 30;
		s->run.samples[ROLE_CLIENT][i] = 100;
	}
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_true(s->point.latency.has_directions);
	assert_true(s->point.latency.there.median == 30);
	assert_true(s->point.latency.back.median == 70);
	scene_free(s);
}

static void lost_messages_leave_no_sample(void **state)
{
	struct scene *s = scene("udp", TEST_ONEWAY, 64);
	struct tally *c = &s->run.counted[ROLE_CLIENT];

	s->plan.o.rate = 1000;
	*c = (struct tally){ .n = 150, .messages = 150, .from = 0, .to = 150000 };
	for (uint64_t i = 0; i < 150; i++) {
		s->run.samples[ROLE_CLIENT][i] = 1 + i * 1000;
		s->run.samples[ROLE_SERVER][i] = i % 3 ? 1 + i * 1000 + 40 : 0;
	}
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_int_equal(s->point.lost, 50);
	assert_int_equal(s->point.latency.s.n, 100);
	assert_true(s->point.latency.s.max == 40);
	scene_free(s);
}

static void throughput_is_what_was_received(void **state)
{
	struct scene *s = scene("udp", TEST_THROUGHPUT, 1000);
	struct tally *c = &s->run.counted[ROLE_CLIENT], *v = &s->run.counted[ROLE_SERVER];

	*c = (struct tally){ .messages = 4000, .bytes = 4000000, .from = 0, .to = 2000000 };
	*v = (struct tally){
		.messages = 1000, .bytes = 1000000, .from = 500000, .to = 1500000, .n_slices = 4
	};
	for (int i = 0; i < 4; i++)
		s->run.sh->slices[i] = (struct slice){ 250000, 250000 };
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_true(fabs(s->point.throughput.bytes_per_s - 1e9) < 1);
	assert_true(fabs(s->point.throughput.ci.lo - 1e9) < 1 &&
		    fabs(s->point.throughput.ci.hi - 1e9) < 1);
	assert_int_equal(s->point.lost, 3000);
	assert_true(isnan(s->point.throughput.acked_bytes_per_s));
	scene_free(s);
}

/* A run with an acknowledgement for each message: as many trials as were asked for, and every
 * message in one of them. */
static struct scene *acked_scene(int64_t trials, uint64_t n, uint64_t ticks)
{
	struct scene *s = scene("unix", TEST_THROUGHPUT, 1000);

	s->plan.o.ack = ACK_MESSAGE;
	s->plan.o.trials = trials;
	s->run.counted[ROLE_CLIENT] = (struct tally){
		.n = n, .messages = n, .bytes = 1000 * n, .from = 7, .to = 7 + ticks
	};
	return s;
}

static void a_window_has_trials(void **state)
{
	struct scene *s = acked_scene(5, 200, 50 * 1000000);
	const struct throughput_result *t = &s->point.throughput;

	s->plan.o.outstanding = 4;
	for (int i = 0; i < 200; i++)
		s->run.samples[ROLE_CLIENT][i] =
			i < 100 ? 500000 : 1500000; /* the second half is slower */
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_int_equal(t->n_trials, 5);
	assert_true(t->trials[0] > 7.9e6 && t->trials[0] < 8.1e6);
	assert_true(t->trials[4] > 2.6e6 && t->trials[4] < 2.7e6);
	assert_true(t->ci.lo < 4e6 && t->ci.hi > 4e6 && t->ci.lo > 2.6e6 && t->ci.hi < 8.1e6);
	scene_free(s);
}

/* One in ten is lost; the one before the last is late, and the last one is when it was meant to be.
 */
static void a_schedule_has_trials(void **state)
{
	struct scene *s = acked_scene(10, 100, 100 * 1000);
	const struct throughput_result *t = &s->point.throughput;

	s->plan.o.rate = 1e6;
	s->run.counted[ROLE_CLIENT].lost = 10;
	for (uint64_t i = 0; i < 100; i++)
		s->run.samples[ROLE_CLIENT][i] =
			(i == 98 ? 1700 : 300) | (i % 10 == 5 ? SAMPLE_LOST : 0);
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_int_equal(t->n_trials, 10);
	for (size_t i = 0; i < 10; i++)
		assert_true(fabs(t->trials[i] - 9e8) < 1);
	assert_int_equal(s->point.latency.s.n, 90);
	assert_true(s->point.latency.s.max == 1700);
	scene_free(s);
}

static void nothing_received_is_unknown(void **state)
{
	struct scene *s = scene("udp", TEST_LATENCY, 64);
	json_t *j;

	s->run.counted[ROLE_CLIENT] =
		(struct tally){ .n = 0, .messages = 3, .lost = 3, .from = 1, .to = 100 };
	s->point.mode = "udp";
	s->point.placement = "same";
	assert_int_equal(summarise_point(&s->run, &s->point, &s->e), 0);
	assert_false(s->point.latency.present);
	assert_true(s->point.n_warnings > 0);
	j = json_of_point(&s->point, NULL);
	assert_true(json_is_null(json_object_get(j, "latency")));
	assert_true(json_is_null(json_object_get(j, "ledger")));
	json_decref(j);
	scene_free(s);
}

static void schema_has_points(void **state)
{
	json_t *j = result_schema();

	assert_non_null(j);
	assert_non_null(json_object_get(json_object_get(j, "$defs"), "point"));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns), cmocka_unit_test(nodelay_is_for_single_questions),
		cmocka_unit_test(placement_follows_the_cpus),
		cmocka_unit_test(default_sizes_are_the_ten),
		cmocka_unit_test(latency_is_half_a_round_trip),
		cmocka_unit_test(a_handshake_has_its_parts), cmocka_unit_test(both_ways_add_up),
		cmocka_unit_test(lost_messages_leave_no_sample),
		cmocka_unit_test(throughput_is_what_was_received),
		cmocka_unit_test(a_window_has_trials), cmocka_unit_test(a_schedule_has_trials),
		cmocka_unit_test(nothing_received_is_unknown), cmocka_unit_test(schema_has_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
