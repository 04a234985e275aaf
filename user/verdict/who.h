/* SPDX-License-Identifier: GPL-2.0-only */
/* Which process a sentence names. Several may share an endpoint, and the last one in a call is not
 * always the one that waited, or that kept another waiting. */
#ifndef IPCSTALL_VERDICT_WHO_H
#define IPCSTALL_VERDICT_WHO_H

#include "tracer/trace.h"

struct who {
	pid_t tgid, tid;  /* 0: nobody was seen in a call; with `others`: several were, and none of
			     them surely had most of the time */
	const char *comm; /* the endpoint's; of several: their common name, or empty */
	bool others;	  /* other processes were in a call there too */
	const struct trace_call_stats
		*too_young; /* the only process seen to read, if it began after most of the time:
			       who had the endpoint before is unknown; NULL: not so */
	const struct trace_call_stats
		*left; /* set if `tgid` has the descriptor since the process named here left it;
			  tgid 0: who has it is unknown */
};

/* Had the process named in `b` left the endpoint before half of a spell of `ns` had passed? */
bool who_left(const struct trace_call_stats *b, const struct trace_endpoint *ep, uint64_t ns);
/* Who has had the descriptor since then. */
struct who who_owns_fd(const struct trace_call_stats *b);
/* The process that did not read in most of a spell of `ns`: not one that was given the endpoint
 * when most of it was over. */
struct who who_is_not_reading(const struct trace_endpoint *ep, uint64_t ns);
/* The process that should have sent, by its sends or else by its reads; NULL: nobody was seen. A
 * server's UDP socket is no endpoint's peer: it is found by its address. */
const struct trace_call_stats *who_sends(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);
/* The process that did not send in most of a wait of `ns`; tgid 0: nobody was seen. */
struct who who_does_not_send(const struct trace_snapshot *s, const struct trace_endpoint *ep,
			     uint64_t ns);

/* Who reads what this end sends: for a pipe its own readers, for a socket those of the other end.
 * NULL: not seen. */
const struct trace_call_stats *who_reads(const struct trace_snapshot *s,
					 const struct trace_endpoint *ep);
/* Who was last in a call of that direction. */
struct who who_was_last(const struct trace_call_stats *b);
/* The same thread, as far as is known. tid 0: no thread of that process was seen in a call
 * there. */
bool who_is_same(const struct who *a, const struct who *b);
/* The process that this endpoint's stalls of that cause held up for most of their time; if there
 * were none, the last sender or the owner of the socket. */
struct who who_was_held_up(const struct trace_endpoint *ep, enum tx_state cause);
/* The process of the other end that explains most of these stalls; if none does, the last reader.
 * False: that end was not seen. */
bool who_is_late(const struct trace_snapshot *s, const struct trace_endpoint *ep,
		 enum tx_state cause, struct who *out);

/* The client connected, and closed without a word, as after a greeting that came too late. `asks`
 * has what it sent, at either end. */
bool never_spoke(const struct trace_endpoint *ep, const struct trace_call_stats *asks);

#endif
