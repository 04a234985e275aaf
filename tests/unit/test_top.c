// SPDX-License-Identifier: GPL-2.0-only
/* The rows of `ipcstall top`: two samples made by hand, and what must come of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "top/batch.h"
#include "top/columns.h"
#include "top/pace.h"
#include "top/row_names.h"

#define S  1000000000ull
#define MS 1000000ull

static struct trace_digest tcp(uint64_t serial, const char *comm, pid_t pid)
{
	struct trace_digest s = { .serial = serial, .proto = TRACE_TCP, .family = AF_INET,
		.born_ns = 5 * S, .at_ns = 10 * S };

	memcpy(s.local.ip, (uint8_t[]){ 127, 0, 0, 1 }, 4);
	memcpy(s.remote.ip, (uint8_t[]){ 127, 0, 0, 1 }, 4);
	s.local.port = (uint16_t)(1000 + serial);
	s.remote.port = 80;
	s.tx_tgid = s.rx_tgid = pid;
	snprintf(s.tx_comm, sizeof(s.tx_comm), "%s", comm);
	snprintf(s.rx_comm, sizeof(s.rx_comm), "%s", comm);
	s.tx_ns[TX_IDLE] = 5 * S;
	return s;
}

static void take(struct rows *p, uint64_t at, const struct trace_digest *v, size_t n)
{
	struct trace_digests s = { .at_ns = at, .n = n, .room = n,
		.v = malloc((n + 1) * sizeof(*v)) };

	if (n)
		memcpy(s.v, v, n * sizeof(*v));
	assert_int_equal(rows_take(p, &s), 0);
	trace_digests_free(&s);
}

static void take_dropped(struct rows *p, uint64_t at, uint64_t dropped)
{
	struct trace_digests s = { .at_ns = at, .counters.dropped = dropped };

	assert_int_equal(rows_take(p, &s), 0);
	trace_digests_free(&s);
}

/* client 1 stalls 0.6 s of 2 s, of it 0.5 s nagle, of that 0.4 s under the peer's delayed ACK;
 * server 2 answers */
static void two_samples(struct rows *p)
{
	struct trace_digest v[3] = { tcp(2, "server", 20), tcp(1, "client", 10),
		tcp(3, "new", 30) };

	v[1].peer = 2;
	v[0].peer = 1;
	v[1].tx_bytes = 100;
	take(p, 10 * S, v, 2);
	v[0].at_ns = v[1].at_ns = v[2].at_ns = 12 * S;
	v[0].tx_ns[TX_IDLE] += 2 * S;
	v[0].rx_bytes = 4000;
	v[1].tx_ns[TX_IDLE] += 1400000000;
	v[1].tx_ns[TX_NAGLE] += 500000000;
	v[1].tx_ns[TX_CWND] += 100000000;
	v[1].delack_ns[TX_NAGLE] += 400000000;
	v[1].tx_bytes += 4000;
	v[1].tx_messages += 10;
	v[1].rtt_us = 1500;
	v[2].born_ns = 11 * S;
	take(p, 12 * S, (struct trace_digest[]){ v[1], v[2], v[0] }, 3);
}

static const struct row *row_of(const struct rows *p, uint64_t serial)
{
	uint32_t i = row_find(p, serial);

	assert_true(i != ROW_NEW);
	return &p->v[i];
}

static void differences(void **state)
{
	struct rows p = {};
	const struct row *r;
	uint64_t tx[TX_N], rx[RX_N];

	two_samples(&p);
	assert_int_equal(p.interval_ns, 2 * S);
	r = row_of(&p, 1);
	assert_int_equal(r->ns, 2 * S);
	assert_int_equal(r->tx_bytes, 4000);
	assert_int_equal(r->stall_ns, 600000000);
	assert_int_equal(r->cause, TX_NAGLE);
	assert_int_equal(r->cause_ns, 500000000);
	assert_int_equal(r->blamed, BLAME_PEER_DELACK);
	assert_int_equal(r->surety, SEEN_BOTH_ENDS);
	assert_true(row_per_second(&p, r->tx_bytes) == 2000);
	row_states(&p, r, tx, rx);
	assert_int_equal(tx[TX_IDLE], 1400000000);
	assert_int_equal(tx[TX_CWND], 100000000);
	r = row_of(&p, 3);
	assert_int_equal(r->before, ROW_NEW);
	assert_int_equal(r->ns, S);
	assert_false(row_active(r));
	assert_int_equal(p.sum.endpoints, 3);
	assert_int_equal(p.sum.active, 2);
	assert_int_equal(p.sum.sender_ns, 2 * S);
	rows_free(&p);
}

