// SPDX-License-Identifier: GPL-2.0-only
/* What was observed, lost and left out: the sums of the counters of all CPUs. */
#include "tracer/internal.h"
#include "bpf/charge.h"

/* in one pass over all CPUs, because there is room for thousands of them */
static void sum_counts(struct trace *t, uint64_t sum[COUNT_N])
{
	const struct processor *p = object_var(t, "processors");

	for (size_t i = 0; p && i < PROCESSORS; i++)
		for (size_t c = 0; c < COUNT_N; c++)
			sum[c] += LATEST(p[i].counts[c]);
}

uint64_t counters_one(struct trace *t, enum counter which)
{
	uint64_t sum[COUNT_N] = {};

	sum_counts(t, sum);
	return sum[which];
}

uint64_t counters_missed(struct trace *t)
{
	struct trace_cost c[64];
	size_t n = trace_costs(t, c, 64);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += c[i].missed;
	return sum;
}

void counters_fill(struct trace *t, struct trace_counters *c)
{
	uint64_t sum[COUNT_N] = {};

	sum_counts(t, sum);
	c->observed = sum[COUNT_OBSERVED];
	c->unpaired = sum[COUNT_UNPAIRED];
	c->overflow = sum[COUNT_OVERFLOW];
	c->lost = sum[COUNT_LOST] + t->lost;
	c->events_lost = sum[COUNT_EVENTS_LOST];
	c->contended = sum[COUNT_CONTENDED];
	c->reused = sum[COUNT_REUSED];
	c->missed = counters_missed(t) - t->missed_before;
	c->blind = sum[COUNT_BLIND];
	c->let_go = sum[COUNT_EVICTED];
	c->stacks_lost = sum[COUNT_STACKS];
	c->opened = sum[COUNT_OPENED];
	c->closed = t->n_closed;
	c->dropped = t->closed.dropped;
	c->dropped_tx_bytes = t->closed.tx_bytes;
	c->dropped_rx_bytes = t->closed.rx_bytes;
	c->dropped_stall_ns = t->closed.stall_ns;
	c->dropped_lifetime_ns = t->closed.lifetime_ns;
	c->existing = t->existing;
}
