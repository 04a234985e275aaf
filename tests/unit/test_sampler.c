// SPDX-License-Identifier: GPL-2.0-only
/* Shares from samples: are 95 % of the intervals right, of states that come and go at any pace,
 * also beside the gaps of the samples? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "stats/rng.h"
#include "sampler/interval.h"
#include "sampler/sample_rate.h"
#include "unit/sanitized.h"

/* Of two states: it stays `on` and `off` for so long on average, in gaps of the samples. With
 * phases it turns `faster` times as fast in every second `phase`. */
struct chain {
	double on, off, at, turns;
	double phase, faster;
	bool beat; /* always exactly so long */
	int state;
	double held; /* so long it has been on */
};

static double lasts(const struct chain *c, struct rng *r)
{
	bool fast = c->phase > 0 && fmod(c->turns, 2 * c->phase) >= c->phase;

	return (c->beat ? 1 : rng_exponential(r)) * (c->state ? c->on : c->off) /
	       (fast ? c->faster : 1);
}

static void chain_begin(struct chain *c, struct rng *r, const struct chain *like)
{
	*c = *like;
	c->state = rng_chance(r, c->on / (c->on + c->off));
	c->turns = lasts(c, r) * (c->beat ? rng_unit(r) : 1);
}

static void chain_goes_on(struct chain *c, struct rng *r, double to)
{
	while (c->turns < to) {
		c->held += c->state ? c->turns - c->at : 0;
		c->at = c->turns;
		c->state = !c->state;
		c->turns += lasts(c, r);
	}
	c->held += c->state ? to - c->at : 0;
	c->at = to;
}

/* as bpf/sample.bpf.h books a sample, the first as if it had been so before, and what was after the
 * last as if it were so still; true: the interval holds what was */
static bool one_run(struct rng *r, const struct chain *like, int samples)
{
	struct sample_counts c = {};
	struct share_interval i;
	struct chain chain;
	double time = 0, charged = 0, cubes = 0, after;
	int before = 0, earlier;

	chain_begin(&chain, r, like);
	for (int k = 0; k < samples; k++) {
		double gap = 0.5 + rng_unit(r);

		earlier = before;
		before = chain.state;

		time += gap;
		cubes += gap * gap * gap;
		chain_goes_on(&chain, r, time);
		charged += gap / 2 * ((k ? before : chain.state) + chain.state);
		c.again += k && before && chain.state;
		c.later += k > 1 && earlier && chain.state;
		c.seen += (uint64_t)chain.state;
		c.n++;
	}
	after = rng_unit(r);
	charged += after * chain.state;
	time += after;
	chain_goes_on(&chain, r, time);
	c.share = charged / time;
	c.unevenness = cubes / samples / pow(time / samples, 3);
	i = samples_interval(&c);
	return i.lo <= chain.held / time + 1e-12 && chain.held / time - 1e-12 <= i.hi;
}

static double coverage(const struct chain *like, int samples)
{
	int runs = SANITIZED ? 150 : 1500, held = 0;
	struct rng r;

	rng_seed(&r, 29);
	for (int i = 0; i < runs; i++)
		held += one_run(&r, like, samples);
	return held / (double)runs;
}

static void test_coverage(void **state)
{
	static const double lengths[][2] = { { 0.05, 0.05 }, { 0.05, 0.2 }, { 0.3, 0.3 },
					     { 0.3, 2 },     { 1, 1 },	    { 2, 6 },
					     { 3, 3 },	     { 10, 10 },    { 10, 30 },
					     { 40, 4 } };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (int samples = 400; samples <= 2000; samples *= 5) {
			struct chain like = { .on = lengths[i][0], .off = lengths[i][1] };
			double held = coverage(&like, samples);

			print_message("states of %g and %g gaps, %d samples: %.1f %%\n",
				      lengths[i][0], lengths[i][1], samples, 100 * held);
			assert_true(SANITIZED || (held >= 0.92 && held <= 0.98));
		}
}

/* Idle, say, and then busy: neither phase alone is what the samples of both together seem to be. */
static void test_phases(void **state)
{
	static const struct chain likes[] = {
		{ .on = 20, .off = 20, .phase = 100, .faster = 400 },
		{ .on = 5, .off = 20, .phase = 50, .faster = 200 },
		{ .on = 10, .off = 10, .phase = 100, .faster = 30 },
	};

	for (size_t i = 0; i < sizeof(likes) / sizeof(likes[0]); i++)
		for (int samples = 400; samples <= 2000; samples *= 5) {
			double held = coverage(&likes[i], samples);

			print_message("states of %g and %g gaps, in phases of %g %g times as fast, "
				      "%d samples: %.1f %%\n",
				      likes[i].on, likes[i].off, likes[i].phase, likes[i].faster,
				      samples, 100 * held);
			assert_true(SANITIZED || (held >= 0.92 && held <= 0.98));
		}
}

/* Each tenth sample takes eight times as long, and a search for descriptors 6 ms every 7 s. */
static void the_budget_is_kept(void **state)
{
	struct sample_rate t;
	double spent = 0, now = 0;

	(void)state;
	sample_rate_begin(&t, 0.005);
	for (int i = 0; now < 60e9; i++) {
		double gap = (double)sample_rate_gap_ns(&t, 0.5), sample = i % 10 ? 100e3 : 800e3,
		       find = (int)(now / 7e9) < (int)((now + gap) / 7e9) ? 6e6 : 0;

		now += gap;
		spent += sample + find;
		sample_rate_measured(&t, 16, (uint64_t)sample);
		sample_rate_spent(&t, (uint64_t)(sample + find), (uint64_t)gap);
		sample_rate_choose(&t, 16);
	}
	assert_true(spent > 0.0047 * now && spent < 0.0053 * now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_budget_is_kept),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
