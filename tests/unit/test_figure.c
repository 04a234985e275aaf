// SPDX-License-Identifier: GPL-2.0-only
/* The rows of an endpoint's figures: what each pass over them does with each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "recording/codec.h"
#include "render/ledger_text.h"
#include "tracer/figure.h"

static const struct figures *const sets[] = { &figures_of_calls, &figures_of_endpoint };

#define EACH_ROW(s, f) \
	for (size_t i_ = 0; i_ < 2; i_++) \
		for (const struct figures *s = sets[i_]; s; s = NULL) \
			for (const struct figure *f = s->v; f < s->v + s->n; f++)

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void names_say_their_unit(void **state)
{
	EACH_ROW(s, f)
	{
		if (!f->key)
			continue;
		assert_int_equal(ends_with(f->key, "_ns"), f->unit == UNIT_NS);
		assert_int_equal(ends_with(f->key, "_us"), f->unit == UNIT_US);
		assert_int_equal(ends_with(f->key, "_bytes_per_s"), f->unit == UNIT_BYTES_PER_S);
		assert_true(f->unit != UNIT_NUMBER && f->unit != UNIT_TEXT);
		assert_int_equal(f->unit == UNIT_NONE, f->kind == FIGURE_FLAG);
	}
}

static void each_key_stands_once(void **state)
{
	EACH_ROW(s, f)
	{
		for (const struct figure *other = f + 1; other < s->v + s->n; other++)
			assert_false(f->key && other->key &&
				     !strcmp(f->key + (*f->key == '~'),
					     other->key + (*other->key == '~')));
	}
}

/* Every byte of the two is told apart: what a sum adds up has grown, all else has stayed. */
static void only_sums_subtract(void **state)
{
	static struct trace_endpoint before, after, phase;

	memset(&before, 1, sizeof(before));
	memset(&after, 3, sizeof(after));
	phase = after;
	figures_add(&figures_of_endpoint, &phase, &before, -1);
	for (size_t i = 0; i < figures_of_endpoint.n; i++) {
		const struct figure *f = &figures_of_endpoint.v[i];
		unsigned char first = ((unsigned char *)&phase)[f->at];
		bool sum = f->difference == DIFFERENCE_SUM || f->section == SECTION_SHOWN;

		assert_int_equal(first, sum ? 2 : 3);
	}
}

/* As an older build wrote it, which had only the first so many sections. */
static struct trace_endpoint read_with(size_t sections, uint32_t *lacks)
{
	static struct trace_endpoint ep = { .serial = 7, .proto = TRACE_TCP,
		.delack_res = TRACE_EXACT, .retransmits_res = TRACE_EXACT, .retransmits = 3,
		.parts.ns = { [TRACE_PART_FQ] = 5 }, .path = { .sent_segments = 9, .cwnd = 10 },
		.tx_calls = { .no_cpu_res = TRACE_EXACT, .stopped_n = 2 } };
	struct trace_endpoint got = {};
	struct codec out, in;
	uint64_t peer = 0;

	codec_writer(&out);
	codec_endpoint(&out, &ep, &peer);
	out.v[0] = (uint8_t)sections;
	codec_reader(&in, out.v, out.n);
	codec_endpoint(&in, &got, &peer);
	assert_false(in.bad);
	*lacks = in.lacks;
	codec_free(&out);
	return got;
}

static json_t *json_with(size_t sections)
{
	uint32_t lacks;
	struct trace_endpoint ep = read_with(sections, &lacks);
	struct trace_snapshot s = { .n = 1, .ep = &ep };
	json_t *o = endpoint_to_json(&s, &ep);

	assert_non_null(o);
	return o;
}

static json_t *figure_of(json_t *o, const char *part, const char *key)
{
	json_t *v = json_object_get(json_object_get(json_object_get(o, "beside"), part), key);

	assert_non_null(v);
	return v;
}

static size_t all_sections(void)
{
	size_t n = 0;

	while (codec_endpoint_section(n))
		n++;
	return n;
}