/* what an endpoint did before the first sample is not of an interval */
/* 20 ms away, the other end not seen: five holds of 60 ms are a withheld ACK's, five of 21 are the
 * path's; windows that were shut have no part in it */
static void a_far_timer_is_told_from_the_path(void **state)
{
	for (int far = 0; far < 2; far++) {
		struct trace_digest v = tcp(1, "client", 10);
		struct rows p = {};

		v.min_rtt_us = v.rtt_us = 20000;
		take(&p, 10 * S, &v, 1);
		v.at_ns = 12 * S;
		v.tx_ns[TX_NAGLE] += far ? 5 * 60000000ull : 5 * 21000000ull;
		v.tx_ns[TX_IDLE] += 2 * S - v.tx_ns[TX_NAGLE];
		v.nagle_n += 5;
		v.nagle_delack_n += far ? 5 : 0;
		v.rwnd_n += 2;
		take(&p, 12 * S, &v, 1);
		assert_int_equal(row_of(&p, 1)->blamed, far ? BLAME_PEER_DELACK : BLAME_NOBODY);
		rows_free(&p);
	}
}

static void first_sample_is_no_interval(void **state)
{
	struct trace_digest v = tcp(1, "a", 1);
	struct rows p = {};

	v.tx_bytes = 1000000;
	v.tx_ns[TX_RWND] = 3 * S;
	take(&p, 10 * S, &v, 1);
	assert_int_equal(p.interval_ns, 0);
	assert_int_equal(p.v[0].tx_bytes, 0);
	assert_int_equal(p.v[0].stall_ns, 0);
	assert_int_equal(p.v[0].cause, ROW_NO_CAUSE);
	take(&p, 11 * S, NULL, 0);
	assert_int_equal(p.sum.endpoints, 0);
	assert_int_equal(row_find(&p, 1), ROW_NEW);
	rows_free(&p);
}

/* too many closed at once: what is not shown is said, of the interval alone */
static void dropped_ones_are_said(void **state)
{
	struct rows p = {};
	char text[256];

	take_dropped(&p, 10 * S, 5);
	take_dropped(&p, 11 * S, 12);
	assert_int_equal(p.sum.counters.dropped, 7);
	summary_text(&p, text, sizeof(text));
	assert_non_null(strstr(text, ", dropped 7 closed endpoints"));
	take_dropped(&p, 12 * S, 12);
	summary_text(&p, text, sizeof(text));
	assert_null(strstr(text, "dropped"));
	rows_free(&p);
}

/* where calls begin to go unseen nothing is known of that interval; after it TCP's own count tells
 * the bytes, nothing the calls */
static void unseen_calls_leave_gaps(void **state)
{
	struct trace_digest v = tcp(1, "a", 1);
	struct rows p = {};
	char text[256];

	v.rx_bytes = v.tx_bytes = 1000;
	v.tx_messages = v.rx_messages = 2;
	take(&p, 10 * S, &v, 1);
	v.rx_missed = true;
	v.rx_bytes = 9000;
	v.tx_bytes = 1500;
	take(&p, 11 * S, &v, 1);
	assert_int_equal(p.v[0].rx_gap, GAP_BYTES);
	assert_int_equal(p.v[0].rx_bytes, 0);
	assert_int_equal(p.v[0].tx_gap, GAP_NONE);
	assert_int_equal(p.v[0].tx_bytes, 500);
	summary_text(&p, text, sizeof(text));
	assert_non_null(strstr(text, "out 500 B/s, in >0 B/s"));
	v.rx_bytes = 9400;
	take(&p, 12 * S, &v, 1);
	summary_text(&p, text, sizeof(text));
	assert_non_null(strstr(text, "in 400 B/s"));
	assert_int_equal(p.v[0].rx_gap, GAP_MESSAGES);
	assert_int_equal(p.v[0].rx_bytes, 400);
	v.proto =
		TRACE_UDP; /* there the calls are all there is: one went unseen, the next did not */
	v.rx_messages = 3;
	take(&p, 13 * S, &v, 1);
	assert_int_equal(p.v[0].rx_gap, GAP_NONE);
	assert_int_equal(p.v[0].rx_messages, 1);
	rows_free(&p);
}

