/* SPDX-License-Identifier: GPL-2.0-only */
/* Which process a sentence names: several may share an end, and who came last is not always who
 * waited, or kept waiting. */
#ifndef IPCSTALL_VERDICT_WHO_H
#define IPCSTALL_VERDICT_WHO_H

#include "tracer/trace.h"

struct who {
	pid_t tgid, tid;  /* 0: nobody was seen in a call, or with `others` several, none of whom
			     surely had most of it */
	const char *comm; /* the endpoint's; of several: that of them all, or empty */
	bool others;	  /* were in a call there too */
	const struct trace_call_stats
		*too_young; /* the only one seen reading began after most of it: whoever had the end
			       before is not known; NULL: not so */
	const struct trace_call_stats
		*left; /* whoever has the descriptor since the one named there left it; tgid 0: who
			  is not known. NULL: it is not that */
};

/* Was that over for the one who is named there before half of a spell of so long, of an endpoint,
 * had passed? */
bool who_left(const struct trace_call_stats *b, const struct trace_endpoint *ep, uint64_t ns);
/* who has the descriptor since */
struct who who_owns_fd(const struct trace_call_stats *b);
/* who did not read in most of a spell of so long: not one who was given the end when most of it was
 * over */
struct who who_is_not_reading(const struct trace_endpoint *ep, uint64_t ns);
/* Who should have sent, if need be by what it read; NULL: nobody was seen. A server's UDP socket is
 * nobody's other end, even where it was. */
const struct trace_call_stats *who_sends(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);
/* who did not in most of a wait of so long; tgid 0: nobody was seen */
struct who who_does_not_send(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			     uint64_t ns);

/* Who reads what this end sends: for a pipe its own readers, for a socket those of the other end.
 * NULL: not seen. */
const struct trace_call_stats *who_reads(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);
/* who was last in a call of that direction */
struct who who_was_last(const struct trace_call_stats *b);
/* one thread, as far as is known; tid 0: of that process no thread was seen in a call there */
bool who_is_same(const struct who *a, const struct who *b);
/* whom this endpoint's stalls of that cause held up for most of their time; where there were none
 * who sent last, or has the socket */
struct who who_was_held_up(const struct trace_endpoint *ep, enum tx_state cause);
/* The other end's process that explains most of them; where none does who read last. False: that
 * end was not seen. */
bool who_is_late(const struct trace_snapshot *s, const struct trace_endpoint *ep,
		 enum tx_state cause, struct who *out);

#endif
