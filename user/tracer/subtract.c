// SPDX-License-Identifier: GPL-2.0-only
/* The difference of two snapshots (a phase), and sums of endpoints. Both are additions: an unsigned
 * difference is one, of the negative. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/array.h"
#include "tracer/figure.h"
#include "tracer/internal.h"

/* sign: 1 or -1, times what is added */
static void add_words(uint64_t *out, const uint64_t *a, size_t n, int sign)
{
	for (size_t i = 0; i < n; i++)
		out[i] += sign < 0 ? -a[i] : a[i];
}

static void add_counts(uint32_t *out, const uint32_t *a, size_t n, int sign)
{
	for (size_t i = 0; i < n; i++)
		out[i] += sign < 0 ? -a[i] : a[i];
}

static void add_word(uint64_t *out, uint64_t a, int sign)
{
	add_words(out, &a, 1, sign);
}

static void add_ledger(struct trace_ledger *out, const struct trace_ledger *a, int sign)
{
	add_words(out->ns, a->ns, TRACE_STATES, sign);
	add_counts(out->count, a->count, TRACE_STATES, sign);
	add_counts(&out->hist[0][0], &a->hist[0][0], TRACE_STATES * TRACE_HIST, sign);
	add_word(&out->lifetime_ns, a->lifetime_ns, sign);
	out->unaccounted_ns += sign * a->unaccounted_ns;
}

static void add_blame(struct trace_blame *out, const struct trace_blame *a, int sign)
{
	add_words(out->delack_ns, a->delack_ns, TRACE_STATES, sign);
	add_words(out->unread_ns, a->unread_ns, TRACE_STATES, sign);
	add_counts(out->delack_n, a->delack_n, TRACE_STATES, sign);
	add_counts(out->unread_n, a->unread_n, TRACE_STATES, sign);
	add_word(&out->gathered_ns, a->gathered_ns, sign);
	add_counts(&out->gathered_n, &a->gathered_n, 1, sign);
	add_words(out->starved_ns, a->starved_ns, TRACE_VOTES, sign);
	add_counts(out->starved_n, a->starved_n, TRACE_VOTES, sign);
}

static void add_endpoint(struct trace_endpoint *out, const struct trace_endpoint *a, int sign)
{
	add_ledger(&out->tx, &a->tx, sign);
	add_ledger(&out->rx, &a->rx, sign);
	add_blame(&out->blame, &a->blame, sign);
	figures_add(&figures_of_calls, &out->tx_calls, &a->tx_calls, sign);
	figures_add(&figures_of_calls, &out->rx_calls, &a->rx_calls, sign);
	figures_add(&figures_of_endpoint, out, a, sign);
}

void trace_counters_sub(struct trace_counters *out, const struct trace_counters *a)
{
	struct trace_existing all = out->existing;

	add_words((uint64_t *)out, (const uint64_t *)a, sizeof(*a) / sizeof(uint64_t), -1);
	out->existing = all;
}

