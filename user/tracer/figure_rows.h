/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of an endpoint, a row each. The rows make the members of trace.h, and what walks over
 * them (tracer/figure.h): the difference of two snapshots, sums, recordings, JSON and its schema.
 *
 *	F(within, member, type, unit, difference, section, key, value, known)
 *
 *	within      the structure in struct trace_endpoint that it stands in, with a dot
 *	type        U64, U32, FLAG, RES (enum trace_resolution); the others: enum figure_kind
 *	difference  SUM: a phase has what it grew by; LAST: what it is at the phase's end; of a RES,
 *	            how that of a sum comes about: WORST, BEST or LAST
 *	section     of a recording, where rows stand in this order: a new one goes to its end
 *	key         in JSON, with ~ where a smaller view may leave it out; NULL: not as it is
 *	value       OWN, or a function in figure.c that makes it of several members
 *	known       a function in figure.c: how well it is known
 */
#ifndef IPCSTALL_TRACER_FIGURE_ROWS_H
#define IPCSTALL_TRACER_FIGURE_ROWS_H

/* struct trace_call_stats, twice in an endpoint: of the calls that send, and of those that read */
#define CALL_FIGURES(F)                                                                           \
	F(, bytes, U64, BYTES, SUM, CALLS, "bytes", OWN, by_bytes)                                \
	F(, messages, U64, COUNT, SUM, CALLS, "messages", OWN, by_messages)                       \
	F(, blocked_ns, U64, NS, SUM, CALLS, "blocked_ns", blocked_so_far, by_blocked)            \
	F(, blocked_max_ns, U64, NS, LAST, CALLS, "blocked_max_ns", OWN, by_blocked)              \
	/* so far, of a sleep that goes on; not in blocked_ns, which never falls */               \
	F(, open_sleep_ns, U64, NS, LAST, CALLS, NULL, OWN, by_blocked)                           \
	F(, runq_ns, U64, NS, SUM, CALLS, "runq_ns", OWN, by_runq)                                \
	F(, runq_max_ns, U64, NS, LAST, CALLS, "runq_max_ns", OWN, by_runq)                       \
	F(, wakeups, U64, COUNT, SUM, CALLS, "wakeups", OWN, by_runq)                             \
	/* while it was awaited, who was last in the call was ready to run and had no CPU */      \
	F(, no_cpu_ns, U64, NS, SUM, CALLS, "~no_cpu_ns", OWN, by_no_cpu)                         \
	/* who was last in the call; 0: nobody seen */                                            \
	F(, tgid, PID, NUMBER, LAST, CALLS, NULL, OWN, always)                                    \
	F(, tid, PID, NUMBER, LAST, CALLS, NULL, OWN, always)                                     \
	/* of that task, in the v2 hierarchy; 0: unknown */                                       \
	F(, cgroup_id, U64, NUMBER, LAST, CALLS, NULL, OWN, always)                               \
	F(, comm, COMM, TEXT, LAST, CALLS, NULL, OWN, always)                                     \
	/* bytes that are bounded are TCP's own count: those, a SYN and a FIN */                  \
	F(, bytes_res, RES, NONE, WORST, CALLS, NULL, OWN, always)                                \
	F(, blocked_res, RES, NONE, WORST, CALLS, NULL, OWN, always)                              \
	F(, runq_res, RES, NONE, WORST, CALLS, NULL, OWN, always)                                 \
	F(, no_cpu_res, RES, NONE, LAST, CALLS, NULL, OWN, always)                                \
	/* other processes were in the call before; without a tid: hold the descriptor too */     \
	F(, others, FLAG, NONE, LAST, CALLS, NULL, OWN, always)                                   \
	/* what the threads that were last in the call ran on a CPU, from their first call on, */ \
	/* in it and out of it */                                                                 \
	F(, cpu_ns, U64, NS, SUM, CALLS, "~cpu_ns", OWN, by_cpu)                                  \
	/* when the process that was last in the call began; 0: not known */                      \
	F(, born_ns, U64, NS, LAST, CALLS, NULL, OWN, always)                                     \
	F(, cpu_res, RES, NONE, LAST, CALLS, NULL, OWN, always)                                   \
	/* of no_cpu_ns: the CPU quota of its cgroup was used up (cpu.max) */                     \
	F(, quota_ns, U64, NS, SUM, STOPS, "~quota_ns", OWN, by_no_cpu)                           \
	/* while it was awaited it was stopped by a signal, or frozen with its cgroup */          \
	F(, stopped_ns, U64, NS, SUM, STOPS, "~stopped_ns", stopped_so_far, by_stops)             \
	F(, stopped_max_ns, U64, NS, LAST, STOPS, "~stopped_max_ns", longest_stop, by_stops)      \
	F(, stopped_n, U64, COUNT, SUM, STOPS, "~stops", stops_so_far, by_stops)                  \
	/* so far, of a stop that goes on; not in stopped_ns */                                   \
	F(, open_stop_ns, U64, NS, LAST, STOPS, NULL, OWN, by_no_cpu)                             \
	/* of a process of which it is not known which thread is in the call: its busiest one */  \
	/* ran, or waited for a CPU; 0: that thread is known, or nothing is */                    \
	F(, busiest_cpu_ns, U64, NS, SUM, STOPS, "~busiest_cpu_ns", OWN, by_busiest)              \
	/* of reads: from a send to the first data received after it; of sends: from a read to */ \
	/* the first data sent after it */                                                        \
	F(, reply_ns, U64, NS, SUM, REPLIES, "~reply_ns", replies_so_far, by_messages)            \
	F(, reply_max_ns, U64, NS, LAST, REPLIES, "~reply_max_ns", longest_reply, by_messages)    \
	F(, reply_n, U64, COUNT, SUM, REPLIES, "~replies", OWN, by_messages)                      \
	/* when the first was there; 0: none was */                                               \
	F(, first_reply_ns, U64, NS, LAST, REPLIES, NULL, OWN, by_messages)                       \
	/* so far, of one that goes on; in none of these */                                       \
	F(, open_reply_ns, U64, NS, LAST, REPLIES, NULL, OWN, by_messages)                        \
	/* who began the first that was seen in the call, and had this end before; 0: nobody */   \
	F(, parent, PID, NUMBER, LAST, REPLIES, NULL, OWN, always)                                \
	F(, parent_comm, COMM, TEXT, LAST, REPLIES, NULL, OWN, always)                            \
	/* calls that ended with ECONNREFUSED: ICMP, or a reset, said that nobody is there */     \
	F(, refused_n, U64, COUNT, SUM, REPLIES, "~refused", OWN, by_messages)                    \
	/* of sends, at the end: since the last message either way, of a pipe the last write; */  \
	/* if there was none, since the beginning; 0: not known */                                \
	F(, quiet_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                                    \
	/* who last passed this end to another process (SCM_RIGHTS), and when; 0: nobody */       \
	F(, giver, PID, NUMBER, LAST, GIVEN, NULL, OWN, always)                                   \
	F(, giver_comm, COMM, TEXT, LAST, GIVEN, NULL, OWN, always)                               \
	F(, given_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                                    \
	/* by then: of reads, how long data had lain unread; of sends, how long what was read */  \
	/* had had no answer */                                                                   \
	F(, giver_unread_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                             \
	F(, giver_thought_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                            \
	/* the session is of other processes: this one only shares an end with them */            \
	F(, outsider, FLAG, NONE, LAST, GIVEN, NULL, OWN, always)                                 \
	/* what its process ran on a CPU in its life, all threads; 0: not known */                \
	F(, process_ran_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                              \
	/* sampled: how often that thread got a CPU */                                            \
	F(, cpu_turns, U64, COUNT, SUM, CALLS, "~cpu_turns", OWN, unless_zero)                    \
	/* next: calls */

/* struct trace_endpoint itself: TCP */
#define TCP_FIGURES(F) \
	F(, delack_ns, U64, NS, SUM, ACKS, "delack_ns", OWN, by_delack) \
	F(, delack_fires, U64, COUNT, SUM, ACKS, "delack_fires", OWN, by_delack) \
	F(, ack_debt_ns, U64, NS, SUM, ACKS, "ack_debt_ns", OWN, by_delack) \
	F(, delack_res, RES, NONE, BEST, ACKS, NULL, OWN, always) \
	F(, retransmits, U64, COUNT, SUM, LOSSES, "retransmits", OWN, by_retransmits) \
	F(, timeouts, U64, COUNT, SUM, LOSSES, "timeouts", OWN, by_hooks) \
	F(, zero_windows, U64, COUNT, SUM, LOSSES, "zero_windows", OWN, by_hooks) \
	F(, retransmits_res, RES, NONE, BEST, LOSSES, NULL, OWN, always) \
	/* smoothed, at the last look, and the least of late; 0: unknown */ \
	F(, rtt_us, U32_LOW, US, LAST, LOSSES, "rtt_us", OWN, unless_zero) \
	F(, min_rtt_us, U32_HIGH, US, LAST, LOSSES, "~min_rtt_us", OWN, unless_zero) \
	/* of retransmits: before anything was answered */ \
	F(, syn_retransmits, U64, COUNT, SUM, LOSSES, "~syn_retransmits", OWN, by_hooks) \
	/* of retransmits, by the other end's DSACKs: it had that already */ \
	F(, needless, U64, COUNT, SUM, LOSSES, "~needless_retransmits", OWN, by_retransmits) \
	/* what had been sent was on this host until the retransmission timer fired */ \
	F(, undelivered_ns, U64, NS, SUM, LOSSES, "~undelivered_ns", undelivered_so_far, by_hooks) \
	/* so far, since it fired last; not in undelivered_ns */ \
	F(, open_undelivered_ns, U64, NS, LAST, LOSSES, NULL, OWN, by_hooks) \
	/* next: TCP itself */

/* datagrams and pipes; as JSON in objects of their own */
#define QUEUE_FIGURES(F) \
	F(, drops, LIST(TRACE_DROPS), COUNT, SUM, QUEUE, NULL, OWN, always) \
	/* residence of one item = integral / dequeued, ns */ \
	F(, queue_integral, U64, NS, SUM, QUEUE, NULL, OWN, always) \
	F(, queue_max, U64, COUNT, LAST, QUEUE, NULL, OWN, always) \
	F(, dequeued, U64, COUNT, SUM, QUEUE, NULL, OWN, always) \
	F(, drops_res, RES, NONE, BEST, QUEUE, NULL, OWN, always) \
	F(, queue_res, RES, NONE, LAST, QUEUE, NULL, OWN, always)

/*
 * struct trace_answers: how often the other end's next data came as soon after this end's delayed
 * ACK as that ACK could have released it. n: how often; ns: how long these ACKs were withheld;
 * since_fired, since_owed: the spread of the time from the timer, and from the data that the ACK is
 * for, until the next data.
 */
#define ANSWER_FIGURES(F) \
	F(answers., n, U64, COUNT, SUM, ACKS, "~waited_for", OWN, by_delack) \
	F(answers., ns, U64, NS, SUM, ACKS, "~waited_for_ns", OWN, by_delack) \
	F(answers., since_fired, SPREAD, US, SUM, ACKS, NULL, OWN, always) \
	F(answers., since_owed, SPREAD, US, SUM, ACKS, NULL, OWN, always)

/*
 * struct trace_making. TCP, and in a listener's queue a Unix socket that was written to: a
 * connection before somebody had it. An accept that nobody made, and a
 * request that is not answered, have lasted until at_ns.
 */
#define MAKING_FIGURES(F) \
	/* connect() to the other end's answer; 0: it did not begin here, or that was not seen */ \
	F(making., connect_ns, U64, NS, LAST, MAKING, "~connect_ns", OWN, unless_zero) \
	/* it was established and nobody had accepted it; 0: it was no listener's, or that was */ \
	/* not seen */ \
	F(making., accept_ns, U64, NS, LAST, MAKING, "~accept_wait_ns", OWN, unless_zero) \
	/* of its `unread`: then, when nobody could read */ \
	F(making., accept_unread_ns, U64, NS, LAST, MAKING, "~accept_unread_ns", OWN, if_accepted) \
	/* it is under way */ \
	F(making., connecting, FLAG, NONE, LAST, MAKING, "~connecting", OWN, by_hooks) \
	F(making., accepting, FLAG, NONE, LAST, MAKING, "~unaccepted", OWN, by_hooks) \
	/* UDP: it was connected after it had sent, or to another address */ \
	F(making., moved, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* this end connected, or it was its listener's, however long ago; both 0: not known */ \
	F(making., connected, FLAG, NONE, LAST, MAKING, "~connected", OWN, always) \
	F(making., accepted, FLAG, NONE, LAST, MAKING, "~accepted", OWN, always) \
	/* UDP: it is not connected, and all that it sent went to `remote` */ \
	F(making., unconnected, FLAG, NONE, LAST, MAKING, "~unconnected", OWN, always) \
	/* UDP: its program bound it, as servers do */ \
	F(making., bound, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* the other end reset it */ \
	F(making., reset, FLAG, NONE, LAST, MAKING, "~reset", OWN, always) \
	/* from then until it was closed */ \
	F(making., after_reset_ns, U64, NS, LAST, MAKING, "~after_reset_ns", OWN, always) \
	/* who holds the other end, which is no endpoint, or listens there; 0: it is one, or */ \
	/* nobody was found on this host */ \
	F(making., other_pid, PID, NUMBER, LAST, MAKING, NULL, OWN, always) \
	F(making., other_comm, COMM, TEXT, LAST, MAKING, NULL, OWN, always) \
	/* Unix: a thread of it slept in a call that receives there, when it was asked */ \
	F(making., other_receives, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* whenever it was asked, the server of this connection waited for data to come */ \
	/* there: it worked on no request that had */ \
	F(making., server_polls, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* next: making a connection */

/* struct trace_hole. TCP: data had come, and could not be read, since some before it had not (the
 * out-of-order queue) */
#define HOLE_FIGURES(F) \
	F(hole., ns, U64, NS, SUM, PARTS, "~hole_ns", OWN, by_hooks) \
	F(hole., max_ns, U64, NS, LAST, PARTS, "~hole_max_ns", OWN, by_hooks) \
	F(hole., n, U64, COUNT, SUM, PARTS, "~holes", OWN, by_hooks)

/* struct trace_parts, by enum trace_part; ns: never more than the state */
#define PART_FIGURES(F) \
	F(parts., ns, LIST_FROM_1(TRACE_PARTS), NS, SUM, PARTS, NULL, OWN, by_hooks) \
	F(parts., n, COUNTS_FROM_1(TRACE_PARTS), COUNT, SUM, PARTS, NULL, OWN, by_hooks)

/* of these lists, what JSON shows: no member of their own */
#define PARTS_SHOWN(F) \
	F(parts., ns[TRACE_PART_DEFERRED], U64, NS, NONE, SHOWN, "~tso_deferral_ns", OWN, \
	  by_hooks) \
	F(parts., n[TRACE_PART_DEFERRED], U32, COUNT, NONE, SHOWN, "~tso_deferrals", OWN, \
	  by_hooks) \
	F(parts., ns[TRACE_PART_FQ], U64, NS, NONE, SHOWN, "~fq_pacing_ns", OWN, by_hooks) \
	F(parts., ns[TRACE_PART_TSQ], U64, NS, NONE, SHOWN, "~small_queue_ns", OWN, by_hooks) \
	F(parts., ns[TRACE_PART_AUTOCORK], U64, NS, NONE, SHOWN, "~autocork_ns", OWN, by_hooks) \
	F(parts., n[TRACE_PART_AUTOCORK], U32, COUNT, NONE, SHOWN, "~autocorks", OWN, by_hooks)

/* struct trace_path. TCP: what the path gives, by its own reckoning, at the last look; 0: it has
 * none */
#define PATH_FIGURES(F) \
	/* the last sample */ \
	F(path., delivery_bytes_per_s, U64, BYTES_PER_S, LAST, PATH, "~delivery_bytes_per_s", OWN, \
	  unless_zero) \
	F(path., pacing_bytes_per_s, U64, BYTES_PER_S, LAST, PATH, "~pacing_bytes_per_s", OWN, \
	  unless_zero) \
	/* since the endpoint was first seen; sent: with data, repeated ones too */ \
	F(path., lost_segments, U64, COUNT, SUM, PATH, "~lost_segments", OWN, always) \
	F(path., sent_segments, U64, COUNT, SUM, PATH, "~sent_segments", OWN, always) \
	F(path., out_of_order, U64, COUNT, SUM, PATH, "~out_of_order", OWN, always) \
	F(path., cwnd, U32, COUNT, LAST, PATH, "~cwnd", OWN, unless_zero) \
	F(path., ssthresh, U32, COUNT, LAST, PATH, "~ssthresh", OWN, unless_zero) \
	/* that sample: the application gave too little to fill the path */ \
	F(path., app_limited, FLAG, NONE, LAST, PATH, "~app_limited", OWN, always) \
	/* SO_MAX_PACING_RATE, where the program set it */ \
	F(path., max_pacing_bytes_per_s, U64, BYTES_PER_S, LAST, PATH, \
	  "~max_pacing_bytes_per_s", OWN, unless_zero) \
	F(path., congestion_control, COMM, TEXT, LAST, PATH, NULL, OWN, always) \
	/* what this end let the other one send at once */ \
	F(path., receive_window, U32, BYTES, LAST, PATH, "~receive_window", OWN, unless_zero) \
	/* next: the path */

#define ENDPOINT_FIGURES(F) \
	TCP_FIGURES(F) \
	QUEUE_FIGURES(F) \
	ANSWER_FIGURES(F) \
	MAKING_FIGURES(F) \
	HOLE_FIGURES(F) \
	PART_FIGURES(F) \
	PARTS_SHOWN(F) \
	PATH_FIGURES(F)

/* a row as a member of its structure: the type, and the name in parentheses */
#define FIGURE_MEMBER(within, member, type, unit, difference, section, key, value, known) \
	FIGURE_TYPE_##type(member);
#define FIGURE_TYPE_U64		   uint64_t
#define FIGURE_TYPE_U32		   uint32_t
#define FIGURE_TYPE_U32_LOW	   uint32_t
#define FIGURE_TYPE_U32_HIGH	   uint32_t
#define FIGURE_TYPE_FLAG	   bool
#define FIGURE_TYPE_RES		   uint8_t
#define FIGURE_TYPE_PID		   pid_t
#define FIGURE_TYPE_COMM	   __typeof__(char[16])
#define FIGURE_TYPE_SPREAD	   struct trace_spread
#define FIGURE_TYPE_LIST(n)	   __typeof__(uint64_t[n])
#define FIGURE_TYPE_LIST_FROM_1(n) __typeof__(uint64_t[n])
#define FIGURE_TYPE_COUNTS_FROM_1(n) __typeof__(uint32_t[n])

#endif
