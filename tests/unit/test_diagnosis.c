// SPDX-License-Identifier: GPL-2.0-only
/* The judge of a diagnosis: the dip test, dips over sizes, waits, gains, and the decision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "diagnose/fixes.h"
#include "diagnose/observe.h"
#include "diagnose/report.h"
#include "render/ledger_point.h"
#include "render/sink.h"
#include "stats/rng.h"
#include "diagnose/diagnosis.h"
#include "stats/dips.h"
#include "stats/modes.h"
#include "sweep/refine.h"
#include "unit/sanitized.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-6))
		fail_msg("%.9f is not %.9f", a, b);
}

/* The expected values come from linear programs: the least distance over all unimodal functions
 * with a given mode, over all modes. */
static void test_dip_values(void **state)
{
	double even[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	double two[] = { 1, 1, 1, 1, 2, 2, 2, 2 };
	double groups[] = { 1, 2, 3, 4, 100, 101, 102, 103 };
	double one[] = { 7 };

	near(dip_statistic(even, 10), 0.05);
	near(dip_statistic(two, 8), 0.25);
	near(dip_statistic(groups, 8), 24.0 / 99);
	near(dip_statistic(one, 1), 0.5);
}

static void test_modes(void **state)
{
	double v[2000];
	struct modes m;
	struct rng r;

	rng_seed(&r, 3);
	for (int i = 0; i < 2000; i++)
		v[i] = i % 10 ? 5e4 * exp(0.1 * rng_normal(&r))
			      : 4.4e7 * exp(0.01 * rng_normal(&r));
	modes_find(v, 2000, &r, &m);
	assert_true(m.several);
	assert_true(m.slow_share > 0.099 && m.slow_share < 0.101);
	assert_true(m.slow > 4.3e7 && m.slow < 4.5e7 && m.fast > 4.5e4 && m.fast < 5.5e4);
}

/* One mode is called several at most as often as the level allows; a clock of whole ns makes none.
 */
static void test_one_mode(void **state)
{
	int wrong = 0;
	struct rng r;

	rng_seed(&r, 5);
	for (int k = 0; k < (SANITIZED ? 8 : 40); k++) {
		double v[500];
		struct modes m;

		for (int i = 0; i < 500; i++)
			v[i] = floor(3500 +
				     (k % 2 ? 30 * rng_normal(&r) : 40 * rng_exponential(&r)));
		modes_find(v, 500, &r, &m);
		wrong += m.several;
	}
	assert_true(wrong <= 4);
}

enum { SIZES = 30, REPEATS = 5 };

static void curve(struct dip_size *v, double cost[SIZES][REPEATS], double noise, bool comb,
		  struct rng *r)
{
	for (int i = 0; i < SIZES; i++) {
		double base = 20e3 + 80 * (1453 + 500.0 * i);

		if (comb && i % 4 == 2)
			base += 4e6;
		v[i] = (struct dip_size){ .size = 1453 + 500 * i, .cost = cost[i], .n = REPEATS };
		for (int k = 0; k < REPEATS; k++)
			cost[i][k] = base * exp(noise * rng_normal(r));
	}
}

static void test_comb(void **state)
{
	struct dip_size v[SIZES];
	struct dip_band b[SIZES];
	double cost[SIZES][REPEATS];
	struct rng r;

	rng_seed(&r, 7);
	curve(v, cost, 0.05, true, &r);
	assert_int_equal(dips_find(v, SIZES, 0.95, &r), 0);
	for (int i = 0; i < SIZES; i++)
		assert_int_equal(v[i].dip, i % 4 == 2);
	assert_int_equal(dips_bands(v, SIZES, b, SIZES), 7);
	assert_int_equal(b[1].first, 6);
	assert_int_equal(b[1].last, 6);
	assert_true(v[6].depth > 0.9);
}

/* Neighbours in a dip are one band, and its deepest is the one with the largest share missing. */
static void test_bands(void **state)
{
	struct dip_size v[] = { { .dip = false }, { .dip = true, .depth = 0.2, .critical = 5 },
		{ .dip = true, .depth = 0.9, .critical = 5 }, { .dip = false }, { .dip = true,
		.depth = 0.4 } };
	struct dip_band b[4];

	assert_int_equal(dips_bands(v, 5, b, 4), 2);
	assert_int_equal(b[0].first, 1);
	assert_int_equal(b[0].last, 2);
	assert_int_equal(b[0].deepest, 2);
	assert_int_equal(b[1].first, 4);
	assert_int_equal(dips_bands(v, 5, b, 1), 1);
	v[1].breach = 0.2; /* far deeper than its neighbour in the dip: a band of its own */
	v[2].breach = 2.3;
	v[1].critical = v[2].critical = 0.5;
	assert_int_equal(dips_bands(v, 5, b, 4), 3);
	v[1].breach = 6.35; /* some jiffies of a delayed ACK, beyond what sizes without a stall
			       differ by: the same dip */
	v[2].breach = 6.40;
	v[1].critical = v[2].critical = 0.03;
	assert_int_equal(dips_bands(v, 5, b, 4), 2);
	v[2].breach = 6.80; /* half as much time again */
	assert_int_equal(dips_bands(v, 5, b, 4), 3);
}

/* A lawful curve, noisy or not: a dip anywhere is as rare as the level says. */
static void test_no_dips(void **state)
{
	int wrong = 0;
	struct rng r;

	rng_seed(&r, 9);
	for (int k = 0; k < 40; k++) {
		struct dip_size v[SIZES];
		double cost[SIZES][REPEATS];

		curve(v, cost, k % 2 ? 0.02 : 0.3, false, &r);
		assert_int_equal(dips_find(v, SIZES, 0.95, &r), 0);
		for (int i = 0; i < SIZES; i++)
			wrong += v[i].dip;
	}
	assert_true(wrong <= 5);
}

static void test_few_repeats(void **state)
{
	double two[] = { 1, 2 };
	struct dip_size v[] = { { .size = 1, .cost = two, .n = 2 } };
	struct rng r;

	rng_seed(&r, 1);
	assert_int_equal(dips_find(v, 1, 0.95, &r), -1);
	assert_int_equal(dips_find(v, 0, 0.95, &r), -1);
}

/* A band from 4097 to 5543, as chunks of 4096 have it: found to the byte, and in few steps; another
 * series does not disturb. */
static void test_refine(void **state)
{
	struct refiner f = { .seed = 1 };
	int64_t size, first = INT64_MAX, last = 0;
	struct rng r;
	int steps = 0;

	rng_seed(&r, 31);
	for (int64_t s = 3500; s <= 7000; s += 500)
		for (int k = 0; k < 6; k++)
			refine_note(&f, k / 3, s,
				    (2e4 + 10 * (double)s +
				     (!(k / 3) && s > 4096 && s < 5544 ? 4e7 : 0)) *
					    exp(0.1 * rng_normal(&r)));
	while (refine_next(&f, 0, &size) && steps++ < 100)
		for (int k = 0; k < 3; k++)
			refine_note(
				&f, 0, size,
				(2e4 + 10 * (double)size + (size > 4096 && size < 5544 ? 4e7 : 0)) *
					exp(0.1 * rng_normal(&r)));
	assert_false(refine_next(&f, 1, &size));
	for (size_t i = 0; i < f.n; i++) {
		if (f.v[i].cost > 1e6 && f.v[i].size < first)
			first = f.v[i].size;
		if (f.v[i].cost > 1e6 && f.v[i].size > last)
			last = f.v[i].size;
	}
	assert_int_equal(first, 4097);
	assert_int_equal(last, 5543);
	assert_true(steps < 25);
	refine_free(&f);
}

enum { ROUNDS = 10 };

/* Five rounds as they are, five traced; the client waits `share` of the time in `cause`. */
static void rounds_of(struct diag_round *r, unsigned int cause, double share, double delack,
		      double peer_cpu, double noise, struct rng *rng)
{
	memset(r, 0, ROUNDS * sizeof(*r));
	for (int i = 0; i < ROUNDS; i++) {
		double wobble = noise * rng_normal(rng);

		r[i].cost_ns = r[i].each_ns = 1e6 * exp(wobble);
		r[i].messages = r[i].sent = 100;
		r[i].cpu[ROLE_CLIENT] = 0.1;
		r[i].cpu[ROLE_SERVER] = peer_cpu;
		r[i].drops[0] = r[i].drops[1] = r[i].drops[2] = NAN;
		r[i].traced = r[i].both_seen = i >= 5;
		if (r[i].traced)
			r[i].wait[ROLE_CLIENT][cause] =
				(struct diag_wait){ share * (1 + 0.01 * rng_normal(rng)), delack, 0,
						    10, 4e7 };
	}
}

static struct diag_stalls stalls_of(unsigned int cause, double share, double delack,
				    double peer_cpu, double noise)
{
	struct diag_round r[ROUNDS];
	struct diag_stalls s;
	struct rng rng;

	rng_seed(&rng, 11);
	rounds_of(r, cause, share, delack, peer_cpu, noise, &rng);
	diag_find_stalls(r, ROUNDS, &rng, &s);
	return s;
}

static void test_clear_wait(void **state)
{
	struct diag_stalls s = stalls_of(TX_NAGLE, 0.9, 0.88, 0.05, 0.01);

	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].cause, TX_NAGLE);
	assert_int_equal(s.v[0].class, WAIT_CLEAR);
	assert_int_equal(s.v[0].blamed, BLAME_PEER_DELACK);
	assert_int_equal(s.v[0].surety, SEEN_BOTH_ENDS);
	assert_true(s.v[0].share > 0.87 && s.v[0].share < 0.93);
}

