// SPDX-License-Identifier: GPL-2.0-only
/* Senders that were not seen, and waited for this host's delayed ACKs: the times at which their
 * next data came tell that (timer_answered() in bpf/tcp.bpf.h). */
#include "verdict/other_findings.h"

/* A message may come by chance a round trip after the timer fired: one in ten that are sent at
 * random. It does not happen this often, and for so large a share. */
#define LEAST_TIMES    5
#define ANSWERED_SHARE (2.0 / 3)

/* the variance, times n squared */
static double scatter(const struct trace_spread *s, uint64_t n)
{
	return (double)s->squares * (double)n - (double)s->sum * (double)s->sum;
}

/* A sender with a beat of its own: the time from one message to the next varies less than the time
 * from the timer between them. */
static bool keeps_its_own_time(const struct trace_answers *a)
{
	return scatter(&a->since_fired, a->n) > 2 * scatter(&a->since_owed, a->n);
}

bool was_waited_for(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->delack_res != TRACE_UNKNOWN && !other_end_seen(ep) &&
	       ep->answers.n >= LEAST_TIMES &&
	       (double)ep->answers.n >= ANSWERED_SHARE * (double)ep->delack_fires &&
	       !keeps_its_own_time(&ep->answers);
}

struct withheld_ack find_withheld_ack(const struct trace_snapshot *s)
{
	struct withheld_ack most = { .endpoint = -1 };

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];
		double share = ep->rx.lifetime_ns
				       ? (double)ep->answers.ns / (double)ep->rx.lifetime_ns
				       : 0;

		if (ep->answers.ns >= VERDICT_MIN_NS && ep->answers.ns > most.ns &&
		    share >= VERDICT_MIN_SHARE && was_waited_for(ep))
			most = (struct withheld_ack){ .endpoint = (int)i,
						      .ns = ep->answers.ns,
						      .count = ep->answers.n,
						      .share = share };
	}
	return most;
}
