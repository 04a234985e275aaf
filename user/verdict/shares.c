// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/shares.h"

#include <math.h>

struct share_interval shares_of(const struct trace_samples *l, const struct trace_endpoint *ep,
				bool rx, unsigned int state)
{
	const struct trace_ledger *ledger = rx ? &ep->rx : &ep->tx;
	struct sample_counts c = {
		.n = l->n,
		.seen = rx ? l->rx_seen[state] : l->tx_seen[state],
		.again = rx ? l->rx_again[state] : l->tx_again[state],
		.later = rx ? l->rx_later[state] : l->tx_later[state],
		.share = ledger->lifetime_ns
				 ? (double)ledger->ns[state] / (double)ledger->lifetime_ns
				 : 0,
		.unevenness = l->unevenness,
	};

	if (ledger->resolution[state] != TRACE_BY_SAMPLES)
		return (struct share_interval){ NAN, NAN, 0 };
	return samples_interval(&c);
}

/* It is not counted how often successive samples found a fact. They are taken as independent, which
 * makes the interval wider. */
struct share_interval shares_of_fact(const struct trace_samples *l, unsigned int fact)
{
	struct sample_counts c = { .n = l->n, .seen = l->fact[fact], .unevenness = l->unevenness };

	c.share = l->n ? (double)c.seen / (double)l->n : 0;
	return samples_interval(&c);
}