static int by_serial(const void *x, const void *y)
{
	const struct trace_endpoint *a = *(struct trace_endpoint *const *)x,
				    *b = *(struct trace_endpoint *const *)y;

	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static struct trace_endpoint **index_serials(const struct trace_snapshot *s)
{
	struct trace_endpoint **p = array_new(s->n, 1, sizeof(*p));

	for (size_t i = 0; p && i < s->n; i++)
		p[i] = &s->ep[i];
	if (p)
		qsort(p, s->n, sizeof(*p), by_serial);
	return p;
}

/* one state that is known is known, of the sum too */
static void add_resolutions(struct trace_endpoint *sum, const struct trace_endpoint *ep)
{
	for (int i = 0; i < TRACE_STATES; i++) {
		sum->tx.resolution[i] = MAX(sum->tx.resolution[i], ep->tx.resolution[i]);
		sum->rx.resolution[i] = MAX(sum->rx.resolution[i], ep->rx.resolution[i]);
	}
	figures_add_known(&figures_of_calls, &sum->tx_calls, &ep->tx_calls);
	figures_add_known(&figures_of_calls, &sum->rx_calls, &ep->rx_calls);
	figures_add_known(&figures_of_endpoint, sum, ep);
}

struct trace_endpoint *rest_new(void)
{
	struct trace_endpoint *rest = calloc(TRACE_PROTOS, sizeof(*rest));

	for (int p = 0; rest && p < TRACE_PROTOS; p++) {
		rest[p].proto = (enum trace_proto)p;
		rest[p].peer = -1;
		rest[p].closed = true;
		figures_begin_sum(&figures_of_calls, &rest[p].tx_calls);
		figures_begin_sum(&figures_of_calls, &rest[p].rx_calls);
	}
	return rest;
}

void rest_add(struct trace_endpoint *rest, const struct trace_endpoint *ep)
{
	struct trace_endpoint *sum = &rest[ep->proto < TRACE_PROTOS ? ep->proto : 0];

	add_endpoint(sum, ep, 1);
	add_resolutions(sum, ep);
}

/*
 * What was added to the rest between the two. The whole lives of those that are in it count there;
 * what they had done by `a`, where they still lived, does not belong to the phase: they are the
 * ones that are in `a` and gone from `b` (which `kept` says of each).
 */
static bool sub_rest(struct trace_snapshot *out, const struct trace_snapshot *a,
		     const struct trace_snapshot *b, const bool *kept)
{
	out->rest = NULL;
	if (!b->rest || b->counters.dropped == a->counters.dropped)
		return true;
	out->rest = array_resize(NULL, TRACE_PROTOS, 0, sizeof(*out->rest));
	if (!out->rest)
		return false;
	memcpy(out->rest, b->rest, TRACE_PROTOS * sizeof(*out->rest));
	for (int p = 0; a->rest && p < TRACE_PROTOS; p++)
		add_endpoint(&out->rest[p], &a->rest[p], -1);
	for (size_t i = 0; i < a->n; i++)
		if (!kept[i] && !a->ep[i].closed)
			add_endpoint(&out->rest[a->ep[i].proto < TRACE_PROTOS ? a->ep[i].proto : 0],
				     &a->ep[i], -1);
	return true;
}

/* A maximum has no difference, and the longest may have begun before the phase: the time that the
 * phase has is a limit of it too. */
static void limit_longest(struct trace_ledger *phase)
{
	for (int i = 0; i < TRACE_STATES; i++)
		phase->max[i] = MIN(phase->max[i], phase->ns[i]);
}

/* What flew before the phase, and in it turned out to have been lost: in the phase it did neither.
 */
static void late_losses(struct trace_ledger *tx)
{
	if ((int64_t)tx->ns[TX_FLIGHT] < 0) {
		tx->ns[TX_RECOVERY] += tx->ns[TX_FLIGHT];
		tx->ns[TX_FLIGHT] = 0;
	}
	if ((int32_t)tx->count[TX_FLIGHT] < 0)
		tx->count[TX_FLIGHT] = 0;
	for (int i = 0; i < TRACE_HIST; i++)
		if ((int32_t)tx->hist[TX_FLIGHT][i] < 0)
			tx->hist[TX_FLIGHT][i] = 0;
}

static void limit_call_stats(struct trace_call_stats *b, uint64_t phase_ns)
{
	b->open_sleep_ns = MIN(b->open_sleep_ns, phase_ns);
	b->blocked_max_ns = MIN(b->blocked_max_ns, trace_blocked_ns(b));
	b->runq_max_ns = MIN(b->runq_max_ns, b->runq_ns);
}

/* how uneven the gaps were stays that of the whole life */
static void sub_looks(struct trace_looks *out, const struct trace_looks *a)
{
	out->n -= a->n;
	add_counts(out->tx_seen, a->tx_seen, TRACE_STATES, -1);
	add_counts(out->tx_again, a->tx_again, TRACE_STATES, -1);
	add_counts(out->tx_later, a->tx_later, TRACE_STATES, -1);
	add_counts(out->rx_seen, a->rx_seen, TRACE_STATES, -1);
	add_counts(out->rx_again, a->rx_again, TRACE_STATES, -1);
	add_counts(out->rx_later, a->rx_later, TRACE_STATES, -1);
	add_counts(out->fact, a->fact, TRACE_LOOK_FACTS, -1);
	add_words(out->chrono_ns, a->chrono_ns, TRACE_CHRONOS, -1);
	out->writes -= a->writes;
	out->full -= a->full;
	out->refilled -= a->refilled;
	out->earlier_writes += a->writes;
}

/* NULL, and true: there are none. */
static bool copy_looks(struct trace_snapshot *out, const struct trace_snapshot *b)
{
	if (!b->looks)
		return true;
	out->looks = array_resize(NULL, b->n, 1, sizeof(*out->looks));
	if (out->looks)
		memcpy(out->looks, b->looks, b->n * sizeof(*out->looks));
	return out->looks;
}

int trace_snapshot_sub(struct trace_snapshot *out, const struct trace_snapshot *a,
		       const struct trace_snapshot *b)
{
	struct trace_endpoint **old = index_serials(a);
	bool *kept = array_new(a->n, 1, sizeof(*kept));
	bool whole;

	*out = *b;
	out->rest = NULL;
	out->looks = NULL;
	out->ep = array_resize(NULL, b->n, 1, sizeof(*out->ep));
	whole = old && kept && out->ep && copy_looks(out, b);
	if (whole)
		memcpy(out->ep, b->ep, b->n * sizeof(*out->ep));
	for (size_t i = 0; whole && i < b->n; i++) {
		struct trace_endpoint *key = &b->ep[i];
		struct trace_endpoint **hit = bsearch(&key, old, a->n, sizeof(*old), by_serial);

		if (!hit)
			continue;
		add_endpoint(&out->ep[i], *hit, -1);
		late_losses(&out->ep[i].tx);
		limit_call_stats(&out->ep[i].tx_calls, out->ep[i].tx.lifetime_ns);
		limit_call_stats(&out->ep[i].rx_calls, out->ep[i].rx.lifetime_ns);
		limit_longest(&out->ep[i].tx);
		limit_longest(&out->ep[i].rx);
		out->ep[i].hole.max_ns = MIN(out->ep[i].hole.max_ns, out->ep[i].hole.ns);
		kept[*hit - a->ep] = true;
		if (out->looks && a->looks)
			sub_looks(&out->looks[i], &a->looks[*hit - a->ep]);
	}
	if (!whole || !sub_rest(out, a, b, kept)) {
		free(old);
		free(kept);
		trace_snapshot_free(out);
		memset(out, 0, sizeof(*out));
		return -1;
	}
	trace_counters_sub(&out->counters, &a->counters);
	free(old);
	free(kept);
	return 0;
}
