// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pure machine against the definition of the ledger: a second, naive reading of the table of
 * states is kept beside it through long random histories, and the reasons why a queue's head waits
 * are asked one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "bpf/step.h"

#define STATES 16

/* --- the naive reading ------------------------------------------------------------------------ */

struct model {
	unsigned int head, full, device, working, asleep, closed;
	uint64_t born, since, sum[STATES], visits[STATES];
};

static unsigned int model_head(unsigned int head)
{
	static const unsigned int states[] = {
		[HEAD_NONE] = TX_IDLE, [HEAD_RWND] = TX_RWND, [HEAD_CWND] = TX_CWND,
			[HEAD_NAGLE] = TX_NAGLE,
		[HEAD_CORK] = TX_CORK, [HEAD_PACING] = TX_PACING, [HEAD_RECOVERY] = TX_RECOVERY,
	};

	return states[head];
}

static unsigned int model_tx(const struct model *m)
{
	if (m->working > m->asleep)
		return TX_WORK;
	if (m->device)
		return TX_DEVICE;
	if (m->head != HEAD_NONE)
		return model_head(m->head);
	if (m->asleep)
		return TX_SNDBUF;
	return m->full ? TX_FLIGHT : TX_IDLE;
}

static unsigned int model_rx(const struct model *m)
{
	if (m->working > m->asleep)
		return RX_WORK;
	if (m->asleep)
		return RX_WAIT;
	return m->full ? RX_UNREAD : RX_IDLE;
}

static unsigned int model_state(const struct model *m, enum dir dir)
{
	return dir == DIR_TX ? model_tx(m) : model_rx(m);
}

static unsigned int model_count(unsigned int n, int by, unsigned int *unpaired)
{
	int sum = (int)n + by;

	if (sum >= 0 && sum <= (int)COUNT_MAX)
		return sum;
	*unpaired = 1;
	return n;
}

/* Whether a thread's coming or going had no counterpart. */
static unsigned int model_step(struct model *m, const struct input *in, enum dir dir)
{
	unsigned int before = model_state(m, dir), unpaired = 0;

	if (m->closed)
		return 0;
	m->working = model_count(m->working, in->working, &unpaired);
	m->asleep = model_count(m->asleep, in->asleep, &unpaired);
	if (m->asleep > m->working)
		m->asleep = m->working;
	m->head = in->says & IN_HEAD ? in->head : m->head;
	m->full = in->says & IN_FULL ? in->full : m->full;
	m->device = in->says & IN_DEVICE ? in->device : m->device;
	m->closed = !!(in->says & IN_CLOSE);
	if (model_state(m, dir) == before && !m->closed)
		return unpaired;
	if (in->at > m->since) {
		m->sum[before] += in->at - m->since;
		m->since = in->at;
	}
	m->visits[before]++;
	return unpaired;
}

/* --- histories -------------------------------------------------------------------------------- */

static uint64_t random64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly in order, now and then dated before what is already known. */
static struct input random_input(uint64_t *seed, uint64_t *clock)
{
	uint64_t r = random64(seed);
	struct input in = {
		.says = r & 7, .head = (r >> 3 & 7) % HEAD_REST, .full = r >> 6 & 1,
			.device = r >> 7 & 1,
		.working = (int)((r >> 8) % 3) - 1, .asleep = (int)((r >> 16) % 3) - 1,
	};

	*clock += (r >> 24) % 100000;
	in.at = *clock - ((r >> 48) % 4 ? 0 : (r >> 50) % 150000);
	return in;
}

struct machine_run {
	word_t word;
	uint64_t sum[STATES], visits[STATES];
};

static void charge(struct machine_run *run, const struct transition *t)
{
	run->word = t->word;
	if (!t->ended)
		return;
	run->sum[t->from] += t->ns;
	run->visits[t->from]++;
}

static uint64_t total(const uint64_t *sum)
{
	uint64_t all = 0;
	int i;

	for (i = 0; i < STATES; i++)
		all += sum[i];
	return all;
}

static void same(const struct machine_run *run, const struct model *m, enum dir dir)
{
	int i;

	for (i = 0; i < STATES; i++) {
		assert_int_equal(run->sum[i], m->sum[i]);
		assert_int_equal(run->visits[i], m->visits[i]);
	}
	assert_int_equal(word_state(run->word, dir), model_state(m, dir));
	assert_int_equal(total(run->sum), m->since - m->born);
}

