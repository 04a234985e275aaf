// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reliable-UDP machines: against a network that loses, doubles, delays and reorders in both
 * directions; against a naive model of the sender; and against the law of the waiting time under
 * loss. No socket, no clock: time is a number.
 */
#include "workloads/rudp_machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RTO = 1000, FLYING = 20000, STEPS_MAX = 4000000 };

/* --- a network in which every datagram has a time of arrival of its own --- */
struct flight {
	uint64_t at;
	int64_t number;
	bool ack;
};

struct world {
	struct rng rng;
	double loss, twice; /* each direction */
	uint64_t spread; /* a datagram takes 1 to 1 + spread: larger than the gap between sends, so
			    they overtake */
	struct flight flying[FLYING];
	size_t n;
	uint64_t now;
	struct rudp_sender s;
	struct rudp_receiver r;
	struct rudp_slot slots[RUDP_WINDOW_MAX];
	bool got[RUDP_WINDOW_MAX];
	int64_t delivered;
};

static void launch(struct world *w, int64_t number, bool ack)
{
	int copies = 1 + rng_chance(&w->rng, w->twice);

	for (int i = 0; i < copies; i++) {
		if (rng_chance(&w->rng, w->loss))
			continue;
		assert_true(w->n < FLYING);
		w->flying[w->n++] = (struct flight){ w->now + 1 + rng_below(&w->rng, w->spread + 1),
						     number, ack };
	}
}

static void land(struct world *w, const struct flight *f)
{
	enum rudp_arrival verdict;

	if (f->ack) {
		rudp_acked(&w->s, f->number);
		return;
	}
	verdict = rudp_arrive(&w->r, f->number);
	assert_true(verdict != RUDP_ALIEN);
	if (verdict != RUDP_DROPPED)
		launch(w, f->number, true);
	while (rudp_ready(&w->r))
		assert_int_equal(rudp_take(&w->r),
				 w->delivered++); /* each once, in order, none left out */
}

static void step(struct world *w)
{
	size_t best = w->n;
	uint64_t due = rudp_due(&w->s);
	int64_t seq;

	for (size_t i = 0; i < w->n; i++)
		if (best == w->n || w->flying[i].at < w->flying[best].at)
			best = i;
	if (best < w->n && w->flying[best].at <= due) {
		struct flight f = w->flying[best];

		memmove(&w->flying[best], &w->flying[best + 1],
			(--w->n - best) * sizeof(f)); /* ties keep their order */
		w->now = f.at > w->now ? f.at : w->now;
		land(w, &f);
		return;
	}
	assert_true(due != RUDP_NEVER); /* nothing flies and nothing is due: stuck */
	w->now = due > w->now ? due : w->now;
	while ((seq = rudp_retry(&w->s, w->now)) >= 0)
		launch(w, seq, false);
}

static struct world *world(uint32_t window, double loss, double twice, uint64_t spread, double drop,
			   uint64_t seed)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	rng_seed(&w->rng, seed);
	w->loss = loss;
	w->twice = twice;
	w->spread = spread;
	rudp_sender_init(&w->s, w->slots, window, RTO);
	rudp_receiver_init(&w->r, w->got, window, drop, seed + 1);
	return w;
}

static void run_to(struct world *w, int64_t messages)
{
	long steps = 0;

	while (w->s.next < messages || !rudp_all_acked(&w->s)) {
		assert_true(steps++ < STEPS_MAX);
		if (w->s.next < messages && rudp_room(&w->s))
			launch(w, rudp_send(&w->s, w->now), false);
		else
			step(w);
	}
	assert_int_equal(w->delivered, messages);
	assert_int_equal(w->s.acks, messages);
	assert_int_equal(w->s.transmissions, (uint64_t)messages + w->s.retransmits);
	assert_true(rudp_due(&w->s) == RUDP_NEVER);
}

static void nothing_befalls(void **state)
{
	(void)state;
	for (uint32_t window = 1; window <= 64; window *= 4) {
		struct world *w = world(window, 0, 0, 0, 0, 1);

		run_to(w, 1000);
		assert_int_equal(w->s.retransmits, 0);
		assert_int_equal(w->s.stale_acks, 0);
		assert_int_equal(w->r.duplicates + w->r.early + w->r.dropped, 0);
		free(w);
	}
}

/* Every combination of window, loss, doubling and reordering delivers each message once and in
 * order, and ends. */
static void everything_befalls(void **state)
{
	static const uint32_t windows[] = { 1, 2, 3, 7, 32, 100 };
	static const double losses[] = { 0, 0.05, 0.3, 0.6 };
	uint64_t seed = 0, early = 0, duplicates = 0, stale = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		for (size_t j = 0; j < sizeof(losses) / sizeof(losses[0]); j++)
			for (uint64_t spread = 0; spread <= 3 * RTO; spread += RTO) {
				struct world *w = world(windows[i], losses[j], 0.2, spread,
							losses[j] / 2, ++seed);

				run_to(w, 400);
				early += w->r.early;
				duplicates += w->r.duplicates;
				stale += w->s.stale_acks;
				free(w);
			}
	assert_true(early > 1000 && duplicates > 1000 &&
		    stale > 1000); /* the cases under test did happen */
}

/* Each message waits rto * (tries - 1) longer; tries are geometric: mean rto p/(1-p), deviation rto
 * sqrt(p)/(1-p). */
