/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that take part in a wait. */
#ifndef IPCSTALL_VERDICT_WAITING_PROCESSES_H
#define IPCSTALL_VERDICT_WAITING_PROCESSES_H

#include "verdict/verdict.h"

/* The last process of the chain, for which all others wait; 0: another kind of finding leads, or
 * the process was not seen. */
pid_t verdict_awaited(const struct trace_snapshot *s, const struct verdict *v);
/* The process that keeps all others waiting: the awaited one, or for a stall the one that does not
 * read. tid 0: one of several threads; pid 0: nobody was seen. */
struct culprit {
	pid_t pid, tid;
	bool to_read; /* others wait until it reads, rather than until it sends */
	double awaited; /* share of the time in which they wait; 0: not known */
	pid_t waiters[2]; /* who waits until it sends, and the first of their chain; 0: not known */
};

struct culprit verdict_culprit(const struct trace_snapshot *s, const struct verdict *v);
/* The process for which the longest wait is, if something else leads */
struct culprit verdict_awaited_besides(const struct trace_snapshot *s, const struct verdict *v);
/* Does a connection that `pid` makes wait for the answer to its SYN, as the leading finding? */
bool verdict_lacks_connection(const struct trace_snapshot *s, const struct verdict *v, pid_t pid);
/* verdict_culprit(), or the one that may pause now and then */
struct culprit verdict_suspect(const struct trace_snapshot *s, const struct verdict *v);
/* The awaited process, the one that waits for it, and those before in the chain. Returns how many,
 * at most `max`. */
size_t verdict_waiting_processes(const struct trace_snapshot *s, const struct verdict *v,
				 pid_t *pids, size_t max);

/* The awaited server, if it may send a feed (feed.h) and trace_ask_server() has not confirmed that;
 * 0: there is none. */
pid_t verdict_feeding_server(const struct trace_snapshot *s, const struct verdict *v);

/* If nothing was sent: a server to which a client had sent the last data, perhaps a request.
 * trace_ask_server() finds out whether it works on that. 0: there is none besides those already
 * asked. */
pid_t verdict_silent_server(const struct trace_snapshot *s, const struct verdict *v,
			    const pid_t *asked, size_t n);

#endif
