/* SPDX-License-Identifier: GPL-2.0-only */
/* Which readers wait long. wait_chain.c builds on it. */
#ifndef IPCSTALL_VERDICT_LONG_WAIT_H
#define IPCSTALL_VERDICT_LONG_WAIT_H

#include "verdict/other_findings.h"

/* The endpoint that should have sent: the peer, or for a pipe the same endpoint; NULL: not seen. */
const struct trace_endpoint *awaited_end(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);
pid_t awaited_tgid(const struct trace_endpoint *sender, bool pipe);
/* The process that the reader at endpoint i waits for; 0: not seen. */
pid_t awaited_process(const struct trace_snapshot *s, int i);

typedef bool is_wait(const struct trace_snapshot *s, size_t i, bool nothing_sent);

is_wait waits_long, waits_mutually;
/* The reader has sent something to the process that should send here, by this socket or another
 * pipe. */
bool has_asked(const struct trace_snapshot *s, size_t i);
/* waits_long(), or a client waits for a part of a connection's life, as on the connections of a
 * pool. */
is_wait waits_at_times;

struct reader_spell longest_wait(const struct trace_snapshot *s, is_wait *is, bool nothing_sent);

#endif
