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