/* Back-pressure while the reader is at work is no wait in vain; a delayed ACK is one, whatever the
 * reader's CPU does. */
static void test_excused(void **state)
{
	assert_int_equal(stalls_of(TX_SNDBUF, 0.5, 0, 0.6, 0.01).n, 0);
	assert_int_equal(stalls_of(TX_SNDBUF, 0.5, 0.5, 0.6, 0.01).n, 1);
}

/* The reader is at work in each of its sleeps, but it sleeps for each piece of a message: a larger
 * buffer stands trial. What it may gain is the whole wait. */
static void test_sleeps_for_each_piece(void **state)
{
	struct diag_round r[ROUNDS];
	struct diag_gain gain = { .class = GAIN_CONFIRMED, .ratio = 5 };
	struct diag_stalls s;
	struct rng rng;
	double before[9], after[9];
	size_t of = 0;
	int culprit;

	rng_seed(&rng, 29);
	rounds_of(r, TX_SNDBUF, 0.7, 0, 0.75, 0.01, &rng);
	for (int i = 5; i < ROUNDS; i++)
		r[i].wait[ROLE_CLIENT][TX_SNDBUF].count = 16 * r[i].messages;
	diag_find_stalls(r, ROUNDS, &rng, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].class, WAIT_POSSIBLE);
	assert_true(s.v[0].sleeps > 15.9 && s.v[0].sleeps < 16.1);
	assert_int_equal(diag_decide(&s, &gain, &of, 1, false, &culprit), DIAG_ILL);
	for (int i = 0; i < 9; i++)
		before[i] = 1000 + i, after[i] = 990 + i;
	diag_judge_gain(before, before, after, 9, 1, &s.v[0], &rng, &gain);
	assert_true(gain.predicted > 3 && gain.predicted < 3.7);
	for (int i = 5; i < ROUNDS; i++)
		r[i].wait[ROLE_CLIENT][TX_SNDBUF].count = 2 * r[i].messages;
	diag_find_stalls(r, ROUNDS, &rng, &s);
	assert_int_equal(s.n, 0);
}