static void one_history(uint64_t seed, enum dir dir, int steps)
{
	uint64_t clock = (seed & 0xffffff) + 1000000;
	struct model m = { .born = clock, .since = clock };
	struct machine_run run = { .word = word_open(clock) };
	int i;

	for (i = 0; i <= steps; i++) {
		struct input in = random_input(&seed, &clock);
		struct transition t;

		if (i == steps)
			in.says |= IN_CLOSE;
		t = step(run.word, &in, dir);
		charge(&run, &t);
		assert_int_equal(t.unpaired, model_step(&m, &in, dir));
		same(&run, &m, dir);
	}
	for (i = 0; i < 10; i++) { /* nothing is charged after the close */
		struct input in = random_input(&seed, &clock);
		struct transition t = step(run.word, &in, dir);

		charge(&run, &t);
	}
	assert_int_equal(total(run.sum), m.since - m.born);
}

static void histories_agree(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 400; seed++) {
		one_history(seed * 0x9e3779b97f4a7c15ull, DIR_TX, 200);
		one_history(seed * 0x9e3779b97f4a7c15ull, DIR_RX, 200);
	}
}

/* --- one thing at a time ---------------------------------------------------------------------- */

static struct transition tx(word_t *w, struct input in)
{
	struct transition t = step(*w, &in, DIR_TX);

	*w = t.word;
	return t;
}

/* As many as a word holds fall asleep in a call and leave it one by one: the last is seen to sleep
 * as long as it does. One more is told. */
static void a_crowd_leaves_one_by_one(void **state)
{
	struct input comes = { .working = 1, .asleep = 1 }, wakes = { .asleep = -1 },
		leaves = { .working = -1 };
	word_t w = word_open(1);
	unsigned int n;

	for (n = 0; n < COUNT_MAX; n++)
		assert_false(tx(&w, comes).unpaired);
	assert_true(tx(&w, comes).unpaired);
	while (n--) {
		assert_int_equal(word_state(w, DIR_TX), TX_SNDBUF);
		assert_false(tx(&w, wakes).unpaired);
		assert_int_equal(word_state(w, DIR_TX), TX_WORK);
		assert_false(tx(&w, leaves).unpaired);
	}
	assert_int_equal(word_state(w, DIR_TX), TX_IDLE);
	assert_int_equal(word_working(w), 0);
	assert_true(tx(&w, leaves).unpaired);
}

/* all awake at once, as writers are that wait for a pipe's mutex */
static void a_crowd_at_work(void **state)
{
	struct input comes = { .working = 1 }, leaves = { .working = -1 };
	word_t w = word_open(1);
	unsigned int n;

	for (n = 0; n < COUNT_MAX; n++)
		assert_false(tx(&w, comes).unpaired);
	assert_int_equal(word_awake(w), COUNT_MAX);
	while (n--) {
		assert_int_equal(word_state(w, DIR_TX), TX_WORK);
		tx(&w, leaves);
	}
	assert_int_equal(word_state(w, DIR_TX), TX_IDLE);
}

/* The word keeps 2^43 ns: a life that passes the end of that is none the shorter. */
static void clock_wraps(void **state)
{
	ns_t born = (1ull << SINCE_BITS) - 500;
	word_t w = word_open(born);
	struct transition t =
		tx(&w, (struct input){ .at = born + 2000, .says = IN_FULL, .full = 1 });

	assert_true(t.ended);
	assert_int_equal(t.ns, 2000);
	t = tx(&w, (struct input){ .at = born + 5000, .says = IN_CLOSE });
	assert_int_equal(t.ns, 3000);
	assert_int_equal(t.from, TX_FLIGHT);
}

/* Three weeks in one state, settled every 37 minutes: the whole of it is charged, and the full
 * clock is known at any time. */
static void weeks_in_one_state(void **state)
{
	const ns_t born = 123456789, end = born + 21 * 86400 * 1000000000ull;
	word_t w = word_open(born);
	ns_t sum = 0, at = born;

	while (end - at > SPLIT_NS) {
		struct transition t;

		at += SPLIT_NS;
		assert_int_equal(word_began(w, at), at - SPLIT_NS);
		t = tx(&w, (struct input){ .at = at, .says = IN_SPLIT });
		assert_true(t.ended);
		assert_int_equal(t.from, TX_IDLE);
		assert_int_equal(t.to, TX_IDLE);
		sum += t.ns;
	}
	sum += tx(&w, (struct input){ .at = end, .says = IN_FULL, .full = 1 }).ns;
	assert_int_equal(sum, end - born);
	assert_int_equal(word_began(w, end), end);
	assert_int_equal(word_began(w, end - 1000), end); /* another processor's clock */
}