/* TCP's own count of a connection that was born in the interval is of this interval */
static void the_first_interval_of_a_connection_has_its_bytes(void **state)
{
	struct trace_digest v[] = { tcp(1, "a", 1), tcp(2, "b", 1), tcp(3, "c", 1) };
	struct rows p = {};

	for (int i = 1; i < 3; i++) {
		v[i].born_ns = 10 * S + 1;
		v[i].tx_missed = v[i].rx_missed = true;
		v[i].tx_bytes = 64;
	}
	v[2].proto = TRACE_PIPE; /* nobody counts there but the calls */
	take(&p, 10 * S, v, 1);
	take(&p, 11 * S, v, 3);
	assert_int_equal(row_of(&p, 2)->tx_gap, GAP_MESSAGES);
	assert_int_equal(row_of(&p, 2)->tx_bytes, 64);
	assert_int_equal(row_of(&p, 3)->tx_gap, GAP_BYTES);
	rows_free(&p);
}

/* No sample counts a pipe's bytes; one that waits empty all the time is idle, a full one is not. */
static void samples_tell_an_idle_pipe_from_a_busy_one(void **state)
{
	struct trace_digest v[] = { tcp(1, "a", 1), tcp(2, "b", 1) };
	struct rows p = {};

	for (int i = 0; i < 2; i++) {
		v[i].proto = TRACE_PIPE;
		v[i].tx_missed = v[i].rx_missed = v[i].calls_unseen = true;
	}
	take(&p, 10 * S, v, 2);
	v[0].tx_ns[TX_IDLE] += S;
	v[0].rx_ns[RX_WAIT] += S;
	v[1].tx_ns[TX_IDLE] += S;
	v[1].rx_ns[RX_UNREAD] += S;
	take(&p, 11 * S, v, 2);
	assert_false(row_active(row_of(&p, 1)));
	assert_true(row_active(row_of(&p, 2)));
	assert_int_equal(p.sum.active, 1);
	rows_free(&p);
}

static void lost_datagrams_show(void **state)
{
	struct trace_digest v = tcp(1, "a", 1);
	struct rows p = {};

	v.proto = TRACE_UDP;
	v.drops = 7;
	v.drops_known = true;
	take(&p, 10 * S, &v, 1);
	assert_string_equal(cause_text(&p.v[0]), "-"); /* before the first sample */
	v.drops = 12;
	take(&p, 11 * S, &v, 1);
	assert_int_equal(p.v[0].drops, 5);
	assert_true(row_active(&p.v[0]));
	assert_string_equal(cause_text(&p.v[0]), "drops");
	v.tx_ns[TX_SNDBUF] += S / 2;
	v.drops = 13;
	take(&p, 12 * S, &v, 1);
	assert_string_equal(cause_text(&p.v[0]), "sndbuf");
	assert_int_equal(p.v[0].drops, 1);
	rows_free(&p);
}

static void figures_never_run_backwards(void **state)
{
	struct trace_digest v = tcp(1, "a", 1);
	struct rows p = {};

	v.tx_ns[TX_NAGLE] = 2 * S;
	take(&p, 10 * S, &v, 1);
	v.tx_ns[TX_NAGLE] = S;
	v.at_ns = 11 * S;
	take(&p, 11 * S, &v, 1);
	assert_int_equal(p.v[0].stall_ns, 0);
	rows_free(&p);
}

