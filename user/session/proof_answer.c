// SPDX-License-Identifier: GPL-2.0-only
/* Which proof the card shows instead of what samples say, and what a proof makes certain. */
#include "session/prover.h"

#include <string.h>

#include "verdict/judge.h"
#include "verdict/requests.h"
#include "verdict/waiting_processes.h"

/* Where the program waits by the samples (a), and by the proof (b). False: it does not in both. */
static bool both_wait(const struct trace_snapshot *s, const struct verdict *v,
		      const struct proof *p, const struct trace_endpoint **a,
		      const struct trace_endpoint **b)
{
	if (v->kind != KIND_WAIT || p->v.kind != KIND_WAIT)
		return false;
	*a = &s->ep[v->wait.endpoint];
	*b = &p->s.ep[p->v.wait.endpoint];
	return true;
}

/* A server may have a process for each of its clients. */
static bool wait_for_same_server(const struct trace_snapshot *s, const struct verdict *v,
				 const struct proof *p)
{
	const struct trace_endpoint *a, *b;

	if (!both_wait(s, v, p, &a, &b))
		return false;
	if (a->making.other_pid && a->making.other_pid == b->making.other_pid)
		return true;
	return a->proto == TRACE_TCP && b->proto == TRACE_TCP && a->remote.port &&
	       a->netns == b->netns && !memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

static const struct trace_endpoint *doubtful_end(const struct trace_snapshot *s,
						 const struct verdict *v)
{
	switch (v->kind) {
	case KIND_WAIT: return &s->ep[v->wait.endpoint];
	case KIND_ANSWERS: return &s->ep[v->answers.endpoint];
	case KIND_LATE: return &s->ep[v->late.endpoint];
	default: return NULL;
	}
}

/* The process that samples call awaited is awaited in the proof too, or waits there itself. If
 * samples name none, the same endpoint waits in both. */
static bool wait_for_same_process(const struct trace_snapshot *s, const struct verdict *v,
				  const struct proof *p)
{
	const struct trace_endpoint *a = doubtful_end(s, v), *b = doubtful_end(&p->s, &p->v);
	pid_t culprit = verdict_culprit(s, v).pid;
	struct parties who = {};

	if (!culprit)
		return a && b && is_same_end(a, b);
	who.n = verdict_waiting_processes(&p->s, &p->v, who.v, PARTIES_MOST);
	parties_add(&who, verdict_culprit(&p->s, &p->v).pid);
	for (size_t i = 0; i < who.n; i++)
		if (who.v[i] == culprit)
			return true;
	return false;
}

/* The reader's CPU is the limit because it reads in small pieces. Only traced calls show that. */
static bool tells_small_reads(const struct proof *p, const struct trace_snapshot *s,
			      const struct verdict *v)
{
	const struct finding *f = &p->v.v[p->v.lead];

	return is_limited_by_reader(s, v) && p->v.kind == KIND_STALL && f->small_reads &&
	       is_same_end(&s->ep[v->v[v->lead].endpoint], &p->s.ep[f->endpoint]);
}

/* The ledger also traced the reader, and found what keeps it from reading. */
static bool tells_root(const struct proof *p, const struct trace_snapshot *s,
		       const struct verdict *v)
{
	const struct finding *f = &v->v[v->lead], *proven = &p->v.v[p->v.lead];

	return v->kind == KIND_STALL && f->root < 0 && p->v.kind == KIND_STALL &&
	       proven->root >= 0 && proven->cause == f->cause &&
	       is_same_end(&s->ep[f->endpoint], &p->s.ep[proven->endpoint]);
}

/* If samples find the wait for this share, the ledger may be right that it takes more than half
 * of the time. */
#define NEARLY_A_WAIT 0.4

static bool is_nearly_found(const struct proof *p, const struct trace_snapshot *s)
{
	const struct trace_endpoint *ep = p->of == OUTCOME_WAITING && p->v.kind == KIND_WAIT
						  ? end_in(s, &p->s.ep[p->v.wait.endpoint])
						  : NULL;

	return ep && (double)ep->rx.ns[RX_WAIT] >= NEARLY_A_WAIT * (double)ep->rx.lifetime_ns;
}

static const struct trace_endpoint *peer_in(const struct trace_snapshot *s,
					    const struct trace_endpoint *ep)
{
	return ep->peer >= 0 && (size_t)ep->peer < s->n ? &s->ep[ep->peer] : ep;
}

/* The endpoint at which the ledger saw data held back, and its share of the time. -1: there is
 * none. */
static int held_endpoint(const struct verdict *v, double *share)
{
	*share = v->share;
	if (v->kind == KIND_STALL)
		return (int)v->v[v->lead].endpoint;
	return v->kind == KIND_WITHHELD	     ? v->withheld.endpoint
	       : v->kind == KIND_UNDELIVERED ? v->undelivered.endpoint
					     : -1;
}

/* Samples found that one end waits for the other. The ledger found what holds back the data
 * between them. */
static bool tells_stall(const struct proof *p, const struct trace_snapshot *s,
			const struct verdict *v)
{
	const struct trace_endpoint *end = doubtful_end(s, v), *held;
	double share;
	int at = held_endpoint(&p->v, &share);

	if (!end || v->kind == KIND_LATE || at < 0 || share < EXPLAINS)
		return false;
	held = &p->s.ep[at];
	return is_same_end(end, held) || is_same_end(peer_in(s, end), held) ||
	       is_same_end(end, peer_in(&p->s, held));
}

/* With very many endpoints, too few samples find a stall to make a finding. The ledger saw this
 * one. */
static bool tells_unsampled_stall(const struct proof *p, const struct trace_snapshot *s)
{
	const struct finding *f = &p->v.v[p->v.lead];
	const struct trace_endpoint *ep =
		p->v.kind == KIND_STALL && judge_is_stall(&p->v, p->v.lead)
			? end_in(s, &p->s.ep[f->endpoint])
			: NULL;

	return ep && finding_share(f) >= LEAST_SHARE &&
	       (double)ledger_stall_ns(&ep->tx) >= LEAST_SHARE * (double)ep->tx.lifetime_ns;
}

/* A writer to a Unix socket sleeps until most of the queue is free. Samples find room there; the
 * ledger sees that the writer sleeps. */
#define HARDLY_ANY 0.25

static bool tells_more(const struct proof *p, const struct trace_snapshot *s,
		       const struct verdict *v)
{
	const struct finding *f = &v->v[v->lead], *proven = &p->v.v[p->v.lead];

	return v->kind == KIND_STALL && p->v.kind == KIND_STALL && f->cause == TX_SNDBUF &&
	       proven->cause == TX_SNDBUF && is_unix_connection(&s->ep[f->endpoint]) &&
	       finding_share(f) < HARDLY_ANY && finding_share(proven) >= EXPLAINS &&
	       is_same_end(&s->ep[f->endpoint], &p->s.ep[proven->endpoint]);
}

/* The counted requests took most of the time, so it is no mere pause. */
static bool tells_requests(const struct proof *p)
{
	const struct requests *r =
		p->v.kind == KIND_ANSWERS ? &p->v.answers.requests : &p->v.waits.requests;

	return (p->v.kind == KIND_ANSWERS || p->v.kind == KIND_WAIT) && has_requests(r) &&
	       p->v.share >= EXPLAINS;
}

/* A connection of a few milliseconds may stall for a large share of its life, and yet for little
 * time. */
#define NOTICED_SHARE 0.02 /* of the window */

static bool is_noticed(const struct proof *p)
{
	return p->v.kind != KIND_STALL ||
	       (double)p->v.stall_ns >= NOTICED_SHARE * (double)p->v.observed_ns;
}

/* Samples saw how it began, too. */
#define ALL_THE_TIME 0.9

static bool waits_mutually_on(const struct proof *p, const struct trace_snapshot *s)
{
	const struct trace_endpoint *ep = p->v.kind == KIND_MUTUAL && p->v.share >= ALL_THE_TIME &&
							  p->v.mutual.end == WAIT_GOES_ON
						  ? end_in(s, &p->s.ep[p->v.wait.endpoint])
						  : NULL;

	return ep && !ep->closed && ep->rx.now == RX_WAIT;
}

/* That a late reader stalls its sender is known only at the session's end: see late_is_full. */
static enum outcome suspected_as(const struct verdict *v)
{
	return v->kind == KIND_LATE ? OUTCOME_WAITING : v->outcome;
}

/* Samples found a stall of a small share. The ledger found that the same endpoint waited for the
 * same process all the time. */
static bool tells_longer_wait(const struct proof *p, const struct trace_snapshot *s,
			      const struct verdict *v)
{
	pid_t culprit = v->kind == KIND_STALL ? verdict_culprit(s, v).pid : 0;

	return culprit && finding_share(&v->v[v->lead]) < EXPLAINS && p->v.kind == KIND_WAIT &&
	       p->v.share >= ALL_THE_TIME &&
	       is_same_end(&s->ep[v->v[v->lead].endpoint], &p->s.ep[p->v.wait.endpoint]) &&
	       verdict_culprit(&p->s, &p->v).pid == culprit;
}

/* The program waits for one that gets no connection itself. */
static bool tells_missing_connection(const struct proof *p, const struct trace_snapshot *s,
				     const struct verdict *v)
{
	return v->kind == KIND_WAIT && p->v.share >= EXPLAINS &&
	       verdict_lacks_connection(&p->s, &p->v, verdict_culprit(s, v).pid);
}

/* The reader of a stream waits for what its link, or a window, lets through. */
static bool tells_limit(const struct proof *p, const struct trace_snapshot *s,
			const struct verdict *v)
{
	const struct finding *f = p->v.kind == KIND_LIMIT ? &p->v.v[p->v.lead] : NULL;
	const struct trace_endpoint *sender;

	if (!f || v->kind != KIND_WAIT || finding_share(f) < EXPLAINS)
		return false;
	sender = &p->s.ep[f->endpoint];
	return sender->proto == TRACE_TCP && sender->peer >= 0 &&
	       is_same_end(&s->ep[v->wait.endpoint], peer_in(&p->s, sender));
}

/* Samples count no datagrams, and find few of the sockets that live for one question. */
#define NOTICED_WAIT 0.1 /* of the window */

static bool tells_unanswered(const struct proof *p, const struct trace_snapshot *s,
			     const struct verdict *v)
{
	const struct trace_endpoint *a, *b;

	if (p->v.kind != KIND_UNANSWERED ||
	    (double)p->v.unanswered.ns < NOTICED_WAIT * (double)p->ns)
		return false;
	if (v->outcome == OUTCOME_HEALTHY || v->kind != KIND_WAIT)
		return v->outcome == OUTCOME_HEALTHY;
	a = &s->ep[v->wait.endpoint];
	b = &p->s.ep[p->v.unanswered.endpoint];
	return a->proto == TRACE_UDP && !memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

/* Samples do not see where datagrams go that are sent by sendto(). */
static bool tells_where_datagrams_go(const struct proof *p, const struct trace_snapshot *s,
				     const struct verdict *v)
{
	const struct trace_endpoint *a, *b;

	return both_wait(s, v, p, &a, &b) && a->proto == TRACE_UDP && !a->remote.port &&
	       b->proto == TRACE_UDP && b->remote.port &&
	       !strcmp(a->rx_calls.comm, b->rx_calls.comm);
}

/* Whatever the samples before that proof said, those of the whole session agree with it. */
static bool is_of_same_pause(const struct proof *p, const struct verdict *v)
{
	if (v->may_pause && p->v.kind == KIND_WAIT &&
	    p->s.ep[p->v.wait.endpoint].rx_calls.tgid == v->may_pause)
		return true;
	return p->of == v->outcome && p->awaited == v->may_pause &&
	       (p->awaited || tells_requests(p));
}

static bool is_answer(const struct proof *p, const struct trace_snapshot *s,
		      const struct verdict *v)
{
	if (tells_small_reads(p, s, v) || tells_root(p, s, v) || tells_stall(p, s, v) ||
	    tells_more(p, s, v) || tells_longer_wait(p, s, v) || tells_missing_connection(p, s, v))
		return true;
	if (suspected_as(v) == OUTCOME_STALLED)
		return false;
	if (tells_limit(p, s, v))
		return true;
	if (v->outcome == OUTCOME_HEALTHY && v->kind == KIND_QUIET && tells_unsampled_stall(p, s))
		return true;
	if (v->outcome == OUTCOME_HEALTHY && p->of == OUTCOME_HEALTHY &&
	    p->v.outcome == OUTCOME_STALLED)
		return p->v.share >= LEAST_SHARE && is_noticed(p);
	if (v->outcome == OUTCOME_UNKNOWN)
		return p->of == v->outcome && p->v.outcome != OUTCOME_UNKNOWN;
	if (p->v.outcome != OUTCOME_WAITING)
		return false;
	if (tells_unanswered(p, s, v) || tells_where_datagrams_go(p, s, v))
		return true;
	if (v->outcome != OUTCOME_HEALTHY)
		return wait_for_same_process(s, v, p) || wait_for_same_server(s, v, p);
	if (waits_mutually_on(p, s))
		return true;
	return is_of_same_pause(p, v) || is_nearly_found(p, s);
}

static bool is_next_to_nothing(const struct verdict *v)
{
	return v->outcome == OUTCOME_HEALTHY ||
	       (v->kind == KIND_STALL && finding_share(&v->v[v->lead]) < LEAST_SHARE);
}

/* Data unread at one sample was mostly unread at the next too. Such times are rare and long, and
 * the ledger may have run between two of them. */
static bool lies_long(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_samples *l =
		s->samples && v->kind == KIND_LATE ? &s->samples[v->late.endpoint] : NULL;

	return l && 2 * l->rx_again[RX_UNREAD] > l->rx_seen[RX_UNREAD];
}

static bool talks_both_ways(const struct trace_endpoint *ep)
{
	return ep->rx_calls.messages && trace_messages_known(&ep->rx_calls) &&
	       ep->tx_calls.messages && trace_messages_known(&ep->tx_calls);
}

/* The samples before the proof were too few to tell, but most of them found it, nearly as often
 * as later ones. */
#define FOUND_BEFORE 0.5
#define MORE_LATER   1.25

static bool was_suspected(const struct proof *p, const struct trace_endpoint *ep,
			  const struct trace_endpoint *end, const struct verdict *v)
{
	double before = p->unanswered ? p->unanswered[ep - p->s.ep] : 0;

	return (p->of == suspected_as(v) && !proof_wait_has_grown(p, v->share)) ||
	       ((v->kind == KIND_WAIT || v->kind == KIND_ANSWERS) && before >= FOUND_BEFORE &&
		share_unanswered(end) <= MORE_LATER * before);
}

/* Samples found a wait, but the ledger saw messages come and go and nobody waiting. Examples are
 * HTTP/2, whose window updates ask for nothing, and a server with many clients that answers at
 * once. */
static bool is_refuted(const struct proof *p, const struct trace_snapshot *s,
		       const struct verdict *v)
{
	const struct trace_endpoint *end = doubtful_end(s, v),
				    *ep = end ? end_in(&p->s, end) : NULL;

	if (!ep || !was_suspected(p, ep, end, v) || !is_next_to_nothing(&p->v) || lies_long(s, v))
		return false;
	return (v->kind == KIND_WAIT && p->v.busy_sender.endpoint == ep - p->s.ep) ||
	       talks_both_ways(ep);
}

/* Too small a stall for a proof of its own, where a proof made for another reason found none: a
 * bulk stream, say. */
static bool is_small_and_refuted(const struct proof *p, const struct trace_snapshot *s,
				 const struct verdict *v)
{
	const struct finding *f = v->kind == KIND_STALL ? &v->v[v->lead] : NULL;
	const struct trace_endpoint *ep;

	if (!f || f->surety != SUSPECTED || finding_share(f) >= LEAST_SHARE ||
	    p->v.outcome != OUTCOME_HEALTHY)
		return false;
	ep = end_in(&p->s, &s->ep[f->endpoint]);
	return ep && ep->tx_calls.messages && trace_messages_known(&ep->tx_calls);
}

const struct proof *prover_answer(const struct prover *p, const struct trace_snapshot *s,
				  const struct verdict *v)
{
	for (size_t i = p->n; i-- > 0;)
		if (is_answer(&p->proofs[i], s, v))
			return &p->proofs[i];
	for (size_t i = p->n; i-- > 0;)
		if (is_refuted(&p->proofs[i], s, v) || is_small_and_refuted(&p->proofs[i], s, v))
			return &p->proofs[i];
	return NULL;
}

void prover_confirm(const struct prover *p, const struct trace_snapshot *s, struct verdict *v)
{
	struct finding *f = v->kind == KIND_STALL ? &v->v[v->lead] : NULL;

	for (size_t i = p->n; f && i-- > 0;) {
		const struct proof *proof = &p->proofs[i];

		for (size_t k = 0; k < proof->v.n; k++) {
			const struct finding *proven = &proof->v.v[k];

			if (proven->cause == f->cause && proven->blamed == f->blamed &&
			    judge_is_stall(&proof->v, k) && f->surety == SUSPECTED &&
			    is_same_end(&s->ep[f->endpoint], &proof->s.ep[proven->endpoint]))
				f->surety = proven->surety;
		}
	}
}
