/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of requests and their answers goes, on one connection or on two pipes, by the sums
 * in the ledgers of both ends. */
#ifndef IPCSTALL_VERDICT_REQUESTS_H
#define IPCSTALL_VERDICT_REQUESTS_H

#include "verdict/verdict.h"

/* A program that sends more than this without an answer may expect none: lines of a log, say. */
#define QUESTIONS 3

/* Adds the requests of the reader that waits for answers at endpoint i; none if their number is
 * unknown. */
void add_requests(const struct trace_snapshot *s, size_t i, struct requests *sum);

/* How long the data for the awaited process lay unread there, if that is most of the wait; 0: it
 * did not, or that was not seen. Samples tell this too, though they count no requests. */
uint64_t unread_meanwhile(const struct trace_snapshot *s, size_t i, uint64_t wait_ns);
/* How many requests had no answer, if each cost the client a timeout and these timeouts make up
 * most of its wait; else 0. */
uint64_t questions_unanswered(const struct trace_endpoint *ep);

/* The number of requests is known, with or without answers. */
bool has_requests(const struct requests *r);
/* Its requests were answered soon: most of its wait is for more data, or for the end. */
bool was_answered_soon(const struct trace_endpoint *ep, uint64_t wait_ns);
/* Which part took most of the time. */
enum request_part longest_part(const struct requests *r);
/* How long the longest of several requests took, if it makes up most of longest_part(); 0: none
 * does, and the average tells how long each took. */
uint64_t longest_request(const struct requests *r);
/* Only some requests took time, and the others were answered at once. */
bool are_some_slow(const struct requests *r);
/* The average time to answer a request, or one that took time; their number must be known. */
uint64_t average_thinking(const struct requests *r);
/* A part of each request may be missing, so each took the longest time that was seen, or more. */
bool are_all_cut(const struct requests *r);
/* The longest request tells how long the others take, too. */
bool is_longest_typical(const struct requests *r);
/* Some of a few requests were cut off by the session's start or end, so the longest says more
 * than the average. */
bool average_is_low(const struct requests *r);
/* The requests that never got an answer took most of the time. */
bool mostly_given_up(const struct requests *r);

#endif