/* A writer that sleeps: device, then the head's reason, then the sleep itself; work while any
 * thread is awake. */
static void sleeper_order(void **state)
{
	word_t w = word_open(0);

	tx(&w, (struct input){ .at = 1, .working = 1 });
	assert_int_equal(word_state(w, DIR_TX), TX_WORK);
	tx(&w, (struct input){ .at = 2, .asleep = 1, .says = IN_FULL, .full = 1 });
	assert_int_equal(word_state(w, DIR_TX), TX_SNDBUF);
	tx(&w, (struct input){ .at = 3, .says = IN_HEAD, .head = HEAD_RWND });
	assert_int_equal(word_state(w, DIR_TX), TX_RWND);
	tx(&w, (struct input){ .at = 4, .says = IN_DEVICE, .device = 1 });
	assert_int_equal(word_state(w, DIR_TX), TX_DEVICE);
	tx(&w, (struct input){ .at = 5, .working = 1 });
	assert_int_equal(word_state(w, DIR_TX), TX_WORK);
	tx(&w, (struct input){ .at = 6, .working = -1 });
	tx(&w, (struct input){ .at = 7, .says = IN_DEVICE | IN_HEAD });
	assert_int_equal(word_state(w, DIR_TX), TX_SNDBUF);
	tx(&w, (struct input){ .at = 8, .asleep = -1 });
	assert_int_equal(word_state(w, DIR_TX), TX_WORK);
	tx(&w, (struct input){ .at = 9, .working = -1 });
	assert_int_equal(word_state(w, DIR_TX), TX_FLIGHT);
}

/* Device time is no stall; each of NIST's stall points is. */
static void stalls_are_stalls(void **state)
{
	static const int stalls[] = { TX_RWND, TX_CWND, TX_NAGLE, TX_CORK, TX_PACING, TX_RECOVERY,
		TX_SNDBUF };
	static const int others[] = { TX_WORK, TX_DEVICE, TX_FLIGHT, TX_IDLE };
	unsigned int i;

	for (i = 0; i < 7; i++)
		assert_true(TX_STALLS & 1 << stalls[i]);
	for (i = 0; i < 4; i++)
		assert_false(TX_STALLS & 1 << others[i]);
}

/* --- why the head waits ----------------------------------------------------------------------- */

/* 3 segments of 1000 out from 1000, window and congestion window wide open, nothing queued. */
static const struct tcp_snap flying = {
	.write_seq = 4000, .snd_nxt = 4000, .snd_una = 1000, .snd_wnd = 60000, .snd_sml = 500,
		.snd_cwnd = 10, .mss = 1000,
	.head_len = 1000, .packets_out = 3, .wmem = 1,
};

static enum head reason(struct tcp_snap s)
{
	return tcp_head(&s);
}

/* write_seq, and what else differs from `flying` */
#define WITH(...) \
	({ \
		struct tcp_snap s = flying; \
		__VA_ARGS__; \
		reason(s); \
	})

static void head_of_nothing(void **state)
{
	assert_int_equal(reason(flying), HEAD_NONE);
	assert_int_equal(WITH(s.lost_out = 2), HEAD_RECOVERY);
	assert_int_equal(WITH(s.lost_out = 2; s.retrans_out = 2), HEAD_NONE);
	assert_int_equal(WITH(s.lost_out = 2; s.retrans_out = 2; s.timed_out = 1), HEAD_RECOVERY);
	assert_int_equal(WITH(s.paced = 1), HEAD_NONE);
	assert_int_equal(WITH(s.snd_wnd = 0), HEAD_NONE);
}