/* On one CPU, while either end runs nobody waits in vain. */
static void test_one_cpu(void **state)
{
	struct diag_round r[ROUNDS];
	struct diag_stalls s;
	struct rng rng;

	rng_seed(&rng, 23);
	rounds_of(r, TX_SNDBUF, 0.54, 0, 0.5, 0.001, &rng);
	for (int i = 0; i < ROUNDS; i++) {
		r[i].one_cpu = true;
		r[i].cpu[ROLE_CLIENT] = 0.5;
	}
	diag_find_stalls(r, ROUNDS, &rng, &s);
	assert_int_equal(s.n, 0);
	for (int i = 0; i < ROUNDS; i++)
		r[i].cpu[ROLE_CLIENT] = 0.2;
	diag_find_stalls(r, ROUNDS, &rng, &s);
	assert_int_equal(s.n, 1);
}

/* A point of 1 s in which each end had a CPU for 0.3 s, and the server was kept from one for so
 * long. */
static struct diag_round point_with(const char *placement, json_t *run_delay)
{
	struct diag_round r;
	json_t *p = json_pack(
		"{s:s, s:I, s:I, s:I, s:{s:{s:I, s:I, s:i}, s:{s:I, s:I, s:o}}}", "placement",
		placement, "elapsed_ns", (json_int_t)1000000000, "messages", (json_int_t)1000,
		"sent", (json_int_t)1000, "process", "client", "user_us", (json_int_t)100000,
		"system_us", (json_int_t)200000, "run_delay_ns", 0, "server", "user_us",
		(json_int_t)0, "system_us", (json_int_t)300000, "run_delay_ns", run_delay);

