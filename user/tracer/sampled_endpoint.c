// SPDX-License-Identifier: GPL-2.0-only
/* An endpoint of a sampled session has time by samples and TCP's own counts. What only a
 * ledger sees is unknown. */
#include <string.h>
#include <sys/param.h>

#include "tracer/internal.h"

static void fill(uint8_t *res, unsigned int n, enum trace_resolution r)
{
	for (unsigned int i = 0; i < n; i++)
		res[i] = (uint8_t)r;
}

/* The addresses in /proc/kallsyms tell what kind of sleeper is in a wait queue. */
static bool sleepers_known(void)
{
	return feature_symbol("woken_wake_function") && feature_symbol("autoremove_wake_function");
}

static void tx_resolution(struct trace_endpoint *ep)
{
	fill(ep->tx.resolution, TX_N, TRACE_BY_SAMPLES);
	if (ep->proto == TRACE_TCP) /* a sender holds the socket's lock */
		return;
	ep->tx.resolution[TX_WORK] = TRACE_UNKNOWN;
	if (!sleepers_known())
		ep->tx.resolution[TX_SNDBUF] = TRACE_UNKNOWN;
}

static void rx_resolution(struct trace_endpoint *ep)
{
	fill(ep->rx.resolution, RX_N, TRACE_BY_SAMPLES);
	ep->rx.resolution[RX_WORK] = TRACE_UNKNOWN;
	if (!sleepers_known())
		ep->rx.resolution[RX_WAIT] = TRACE_UNKNOWN;
}

static void no_episodes(struct trace_ledger *l)
{
	memset(l->max, 0, sizeof(l->max));
	memset(l->count, 0, sizeof(l->count));
}

/* If the endpoint ended during a sample, that sample's time is not booked. It goes to the last
 * state. */
static void account_for_all(struct trace_ledger *l)
{
	l->ns[l->now] += (uint64_t)l->unaccounted_ns;
	l->unaccounted_ns = 0;
}

static void no_calls(struct trace_call_stats *b, uint64_t moved, bool tcp)
{
	b->bytes = tcp ? moved : 0;
	b->bytes_res = tcp ? TRACE_BOUNDED : TRACE_UNKNOWN;
	b->messages = b->wakeups = 0;
	b->blocked_ns = b->blocked_max_ns = b->open_sleep_ns = b->runq_ns = b->runq_max_ns =
		b->no_cpu_ns = b->cpu_ns = 0;
	b->blocked_res = b->runq_res = b->no_cpu_res = b->cpu_res = TRACE_UNKNOWN;
}

static bool was_looked_at(const struct endpoint *ep)
{
	return ep->tx.samples.n;
}

/* the part of its life in which looks found this fact */
static uint64_t time_of_fact(const struct endpoint *ep, enum sample_fact fact, uint64_t lifetime_ns)
{
	const struct samples *l = &ep->tx.samples;

	return l->n ? (uint64_t)((double)lifetime_ns * l->fact[fact] / l->n) : 0;
}

/* the part of `device` that came after the retransmission timer had fired */
static uint64_t undelivered_ns(const struct endpoint *ep, uint64_t device_ns)
{
	const struct samples *l = &ep->tx.samples;
	unsigned int seen = l->seen[TX_DEVICE], late = MIN(l->fact[SAMPLE_UNDELIVERED], seen);

	return seen ? (uint64_t)((double)device_ns * late / seen) : 0;
}

/* The last drops that a UDP socket counted, before it closed, were not read. */
static enum trace_resolution drops_resolution(const struct endpoint *ep)
{
	if (ep->id.proto != PROTO_UDP || !was_looked_at(ep) ||
	    (ep->tx.samples.filtered && !ep->drops[DROP_OTHER]))
		return TRACE_UNKNOWN;
	return ep->closed || ep->tx.samples.filtered ? TRACE_BOUNDED : TRACE_EXACT;
}

/* If the endpoint existed before it was first seen, the count begins with its first sample. */
static enum trace_resolution retransmits_resolution(const struct endpoint *ep)
{
	bool begun = was_looked_at(ep) || !(ep->flags & EP_JOINED_LATE);

	return ep->id.proto == PROTO_TCP && begun ? TRACE_EXACT : TRACE_UNKNOWN;
}