static void what_is_there_is_shown(void **state)
{
	json_t *o = json_with(all_sections());

	assert_int_equal(json_integer_value(figure_of(o, "tcp", "sent_segments")), 9);
	assert_int_equal(json_integer_value(figure_of(o, "tcp", "lost_segments")), 0);
	assert_true(json_is_integer(figure_of(o, "tcp", "lost_segments")));
	assert_int_equal(json_integer_value(figure_of(o, "tcp", "fq_pacing_ns")), 5);
	assert_int_equal(json_integer_value(figure_of(o, "tx", "stops")), 2);
	assert_true(json_is_false(figure_of(o, "tcp", "app_limited")));
	assert_true(json_is_array(json_object_get(o, "blame")));
	json_decref(o);
}

/* never 0, which would say that it was looked for and not there */
static void what_a_recording_lacks_is_null(void **state)
{
	static const char *const of_tcp[] = { "retransmits", "timeouts", "connecting", "hole_ns",
		"fq_pacing_ns", "autocorks", "sent_segments", "lost_segments", "app_limited" };
	json_t *o = json_with(5); /* up to the calls */

	for (size_t i = 0; i < sizeof(of_tcp) / sizeof(of_tcp[0]); i++)
		assert_true(json_is_null(figure_of(o, "tcp", of_tcp[i])));
	assert_true(json_is_null(figure_of(o, "tx", "stops")));
	assert_true(json_is_null(figure_of(o, "tx", "stopped_ns")));
	assert_true(json_is_null(json_object_get(o, "blame")));
	json_decref(o);
}

static int64_t drops_of(json_t *o, const char *reason)
{
	json_t *v = figure_of(o, "drops", reason);

	return json_is_null(v) ? -1 : json_integer_value(v);
}

/* a hook is told why a datagram was dropped, the socket's own count is not */
static void drops_have_the_reason_that_is_known(void **state)
{
	struct trace_samples samples = {};
	struct trace_endpoint ep = { .proto = TRACE_UDP, .drops_res = TRACE_EXACT };
	struct trace_snapshot s = { .n = 1, .ep = &ep };
	json_t *o;

	ep.drops[TRACE_DROP_RCVBUF] = 5;
	o = endpoint_to_json(&s, &ep);
	assert_int_equal(drops_of(o, "rcvbuf"), 5);
	assert_int_equal(drops_of(o, "qdisc"), 0);
	assert_int_equal(drops_of(o, "other"), -1);
	json_decref(o);
	ep.drops[TRACE_DROP_RCVBUF] = 0;
	ep.drops[TRACE_DROP_OTHER] = 7;
	s.samples = &samples;
	o = endpoint_to_json(&s, &ep);
	assert_int_equal(drops_of(o, "rcvbuf"), -1);
	assert_int_equal(drops_of(o, "qdisc"), -1);
	assert_int_equal(drops_of(o, "checksum"), -1);
	assert_int_equal(drops_of(o, "other"), 7);
	json_decref(o);
}

/* and stays so in a phase of two snapshots of which one lacks it, and in a sum */
static void a_difference_lacks_what_either_does(void **state)
{
	enum { BEFORE_PATH = 14 };
	size_t all = all_sections();
	uint32_t lacks;
	struct trace_endpoint whole = read_with(all, &lacks), part = read_with(BEFORE_PATH, &lacks);
	const struct figures *s = &figures_of_endpoint;

	assert_int_equal(lacks, (1u << all) - (1u << BEFORE_PATH));
	for (size_t i = 0; i < s->n; i++) {
		assert_false(figures_lack(s, &whole, i));
		assert_int_equal(figures_lack(s, &part, i), s->v[i].section == SECTION_PATH);
	}
	figures_add(s, &whole, &part, -1);
	for (size_t i = 0; i < s->n; i++)
		assert_int_equal(figures_lack(s, &whole, i), s->v[i].section == SECTION_PATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_say_their_unit),
		cmocka_unit_test(each_key_stands_once),
		cmocka_unit_test(only_sums_subtract),
		cmocka_unit_test(what_is_there_is_shown),
		cmocka_unit_test(what_a_recording_lacks_is_null),
		cmocka_unit_test(drops_have_the_reason_that_is_known),
		cmocka_unit_test(a_difference_lacks_what_either_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
