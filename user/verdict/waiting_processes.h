/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a wait leads: the processes that take part in it. */
#ifndef IPCSTALL_VERDICT_WAITING_PROCESSES_H
#define IPCSTALL_VERDICT_WAITING_PROCESSES_H

#include "verdict/verdict.h"

/* The last of the chain, whom all wait for; 0: another kind leads, or it was not seen. */
pid_t verdict_awaited(const struct trace_snapshot *s, const struct verdict *v);
/* The one thread of that process which is seen to send there; 0: several do, or none was seen. */
pid_t verdict_awaited_thread(const struct trace_snapshot *s, const struct verdict *v);
/* Whoever keeps all waiting: that one, or of a stall whoever does not read; tid 0: one of several
 * threads, pid 0: nobody was seen. */
struct culprit {
	pid_t pid, tid;
};

struct culprit verdict_culprit(const struct trace_snapshot *s, const struct verdict *v);
/* The awaited one, who waits for it, and those before in the chain: how many, at most `max`. */
size_t verdict_waiting_processes(const struct trace_snapshot *s, const struct verdict *v,
				 pid_t *pids, size_t max);

/* The server that somebody waits for, where what it sends may be a feed (feed.h), and nobody has
 * asked it what it does; 0: there is none. */
pid_t verdict_feeding_server(const struct trace_snapshot *s, const struct verdict *v);

#endif