static void head_held_by_a_window(void **state)
{
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_cwnd = 3), HEAD_CWND);
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_cwnd = 3; s.paced = 1), HEAD_PACING);
	/* no larger window would help while the timer's retransmission is not answered */
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_cwnd = 1; s.lost_out = 1; s.retrans_out = 1;
			      s.timed_out = 1; s.paced = 1),
			 HEAD_RECOVERY);
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_wnd = 3000), HEAD_RWND);
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_wnd = 3999), HEAD_RWND);
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_wnd = 1000), HEAD_RWND); /* it shrank */
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_wnd = 3000; s.snd_cwnd = 3), HEAD_CWND);
	assert_int_equal(WITH(s.write_seq = 4100; s.snd_wnd = 3050), HEAD_RWND);
	/* a whole segment would fit, but a FIN rides on it */
	assert_int_equal(WITH(s.write_seq = 5001; s.head_len = 1000; s.snd_wnd = 4000), HEAD_RWND);
	assert_int_not_equal(WITH(s.write_seq = 5001; s.head_len = 1000; s.snd_wnd = 4001),
			     HEAD_RWND);
	assert_int_not_equal(WITH(s.write_seq = 5001; s.head_len = 500; s.snd_wnd = 4000),
			     HEAD_RWND);
	/* one of three is lost and sent again, one has arrived: two are in flight */
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_cwnd = 2; s.sacked_out = 1; s.lost_out = 1;
			      s.retrans_out = 1),
			 HEAD_CWND);
	assert_int_not_equal(
		WITH(s.write_seq = 9000; s.snd_cwnd = 3; s.sacked_out = 1; s.head_len = 100),
		HEAD_CWND);
}

static void head_held_by_a_rule(void **state)
{
	assert_int_equal(WITH(s.write_seq = 4100; s.snd_sml = 4000), HEAD_NAGLE);
	assert_int_equal(WITH(s.write_seq = 4100),
			 HEAD_REST); /* Minshall: no small segment is out */
	assert_int_equal(WITH(s.write_seq = 4100; s.snd_sml = 4000; s.nonagle = 1), HEAD_REST);
	assert_int_equal(WITH(s.write_seq = 4100; s.snd_sml = 4000; s.nonagle = 4), HEAD_REST);
	assert_int_equal(WITH(s.write_seq = 4100; s.nonagle = 2), HEAD_CORK);
	assert_int_equal(WITH(s.write_seq = 4100; s.snd_sml = 4000; s.nonagle = 2), HEAD_CORK);
	assert_int_equal(
		WITH(s.write_seq = 1100; s.snd_nxt = 1000; s.packets_out = 0; s.nonagle = 2),
		HEAD_CORK);
	assert_int_equal(WITH(s.write_seq = 1100; s.snd_nxt = 1000; s.packets_out = 0), HEAD_REST);
}

/* It passed the rules, was handed down, and this host did not take it. */
static void head_refused(void **state)
{
	assert_int_equal(WITH(s.write_seq = 4100; s.refused = 1), HEAD_RECOVERY);
	assert_int_equal(
		WITH(s.write_seq = 1100; s.snd_nxt = 1000; s.packets_out = 0; s.refused = 1),
		HEAD_RECOVERY);
	assert_int_equal(WITH(s.write_seq = 20000; s.head_len = 2000; s.refused = 1),
			 HEAD_RECOVERY);
	assert_int_equal(WITH(s.write_seq = 9000; s.snd_wnd = 3000; s.refused = 1), HEAD_RWND);
	assert_int_equal(WITH(s.refused = 1), HEAD_NONE);
}

/* Deferred for a fuller burst: the smaller window is to blame if the head does not fit it, else the
 * deferral. */
static void head_deferred(void **state)
{
	assert_int_equal(WITH(s.write_seq = 20000; s.head_len = 9000), HEAD_CWND);
	assert_int_equal(WITH(s.write_seq = 20000; s.head_len = 9000; s.snd_wnd = 5000), HEAD_RWND);
	assert_int_equal(WITH(s.write_seq = 20000; s.head_len = 2000), HEAD_PACING);
	assert_int_equal(
		WITH(s.write_seq = 20000; s.snd_nxt = 1000; s.packets_out = 0; s.head_len = 9000),
		HEAD_REST);
}

/* A segment goes out of a half-closed connection: TCP's own word for what held it until then. */
static void head_before_a_segment(void **state)
{
	struct tcp_snap fin = flying;

	assert_int_equal(tcp_held_before(HEAD_NONE, TCP_CHRONO_RWND_LIMITED, 1), HEAD_RWND);
	assert_int_equal(tcp_held_before(HEAD_NONE, 1, 1), HEAD_CWND);
	assert_int_equal(tcp_held_before(HEAD_PACING, 1, 1), HEAD_PACING);
	assert_int_equal(tcp_held_before(HEAD_NAGLE, 1, 0), HEAD_NAGLE);
	fin.write_seq++;
	assert_true(tcp_fin_alone(&fin, 1));
	assert_false(tcp_fin_alone(&fin, TCP_CHRONO_RWND_LIMITED));
	fin.write_seq++;
	assert_false(tcp_fin_alone(&fin, 1));
	assert_true(tcp_was_paced(HEAD_PACING, 0));
	assert_true(tcp_was_paced(HEAD_NONE, 1));
	assert_false(tcp_was_paced(HEAD_CWND, 0));
}

