/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of an endpoint, one row each. The rows make the members in trace.h and drive
 * everything that walks over the figures (tracer/figure.h): the difference of two snapshots, sums,
 * recordings, JSON and its schema.
 *
 *	F(within, member, type, unit, difference, section, key, value, known)
 *
 *	within      the member of struct trace_endpoint that holds the figure, with a dot
 *	type        U64, U32, FLAG, RES (enum trace_resolution); the others: enum figure_kind
 *	difference  in a phase: SUM: the growth; LAST: the value at the phase's end. For a RES,
 *	            which one a sum of endpoints gets: WORST, BEST or LAST
 *	section     of a recording, in the order of these rows: a new row goes to its section's end
 *	key         in JSON; ~ in front: a smaller view may leave it out; NULL: not shown as it is
 *	value       OWN, or a function in figure.c that computes it from several members
 *	known       a function in figure.c: how well the figure is known
 */
#ifndef IPCSTALL_TRACER_FIGURE_ROWS_H
#define IPCSTALL_TRACER_FIGURE_ROWS_H

/* struct trace_call_stats, twice in an endpoint: for calls that send and for calls that read */
#define CALL_FIGURES(F)                                                                           \
	F(, bytes, U64, BYTES, SUM, CALLS, "bytes", OWN, by_bytes)                                \
	F(, messages, U64, COUNT, SUM, CALLS, "messages", OWN, by_messages)                       \
	F(, blocked_ns, U64, NS, SUM, CALLS, "blocked_ns", blocked_so_far, by_blocked)            \
	F(, blocked_max_ns, U64, NS, LAST, CALLS, "blocked_max_ns", OWN, by_blocked)              \
	/* of a sleep that has not ended, so far; not in blocked_ns, which never falls */         \
	F(, open_sleep_ns, U64, NS, LAST, CALLS, NULL, OWN, by_blocked)                           \
	F(, runq_ns, U64, NS, SUM, CALLS, "runq_ns", OWN, by_runq)                                \
	F(, runq_max_ns, U64, NS, LAST, CALLS, "runq_max_ns", OWN, by_runq)                       \
	F(, wakeups, U64, COUNT, SUM, CALLS, "wakeups", OWN, by_runq)                             \
	/* the thread last in the call was waited for, ready to run, and had no CPU */            \
	F(, no_cpu_ns, U64, NS, SUM, CALLS, "~no_cpu_ns", OWN, by_no_cpu)                         \
	/* the process and thread last seen in the call; 0: none */                               \
	F(, tgid, PID, NUMBER, LAST, CALLS, NULL, OWN, always)                                    \
	F(, tid, PID, NUMBER, LAST, CALLS, NULL, OWN, always)                                     \
	/* of that task, in the v2 hierarchy; 0: unknown */                                       \
	F(, cgroup_id, U64, NUMBER, LAST, CALLS, NULL, OWN, always)                               \
	F(, comm, COMM, TEXT, LAST, CALLS, NULL, OWN, always)                                     \
	/* BOUNDED: bytes are TCP's own count, which may include a SYN and a FIN */               \
	F(, bytes_res, RES, NONE, WORST, CALLS, NULL, OWN, always)                                \
	F(, blocked_res, RES, NONE, WORST, CALLS, NULL, OWN, always)                              \
	F(, runq_res, RES, NONE, WORST, CALLS, NULL, OWN, always)                                 \
	F(, no_cpu_res, RES, NONE, LAST, CALLS, NULL, OWN, always)                                \
	/* other processes were in the call before; if tid is 0: they hold the descriptor too */  \
	F(, others, FLAG, NONE, LAST, CALLS, NULL, OWN, always)                                   \
	/* CPU time of the threads that were last in the call, from their first call on, in the */ \
	/* call and outside */                                                                    \
	F(, cpu_ns, U64, NS, SUM, CALLS, "~cpu_ns", OWN, by_cpu)                                  \
	/* when the process that was last in the call began; 0: not known */                      \
	F(, born_ns, U64, NS, LAST, CALLS, NULL, OWN, always)                                     \
	F(, cpu_res, RES, NONE, LAST, CALLS, NULL, OWN, always)                                   \
	/* part of no_cpu_ns: its cgroup had used up its CPU quota (cpu.max) */                   \
	F(, quota_ns, U64, NS, SUM, STOPS, "~quota_ns", OWN, by_no_cpu)                           \
	/* it was waited for while it was stopped by a signal or frozen with its cgroup */        \
	F(, stopped_ns, U64, NS, SUM, STOPS, "~stopped_ns", stopped_so_far, by_stops)             \
	F(, stopped_max_ns, U64, NS, LAST, STOPS, "~stopped_max_ns", longest_stop, by_stops)      \
	F(, stopped_n, U64, COUNT, SUM, STOPS, "~stops", stops_so_far, by_stops)                  \
	/* of a stop that has not ended, so far; not in stopped_ns */                             \
	F(, open_stop_ns, U64, NS, LAST, STOPS, NULL, OWN, by_no_cpu)                             \
	/* where the thread in the call is unknown: how long the process's busiest thread ran */  \
	/* or waited for a CPU; 0: the thread is known, or nothing is */                          \
	F(, busiest_cpu_ns, U64, NS, SUM, STOPS, "~busiest_cpu_ns", OWN, by_busiest)              \
	/* of reads: from a send to the first data received after it; of sends: from a read to */ \
	/* the first data sent after it */                                                        \
	F(, reply_ns, U64, NS, SUM, REPLIES, "~reply_ns", replies_so_far, by_messages)            \
	F(, reply_max_ns, U64, NS, LAST, REPLIES, "~reply_max_ns", longest_reply, by_messages)    \
	F(, reply_n, U64, COUNT, SUM, REPLIES, "~replies", OWN, by_messages)                      \
	/* when the first reply was there; 0: none */                                             \
	F(, first_reply_ns, U64, NS, LAST, REPLIES, NULL, OWN, by_messages)                       \
	/* of a reply that has not come, so far; not in the figures above */                      \
	F(, open_reply_ns, U64, NS, LAST, REPLIES, NULL, OWN, by_messages)                        \
	/* the parent of the first process seen in the call, if it had this end before; else 0 */ \
	F(, parent, PID, NUMBER, LAST, REPLIES, NULL, OWN, always)                                \
	F(, parent_comm, COMM, TEXT, LAST, REPLIES, NULL, OWN, always)                            \
	/* calls that failed with ECONNREFUSED: ICMP or a reset said that nobody is there */      \
	F(, refused_n, U64, COUNT, SUM, REPLIES, "~refused", OWN, by_messages)                    \
	/* in tx_calls: at at_ns, the time since the last message either way (pipe: since the */  \
	/* last write), or since the beginning if there was none; 0: unknown */                   \
	F(, quiet_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                                    \
	/* the process that last passed this end to another (SCM_RIGHTS), and when; 0: none */    \
	F(, giver, PID, NUMBER, LAST, GIVEN, NULL, OWN, always)                                   \
	F(, giver_comm, COMM, TEXT, LAST, GIVEN, NULL, OWN, always)                               \
	F(, given_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                                    \
	/* up to given_ns: in rx_calls, how long data was unread; in tx_calls, how long data */   \
	/* that was read had no answer */                                                         \
	F(, giver_unread_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                             \
	F(, giver_thought_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                            \
	/* the session follows other processes; this one only shares an end with them */          \
	F(, outsider, FLAG, NONE, LAST, GIVEN, NULL, OWN, always)                                 \
	/* CPU time of its process: of the thread last in the call and of those that ended; */    \
	/* 0: unknown */                                                                          \
	F(, process_ran_ns, U64, NS, LAST, GIVEN, NULL, OWN, always)                              \
	/* sampled: how often that thread got a CPU */                                            \
	F(, cpu_turns, U64, COUNT, SUM, CALLS, "~cpu_turns", OWN, unless_zero)                    \
	/* new figures of calls go here */

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
	/* smoothed, at the last sample; the recent minimum; 0: unknown */ \
	F(, rtt_us, U32_LOW, US, LAST, LOSSES, "rtt_us", OWN, unless_zero) \
	F(, min_rtt_us, U32_HIGH, US, LAST, LOSSES, "~min_rtt_us", OWN, unless_zero) \
	/* part of retransmits: before the other end had answered at all */ \
	F(, syn_retransmits, U64, COUNT, SUM, LOSSES, "~syn_retransmits", OWN, by_hooks) \
	/* part of retransmits: the other end's DSACKs say that it had the data already */ \
	F(, needless, U64, COUNT, SUM, LOSSES, "~needless_retransmits", OWN, by_retransmits) \
	/* sent data was still on this host until the retransmission timer fired */ \
	F(, undelivered_ns, U64, NS, SUM, LOSSES, "~undelivered_ns", undelivered_so_far, by_hooks) \
	/* since the timer fired last, so far; not in undelivered_ns */ \
	F(, open_undelivered_ns, U64, NS, LAST, LOSSES, NULL, OWN, by_hooks) \
	/* new figures of TCP go here */

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
 * struct trace_answers: this end's delayed ACKs after which the other end's next data came so soon
 * that the ACK may have released it. n: how many; ns: how long these ACKs were withheld;
 * since_fired, since_owed: the spread of the time until the next data, from the timer and from the
 * data that the ACK is for.
 */
#define ANSWER_FIGURES(F) \
	F(answers., n, U64, COUNT, SUM, ACKS, "~waited_for", OWN, by_delack) \
	F(answers., ns, U64, NS, SUM, ACKS, "~waited_for_ns", OWN, by_delack) \
	F(answers., since_fired, SPREAD, US, SUM, ACKS, NULL, OWN, always) \
	F(answers., since_owed, SPREAD, US, SUM, ACKS, NULL, OWN, always)

/*
 * struct trace_making: a TCP connection before a process has it, or a Unix socket that was written
 * to while it was in a listener's queue. A connection not accepted yet, and a connect() not
 * answered yet, count up to at_ns.
 */
#define MAKING_FIGURES(F) \
	/* from connect() to the other end's answer; 0: no connect() was seen here */ \
	F(making., connect_ns, U64, NS, LAST, MAKING, "~connect_ns", OWN, unless_zero) \
	/* established, but not accepted yet; 0: it came from no listener, or that was not seen */ \
	F(making., accept_ns, U64, NS, LAST, MAKING, "~accept_wait_ns", OWN, unless_zero) \
	/* part of `unread`: before the accept, when nobody could read */ \
	F(making., accept_unread_ns, U64, NS, LAST, MAKING, "~accept_unread_ns", OWN, if_accepted) \
	/* the connect(), or the wait for an accept, has not ended */ \
	F(making., connecting, FLAG, NONE, LAST, MAKING, "~connecting", OWN, by_hooks) \
	F(making., accepting, FLAG, NONE, LAST, MAKING, "~unaccepted", OWN, by_hooks) \
	/* UDP: it was connected after it had sent, or connected to another address */ \
	F(making., moved, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* this end called connect(); it came from a listener (ever); both 0: unknown */ \
	F(making., connected, FLAG, NONE, LAST, MAKING, "~connected", OWN, always) \
	F(making., accepted, FLAG, NONE, LAST, MAKING, "~accepted", OWN, always) \
	/* UDP: it is not connected, and all that it sent went to `remote` */ \
	F(making., unconnected, FLAG, NONE, LAST, MAKING, "~unconnected", OWN, always) \
	/* UDP: its program bound it, as servers do */ \
	F(making., bound, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* the other end reset it */ \
	F(making., reset, FLAG, NONE, LAST, MAKING, "~reset", OWN, always) \
	/* from the reset until at_ns */ \
	F(making., after_reset_ns, U64, NS, LAST, MAKING, "~after_reset_ns", OWN, always) \
	/* the process that holds the other end or listens there, if that is no endpoint; 0: it */ \
	/* is one, or no process was found on this host */ \
	F(making., other_pid, PID, NUMBER, LAST, MAKING, NULL, OWN, always) \
	F(making., other_comm, COMM, TEXT, LAST, MAKING, NULL, OWN, always) \
	/* Unix: when asked, a thread of that process slept in a receive call there */ \
	F(making., other_receives, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* nearly every time it was asked, the server waited for data on this connection: it */ \
	/* worked on no request from it */ \
	F(making., server_polls, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* pipe: no process holds its write end any more */ \
	F(making., no_writer, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* several processes hold that socket; nobody has accepted the connection, which lies in a \
	 * listener's queue: other_pid has that listener */ \
	F(making., other_shared, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	F(making., other_unaccepted, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* UDP: what the socket at the other end, which is no endpoint, dropped within so many \
	 * ns at the session's end, whoever had sent it */ \
	F(making., other_drops, U64, COUNT, LAST, MAKING, NULL, OWN, always) \
	F(making., other_drops_ns, U64, NS, LAST, MAKING, NULL, OWN, always) \
	/* pipe: only its reader has the write end open */ \
	F(making., own_writer, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* TCP: nothing went in the session, and this end has sent the last data before it */ \
	F(making., sent_last, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* nearly every time it was asked, the server owed an answer on this connection, and no */ \
	/* thread of it waited for data there, or the client waits: it works on a request, was */ \
	/* stopped, or has forgotten it */ \
	F(making., server_works, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* TCP: at the session's end the other end's send buffer was full */ \
	F(making., other_full, FLAG, NONE, LAST, MAKING, NULL, OWN, always) \
	/* new figures of making a connection go here */

/* struct trace_hole. TCP: data in the out-of-order queue could not be read, because earlier data
 * had not come */
#define HOLE_FIGURES(F) \
	F(hole., ns, U64, NS, SUM, PARTS, "~hole_ns", OWN, by_hooks) \
	F(hole., max_ns, U64, NS, LAST, PARTS, "~hole_max_ns", OWN, by_hooks) \
	F(hole., n, U64, COUNT, SUM, PARTS, "~holes", OWN, by_hooks)

/* struct trace_parts, by enum trace_part; ns: at most the time of the state */
#define PART_FIGURES(F) \
	F(parts., ns, LIST_FROM_1(TRACE_PARTS), NS, SUM, PARTS, NULL, OWN, by_hooks) \
	F(parts., n, COUNTS_FROM_1(TRACE_PARTS), COUNT, SUM, PARTS, NULL, OWN, by_hooks)

/* the entries of these lists that JSON shows; they are no members of their own */
#define PARTS_SHOWN(F) \
	F(parts., ns[TRACE_PART_DEFERRED], U64, NS, NONE, SHOWN, "~tso_deferral_ns", OWN, \
	  by_hooks) \
	F(parts., n[TRACE_PART_DEFERRED], U32, COUNT, NONE, SHOWN, "~tso_deferrals", OWN, \
	  by_hooks) \
	F(parts., ns[TRACE_PART_FQ], U64, NS, NONE, SHOWN, "~fq_pacing_ns", OWN, by_hooks) \
	F(parts., ns[TRACE_PART_TSQ], U64, NS, NONE, SHOWN, "~small_queue_ns", OWN, by_hooks) \
	F(parts., ns[TRACE_PART_AUTOCORK], U64, NS, NONE, SHOWN, "~autocork_ns", OWN, by_hooks) \
	F(parts., n[TRACE_PART_AUTOCORK], U32, COUNT, NONE, SHOWN, "~autocorks", OWN, by_hooks)

/* struct trace_path: TCP's own estimates of its path, at the last sample; 0: none */
#define PATH_FIGURES(F) \
	/* TCP's last sample of its delivery rate */ \
	F(path., delivery_bytes_per_s, U64, BYTES_PER_S, LAST, PATH, "~delivery_bytes_per_s", OWN, \
	  unless_zero) \
	F(path., pacing_bytes_per_s, U64, BYTES_PER_S, LAST, PATH, "~pacing_bytes_per_s", OWN, \
	  unless_zero) \
	/* since the endpoint was first seen; sent: segments with data, including retransmits */ \
	F(path., lost_segments, U64, COUNT, SUM, PATH, "~lost_segments", OWN, always) \
	F(path., sent_segments, U64, COUNT, SUM, PATH, "~sent_segments", OWN, always) \
	F(path., out_of_order, U64, COUNT, SUM, PATH, "~out_of_order", OWN, always) \
	F(path., cwnd, U32, COUNT, LAST, PATH, "~cwnd", OWN, unless_zero) \
	F(path., ssthresh, U32, COUNT, LAST, PATH, "~ssthresh", OWN, unless_zero) \
	/* during that sample the application gave too little to fill the path */ \
	F(path., app_limited, FLAG, NONE, LAST, PATH, "~app_limited", OWN, always) \
	/* SO_MAX_PACING_RATE, if the program set it */ \
	F(path., max_pacing_bytes_per_s, U64, BYTES_PER_S, LAST, PATH, \
	  "~max_pacing_bytes_per_s", OWN, unless_zero) \
	F(path., congestion_control, COMM, TEXT, LAST, PATH, NULL, OWN, always) \
	/* the receive window that this end gave the other end */ \
	F(path., receive_window, U32, BYTES, LAST, PATH, "~receive_window", OWN, unless_zero) \
	/* new figures of the path go here */

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
