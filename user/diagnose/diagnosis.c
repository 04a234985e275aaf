// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/diagnosis.h"

#include <math.h>
#include <string.h>

#include "stats/rng.h"
#include "verdict/blame.h"

#define CAUSE_NAME(sym, num, name, stall, nist, what, fix) [sym] = name,
static const char *const cause_names[DIAG_CAUSES] = {
	TX_STATES(CAUSE_NAME)
	[DIAG_LOSS_RCVBUF] = "loss-rcvbuf",
	[DIAG_LOSS_QDISC] = "loss-queue",
	[DIAG_LOSS_ELSEWHERE] = "loss",
};

const char *diag_cause_name(unsigned int cause)
{
	return cause < DIAG_CAUSES ? cause_names[cause] : "unknown";
}

const char *diag_outcome_name(enum diag_outcome o)
{
	static const char *const names[] = { "healthy", "ill", "too-noisy", "unknown" };

	return names[o];
}

const char *diag_gain_name(enum diag_gain_class c)
{
	static const char *const names[] = { "confirmed", "refuted", "too-noisy" };

	return names[c];
}

enum {
	ROUNDS_MAX = 256,
	SLEEPS_MANY = 2, /* per message: the buffer holds less than half of a message */
};

static double mean_of(const double *v, size_t n)
{
	struct sample s = sample_f64(v, n);

	return stats_mean(&s);
}

/* One candidate's figures in each round: `part` is the unexcused share, `whole` all of it. */
struct series {
	double part[ROUNDS_MAX], masked[ROUNDS_MAX], whole[ROUNDS_MAX], delack[ROUNDS_MAX],
		unread[ROUNDS_MAX], count[ROUNDS_MAX], ns[ROUNDS_MAX], sleeps[ROUNDS_MAX];
	double max_ns;
	size_t n;
};

static double known(double v)
{
	return isnan(v) ? 0 : v;
}

/* The share of a wait that no work excuses, a lower bound. Time that the peer's delayed-ACK timer
 * ended is unexcused. The rest is excused as far as the peer may have run, or (without `or_masked`)
 * either end waited for a CPU. The share is at most the time in which neither end ran. */
static double unexcused(const struct diag_round *r, enum role role, unsigned int cause,
			bool or_masked)
{
	const struct diag_wait *w = &r->wait[role][cause];
	double rest = w->share - known(r->cpu[!role]) -
		      (or_masked ? 0 : known(r->delay[!role]) + known(r->woken[role]));
	double c = known(r->cpu[ROLE_CLIENT]), s = known(r->cpu[ROLE_SERVER]),
	       nobody = 1 - (r->one_cpu ? c + s : fmax(c, s));

	return fmax(0, fmin(fmax(w->delack, rest), nobody));
}

/* If no round has a ledger, TCP_INFO is used, which knows only one cause. */
static bool tells(const struct diag_round *r, unsigned int cause, bool ledgers)
{
	return r->traced || (!ledgers && r->info && cause == TX_RWND);
}

static void collect_wait(const struct diag_round *r, size_t n, enum role role, unsigned int cause,
			 bool ledgers, struct series *s)
{
	s->n = 0;
	s->max_ns = 0;
	for (size_t i = 0; i < n && s->n < ROUNDS_MAX; i++) {
		const struct diag_wait *w = &r[i].wait[role][cause];
		size_t k = s->n;

		if (!tells(&r[i], cause, ledgers))
			continue;
		s->part[k] = unexcused(&r[i], role, cause, false);
		s->masked[k] = unexcused(&r[i], role, cause, true);
		s->whole[k] = w->share;
		s->delack[k] = w->delack;
		s->unread[k] = w->unread;
		s->count[k] = w->count;
		s->sleeps[k] = cause == TX_SNDBUF ? known(w->count / r[i].messages) : 0;
		s->ns[k] = w->share * r[i].each_ns;
		s->max_ns = fmax(s->max_ns, w->max_ns);
		s->n++;
	}
}

static bool drops_known(const struct diag_round *r)
{
	return r->traced && !isnan(r->drops[0]) && !isnan(r->drops[1]);
}

