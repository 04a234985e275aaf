// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/waiting_processes.h"

#include <math.h>

#include "host/proc.h"
#include "verdict/blame.h"
#include "verdict/feed.h"
#include "verdict/long_wait.h"
#include "verdict/replies.h"
#include "verdict/times.h"
#include "verdict/who.h"

static size_t add(pid_t *pids, size_t n, size_t max, pid_t pid)
{
	if (pid > 0 && n < max && !process_is_in(pid, pids, n))
		pids[n++] = pid;
	return n;
}

static pid_t other_process(const struct trace_snapshot *s, const struct trace_endpoint *ep)
{
	return ep->peer >= 0 ? program_at(&s->ep[ep->peer])->tgid : ep->making.other_pid;
}

pid_t verdict_awaited(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->kind == KIND_ANSWERS && v->answers.behind >= 0)
		return other_process(s, &s->ep[v->answers.behind]);
	if (v->kind == KIND_ANSWERS)
		return program_at(&s->ep[v->answers.endpoint])->tgid;
	return v->kind == KIND_WAIT ? awaited_process(s, v->wait.endpoint) : 0;
}

/* The only thread of that process that was seen to send there; 0: several were, or none. */
static pid_t verdict_awaited_thread(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_endpoint *ep;
	const struct trace_call_stats *b;

	if (v->kind == KIND_ANSWERS && v->answers.behind >= 0)
		ep = NULL;
	else if (v->kind == KIND_ANSWERS)
		ep = &s->ep[v->answers.endpoint];
	else
		ep = v->kind == KIND_WAIT ? awaited_end(s, &s->ep[v->wait.endpoint]) : NULL;
	if (!ep || ep->tx_calls.others || (ep->proto != TRACE_PIPE && ep->rx_calls.others))
		return 0;
	b = ep->tx_calls.tid || ep->proto == TRACE_PIPE ? &ep->tx_calls : &ep->rx_calls;
	return b->tgid == verdict_awaited(s, v) ? b->tid : 0;
}

/* The process that holds the other end, if no call was seen there. */
static struct culprit other_end_of(const struct trace_endpoint *ep)
{
	return (struct culprit){ .pid = ep->making.other_shared ? 0 : ep->making.other_pid };
}

static struct culprit awaited_at(const struct trace_snapshot *s, int at)
{
	pid_t pid = awaited_process(s, at);

	return pid ? (struct culprit){ .pid = pid } : other_end_of(&s->ep[at]);
}

static struct culprit who_is_to_read(struct culprit c)
{
	c.to_read = true;
	return c;
}

static struct culprit reader_of(const struct trace_call_stats *b)
{
	return (struct culprit){ .pid = b->tgid, .tid = b->others ? 0 : b->tid, .to_read = true };
}

/* The process that does not read what the last sender of a chain sends, or the process that it
 * waits for itself. */
static struct culprit holder_up(const struct trace_snapshot *s, const struct finding *f)
{
	const struct trace_endpoint *ep = &s->ep[f->endpoint];
	const struct trace_call_stats *reader = who_reads(s, ep);

	if (!blame_is_peers(f->blamed))
		return (struct culprit){};
	if (f->reader_waits >= 0)
		return awaited_at(s, f->reader_waits);
	if (!reader || !reader->tgid)
		return who_is_to_read(other_end_of(ep));
	if (reader->tgid == ep->tx_calls.tgid) /* it holds both ends, and its thread is not known */
		return (struct culprit){};
	return reader_of(reader);
}

static const struct finding *root_of(const struct verdict *v)
{
	const struct finding *f = &v->v[v->lead];

	return f->root >= 0 ? &v->v[f->root] : f;
}

static double share_awaited(const struct verdict *v)
{
	const struct slow_answers *a = &v->answers;
	const struct waits_together *w = &v->waits;
	double share = 0;

	if (v->kind == KIND_ANSWERS && a->lifetime_ns)
		share = (double)a->ns * (double)a->connections / (double)a->lifetime_ns;
	else if (v->kind == KIND_WAIT && w->connections > 1 && w->together_ns)
		share = (double)w->ns / (double)w->together_ns;
	if (v->kind == KIND_WAIT)
		share = fmax(share, v->wait.share);
	return fmin(share, 1);
}