	assert_int_equal(observe_saved(p, &r), 0);
	json_decref(p);
	return r;
}

/* Kept from a CPU by others: on one CPU not for as long as the other end ran. */
static void test_kept_off(void **state)
{
	near(point_with("cross", json_integer(400000000)).delay[ROLE_SERVER], 0.4);
	near(point_with("same", json_integer(400000000)).delay[ROLE_SERVER], 0.1);
	near(point_with("same", json_integer(200000000)).delay[ROLE_SERVER], 0);
	near(point_with("cross", json_integer(400000000)).delay[ROLE_CLIENT], 0);
	assert_true(isnan(point_with("cross", json_null()).delay[ROLE_SERVER]));
}

static void same(double live, double saved, const char *what)
{
	if (isnan(live) ? !isnan(saved) : !(fabs(live - saved) < 1e-9 * (1 + fabs(live))))
		fail_msg("%s: %.9f live, %.9f saved", what, live, saved);
}

#define SAME(field) same(live.field, saved.field, #field)

static void end_of(struct trace_endpoint *ep, pid_t pid, int peer)
{
	*ep = (struct trace_endpoint){ .serial = (uint64_t)pid,
				       .proto = TRACE_TCP,
				       .family = AF_INET,
				       .peer = peer,
				       .tx_calls = { .tgid = pid, .runq_ns = 30000000,
						     .runq_res = TRACE_EXACT },
				       .rx_calls = { .tgid = pid, .runq_ns = 50000000,
						     .runq_res = TRACE_EXACT } };
	memset(ep->tx.resolution, TRACE_EXACT, sizeof(ep->tx.resolution));
	snprintf(ep->tx_calls.comm, sizeof(ep->tx_calls.comm), "end-%d", pid);
	ep->tx.lifetime_ns = ep->rx.lifetime_ns = 1100000000;
	ep->tx.ns[TX_IDLE] = 600000000;
	ep->tx.ns[TX_NAGLE] = 500000000;
	ep->tx.count[TX_NAGLE] = 12;
	ep->tx.max[TX_NAGLE] = 44000000;
	ep->blame.delack_ns[TX_NAGLE] = 400000000;
	ep->blame.delack_n[TX_NAGLE] = 10;
	ep->blame.unread_ns[TX_NAGLE] = 90000000;
	ep->blame.unread_n[TX_NAGLE] = 2;
	ep->tx.resolution[TX_CWND] = TRACE_UNKNOWN;
	ep->drops_res = TRACE_EXACT;
	ep->drops[TRACE_DROP_RCVBUF] = 3;
}

