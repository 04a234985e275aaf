/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults and delays that stall no sender that was seen. */
#ifndef IPCSTALL_VERDICT_OTHER_FINDINGS_H
#define IPCSTALL_VERDICT_OTHER_FINDINGS_H

#include "verdict/verdict.h"

/* One state of an endpoint's rx ledger. */
struct reader_spell spell_of(const struct trace_snapshot *s, size_t i, enum rx_state state);

/* A time in which data lies unread that is told by itself. */
#define FREEZE_NS 200000000

/* Each find_*() returns what matters most; .endpoint -1: there is none. nothing_sent: no endpoint
 * that was seen has sent anything. */
/* Nearly always the reader runs or waits for a CPU: no stall, but it limits the connection. */
bool reader_is_at_work(const struct trace_endpoint *ep);
struct reader_spell find_busy_reader(const struct trace_snapshot *s);
struct reader_spell find_late_reader(const struct trace_snapshot *s);
/* Sums over `late` and the other connections that the same server reads late. */
struct totals sum_late(const struct trace_snapshot *s, const struct reader_spell *late);
/* The late reader leaves the answers to its own requests unread: nobody else waits for it. */
bool leaves_answers_unread(const struct trace_snapshot *s, const struct reader_spell *late);
/* From samples, of Unix datagrams: the queue is full most of the time, though it is read. */
bool leaves_no_room(const struct trace_snapshot *s, size_t i);
struct reader_spell find_long_wait(const struct trace_snapshot *s,
				   const struct slow_answers *answers, bool nothing_sent,
				   struct wait_chain *chain);
struct waits_together sum_waits(const struct trace_snapshot *s, const struct reader_spell *wait,
				bool nothing_sent);
/* The reader waits for a token that another process has taken from this pipe and will put back. */
bool is_token_pipe(const struct trace_endpoint *ep);
/* The longest wait of another program for the process that `wait` waits for. */
struct reader_spell find_fellow(const struct trace_snapshot *s, const struct reader_spell *wait,
				bool nothing_sent);
/* The awaited program's endpoint, a broker's, by which another client brought what it answered; -1:
 * none was seen. */
int who_brings_answer(const struct trace_snapshot *s, const struct reader_spell *wait);
/* The endpoint at which the other end waits at the same time, about as long, for this reader to
 * send; -1: it does not. */
int waits_for_it_too(const struct trace_snapshot *s, size_t i, bool nothing_sent);
/* A time this many times as long as another is what matters, and the other is no part of it. */
#define DWARFS 2
/* If B itself waits for this share of the time that A waits for B, that is why A waits. */
#define SAME_TIME 0.8
/* The number and length of round trips, if they are at least half of the wait; n 0: they are not,
 * or that is unknown. */
struct round_trips {
	uint64_t n, each_ns;
};
struct round_trips wait_on_path(const struct trace_endpoint *ep, uint64_t wait_ns);
/* Most of a round trip to an unseen end, as TCP measures it, is spent in a queue, and a wait is
 * hardly longer. */
bool waits_in_queue_on_path(const struct trace_endpoint *ep, const struct reader_spell *wait);
struct withheld_ack find_withheld_ack(const struct trace_snapshot *s);
/* Did the other end, which was not seen, wait for this end's delayed ACKs? */
bool was_waited_for(const struct trace_endpoint *ep);
struct reader_spell find_starved(const struct trace_snapshot *s);
/* Whose thread find_starved() found at this endpoint. */
const struct trace_call_stats *starved_end(const struct trace_endpoint *ep,
					   const struct reader_spell *starved);
struct reader_spell find_undelivered(const struct trace_snapshot *s);
struct unanswered find_unanswered(const struct trace_snapshot *s);
struct slow_answers find_slow_answers(const struct trace_snapshot *s);
pid_t find_server_that_may_pause(const struct trace_snapshot *s);
/* The client that waits for answers for most of its time, at least a tenth, and may wait long for
 * some; 0: there is none. */
pid_t find_client_that_may_wait(const struct trace_snapshot *s);
struct slow_connect find_slow_connect(const struct trace_snapshot *s);
/* The program that has this endpoint, as far as was seen. */
const struct trace_call_stats *program_at(const struct trace_endpoint *ep);
/* The program that reads there or, if nobody was seen to, has the endpoint: its data may yet
 * come. */
const struct trace_call_stats *who_waits(const struct trace_endpoint *ep);
/* A smaller share of all datagrams that went through is a stray loss. */
#define STRAY_SHARE 0.001
void keep_worse_loss(struct datagram_loss *worst, const struct datagram_loss *loss);
/* Datagrams that did not arrive at a socket all of whose senders were seen. */
struct datagram_loss find_lost_between(const struct trace_snapshot *s);
struct datagram_loss find_loss(const struct trace_snapshot *s);

#endif