struct culprit verdict_culprit(const struct trace_snapshot *s, const struct verdict *v)
{
	struct culprit c;

	if (v->kind == KIND_STALL)
		return holder_up(s, root_of(v));
	if (v->kind == KIND_LATE)
		return reader_of(&s->ep[v->late.endpoint].rx_calls);
	c = (struct culprit){ .pid = verdict_awaited(s, v), .tid = verdict_awaited_thread(s, v) };
	if (!c.pid && v->kind == KIND_WAIT)
		c = other_end_of(&s->ep[v->wait.endpoint]);
	c.awaited = share_awaited(v);
	if (v->kind == KIND_WAIT)
		c.waiters[0] = s->ep[v->wait.endpoint].rx_calls.tgid;
	if (v->kind == KIND_WAIT && v->chain.n)
		c.waiters[1] = s->ep[v->chain.by[0]].rx_calls.tgid;
	return c;
}

struct culprit verdict_awaited_besides(const struct trace_snapshot *s, const struct verdict *v)
{
	struct verdict wait = *v;

	wait.kind = KIND_WAIT;
	return v->wait.endpoint >= 0 ? verdict_culprit(s, &wait) : (struct culprit){};
}

bool verdict_lacks_connection(const struct trace_snapshot *s, const struct verdict *v, pid_t pid)
{
	const struct finding *f = v->kind == KIND_STALL ? &v->v[v->lead] : NULL;

	return pid && f && f->unanswered_syn && program_at(&s->ep[f->endpoint])->tgid == pid;
}

/* The process for which `client` waits longest; pid 0: it is no client. */
static struct culprit awaited_by(const struct trace_snapshot *s, pid_t client)
{
	uint64_t most = 0, ns;
	int at = -1;

	for (size_t i = 0; i < s->n; i++) {
		const struct trace_endpoint *ep = &s->ep[i];

		ns = larger(ep->rx.ns[RX_WAIT], ep->rx_calls.reply_ns);
		if (ep->rx_calls.tgid != client || !sends_requests(s, i) || ns < most)
			continue;
		most = ns;
		at = (int)i;
	}
	return at < 0 ? (struct culprit){} : awaited_at(s, at);
}

struct culprit verdict_suspect(const struct trace_snapshot *s, const struct verdict *v)
{
	struct culprit c = verdict_culprit(s, v);

	if (!c.pid && v->may_pause)
		c = awaited_by(s, v->may_pause);
	return c.pid || !v->may_pause ? c : (struct culprit){ .pid = v->may_pause };
}

size_t verdict_waiting_processes(const struct trace_snapshot *s, const struct verdict *v,
				 pid_t *pids, size_t max)
{
	size_t n = add(pids, 0, max, verdict_awaited(s, v));

	if (v->kind != KIND_WAIT)
		return n;
	n = add(pids, n, max, s->ep[v->wait.endpoint].rx_calls.tgid);
	for (size_t i = 0; i < v->chain.n; i++)
		n = add(pids, n, max, s->ep[v->chain.by[i]].rx_calls.tgid);
	return n;
}

pid_t verdict_feeding_server(const struct trace_snapshot *s, const struct verdict *v)
{
	int at = v->kind == KIND_WAIT	   ? v->wait.endpoint
		 : v->kind == KIND_ANSWERS ? v->answers.endpoint
					   : -1;

	if (at < 0 || !may_be_feed(s, (size_t)at) || is_feed(s, (size_t)at))
		return 0;
	return verdict_culprit(s, v).pid;
}

pid_t verdict_silent_server(const struct trace_snapshot *s, const struct verdict *v,
			    const pid_t *asked, size_t n)
{
	bool may_be_hung = v->outcome == OUTCOME_UNKNOWN ||
			   (v->outcome == OUTCOME_HEALTHY && v->kind == KIND_QUIET);

	for (size_t i = 0; may_be_hung && i < s->n; i++) {
		pid_t other = other_process(s, &s->ep[i]);

		if (other && sent_last_before(s, i) && sends_requests(s, i) &&
		    !asked_before(s, i) && !process_is_in(other, asked, n))
			return other;
	}
	return 0;
}