/* A round that is judged as it was measured, and again from the file that holds it. */
static void test_live_and_saved(void **state)
{
	struct trace_endpoint ep[2];
	struct point_ledger ledger = { .phase = { .n = 2, .ep = ep }, .pids = { 100, 200 },
				       .cost_ratio = NAN };
	struct point p = { .mode = "tcp", .placement = "same", .test = TEST_THROUGHPUT,
			   .size = 16384, .elapsed_ns = 1000000000, .messages = 100, .sent = 103,
			   .lost = 3, .ledger = &ledger };
	struct diag_round live, saved;
	json_t *j;

	end_of(&ep[0], 100, 1);
	end_of(&ep[1], 200, -1);
	p.usage[ROLE_CLIENT] = (struct worker_usage){ .pid = 100, .user_us = 1000 };
	p.usage[ROLE_SERVER] = (struct worker_usage){ .pid = 200, .system_us = 3000 };
	p.noise = (struct noise_report){ .window_ns = 1.2e9, .n_cpus = 1, .competing_ns = 6e7 };
	p.noise.run_delay_ns[ROLE_SERVER] = 2e8;
	verdict_make(&ledger.phase, &ledger.verdict);
	json_ledger_of_point = point_ledger_to_json;
	j = json_of_point(&p, NULL);
	assert_int_equal(observe_point(&p, &live), 0);
	assert_int_equal(observe_saved(j, &saved), 0);
	json_decref(j);
	assert_true(live.traced && saved.traced && live.one_cpu && saved.one_cpu);
	assert_true(!live.both_seen && !saved.both_seen);
	near(live.wait[ROLE_CLIENT][TX_NAGLE].delack, 4.0 / 11);
	SAME(cost_ns), SAME(each_ns), SAME(messages), SAME(sent), SAME(lost), SAME(competing);
	SAME(device), SAME(drops[0]), SAME(drops[1]), SAME(drops[2]);
	for (int r = 0; r < ROLES; r++) {
		SAME(cpu[r]), SAME(delay[r]), SAME(woken[r]);
		assert_int_equal(live.who[r].pid, saved.who[r].pid);
		assert_string_equal(live.who[r].comm, saved.who[r].comm);
		for (unsigned int c = 0; c < TX_N; c++) {
			SAME(wait[r][c].share), SAME(wait[r][c].delack), SAME(wait[r][c].unread);
			SAME(wait[r][c].count), SAME(wait[r][c].max_ns);
		}
	}
}

/* 1,000 messages in 1 s, of which each took 8 ms. */
static double cost_with(const char *test)
{
	struct diag_round r;
	json_t *p = json_pack("{s:s, s:I, s:I, s:I, s:{s:f}}", "test", test, "elapsed_ns",
			      (json_int_t)1000000000, "messages", (json_int_t)1000, "sent",
			      (json_int_t)1000, "latency", "mean", 8e6);

	assert_int_equal(observe_saved(p, &r), 0);
	json_decref(p);
	return r.cost_ns;
}

/* Of a throughput with several under way the rate counts, not how long each was under way. */
static void test_window(void **state)
{
	near(cost_with("throughput") / 1e6, 1);
	near(cost_with("latency") / 1e6, 8);
}