/* Collects one kind of loss. Every round has the application's own count of lost messages; only
 * traced rounds have the kinds of drop. The rest of the loss counts as lost elsewhere. In a round
 * that knows no drops that is all of it, so such a round is left out if others know them. */
static void collect_loss(const struct diag_round *r, size_t n, unsigned int cause, struct series *s)
{
	bool some_know = false;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < n; i++)
		some_know |= drops_known(&r[i]);
	for (size_t i = 0; i < n && s->n < ROUNDS_MAX; i++) {
		double of_kind = r[i].drops[cause - DIAG_LOSS_RCVBUF];

		if (!(r[i].sent > 0))
			continue;
		if (cause == DIAG_LOSS_ELSEWHERE)
			of_kind =
				r[i].lost / r[i].sent - known(r[i].drops[0]) - known(r[i].drops[1]);
		if (isnan(of_kind) ||
		    (cause != DIAG_LOSS_ELSEWHERE ? !r[i].traced
						  : some_know && !drops_known(&r[i])))
			continue;
		s->part[s->n] = s->whole[s->n] = fmin(1, fmax(0, of_kind));
		s->ns[s->n] = NAN;
		s->count[s->n++] = r[i].lost;
	}
}

/* A share as a whole number, for blame_judge(). */
static uint64_t parts(double share)
{
	return (uint64_t)(share * 1e9);
}

/* Blames by the verdict's rule. If both ends were seen and nobody is blamed, the rule for one end
 * alone decides. */
static void blame_wait(const struct series *s, unsigned int cause, bool both_seen,
		       struct diag_finding *f)
{
	double whole = 0, delack = 0, unread = 0;
	struct blame_facts facts = { .cause = (enum tx_state)cause, .both_ends = both_seen };
	struct blame_judged j;

	for (size_t i = 0; i < s->n; i++) {
		whole += s->whole[i];
		delack += s->delack[i];
		unread += s->unread[i];
	}
	facts.ns = parts(whole) + 1;
	facts.delack_ns = parts(delack);
	facts.unread_ns = parts(unread);
	j = blame_judge(&facts);
	if (j.blamed == BLAME_NOBODY && both_seen) {
		facts.both_ends = false;
		j = blame_judge(&facts);
		j.surety = j.blamed == BLAME_NOBODY ? SEEN_BOTH_ENDS : INFERRED;
	}
	f->blamed = j.blamed;
	f->surety = j.surety;
	if (j.ns)
		f->blamed_share = fmin(1, (double)j.ns / (double)facts.ns);
}

static void blame_loss(unsigned int cause, struct diag_finding *f)
{
	f->blamed = cause == DIAG_LOSS_RCVBUF ? BLAME_PEER_READER : BLAME_PATH;
	f->surety = cause == DIAG_LOSS_ELSEWHERE ? INFERRED : SEEN_BOTH_ENDS;
	f->blamed_share = 1;
}

static enum diag_class classify(const struct interval *lost, double resolution)
{
	if (!(lost->hi > resolution))
		return WAIT_NONE;
	return lost->lo > resolution ? WAIT_CLEAR : WAIT_POSSIBLE;
}

/* Whether the writer sleeps several times for one message. Each sleep is excused by a reader that
 * empties the buffer meanwhile, but a larger buffer may save most of the wake-ups. */
static bool splits_messages(const struct diag_finding *f, double resolution)
{
	return f->sleeps > SLEEPS_MANY && f->share > resolution;
}

static double weight(const struct diag_finding *f)
{
	return f->class * 10 + f->share;
}

static void keep(struct diag_stalls *out, const struct diag_finding *f)
{
	size_t at = out->n;

	while (at > 0 && weight(&out->v[at - 1]) < weight(f))
		at--;
	if (at >= DIAG_FINDINGS)
		return;
	if (out->n < DIAG_FINDINGS)
		out->n++;
	memmove(&out->v[at + 1], &out->v[at], (out->n - 1 - at) * sizeof(*f));
	out->v[at] = *f;
}

/* Judges one candidate by its interval at the corrected level, and keeps it in order. */
static void judge_series(struct series *s, unsigned int cause, enum role role, bool both_seen,
			 struct rng *rng, struct diag_stalls *out)
{
	struct diag_finding f = { .cause = cause, .role = role };
	bool loss = cause >= DIAG_LOSS_RCVBUF;

