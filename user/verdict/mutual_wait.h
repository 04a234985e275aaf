/* SPDX-License-Identifier: GPL-2.0-only */
/* Each end of a conversation sleeps until the other sends, so neither goes on. A client and its
 * server wait for each other too, but in turns. */
#ifndef IPCSTALL_VERDICT_MUTUAL_WAIT_H
#define IPCSTALL_VERDICT_MUTUAL_WAIT_H

#include "verdict/verdict.h"

/* Reader i waits for a process. Returns the endpoint at which that process waits for this reader
 * in turn: the other end of a socket, or the second of two pipes or one-way socket pairs between
 * the two. -1: none was seen. */
int reverse_endpoint(const struct trace_snapshot *s, size_t i);
/* The endpoint by which reader i sends to the process that it waits for. */
int outgoing_endpoint(const struct trace_snapshot *s, size_t i);
int outgoing_endpoint_by(const struct trace_snapshot *s, size_t i, int back);
/* reverse_endpoint() of every endpoint, for trace_snapshot.reverse_endpoints: a build has thousands
 * of pipes, and a search through all of them for each would take minutes. NULL: no memory. */
int *find_reverse_endpoints(const struct trace_snapshot *s);

/* Is it known since when nothing was sent? A close ends the sender's last state, and does not say.
 */
bool is_quiet_known(const struct trace_endpoint *ep);
/* Most of the wait is one long sleep, or nothing was sent for at least half of it. Two ends that
 * exchange heartbeats do not keep each other waiting. */
bool has_one_long_wait(const struct trace_endpoint *ep);

/* Did both wait at the same time, and does each sleep in the call that only the other can end? */
bool waits_are_mutual(const struct trace_snapshot *s, size_t i, size_t back);
enum wait_end mutual_wait_end(const struct trace_snapshot *s, size_t i, size_t back);
/* The request that was sent there got its answer in the end: only its sender waited. */
bool was_answered(const struct trace_snapshot *s, size_t i, size_t back);
/* No third thread or process was seen that may send there. */
bool nobody_else_sends(const struct trace_snapshot *s, size_t i, size_t back);

#endif
