/* SPDX-License-Identifier: GPL-2.0-only */
/* What is wrong, or slow, and stalls no sender that was seen. */
#ifndef IPCSTALL_VERDICT_OTHER_FINDINGS_H
#define IPCSTALL_VERDICT_OTHER_FINDINGS_H

#include "verdict/verdict.h"

/* what an endpoint's rx ledger says of one state */
struct reader_spell spell_of(const struct trace_snapshot *s, size_t i, enum rx_state state);

/* Each: the one that matters most, .endpoint -1: there is none. nothing_sent: by any endpoint that
 * was seen */
/* a reader that runs on a CPU while data waits for it: no stall, but what limits the connection */
bool reader_is_at_work(const struct trace_endpoint *ep);
struct reader_spell find_busy_reader(const struct trace_snapshot *s);
struct reader_spell find_late_reader(const struct trace_snapshot *s);
/* with what the same program leaves unread of its other clients */
struct totals sum_late(const struct trace_snapshot *s, const struct reader_spell *late);
/* Of a late reader: its own answers lie there, and nobody but itself waits for it. */
bool leaves_answers_unread(const struct trace_snapshot *s, const struct reader_spell *late);
/* By looks, of Unix datagrams: it reads, and there is no room for more in most of the time. */
bool leaves_no_room(const struct trace_snapshot *s, size_t i);
struct reader_spell find_long_wait(const struct trace_snapshot *s,
				   const struct slow_answers *answers, bool nothing_sent,
				   struct wait_chain *chain);
struct waits_together sum_waits(const struct trace_snapshot *s, const struct reader_spell *wait,
				bool nothing_sent);
/* its reader waits for what another process has taken from that pipe, and will put back */
bool is_token_pipe(const struct trace_endpoint *ep);
/* the longest wait of another program for whoever is awaited at `wait` */
struct reader_spell find_fellow(const struct trace_snapshot *s, const struct reader_spell *wait,
				bool nothing_sent);
/* By which connection of the one that is awaited, a broker, another client brought what it
 * answered: an endpoint; -1: none is seen to. */
int who_brings_answer(const struct trace_snapshot *s, const struct reader_spell *wait);
/* where the other end sleeps at the same time, about as long, for this reader to send; -1: it does
 * not */
int waits_for_it_too(const struct trace_snapshot *s, size_t i, bool nothing_sent);
/* of two times: it is what matters, and the other is no part of it */
#define DWARFS 2
/* One who waits for most of the time in which another waits for him is why that one waits. */
#define SAME_TIME 0.8
/* how many, each how long, where they are at least half of the wait; n 0: they are not, or nobody
 * can tell */
struct round_trips {
	uint64_t n, each_ns;
};
struct round_trips wait_on_path(const struct trace_endpoint *ep, uint64_t wait_ns);
struct withheld_ack find_withheld_ack(const struct trace_snapshot *s);
/* that the other end, unseen, waited for this one's delayed ACKs */
bool was_waited_for(const struct trace_endpoint *ep);
struct reader_spell find_starved(const struct trace_snapshot *s);
/* of what find_starved() found: whose thread it was */
const struct trace_call_stats *starved_end(const struct trace_endpoint *ep,
					   const struct reader_spell *starved);
struct reader_spell find_undelivered(const struct trace_snapshot *s);
struct unanswered find_unanswered(const struct trace_snapshot *s);
struct slow_answers find_slow_answers(const struct trace_snapshot *s);
pid_t find_server_that_may_pause(const struct trace_snapshot *s);
struct slow_connect find_slow_connect(const struct trace_snapshot *s);
/* whose end it is, as far as was seen */
const struct trace_call_stats *program_at(const struct trace_endpoint *ep);
/* whoever reads there, or will: nobody was seen to read what has not come yet */
const struct trace_call_stats *who_waits(const struct trace_endpoint *ep);
/* Of all that went through less than this is stray. */
#define STRAY_SHARE 0.001
void keep_worse_loss(struct datagram_loss *worst, const struct datagram_loss *loss);
/* those that did not arrive at a socket whose senders were all seen */
struct datagram_loss find_lost_between(const struct trace_snapshot *s);
struct datagram_loss find_loss(const struct trace_snapshot *s);

#endif
