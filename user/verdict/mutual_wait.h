/* SPDX-License-Identifier: GPL-2.0-only */
/* Each end of a conversation sleeps until the other sends: neither goes on. Who asks and is
 * answered waits too, but by turns. */
#ifndef IPCSTALL_VERDICT_MUTUAL_WAIT_H
#define IPCSTALL_VERDICT_MUTUAL_WAIT_H

#include "verdict/verdict.h"

/* where whoever this reader waits for waits for this one: the index of an endpoint; of two pipes
 * between them, or of two socket pairs each of which goes one way, that of the other; -1: not seen
 */
int way_back(const struct trace_snapshot *s, size_t i);
/* where this reader sends what is read there; of several that lead back, by this one */
int way_out(const struct trace_snapshot *s, size_t i);
int way_out_by(const struct trace_snapshot *s, size_t i, int back);
/* That of every endpoint, for `ways_back`: of a build's thousands of pipes to search all for each
 * would take minutes. NULL: no memory. */
int *find_ways_back(const struct trace_snapshot *s);

/* since when nothing was sent there: a close ends a sender's last state too, and does not tell */
bool is_quiet_known(const struct trace_endpoint *ep);
/* Of two that send again and again, and wait meanwhile, as for a heartbeat, none keeps the other
 * waiting: there is one long while, or nothing was sent for as long. */
bool waits_once(const struct trace_endpoint *ep);

/* Of the two waits there, were they surely at once, and who wakes one of them the one who sleeps in
 * the other? */
bool waits_are_mutual(const struct trace_snapshot *s, size_t i, size_t back);
enum wait_end mutual_wait_end(const struct trace_snapshot *s, size_t i, size_t back);
/* What was asked there was answered in the end: it is the one who asked that waited. */
bool was_answered(const struct trace_snapshot *s, size_t i, size_t back);
/* ... and nobody else: no other thread or process was seen that may send there */
bool nobody_else_sends(const struct trace_snapshot *s, size_t i, size_t back);

#endif
