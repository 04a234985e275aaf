/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds clients and their replies from the data alone, because a client that waits in epoll is in
 * no call. */
#ifndef IPCSTALL_VERDICT_REPLIES_H
#define IPCSTALL_VERDICT_REPLIES_H

#include "verdict/verdict.h"

/* A request is written in one piece or in two (header and body). More pieces are known to be a
 * request only once they are answered. */
#define PIECES 2

/* Samples saw the endpoint, and no hook saw its calls. */
bool is_sampled_only(const struct trace_endpoint *ep);

/* How long the requests that endpoint i sent had no answer. ns 0: this end sends no requests, that
 * is unknown, or its program was at work meanwhile. */
struct reader_spell unanswered_at(const struct trace_snapshot *s, size_t i);

/* The part of a wait in calls in which the other end owed an answer; all of it, if messages do not
 * tell. */
uint64_t owed_to(const struct trace_snapshot *s, size_t i, uint64_t wait_ns);

/* This end is the client's: its program connected, or spoke first. */
bool sends_requests(const struct trace_snapshot *s, size_t i);

/* The socket is one that accept() returned: that is known, or the ports tell. */
bool is_servers_end(const struct trace_snapshot *s, size_t i);

/* This end is the server's: its program accepted the connection, and answers requests. When the
 * next request comes is up to the client. */
bool answers_requests(const struct trace_snapshot *s, size_t i);

/* A TCP request was pending when the session began, and still is: nothing was sent either way. It
 * may be no request, but news, or half of one. */
bool asked_before(const struct trace_snapshot *s, size_t i);
/* By TCP's own times, this end sent later than it last received. What it sent may be no request,
 * but a reaction to what came. */
bool sent_last_before(const struct trace_snapshot *s, size_t i);
/* asked_before() at the server's end: the request had come there, and has no answer yet. */
bool was_asked_before(const struct trace_snapshot *s, size_t i);

/* From samples, which see a pipe's ring move and no message: was the last write between the two
 * processes the reader's own, through the other pipe? */
bool asked_last(const struct trace_snapshot *s, size_t i);

/* From samples: several processes hold the pipe's write end, and nothing ever went through it. Its
 * EOF shows that all of them have ended; nobody waits for data. */
bool is_lifeline(const struct trace_snapshot *s, size_t i);

/* How long the reader there waited: in calls, or outside of calls for an answer, whichever tells
 * more. */
struct reader_spell waited_at(const struct trace_snapshot *s, size_t i);

/* Does the reader wait for answers mostly outside of calls, as in epoll? */
bool waits_out_of_calls(const struct trace_snapshot *s, size_t i);

#endif