static void law_of_the_wait(double p, uint64_t seed)
{
	enum { N = 20000 };
	struct world *w = world(1, 0, 0, 0, p, seed);
	double want = RTO * p / (1 - p), sigma = RTO * sqrt(p) / (1 - p) / sqrt(N), extra;

	run_to(w, N);
	extra = (double)w->now / N - 2; /* one unit there, one back */
	assert_true(fabs(extra - want) <= 4 * sigma + 1e-9);
	assert_true(fabs((double)w->s.retransmits / N - p / (1 - p)) <=
		    4 * sqrt(p) / (1 - p) / sqrt(N));
	assert_int_equal(w->s.retransmits, w->r.dropped);
	free(w);
}

static void waits_follow_the_law(void **state)
{
	(void)state;
	law_of_the_wait(0, 11);
	law_of_the_wait(0.1, 12);
	law_of_the_wait(0.2, 13);
	law_of_the_wait(0.3, 14);
	law_of_the_wait(0.9, 15);
}

/* The same seed drops the same packets: a run can be repeated. */
static void drops_repeat(void **state)
{
	struct world *a = world(8, 0, 0, 0, 0.3, 5), *b = world(8, 0, 0, 0, 0.3, 5),
		     *c = world(8, 0, 0, 0, 0.3, 6);

	(void)state;
	run_to(a, 500);
	run_to(b, 500);
	run_to(c, 500);
	assert_int_equal(a->now, b->now);
	assert_int_equal(a->r.dropped, b->r.dropped);
	assert_true(a->now != c->now);
	free(a);
	free(b);
	free(c);
}

static void window_is_kept(void **state)
{
	struct rudp_slot slots[4];
	struct rudp_sender s;

	(void)state;
	rudp_sender_init(&s, slots, 4, RTO);
	for (int i = 0; i < 4; i++) {
		assert_true(rudp_room(&s));
		assert_int_equal(rudp_send(&s, i), i);
	}
	assert_false(rudp_room(&s));
	for (int i = 3; i > 0; i--) { /* the oldest holds the window, whatever else is settled */
		assert_true(rudp_acked(&s, i));
		assert_false(rudp_room(&s));
	}
	assert_int_equal(rudp_due(&s), RTO);
	assert_true(rudp_acked(&s, 0));
	assert_true(rudp_all_acked(&s));
	assert_false(rudp_acked(&s, 0));
	assert_int_equal(s.stale_acks, 1);
}

static void nonsense_changes_nothing(void **state)
{
	static const int64_t bad[] = { -1, INT64_MIN, INT64_MAX, 4, 1000, INT64_MAX - 3 };
	struct rudp_slot slots[4];
	bool got[4];
	struct rudp_sender s;
	struct rudp_receiver r;

	(void)state;
	rudp_sender_init(&s, slots, 4, RTO);
	rudp_receiver_init(&r, got, 4, 0, 1);
	rudp_send(&s, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(rudp_acked(&s, bad[i]));
		assert_int_equal(rudp_arrive(&r, bad[i]), RUDP_ALIEN);
	}
	assert_int_equal(s.base, 0);
	assert_int_equal(r.next, 0);
	assert_false(rudp_ready(&r));
	assert_int_equal(r.aliens, sizeof(bad) / sizeof(bad[0]));
}

/* --- the sender against a model that searches instead of queueing --- */
struct model {
	int64_t base, next;
	uint64_t due[1 << 16];
	bool acked[1 << 16];
};

static int64_t model_retry(struct model *m, uint64_t now)
{
	int64_t best = -1;

	for (int64_t i = m->base; i < m->next; i++)
		if (!m->acked[i] && m->due[i] <= now && (best < 0 || m->due[i] < m->due[best]))
			best = i;
	return best;
}

static void against_the_model(uint32_t window, uint64_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	struct rudp_slot slots[64];
	struct rudp_sender s;
	struct rng rng;
	uint64_t now = 0;

	rng_seed(&rng, seed);
	rudp_sender_init(&s, slots, window, RTO);
	for (int i = 0; i < 30000; i++) {
		int64_t guess = m->base - 3 + (int64_t)rng_below(&rng, window + 6), seq;
		bool fresh = guess >= m->base && guess < m->next && !m->acked[guess];

		now += 1 +
		       rng_below(
			       &rng,
			       200); /* never twice the same, so that the order by time is total */
		assert_int_equal(rudp_room(&s), m->next - m->base < window);
		if (rng_chance(&rng, 0.4) && rudp_room(&s)) {
			m->due[m->next] = now + RTO;
			assert_int_equal(rudp_send(&s, now), m->next++);
		} else if (rng_chance(&rng, 0.4)) {
			assert_int_equal(rudp_acked(&s, guess), fresh);
			if (fresh)
				m->acked[guess] = true;
			while (m->base < m->next && m->acked[m->base])
				m->base++;
		} else {
			seq = model_retry(m, now);
			assert_int_equal(rudp_retry(&s, now), seq);
			if (seq >= 0)
				m->due[seq] = now + RTO;
		}
		assert_int_equal(s.base, m->base);
	}
	assert_true(s.acks > 100 && s.retransmits > 100);
	free(m);
}

static void sender_agrees_with_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++)
		against_the_model(seed % 3 == 0 ? 1 : seed % 3 == 1 ? 5 : 64, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_befalls), cmocka_unit_test(everything_befalls),
		cmocka_unit_test(waits_follow_the_law), cmocka_unit_test(drops_repeat),
		cmocka_unit_test(window_is_kept), cmocka_unit_test(nonsense_changes_nothing),
		cmocka_unit_test(sender_agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