/* One odd round of five, a connection's first, does not hide a wait in all the others. */
static void test_odd_round(void **state)
{
	struct diag_round r[ROUNDS];
	struct diag_stalls s;
	struct rng rng;

	rng_seed(&rng, 29);
	rounds_of(r, TX_CWND, 0.9, 0.9, 0, 0.01, &rng);
	r[0].cost_ns = 1000;
	diag_find_stalls(r, ROUNDS, &rng, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].class, WAIT_CLEAR);
	assert_true(s.resolution < 0.05);
}

/* What the measurement cannot resolve is not claimed. */
static void test_below_resolution(void **state)
{
	struct diag_stalls quiet = stalls_of(TX_NAGLE, 0.1, 0.1, 0, 0.001),
			   loud = stalls_of(TX_NAGLE, 0.1, 0.1, 0, 0.5);

	assert_int_equal(quiet.n, 1);
	assert_int_equal(loud.n, 0);
	assert_true(quiet.resolution < loud.resolution && loud.resolution < 1);
}

static void test_loss(void **state)
{
	struct diag_round r[ROUNDS];
	struct diag_stalls s;
	struct rng rng;

	rng_seed(&rng, 13);
	rounds_of(r, TX_NAGLE, 0, 0, 0, 0.01, &rng);
	for (int i = 0; i < ROUNDS; i++) {
		r[i].lost = 30;
		r[i].drops[0] = r[i].traced ? 0.3 : NAN;
		r[i].drops[1] = r[i].traced ? 0 : NAN;
	}
	diag_find_stalls(r, ROUNDS, &rng, &s);
	assert_true(s.n >= 1);
	assert_int_equal(s.v[0].cause, DIAG_LOSS_RCVBUF);
	assert_int_equal(s.v[0].blamed, BLAME_PEER_READER);
	assert_int_equal(
		s.n, 1); /* and not once more as lost on the path, by the rounds that do not know */
}

/* What is said of some of ten rounds, of which the last five were traced, and in which next to all
 * of the time was waited. */
static enum diag_outcome outcome_of(size_t from, size_t n)
{
	struct diag_round r[ROUNDS];
	struct diag_stalls s;
	enum diag_outcome outcome;
	struct rng rng;
	int culprit;

	rng_seed(&rng, 17);
	rounds_of(r, TX_NAGLE, 0.9, 0.9, 0, 0.01, &rng);
	diag_find_stalls(r + from, n, &rng, &s);
	assert_int_equal(s.traced, from + n > 5);
	outcome = diag_decide(&s, NULL, NULL, 0, false, &culprit);
	if (outcome == DIAG_UNKNOWN)
		assert_int_equal(culprit, -1);
	return outcome;
}

/* Without a ledger nothing is known, and nothing is claimed. */
static void test_untraced(void **state)
{
	assert_int_equal(outcome_of(0, 5), DIAG_UNKNOWN);
}

/* One round with the ledger is no verdict, least of all a clean one. */
static void test_one_traced_round(void **state)
{
	assert_int_equal(outcome_of(5, 1), DIAG_UNKNOWN);
	assert_int_not_equal(outcome_of(5, 2), DIAG_UNKNOWN);
}

static struct diag_gain gain_of(double ratio, double noise, enum diag_class class, double lo,
				double hi)
{
	double before[9], again[9], after[9];
	struct diag_finding f = { .class = class, .lost = { lo, hi, 0.95, "" } };
	struct diag_gain g;
	struct rng r;

	rng_seed(&r, 19);
	for (int i = 0; i < 9; i++) {
		before[i] = 1e6 * exp(noise * rng_normal(&r));
		again[i] = 1e6 * exp(noise * rng_normal(&r));
		after[i] = 1e6 / ratio * exp(noise * rng_normal(&r));
	}
	diag_judge_gain(before, again, after, 9, 3, &f, &r, &g);
	return g;
}

