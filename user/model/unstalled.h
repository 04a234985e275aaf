/* SPDX-License-Identifier: GPL-2.0-only */
/* What is wrong, or slow, and stalls no sender that was seen. */
#ifndef IPCSTALL_UNSTALLED_H
#define IPCSTALL_UNSTALLED_H

#include "model/verdict.h"

/* what an endpoint's rx ledger says of one state */
struct reader_spell spell_of(const struct trace_snapshot *s, size_t i, enum rx_state state);

/* Each: the one that matters most, .endpoint -1: there is none. min_ns: less is no matter; nothing_sent: by any endpoint that was seen */
struct reader_spell find_late_reader(const struct trace_snapshot *s, uint64_t min_ns);
struct reader_spell find_long_wait(const struct trace_snapshot *s, uint64_t min_ns, bool nothing_sent);
struct withheld_ack find_withheld_ack(const struct trace_snapshot *s, double min_share, uint64_t min_ns);
/* that the other end, unseen, waited for this one's delayed ACKs */
bool was_waited_for(const struct trace_endpoint *ep);
struct reader_spell find_starved(const struct trace_snapshot *s, uint64_t min_ns);
struct datagram_loss find_loss(const struct trace_snapshot *s);

#endif