	if (loss)
		blame_loss(cause, &f);
	else
		blame_wait(s, cause, both_seen, &f);
	f.share = mean_of(s->whole, s->n);
	f.count = mean_of(s->count, s->n);
	f.max_ns = s->max_ns;
	f.ns_per_message = loss ? NAN : mean_of(s->ns, s->n);
	stats_sort_f64(s->part, s->n);
	f.lost = stats_median_interval(s->part, s->n, 1 - (1 - DIAG_LEVEL) / (double)out->tested,
				       rng);
	f.class = classify(&f.lost, loss ? 0 : out->resolution);
	f.sleeps = loss ? 0 : stats_median(s->sleeps, s->n);
	if (f.class == WAIT_NONE && splits_messages(&f, out->resolution))
		f.class = WAIT_POSSIBLE;
	else
		f.sleeps = 0;
	out->most_lost = fmax(out->most_lost, known(f.lost.hi));
	if (!loss)
		out->most_masked = fmax(out->most_masked, stats_median(s->masked, s->n));
	if (f.class != WAIT_NONE)
		keep(out, &f);
}

static bool any(const struct series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->whole[i] > 0)
			return true;
	return false;
}

/* Counts the kinds of wait and loss that were seen at all, and with `judge` judges each. */
static size_t each_candidate(const struct diag_round *r, size_t n, bool both, struct rng *rng,
			     struct diag_stalls *out, bool judge)
{
	size_t seen = 0;
	struct series s;

	for (unsigned int c = 0; c < DIAG_CAUSES; c++) {
		for (int role = 0; role < (c < TX_N ? ROLES : 1); role++) {
			if (c < TX_N && !tx_is_stall(c))
				continue;
			if (c < TX_N)
				collect_wait(r, n, (enum role)role, c, out->traced, &s);
			else
				collect_loss(r, n, c, &s);
			if (s.n < 2 || !any(&s))
				continue;
			seen++;
			if (judge)
				judge_series(&s, c, c < TX_N ? (enum role)role : ROLE_SERVER, both,
					     rng, out);
		}
	}
	return seen;
}

/* The times per message of the untraced rounds; if all are traced, of all. */
static size_t costs(const struct diag_round *r, size_t n, double *v)
{
	size_t k = 0;
	bool untraced = false;

	for (size_t i = 0; i < n; i++)
		untraced |= !r[i].traced;
	for (size_t i = 0; i < n && k < ROUNDS_MAX; i++)
		if ((!r[i].traced || !untraced) && r[i].cost_ns > 0)
			v[k++] = r[i].cost_ns;
	return k;
}

/* The relative deviations of the traced, or of the untraced, rounds from their own median. */
static size_t deviations(const struct diag_round *r, size_t n, bool traced, double *dev)
{
	double v[ROUNDS_MAX], mid;
	size_t k = 0;

	for (size_t i = 0; i < n && k < ROUNDS_MAX; i++)
		if (r[i].traced == traced && r[i].cost_ns > 0)
			v[k++] = r[i].cost_ns;
	mid = stats_median(v, k);
	for (size_t i = 0; i < k; i++)
		dev[i] = fabs(v[i] / mid - 1);
	return k;
}

static double resolution_of(const struct diag_round *r, size_t n)
{
	double dev[2 * ROUNDS_MAX];
	size_t a = deviations(r, n, false, dev), b = deviations(r, n, true, dev + a), k = a ? a : b;
	double half = stats_median_half_width(stats_median(dev, a + b), k);

	return half / (1 + half);
}

void diag_find_stalls(const struct diag_round *r, size_t n, struct rng *rng,
		      struct diag_stalls *out)
{
	double v[ROUNDS_MAX];
	size_t k = costs(r, n, v), traced = 0;
	bool both = true;

