// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/waiting_processes.h"

#include "verdict/long_wait.h"

static size_t add(pid_t *pids, size_t n, size_t max, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return n;
	if (pid > 0 && n < max)
		pids[n++] = pid;
	return n;
}

pid_t verdict_awaited(const struct trace_snapshot *s, const struct verdict *v)
{
	if (v->kind == KIND_ANSWERS)
		return program_at(&s->ep[v->answers.endpoint])->tgid;
	return v->kind == KIND_WAIT ? awaited_process(s, v->wait.endpoint) : 0;
}

pid_t verdict_awaited_thread(const struct trace_snapshot *s, const struct verdict *v)
{
	const struct trace_endpoint *ep;
	const struct trace_call_stats *b;

	if (v->kind == KIND_ANSWERS)
		ep = &s->ep[v->answers.endpoint];
	else
		ep = v->kind == KIND_WAIT ? awaited_end(s, &s->ep[v->wait.endpoint]) : NULL;
	if (!ep || ep->tx_calls.others || (ep->proto != TRACE_PIPE && ep->rx_calls.others))
		return 0;
	b = ep->tx_calls.tid || ep->proto == TRACE_PIPE ? &ep->tx_calls : &ep->rx_calls;
	return b->tgid == verdict_awaited(s, v) ? b->tid : 0;
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