/* The look that should have come before the queue left is missing. */
static void dates_of_a_late_sample(void **state)
{
	struct tcp_dates d = { .seen = 1000, .since = 1000, .stamp = 1500, .now = 2000 };

	assert_int_equal(tcp_left_at(&d), 1500);
	assert_int_equal(tcp_left_paced(&d, 1000), 2000);
	d.since = 900;
	assert_int_equal(tcp_left_paced(&d, 1000), 1000);
	d.stamp = 1000; /* nothing went out since the last look */
	assert_int_equal(tcp_left_at(&d), 0);
	d.stamp = 2001; /* nor has what is stamped for later */
	assert_int_equal(tcp_left_at(&d), 0);
	assert_true(tcp_pacing_passed(1500, 1000, 2000));
	assert_false(tcp_pacing_passed(2000, 1000, 2000));
	assert_false(tcp_pacing_passed(1000, 1000, 2000));
}

static void window_shut_since(void **state)
{
	ns_t tick = 4000000, now = 100 * tick;

	assert_int_equal(tcp_window_shut_since(10 * tick, now, 20, tick), 80 * tick);
	assert_int_equal(tcp_window_shut_since(80 * tick, now, 20, tick), 0);
	assert_int_equal(tcp_window_shut_since(79 * tick, now, 20, tick), 0); /* within a tick */
	assert_int_equal(tcp_window_shut_since(0, now, 101, tick), 0); /* before the clock began */
}

static void outstanding(void **state)
{
	struct tcp_snap s = flying;

	assert_true(tcp_outstanding(&s));
	s.packets_out = 0;
	assert_false(tcp_outstanding(&s));
	s.write_seq++;
	assert_true(tcp_outstanding(&s));
	s.write_seq = s.snd_nxt - 1; /* the FIN's number is counted in snd_nxt */
	assert_false(tcp_outstanding(&s));
}

/* The sequence numbers' own end is passed in mid-flight. */
static void numbers_wrap(void **state)
{
	struct tcp_snap s = flying;
	unsigned int by = -2000;

	s.write_seq += by + 100;
	s.snd_nxt += by;
	s.snd_una += by;
	s.snd_sml = s.snd_nxt;
	assert_int_equal(reason(s), HEAD_NAGLE);
	s.snd_wnd = 3000;
	assert_int_equal(reason(s), HEAD_RWND);
}

static void histogram(void **state)
{
	unsigned int slot;

	assert_int_equal(hist_slot(0), 0);
	assert_int_equal(hist_slot(1023), 0);
	for (slot = 1; slot < HIST_SLOTS - 1; slot++) {
		assert_int_equal(hist_slot(1ull << (9 + slot)), slot);
		assert_int_equal(hist_slot((1ull << (10 + slot)) - 1), slot);
	}
	assert_int_equal(hist_slot(1ull << 49), HIST_SLOTS - 1);
}

/* A device at rest was given the packet at hand this moment; one that was busy may have had it for
 * long; a burst is no older than its first. */
static void what_is_below_the_protocol(void **state)
{
	assert_int_equal(below(1, 0, 1), 0);
	assert_int_equal(below(2304, 0, 1), 1);
	assert_int_equal(below(2304, 2304, 0), 0);
	assert_int_equal(below(2304, 2304, 1), 1);
	assert_int_equal(below(4608, 2304, 0), 1);
	assert_int_equal(below(4608, ALL_BELOW, 0), 0);
	assert_int_equal(below(4608, ALL_BELOW, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histories_agree),
		cmocka_unit_test(clock_wraps),
		cmocka_unit_test(weeks_in_one_state),
		cmocka_unit_test(sleeper_order),
		cmocka_unit_test(a_crowd_leaves_one_by_one),
		cmocka_unit_test(a_crowd_at_work),
		cmocka_unit_test(stalls_are_stalls),
		cmocka_unit_test(head_of_nothing),
		cmocka_unit_test(head_held_by_a_window),
		cmocka_unit_test(head_held_by_a_rule),
		cmocka_unit_test(head_refused),
		cmocka_unit_test(head_deferred),
		cmocka_unit_test(head_before_a_segment),
		cmocka_unit_test(dates_of_a_late_sample),
		cmocka_unit_test(window_shut_since),
		cmocka_unit_test(outstanding),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(histogram),
		cmocka_unit_test(what_is_below_the_protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