	memset(out, 0, sizeof(*out));
	out->cost_ns = stats_median(v, k);
	out->cost = stats_median_interval(v, k, DIAG_LEVEL, rng);
	out->resolution = resolution_of(r, n);
	for (size_t i = 0; i < n; i++)
		traced += r[i].traced;
	out->traced = traced > 0;
	out->too_few = traced == 1;
	for (size_t i = 0; i < n; i++)
		both &= r[i].both_seen || (out->traced && !r[i].traced);
	out->tested = each_candidate(r, n, both, rng, out, false);
	each_candidate(r, n, both, rng, out, true);
}

/* The gain that ending the wait promises: from its lower bound if the wait is certain, from its
 * upper bound if it is only possible, and from all of it if wake-ups can be saved. */
static double promised(const struct diag_finding *f)
{
	double share = f->sleeps		? f->share
		       : f->class == WAIT_CLEAR ? f->lost.lo
						: f->lost.hi;

	return share < 1 ? 1 / (1 - share) : INFINITY;
}

static enum diag_gain_class classify_gain(const struct interval *gain, const struct interval *same,
					  double predicted)
{
	if (gain->lo > 1 && gain->lo > same->hi)
		return GAIN_CONFIRMED;
	return gain->hi < predicted ? GAIN_REFUTED : GAIN_NOISY;
}

void diag_judge_gain(const double *before, const double *again, const double *after, size_t n,
		     size_t tested, const struct diag_finding *f, struct rng *rng,
		     struct diag_gain *out)
{
	double gain[ROUNDS_MAX], same[ROUNDS_MAX],
		level = 1 - (1 - DIAG_LEVEL) / (double)(tested ? tested : 1);
	struct interval aa;

	n = n < ROUNDS_MAX ? n : ROUNDS_MAX;
	*out = (struct diag_gain){ .pairs = n, .predicted = promised(f) };
	for (size_t i = 0; i < n; i++) {
		gain[i] = sqrt(before[i] * again[i]) / after[i];
		same[i] = before[i] / again[i];
		out->faster += gain[i] > 1;
	}
	out->ratio = stats_median(gain, n);
	out->ci = stats_median_interval(gain, n, level, rng);
	stats_median(same, n);
	aa = stats_median_interval(same, n, level, rng);
	out->class = classify_gain(&out->ci, &aa, out->predicted);
}

/* The trials' results for one finding. */
struct trials {
	size_t confirmed, refuted, noisy;
	double best;
};

static struct trials trials_of(const struct diag_gain *g, const size_t *of, size_t n,
			       size_t finding)
{
	struct trials t = {};

	for (size_t i = 0; i < n; i++) {
		if (of[i] != finding)
			continue;
		t.confirmed += g[i].class == GAIN_CONFIRMED;
		t.refuted += g[i].class == GAIN_REFUTED;
		t.noisy += g[i].class == GAIN_NOISY;
		if (g[i].class == GAIN_CONFIRMED)
			t.best = fmax(t.best, g[i].ratio);
	}
	return t;
}

/* A certain wait needs no fix as a proof. A possible wait is confirmed by a confirmed fix, and
 * dropped if all its fixes are refuted. If other processes use the same CPUs, a fix does not prove
 * a possible wait: it may gain because it takes turns with them less often. */
enum diag_outcome diag_decide(const struct diag_stalls *s, const struct diag_gain *gains,
			      const size_t *of, size_t n, bool disturbed, int *culprit)
{
	bool open = false;
	int clear = -1, proven_at = -1;

	*culprit = -1;
	if ((!s->traced || s->too_few) && !s->n)
		return DIAG_UNKNOWN;
	for (size_t i = 0; i < s->n; i++) {
		struct trials t = trials_of(gains, of, n, i);

		bool certain = s->v[i].class == WAIT_CLEAR,
		     proven = t.confirmed && (certain || !disturbed);

		if (proven && proven_at < 0)
			proven_at = (int)i;
		if (certain && clear < 0)
			clear = (int)i;
		open |= s->v[i].class == WAIT_POSSIBLE && !proven &&
			(t.confirmed || t.noisy || !t.refuted);
	}
	*culprit = proven_at >= 0 ? proven_at : clear;
	if (*culprit >= 0)
		return DIAG_ILL;
	return open || (disturbed && s->most_masked > s->resolution) ? DIAG_NOISY : DIAG_HEALTHY;
}
