// SPDX-License-Identifier: GPL-2.0-only
/* Which endpoints are dropped when the table is full: row 5 of docs/SECURITY.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/endpoint_eviction.h"

enum { PLACES = 400, STRANGER = 1000, SERVER = 2000, NEWCOMER = 3000 };

struct table {
	struct place v[PLACES];
	size_t n;
};

static struct place *add(struct table *t, uint32_t tgid, uint64_t idle_s)
{
	struct place *p = &t->v[t->n++];

	*p = (struct place){ .key = t->n, .serial = t->n, .tgid = tgid,
		.idle_ns = idle_s * 1000000000 };
	return p;
}

static size_t gone_of(const struct table *t, uint32_t tgid)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].goes && t->v[i].tgid == tgid;
	return n;
}

static bool goes(const struct table *t, uint64_t serial)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].serial == serial)
			return t->v[i].goes;
	return false;
}

static void row5_idle_sockets_of_a_stranger_make_room(void **state)
{
	struct table t = {};

	for (int i = 0; i < 300; i++)
		add(&t, STRANGER, 60);
	for (int i = 0; i < 30; i++)
		add(&t, SERVER, 60);
	assert_true(eviction_choose(t.v, t.n, NEWCOMER) > 0);
	assert_int_equal(gone_of(&t, SERVER), 0);
	assert_int_equal(gone_of(&t, STRANGER), 300 - 330 / 3);
}

static void row5_who_talks_or_stalled_stays(void **state)
{
	struct table t = {};
	uint64_t talks, stalled, young;

	talks = add(&t, STRANGER, 0)->serial;
	young = add(&t, STRANGER, 0)->serial;
	t.v[1].idle_ns = EVICT_IDLE_NS - 1;
	stalled = add(&t, STRANGER, 60)->serial;
	t.v[2].stall_ns = 1;
	for (int i = 0; i < 100; i++)
		add(&t, STRANGER, 60);
	assert_true(eviction_choose(t.v, t.n, STRANGER) > 0);
	assert_false(goes(&t, talks));
	assert_false(goes(&t, young));
	assert_false(goes(&t, stalled));
}

static void row5_unused_ones_go_before_used_ones(void **state)
{
	struct table t = {};
	uint64_t used[10];

	for (int i = 0; i < 10; i++) {
		struct place *p = add(&t, STRANGER, 600);

		p->bytes = 1;
		used[i] = p->serial;
	}
	for (int i = 0; i < 190; i++)
		add(&t, STRANGER, 60);
	assert_true(eviction_choose(t.v, t.n, NEWCOMER) > 0);
	for (int i = 0; i < 10; i++)
		assert_false(goes(&t, used[i]));
}

/* A stranger lets each of its sockets stall once: it keeps no more than the others for that. */
static void row5_room_is_shared_by_process(void **state)
{
	struct table t = {};

	for (int i = 0; i < 320; i++)
		add(&t, STRANGER, 60)->stall_ns = 1000;
	for (int i = 0; i < 32; i++)
		add(&t, SERVER, 60)->stall_ns = 1;
	assert_int_equal(eviction_choose(t.v, t.n, NEWCOMER), 20);
	assert_int_equal(gone_of(&t, STRANGER), 20);
}

/* A server that alone fills the table loses none of what stalled: its oldest tell most. */
static void row5_one_process_does_not_push_out_its_own(void **state)
{
	struct table t = {};

	for (int i = 0; i < 320; i++)
		add(&t, SERVER, 60)->stall_ns = 1000;
	assert_int_equal(eviction_choose(t.v, t.n, SERVER), 0);
	assert_int_equal(eviction_choose(t.v, 0, SERVER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row5_idle_sockets_of_a_stranger_make_room),
		cmocka_unit_test(row5_who_talks_or_stalled_stays),
		cmocka_unit_test(row5_unused_ones_go_before_used_ones),
		cmocka_unit_test(row5_room_is_shared_by_process),
		cmocka_unit_test(row5_one_process_does_not_push_out_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
