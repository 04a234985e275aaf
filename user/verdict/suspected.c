// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/suspected.h"

#include "verdict/shares.h"

#define FOUND_ENOUGH 30

/* Few samples found the cause, or its interval reaches down to half of its share. */
static bool is_vague(const struct trace_samples *l, const struct trace_endpoint *ep,
		     enum tx_state cause)
{
	struct share_interval i = shares_of(l, ep, false, cause);
	double share =
		ep->tx.lifetime_ns ? (double)ep->tx.ns[cause] / (double)ep->tx.lifetime_ns : 0;

	return l->tx_seen[cause] < FOUND_ENOUGH || !(i.lo * 2 >= share);
}

/* Nagle's rule also gathers small writes, for microseconds each, while the peer owes an ACK as it
 * always does between messages. A delayed ACK holds for tens of milliseconds, so that the next
 * sample mostly finds it again. */
#define HOLDS_ON 0.5

static bool may_gather(const struct trace_samples *l, enum tx_state cause)
{
	return cause == TX_NAGLE && l->tx_again[cause] < HOLDS_ON * l->tx_seen[cause];
}

bool finding_is_suspected(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_samples *l = s->samples ? &s->samples[f->endpoint] : NULL;

	return l && (is_vague(l, &s->ep[f->endpoint], f->cause) ||
		     (f->blamed == BLAME_PEER_DELACK && may_gather(l, f->cause)));
}