void sampled_endpoint(struct trace_endpoint *out, const struct endpoint *ep)
{
	bool tcp = out->proto == TRACE_TCP;

	no_episodes(&out->tx);
	no_episodes(&out->rx);
	account_for_all(&out->tx);
	account_for_all(&out->rx);
	tx_resolution(out);
	rx_resolution(out);
	if (!was_looked_at(ep)) {
		fill(out->tx.resolution, TX_N, TRACE_UNKNOWN);
		fill(out->rx.resolution, RX_N, TRACE_UNKNOWN);
	}
	no_calls(&out->tx_calls, ep->moved[DIR_TX], tcp);
	no_calls(&out->rx_calls, ep->moved[DIR_RX], tcp);
	out->rx_calls.reply_ns = tcp ? time_of_fact(ep, SAMPLE_UNANSWERED, out->rx.lifetime_ns) : 0;
	out->tx_calls.reply_ns =
		tcp ? time_of_fact(ep, SAMPLE_OWES_ANSWER, out->rx.lifetime_ns) : 0;
	if (out->rx_calls.bytes) /* the answer to what was sent before tracing began */
		out->rx_calls.open_reply_ns = 0;
	if (out->tx_calls.bytes)
		out->tx_calls.open_reply_ns = 0;
	out->undelivered_ns = tcp ? undelivered_ns(ep, out->tx.ns[TX_DEVICE]) : 0;
	out->open_undelivered_ns = 0;
	out->delack_res = out->queue_res = TRACE_UNKNOWN;
	out->drops_res = drops_resolution(ep);
	out->retransmits_res = retransmits_resolution(ep);
}

/* the mean cube of the gaps over the cube of the mean gap; the mean is in the unit of the cubes */
static double unevenness(const struct samples *l, uint64_t lifetime_ns)
{
	double mean = (double)lifetime_ns / (double)(1 << GAP_SHIFT) / (double)l->n,
	       cube = (double)l->cubes * (1 << CUBE_SHIFT) / (double)l->n;

	return l->cubes ? cube / (mean * mean * mean) : 1;
}

static uint64_t sum(const uint64_t *ns, unsigned int n)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < n; i++)
		all += ns[i];
	return all;
}

/* A write that is appended to the buffer of an unread write before it is not counted by itself. */
static void look_at_writes(struct trace_samples *out, const struct samples *l)
{
	out->writes = l->head - l->head_then;
	out->earlier_writes = l->head_then;
	out->wrote_after_ns = l->wrote_after;
	out->wrote_by_ns = l->wrote_by;
}

void copy_samples(struct trace_samples *out, const struct endpoint *ep)
{
	const struct samples *tx = &ep->tx.samples, *rx = &ep->rx.samples;

	memset(out, 0, sizeof(*out));
	out->key = ep->id.key;
	out->n = tx->n;
	memcpy(out->tx_seen, tx->seen, sizeof(out->tx_seen));
	memcpy(out->tx_again, tx->again, sizeof(out->tx_again));
	memcpy(out->tx_later, tx->later, sizeof(out->tx_later));
	memcpy(out->rx_seen, rx->seen, sizeof(out->rx_seen));
	memcpy(out->rx_again, rx->again, sizeof(out->rx_again));
	memcpy(out->rx_later, rx->later, sizeof(out->rx_later));
	memcpy(out->fact, tx->fact, sizeof(out->fact));
	memcpy(out->chrono_ns, tx->chrono, sizeof(out->chrono_ns));
	if (!tx->n)
		return;
	look_at_writes(out, tx);
	out->full = rx->full;
	out->refilled = rx->refilled;
	out->unevenness = unevenness(tx, sum((const uint64_t *)ep->tx.ns, TX_N));
}

_Static_assert((int)TRACE_FACT_UNANSWERED == SAMPLE_UNANSWERED &&
		       (int)TRACE_FACT_OWES_ANSWER == SAMPLE_OWES_ANSWER &&
		       (int)TRACE_FACT_UNPROMPTED == SAMPLE_UNPROMPTED &&
		       (int)TRACE_FACT_UNATTENDED == SAMPLE_UNATTENDED &&
		       (int)TRACE_FACT_IN_FLIGHT == SAMPLE_IN_FLIGHT,
	       "trace.h and record.h number the facts alike");
_Static_assert(TRACE_SAMPLE_FACTS == SAMPLE_FACTS_N && TRACE_CHRONOS == CHRONO_N,
	       "trace.h and record.h differ");