static void test_gains(void **state)
{
	struct diag_gain g = gain_of(10, 0.02, WAIT_CLEAR, 0.88, 0.92);

	assert_int_equal(g.class, GAIN_CONFIRMED);
	assert_true(g.ci.lo > 9 && g.ci.hi < 11 && g.faster == 9);
	near(g.predicted, 1 / 0.12);
	assert_int_equal(gain_of(1, 0.02, WAIT_CLEAR, 0.88, 0.92).class, GAIN_REFUTED);
	assert_int_equal(gain_of(0.5, 0.02, WAIT_CLEAR, 0.1, 0.2).class, GAIN_REFUTED);
	assert_int_equal(gain_of(1, 1.0, WAIT_CLEAR, 0.02, 0.03).class, GAIN_NOISY);
}

static enum diag_outcome decide(enum diag_class wait, int gain, bool disturbed, double masked,
				int *culprit)
{
	struct diag_stalls s = { .traced = true, .n = wait != WAIT_NONE, .resolution = 0.05,
		.most_masked = masked };
	struct diag_gain g = { .class = (enum diag_gain_class)gain, .ratio = 2 };
	size_t of = 0;

	s.v[0].class = wait;
	return diag_decide(&s, &g, &of, gain >= 0, disturbed, culprit);
}

static void test_decision(void **state)
{
	static const struct {
		enum diag_class wait;
		int gain; /* -1: no fix was tried */
		bool disturbed;
		double masked;
		enum diag_outcome is;
	} rows[] = {
		{ WAIT_NONE, -1, false, 0, DIAG_HEALTHY },
		{ WAIT_NONE, -1, true, 0, DIAG_HEALTHY },
		{ WAIT_NONE, -1, true, 0.5, DIAG_NOISY },
		{ WAIT_NONE, -1, false, 0.5, DIAG_HEALTHY },
		{ WAIT_POSSIBLE, GAIN_CONFIRMED, false, 0, DIAG_ILL },
		{ WAIT_POSSIBLE, GAIN_CONFIRMED, true, 0, DIAG_NOISY },
		{ WAIT_POSSIBLE, GAIN_REFUTED, false, 0, DIAG_HEALTHY },
		{ WAIT_POSSIBLE, GAIN_NOISY, false, 0, DIAG_NOISY },
		{ WAIT_POSSIBLE, -1, false, 0, DIAG_NOISY },
		{ WAIT_CLEAR, GAIN_NOISY, false, 0, DIAG_ILL },
		{ WAIT_CLEAR, -1, true, 0, DIAG_ILL },
		{ WAIT_CLEAR, GAIN_CONFIRMED, true, 0, DIAG_ILL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int culprit;

		assert_int_equal(decide(rows[i].wait, rows[i].gain, rows[i].disturbed,
					rows[i].masked, &culprit),
				 rows[i].is);
		assert_int_equal(culprit, rows[i].is == DIAG_ILL ? 0 : -1);
	}
}

/* For one finding: which fixes are proposed, by name. */
static size_t proposed(const char *const *set, unsigned int cause, enum blamed blamed,
		       struct proposal out[FIXES_TRIED])
{
	struct diag_stalls s = { .n = 1, .v = { { .cause = cause, .blamed = blamed } } };
	struct bench_options o;
	struct bench_plan plan;
	struct err e = {};
	size_t n;

	bench_defaults(&o);
	for (; *set; set += 2)
		assert_int_equal(opt_set(opt_find(bench_option_rows, set[0]), &o, set[1], &e), 0);
	assert_int_equal(bench_plan(&o, &plan, &e), 0);
	n = fixes_propose(&plan, &s, out);
	opt_free(bench_option_rows, &o);
	return n;
}

static bool has(const struct proposal *p, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(p[i].fix->name, name))
			return true;
	return false;
}

