/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds clients and their replies from the data alone, because a client that waits in epoll is in
 * no call. */
#ifndef IPCSTALL_VERDICT_REPLIES_H
#define IPCSTALL_VERDICT_REPLIES_H

#include "verdict/verdict.h"

/* A question in one piece or in two (header and body); of more nobody knows that it is one, until
 * it is answered. */
#define PIECES 2

/* samples saw it, and no call */
bool is_sampled_only(const struct trace_endpoint *ep);

/* how long what was asked at endpoint i had no answer, where that end is the one that asks; ns 0:
 * it is not, nobody can tell, or its program was at work meanwhile */
struct reader_spell unanswered_at(const struct trace_snapshot *s, size_t i);

/* of a wait in calls: while the other end owed an answer, where that is told by messages */
uint64_t owed_to(const struct trace_snapshot *s, size_t i, uint64_t wait_ns);

/* its program connected, or spoke first */
bool sends_requests(const struct trace_snapshot *s, size_t i);

/* The socket is one that accept() returned: it is known to be, or the ports tell. */
bool is_servers_end(const struct trace_snapshot *s, size_t i);

/* its program was connected to, and answers what it is asked: when the next question comes is up to
 * whoever asks */
bool answers_requests(const struct trace_snapshot *s, size_t i);

/* A TCP request was under way when the session began, and still is: nothing went either way. It may
 * be no request, but news, or half of one. */
bool asked_before(const struct trace_snapshot *s, size_t i);
/* it had come there, and has no answer yet */
bool was_asked_before(const struct trace_snapshot *s, size_t i);

/* By looks, which see a pipe's ring move and no message: is the last that went between the two
 * processes what the reader there wrote, through the other pipe? */
bool asked_last(const struct trace_snapshot *s, size_t i);

/* By looks: a pipe whose write end several hold, and through which nothing ever went: its end shows
 * that all of them have ended, and nobody waits for data. */
bool is_lifeline(const struct trace_snapshot *s, size_t i);

/* how long the reader there waited: in calls, or out of them for an answer, whichever tells more */
struct reader_spell waited_at(const struct trace_snapshot *s, size_t i);

/* it is the second of these */
bool waits_out_of_calls(const struct trace_snapshot *s, size_t i);

#endif
