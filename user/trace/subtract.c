// SPDX-License-Identifier: GPL-2.0-only
/* The difference of two snapshots: a phase. */
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static void sub_words(uint64_t *out, const uint64_t *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] -= a[i];
}

static void sub_counts(uint32_t *out, const uint32_t *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] -= a[i];
}

static void sub_ledger(struct trace_ledger *out, const struct trace_ledger *a)
{
	sub_words(out->ns, a->ns, TRACE_STATES);
	sub_counts(out->count, a->count, TRACE_STATES);
	sub_counts(&out->hist[0][0], &a->hist[0][0], TRACE_STATES * TRACE_HIST);
	out->lifetime_ns -= a->lifetime_ns;
	out->unaccounted_ns -= a->unaccounted_ns;
}

static void sub_beside(struct trace_beside *out, const struct trace_beside *a)
{
	out->bytes -= a->bytes;
	out->messages -= a->messages;
	out->blocked_ns -= a->blocked_ns;
	out->runq_ns -= a->runq_ns;
	out->wakeups -= a->wakeups;
}

static void sub_blame(struct trace_blame *out, const struct trace_blame *a)
{
	sub_words(out->delack_ns, a->delack_ns, TRACE_STATES);
	sub_words(out->unread_ns, a->unread_ns, TRACE_STATES);
	sub_counts(out->delack_n, a->delack_n, TRACE_STATES);
	sub_counts(out->unread_n, a->unread_n, TRACE_STATES);
	out->gathered_ns -= a->gathered_ns;
	out->gathered_n -= a->gathered_n;
}

static void sub_endpoint(struct trace_endpoint *out, const struct trace_endpoint *a)
{
	sub_ledger(&out->tx, &a->tx);
	sub_ledger(&out->rx, &a->rx);
	sub_beside(&out->txb, &a->txb);
	sub_beside(&out->rxb, &a->rxb);
	sub_blame(&out->blame, &a->blame);
	out->delack_ns -= a->delack_ns;
	out->delack_fires -= a->delack_fires;
	out->ack_debt_ns -= a->ack_debt_ns;
	out->retransmits -= a->retransmits;
	out->timeouts -= a->timeouts;
	out->zero_windows -= a->zero_windows;
	out->queue_integral -= a->queue_integral;
	out->dequeued -= a->dequeued;
	sub_words(out->drops, a->drops, TRACE_DROPS);
}

static void sub_counters(struct trace_counters *out, const struct trace_counters *a)
{
	out->observed -= a->observed;
	out->lost -= a->lost;
	out->events_lost -= a->events_lost;
	out->unpaired -= a->unpaired;
	out->overflow -= a->overflow;
	out->contended -= a->contended;
	out->reused -= a->reused;
	out->missed -= a->missed;
	out->blind -= a->blind;
	out->stacks_lost -= a->stacks_lost;
	out->opened -= a->opened;
	out->closed -= a->closed;
	out->dropped -= a->dropped;
	out->dropped_tx_bytes -= a->dropped_tx_bytes;
	out->dropped_rx_bytes -= a->dropped_rx_bytes;
	out->dropped_stall_ns -= a->dropped_stall_ns;
	out->dropped_lifetime_ns -= a->dropped_lifetime_ns;
}

static int by_serial(const void *x, const void *y)
{
	const struct trace_endpoint *a = *(struct trace_endpoint *const *)x, *b = *(struct trace_endpoint *const *)y;

	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static struct trace_endpoint **index_serials(const struct trace_snapshot *s)
{
	struct trace_endpoint **p = calloc(s->n + 1, sizeof(*p));

	for (size_t i = 0; p && i < s->n; i++)
		p[i] = &s->ep[i];
	if (p)
		qsort(p, s->n, sizeof(*p), by_serial);
	return p;
}

int trace_snapshot_sub(struct trace_snapshot *out, const struct trace_snapshot *a, const struct trace_snapshot *b)
{
	struct trace_endpoint **old = index_serials(a);

	*out = *b;
	out->ep = malloc((b->n + 1) * sizeof(*out->ep));
	if (!old || !out->ep) {
		free(old);
		free(out->ep);
		memset(out, 0, sizeof(*out));
		return -1;
	}
	memcpy(out->ep, b->ep, b->n * sizeof(*out->ep));
	for (size_t i = 0; i < b->n; i++) {
		struct trace_endpoint *key = &b->ep[i];
		struct trace_endpoint **hit = bsearch(&key, old, a->n, sizeof(*old), by_serial);

		if (hit)
			sub_endpoint(&out->ep[i], *hit);
	}
	sub_counters(&out->counters, &a->counters);
	free(old);
	return 0;
}