static void blame_from_one_end(void **state)
{
	struct trace_digest v = tcp(1, "a", 1);
	struct rows p = {};
	char text[64];

	take(&p, 10 * S, &v, 1);
	v.tx_ns[TX_NAGLE] += S;
	v.nagle_n = 80;
	v.nagle_delack_n = 20; /* 0.8 s of it: it is their time that counts */
	take(&p, 11 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "delack? peer");
	v.tx_ns[TX_NAGLE] += S; /* the next ones are short: no timer */
	v.nagle_n = 110;
	take(&p, 12 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "-");
	v.tx_ns[TX_RECOVERY] += S;
	take(&p, 13 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "path?");
	v.proto = TRACE_PIPE;
	v.family = 0;
	v.peer = 1;
	v.tx_ns[TX_SNDBUF] += S;
	v.unread_ns[TX_SNDBUF] += S;
	take(&p, 14 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "reader a[1]");
	rows_free(&p);
}

/* a window that opens within a round trip is too small for the path; one that stays shut for longer
 * has an absent reader behind it */
static void a_window_within_a_round_trip_is_nobodys(void **state)
{
	struct trace_digest v = tcp(1, "a", 1);
	struct rows p = {};
	char text[64];

	v.rtt_us = 40000;
	take(&p, 10 * S, &v, 1);
	v.tx_ns[TX_RWND] += S / 2;
	v.rwnd_n = 20;
	take(&p, 11 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "-");
	v.tx_ns[TX_RWND] += S / 2; /* three, and one under way */
	v.rwnd_n = 23;
	v.tx_now = TX_RWND;
	take(&p, 12 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "reader? peer");
	v.tx_ns[TX_RWND] +=
		30 * MS; /* nothing but the one under way, which may still be a round trip */
	v.rwnd_n = 24;
	take(&p, 13 * S, &v, 1);
	blamed_text(&p, &p.v[0], text, sizeof(text));
	assert_string_equal(text, "-");
	rows_free(&p);
}

static void sorting_and_filter(void **state)
{
	struct rows p = {};

	two_samples(&p);
	rows_order(&p, SORT_STALL, false, false, NULL);
	assert_int_equal(p.shown, 3);
	assert_int_equal(p.now.v[p.order[0]].serial, 1);
	assert_int_equal(p.now.v[p.order[1]].serial, 2); /* no stall, but it read */
	rows_order(&p, SORT_STALL, true, false, NULL);
	assert_int_equal(p.now.v[p.order[2]].serial, 1);
	rows_order(&p, SORT_PROGRAM, false, false, "");
	assert_int_equal(p.now.v[p.order[1]].serial, 3);
	rows_order(&p, SORT_AGE, false, false, NULL);
	assert_int_equal(p.now.v[p.order[2]].serial, 3);
	rows_order(&p, SORT_RATE, false, true, NULL);
	assert_int_equal(p.shown, 2);
	rows_order(&p, SORT_RTT, false, true, "  CLIENT   delack ");
	assert_int_equal(p.shown, 1);
	assert_int_equal(p.now.v[p.order[0]].serial, 1);
	rows_order(&p, SORT_RATE, false, false, "client nosuchword");
	assert_int_equal(p.shown, 0);
	rows_order(&p, SORT_RATE, false, false, ":1003");
	assert_int_equal(p.shown, 1);
	rows_free(&p);
}

static void lines_fit_every_width(void **state)
{
	struct rows p = {};
	struct layout l;
	char line[512];

	two_samples(&p);
	for (int w = 1; w <= 400; w++) {
		layout_choose(&l, w, &p);
		for (int i = 1; i < l.n; i++)
			assert_true(l.at[i] == l.at[i - 1] + l.w[i - 1] + 1);
		memset(line, '#', sizeof(line));
		layout_row(&l, &p, row_of(&p, 1), line, (size_t)w + 1);
		assert_true(strlen(line) <= (size_t)w);
		layout_title(&l, line, (size_t)w + 1);
		assert_true(strlen(line) <= (size_t)w);
		assert_int_equal(line[w + 1], '#');
	}
	rows_free(&p);
}

