/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of a question and its answer goes, on one connection or on two pipes, by the sums
 * that both ends' ledgers have. */
#ifndef IPCSTALL_VERDICT_REQUESTS_H
#define IPCSTALL_VERDICT_REQUESTS_H

#include "verdict/verdict.h"

/* Whoever sends more than these without an answer may expect none: lines of a log, say. */
#define QUESTIONS 3

/* Adds those of the one who waits for answers at endpoint i; nothing where their number is not
 * known. */
void add_requests(const struct trace_snapshot *s, size_t i, struct requests *sum);

/* What was sent to the one that it waits for lay unread there for most of the wait: how long; 0: it
 * did not, or nobody saw. Known from looks too, which count no requests. */
uint64_t unread_meanwhile(const struct trace_snapshot *s, size_t i, uint64_t wait_ns);
/* How many requests had no answer, if each cost the client a timeout and these timeouts make up
 * most of its wait; else 0. */
uint64_t questions_unanswered(const struct trace_endpoint *ep);

/* Their number is known, with or without an answer. */
bool has_requests(const struct requests *r);
/* What it asked was answered soon: for most of its wait it waits for more, or for the end. */
bool was_answered_soon(const struct trace_endpoint *ep, uint64_t wait_ns);
/* what took most of the time */
enum request_part longest_part(const struct requests *r);
/* How long one of several requests took, if it made up most of that part; 0: none did, and the
 * average tells how long each took. */
uint64_t longest_request(const struct requests *r);
/* how long each took to be answered, of those that are known by their number */
uint64_t average_thinking(const struct requests *r);
/* Those without an answer took most of the time. */
bool mostly_given_up(const struct requests *r);

#endif
