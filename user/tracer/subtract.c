// SPDX-License-Identifier: GPL-2.0-only
/* The difference of two snapshots (a phase), and sums of endpoints. Both are additions: a
 * difference adds the negative, in unsigned arithmetic. */
#include <stdlib.h>
#include <sys/param.h>

#include "base/array.h"
#include "tracer/endpoint_detail.h"
#include "tracer/figure.h"
#include "tracer/internal.h"
#include "tracer/pack.h"

/* sign: 1 adds, -1 subtracts */
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

/* Votes have no sum. */
static void add_detail(struct trace_detail *out, const struct trace_detail *a, int sign)
{
	add_counts(&out->tx_hist[0][0], &a->tx_hist[0][0], TRACE_STATES * TRACE_HIST, sign);
	add_counts(&out->rx_hist[0][0], &a->rx_hist[0][0], TRACE_STATES * TRACE_HIST, sign);
}

/* If `a` has a detail, `out` has one too. */
static void add_endpoint(struct trace_endpoint *out, const struct trace_endpoint *a, int sign)
{
	if (a->detail)
		add_detail(out->detail, a->detail, sign);
	add_ledger(&out->tx, &a->tx, sign);
	add_ledger(&out->rx, &a->rx, sign);
	add_blame(&out->blame, &a->blame, sign);
	out->blame_missing |= a->blame_missing;
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

/* if one endpoint's state is known, the sum's is known */
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

static struct trace_endpoint *rest_of(struct trace_endpoint *rest, enum trace_proto proto)
{
	return &rest[proto < TRACE_PROTOS ? proto : 0];
}

void rest_add(struct trace_endpoint *rest, const struct trace_endpoint *ep)
{
	struct trace_endpoint *sum = rest_of(rest, ep->proto);

	add_endpoint(sum, ep, 1);
	add_resolutions(sum, ep);
}

/*
 * Makes `rest` what was added to it between the two snapshots. Endpoints are added to it with their
 * whole lives, but what they had done by `a` does not belong to the phase. Those that still lived
 * in `a` are the ones that are in `a` and not in `s` (`kept` says which are in `s`).
 */
static void sub_rest(struct trace_snapshot *s, const struct trace_packed *a, const bool *kept)
{
	struct unpacked old;

	if (!s->rest)
		return;
	if (s->counters.dropped == a->head.counters.dropped) {
		free(s->rest);
		s->rest = NULL;
		return;
	}
	for (int p = 0; a->head.rest && p < TRACE_PROTOS; p++)
		add_endpoint(&s->rest[p], &a->head.rest[p], -1);
	for (size_t i = 0; i < a->head.n; i++) {
		if (kept[i])
			continue;
		packed_read(a, i, &old);
		if (!old.ep.closed)
			add_endpoint(rest_of(s->rest, old.ep.proto), &old.ep, -1);
	}
}

/* A maximum has no difference, and the longest episode may have begun before the phase. So the
 * phase's own time limits it. */
static void limit_longest(struct trace_ledger *phase)
{
	for (int i = 0; i < TRACE_STATES; i++)
		phase->max[i] = MIN(phase->max[i], phase->ns[i]);
}

/* Data that was in flight before the phase, and proved lost during the phase, was neither in flight
 * nor lost in the phase. */
static void late_losses(struct trace_endpoint *ep)
{
	struct trace_ledger *tx = &ep->tx;

	if ((int64_t)tx->ns[TX_FLIGHT] < 0) {
		tx->ns[TX_RECOVERY] += tx->ns[TX_FLIGHT];
		tx->ns[TX_FLIGHT] = 0;
	}
	if ((int32_t)tx->count[TX_FLIGHT] < 0)
		tx->count[TX_FLIGHT] = 0;
	for (int i = 0; ep->detail && i < TRACE_HIST; i++)
		if ((int32_t)ep->detail->tx_hist[TX_FLIGHT][i] < 0)
			ep->detail->tx_hist[TX_FLIGHT][i] = 0;
}

static void limit_call_stats(struct trace_call_stats *b, uint64_t phase_ns)
{
	b->open_sleep_ns = MIN(b->open_sleep_ns, phase_ns);
	b->blocked_max_ns = MIN(b->blocked_max_ns, trace_blocked_ns(b));
	b->runq_max_ns = MIN(b->runq_max_ns, b->runq_ns);
}

/* `unevenness` stays that of the whole life */
static void sub_samples(struct trace_samples *out, const struct trace_samples *a)
{
	out->n -= a->n;
	add_counts(out->tx_seen, a->tx_seen, TRACE_STATES, -1);
	add_counts(out->tx_again, a->tx_again, TRACE_STATES, -1);
	add_counts(out->tx_later, a->tx_later, TRACE_STATES, -1);
	add_counts(out->rx_seen, a->rx_seen, TRACE_STATES, -1);
	add_counts(out->rx_again, a->rx_again, TRACE_STATES, -1);
	add_counts(out->rx_later, a->rx_later, TRACE_STATES, -1);
	add_counts(out->fact, a->fact, TRACE_SAMPLE_FACTS, -1);
	add_words(out->chrono_ns, a->chrono_ns, TRACE_CHRONOS, -1);
	out->writes -= a->writes;
	out->full -= a->full;
	out->refilled -= a->refilled;
	out->earlier_writes += a->writes;
}

static void sub_endpoint(struct trace_endpoint *ep, const struct trace_endpoint *old)
{
	add_endpoint(ep, old, -1);
	late_losses(ep);
	limit_call_stats(&ep->tx_calls, ep->tx.lifetime_ns);
	limit_call_stats(&ep->rx_calls, ep->rx.lifetime_ns);
	limit_longest(&ep->tx);
	limit_longest(&ep->rx);
	ep->hole.max_ns = MIN(ep->hole.max_ns, ep->hole.ns);
}

/* Of a phase, what may have happened before it for the most part */
#define MOSTLY_BEFORE 0.2

/* By samples, a reader's CPU time is known once enough of its life is covered. What became known in
 * this phase is that of its whole life. */
static void forget_cpu(struct trace_call_stats *b, const struct trace_call_stats *old)
{
	if (old->no_cpu_res != TRACE_UNKNOWN)
		return;
	b->cpu_ns = b->no_cpu_ns = b->quota_ns = b->stopped_ns = b->stopped_n = b->cpu_turns =
		b->busiest_cpu_ns = 0;
	b->cpu_res = b->no_cpu_res = TRACE_UNKNOWN;
}

static void sub_sampled(struct trace_endpoint *ep, const struct trace_endpoint *old)
{
	if ((double)old->rx.lifetime_ns < MOSTLY_BEFORE * (double)ep->rx.lifetime_ns)
		return;
	forget_cpu(&ep->rx_calls, &old->rx_calls);
	forget_cpu(&ep->tx_calls, &old->tx_calls);
}

/* An endpoint that had a detail in `a` has one in `s`. */
static bool make_details(struct trace_snapshot *s, const struct trace_packed *a)
{
	size_t at;

	for (size_t i = 0; a->has_details && i < s->n; i++)
		if (!s->ep[i].detail && packed_find(a, s->ep[i].serial, &at) &&
		    packed_has_detail(a, at) && !detail_of(&s->details, &s->ep[i]))
			return false;
	return true;
}

int trace_subtract(struct trace_snapshot *s, const struct trace_packed *a)
{
	bool *kept = make_details(s, a) ? array_new(a->head.n, 0, sizeof(*kept)) : NULL;
	struct unpacked old;
	size_t at;

	if (!kept)
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		if (!packed_find(a, s->ep[i].serial, &at))
			continue;
		kept[at] = true;
		packed_read(a, at, &old);
		sub_endpoint(&s->ep[i], &old.ep);
		if (s->samples) {
			sub_samples(&s->samples[i], &old.samples);
			sub_sampled(&s->ep[i], &old.ep);
		}
	}
	sub_rest(s, a, kept);
	trace_counters_sub(&s->counters, &a->head.counters);
	free(kept);
	return 0;
}

int trace_next_phase(struct trace_snapshot *s, struct trace_packed *last)
{
	struct trace_packed now;

	if (trace_pack(&now, s))
		return -1;
	if (trace_subtract(s, last)) {
		trace_packed_free(&now);
		return -1;
	}
	trace_packed_free(last);
	*last = now;
	return 0;
}