static void test_fixes_fit(void **state)
{
	static const char *const two_writes[] = { "mode", "tcp", "pattern", "header=16", "size",
		"1000", "ack", "message", "test", "throughput", NULL };
	static const char *const pipe[] = { "mode", "pipe", "size", "64K", NULL };
	static const char *const link[] = { "mode", "tcp", "size", "64K", "link",
		"veth,rate=10mbit,limit=10kb,tso=off", NULL };
	struct proposal p[FIXES_TRIED];
	size_t n = proposed(two_writes, TX_NAGLE, BLAME_PEER_DELACK, p);

	assert_true(has(p, n, "nodelay") && has(p, n, "one-write") && has(p, n, "more") &&
		    has(p, n, "quickack") && has(p, n, "route-quickack"));
	assert_false(has(p, n, "uncork") || has(p, n, "pipe-size") || has(p, n, "reader"));
	n = proposed(two_writes, TX_NAGLE, BLAME_NOBODY, p);
	assert_false(has(p, n, "quickack"));
	n = proposed(pipe, TX_SNDBUF, BLAME_NOBODY, p);
	assert_true(n == 1 && has(p, n, "pipe-size"));
	n = proposed(link, TX_RECOVERY, BLAME_PATH, p);
	assert_true(has(p, n, "queue"));
	for (size_t i = 0; i < n; i++)
		if (!strcmp(p[i].fix->name, "queue"))
			assert_string_equal(p[i].sets, "link=veth,rate=10mbit,tso=off,limit=8mb");
}

/* What a fix says it sets can be set. */
static void test_fix_applies(void **state)
{
	struct bench_options o;
	struct err e = {};

	bench_defaults(&o);
	assert_int_equal(fix_apply("nagle=0 nodelay=1", &o, &e), 0);
	assert_true(o.nodelay);
	assert_int_equal(fix_apply("pipe-size=1048576 reader-pause=0", &o, &e), 0);
	assert_int_equal(o.pipe_size, 1 << 20);
	opt_free(bench_option_rows, &o);
}

/* What is read holds no exponents, and one thing is no several. */
static void test_report_reads_well(void **state)
{
	static const struct fix one = { .name = "one", .said = "mend it" };
	struct diagnosed_workload *p = calloc(1, sizeof(*p));
	struct diagnosis_run x = {};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(p);
	assert_non_null(out);
	p->culprit = -1;
	p->n_rounds = 2;
	p->compared = p->pairs = 1;
	p->n_trials = 2; /* one of them could not be run */
	p->trials[0].p.fix = p->trials[1].p.fix = &one;
	p->outcome = DIAG_NOISY;
	p->stalls.most_lost = 1.316;
	p->stalls.resolution = 10.4;
	p->stalls.tested = 1;
	report_text(&x, p, &(struct paint){ .out = out, .width = 2000 });
	fclose(out);
	assert_non_null(strstr(text, "Waits may take up to 130 % of"));
	assert_non_null(strstr(text, "varies by 1000 %"));
	assert_non_null(strstr(text, "corrected for 1 fix and"));
	assert_non_null(strstr(text, "corrected for 1 kind)"));
	assert_null(strstr(text, "e+"));
	free(text);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dip_values), cmocka_unit_test(test_modes),
		cmocka_unit_test(test_one_mode), cmocka_unit_test(test_comb),
		cmocka_unit_test(test_bands), cmocka_unit_test(test_no_dips),
		cmocka_unit_test(test_few_repeats), cmocka_unit_test(test_clear_wait),
		cmocka_unit_test(test_excused), cmocka_unit_test(test_loss),
		cmocka_unit_test(test_below_resolution), cmocka_unit_test(test_untraced),
		cmocka_unit_test(test_one_traced_round), cmocka_unit_test(test_gains),
		cmocka_unit_test(test_decision), cmocka_unit_test(test_fixes_fit),
		cmocka_unit_test(test_fix_applies), cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_sleeps_for_each_piece),
		cmocka_unit_test(test_odd_round), cmocka_unit_test(test_window),
		cmocka_unit_test(test_kept_off),
		cmocka_unit_test(test_live_and_saved), cmocka_unit_test(test_refine),
		cmocka_unit_test(test_report_reads_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
