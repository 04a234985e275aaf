/* SPDX-License-Identifier: GPL-2.0-only */
/* The rule that decides who is to blame for a stall; the same for an endpoint's whole life and for
 * one interval of it. */
#ifndef IPCSTALL_VERDICT_BLAME_H
#define IPCSTALL_VERDICT_BLAME_H

#include "verdict/verdict.h"

struct blame_facts {
	enum tx_state cause;
	uint64_t ns;	    /* of the stall */
	uint64_t delack_ns; /* the part in which the peer's delayed ACK was withheld; only with both
			       ends */
	uint64_t unread_ns; /* the part in which the peer had unread data and no reader */
	uint64_t gathered_ns; /* of `nagle`: the part that the writer's own next call ended */
	uint64_t gathered_n;  /* the number of such episodes */
	uint64_t starved_ns;  /* the part in which the peer's reader was ready to run and had no CPU
			       */
	uint64_t writer_starved_ns,
		reader_starved_ns; /* in their whole lives: how long the sender, and the peer's
				      reader, had been woken in a call and had no CPU */
	bool both_ends;		   /* the other end was traced */
	bool local_ipc;		   /* a pipe or a Unix socket: there is no path between the ends */
	uint64_t count;		   /* episodes of the stall */
	uint64_t rtt_ns;	   /* of TCP; 0: unknown */
	bool like_delack;	   /* see blame_like_delack() */
	bool in_flight;		   /* from samples: data is in flight for most of the stall */
};

struct blame_judged {
	enum blamed blamed;
	enum surety surety;
	uint64_t ns; /* the part the blame explains; 0: not measured */
};

/* Is the other end to blame? */
bool blame_is_peers(enum blamed b);
bool blame_delack_can_cause(enum tx_state s);
struct blame_judged blame_judge(const struct blame_facts *f);
/* For blame_facts: did `n` episodes of the delayed-ACK slot surely make up half of the stall's
 * time, however many short ones there were besides? */
bool blame_like_delack(uint64_t n, uint64_t ns);
/* For blame_facts: time without a CPU after wake-ups, if that is more than tasks that take turns
 * wait; else 0. */
uint64_t blame_starved(const struct trace_call_stats *b);
/* The path's own round trip, from TCP's smoothed and its least one, each 0 if unknown. */
uint64_t blame_round_trip(uint32_t smoothed_us, uint32_t least_us);

#endif