static void lines_as_drawn(void **state)
{
	struct rows p = {};
	struct layout l;
	char line[256];

	two_samples(&p);
	rows_order(&p, SORT_STALL, false, false, "");
	layout_choose(&l, 20, &p);
	layout_title(&l, line, 21);
	assert_string_equal(line, "STALL WHO WAITS");
	layout_row(&l, &p, row_of(&p, 1), line, 21);
	assert_string_equal(line, "30.0% client[10]");
	layout_choose(&l, 40, &p);
	layout_row(&l, &p, row_of(&p, 1), line, 41);
	assert_string_equal(line, "30.0% client[10] server[20] nagle, dela+");
	layout_choose(&l, 80, &p);
	layout_title(&l, line, 81);
	assert_string_equal(
		line,
		"STALL WHO WAITS  FOR WHOM   WHY           OUT B/s IN B/s PEER                RTT");
	layout_row(&l, &p, row_of(&p, 1), line, 81);
	assert_string_equal(
		line,
		"30.0% client[10] server[20] nagle, delack   2.00k      0 127.0.0.1:80     1.5 ms");
	layout_choose(&l, 200, &p);
	layout_row(&l, &p, row_of(&p, 1), line, 201);
	assert_non_null(strstr(line, "server[20]"));
	assert_non_null(strstr(line, "127.0.0.1:1001"));
	assert_non_null(strstr(line, "idle/idle"));
	rows_free(&p);
}

/* what would move the cursor does not come so far: trace_digests_take() and the recordings' codec
 * see to that */
static void a_name_takes_a_cell_for_each_byte(void **state)
{
	struct trace_digest v = tcp(1, "\xd0\xbf?[2J", 7);
	char text[64];

	digest_who(&v, text, sizeof(text));
	assert_string_equal(text, "???[2J[7]");
	memcpy(v.tx_comm, "0123456789abcdef", 16); /* no end */
	digest_who(&v, text, sizeof(text));
	assert_string_equal(text, "0123456789abcdef[7]");
}

/* 6 ms of CPU time with 0.5 % to spend, of which refreshes have three fifths: 2 s */
static void dear_refreshes_come_less_often(void **state)
{
	struct pace p = { .limit = 0.005, .refresh_ns = 6 * MS, .refreshes = 2 };

	(void)state;
	assert_in_range(pace_interval(&p, S), 2 * S - 1, 2 * S + 1);
	assert_int_equal(pace_interval(&p, 5 * S), 5 * S);
	p.refresh_ns = 60 * S;
	assert_int_equal(pace_interval(&p, S), 60 * S);
	p.limit = 0;
	assert_int_equal(pace_interval(&p, S), S);
}

static void the_first_interval_is_as_long_as_asked_for(void **state)
{
	struct pace p = { .limit = 0.005, .refresh_ns = 60 * MS, .refreshes = 1 };

	(void)state;
	assert_int_equal(pace_interval(&p, S), S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(a_far_timer_is_told_from_the_path),
		cmocka_unit_test(first_sample_is_no_interval),
		cmocka_unit_test(dropped_ones_are_said),
		cmocka_unit_test(unseen_calls_leave_gaps),
		cmocka_unit_test(the_first_interval_of_a_connection_has_its_bytes),
		cmocka_unit_test(samples_tell_an_idle_pipe_from_a_busy_one),
		cmocka_unit_test(lost_datagrams_show),
		cmocka_unit_test(figures_never_run_backwards),
		cmocka_unit_test(blame_from_one_end),
		cmocka_unit_test(a_window_within_a_round_trip_is_nobodys),
		cmocka_unit_test(sorting_and_filter),
		cmocka_unit_test(lines_fit_every_width),
		cmocka_unit_test(lines_as_drawn),
		cmocka_unit_test(a_name_takes_a_cell_for_each_byte),
		cmocka_unit_test(dear_refreshes_come_less_often),
		cmocka_unit_test(the_first_interval_is_as_long_as_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
