// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/hooks.h"

#define TCP	(1u << TRACE_TCP)
#define UDP	(1u << TRACE_UDP)
#define UNIX	(1u << TRACE_UNIX_STREAM | 1u << TRACE_UNIX_DGRAM | 1u << TRACE_UNIX_SEQPACKET)
#define PIPE	(1u << TRACE_PIPE)
#define SOCKETS (TCP | UDP | UNIX)

#define RAWTP(program, point, required, protos, feeds) \
	{ TRACE_RAWTP, HOOK_RAWTP, program, point, required, protos, feeds }

/* of the sampled tier */
#define ONCE(program, point, required, protos, feeds) \
	{ TRACE_SAMPLED, HOOK_RAWTP, program, point, required, protos, feeds }

/* raw tracepoints that all kernels have, for every backend; the first two guess at states from
 * outside, where no exact hook tells them */
#define SHARED(b, part) \
	{ b, HOOK_RAWTP, "on_tcp_probe", "tcp_probe", true, TCP, \
	  "acknowledgements and data as they come: the ends of held queues, `unread`, owed ACKs", \
	  	part }, \
	{ b, HOOK_RAWTP, "on_xmit", "net_dev_start_xmit", false, TCP | UDP, \
	  "transmissions outside a send call; the end of `device`", part }, \
	{ b, HOOK_RAWTP, "on_retransmit", "tcp_retransmit_skb", false, TCP, "retransmissions" }, \
	{ b, HOOK_RAWTP, "on_timer", "timer_expire_entry", false, TCP, \
	  "delayed-ACK and retransmission timers: blame, `recovery`" }, \
	{ b, HOOK_RAWTP, "on_state", "inet_sock_set_state", false, TCP, \
		"connections, from their creation" }, \
	{ b, HOOK_RAWTP, "on_destroy", "tcp_destroy_sock", true, TCP, "the end of a TCP socket" }, \
	{ b, HOOK_RAWTP, "on_drop", "kfree_skb", false, UDP, "dropped datagrams by reason" }, \
	{ b, HOOK_RAWTP, "on_switch", "sched_switch", true, 0, \
		"sleeps inside calls: `wait`, `sndbuf`, blocked time" }, \
	{ b, HOOK_RAWTP, "on_fork", "sched_process_fork", false, 0, \
		"children of followed processes" }, \
	{ b, HOOK_RAWTP, "on_rename", "task_rename", false, 0, \
		"later changes of a process's name" }, \
	{ b, HOOK_RAWTP, "on_exit", "sched_process_exit", false, 0, \
		"ends of processes, and reuse of their pids" }

/* a function's two ends: fentry and fexit, or kprobe and kretprobe */
#define CALL(b, in, out, name, point, required, protos, feeds) \
	{ b, in, name "_in", point, required, protos, feeds }, \
	{ b, out, name "_out", point, required, protos, feeds }

/* the end of every receive call on a socket has a tracepoint from 6.3 on */
#define RECEIVE(b, in, out, name, point, required, protos, feeds) \
	{ b, in, name "_in", point, required, protos, feeds }, \
	{ b, out, name "_out", point, required, protos, feeds, PART_ALWAYS, "!sock_recv_length" }

/* The ends of receives come first: if the beginning of a call is seen, its end must be seen. */
#define CALLS(b, in, out) \
	{ b, HOOK_RAWTP, "on_received", "sock_recv_length", true, SOCKETS, "the ends of receives", \
		PART_ALWAYS, "sock_recv_length" }, \
	CALL(b, in, out, "tcp_send", "tcp_sendmsg_locked", true, TCP, "TCP sends"), \
	CALL(b, in, out, "tcp_page", "tcp_sendpage", false, TCP, \
		"sendfile to TCP (from 6.5 on: as sends)"), \
	RECEIVE(b, in, out, "tcp_recv", "tcp_recvmsg", true, TCP, "TCP receives"), \
	CALL(b, in, out, "udp_send", "udp_sendmsg", false, UDP, "UDP sends"), \
	CALL(b, in, out, "udp6_send", "udpv6_sendmsg", false, UDP, "UDP sends, IPv6"), \
	RECEIVE(b, in, out, "udp_recv", "udp_recvmsg", false, UDP, "UDP receives"), \
	RECEIVE(b, in, out, "udp6_recv", "udpv6_recvmsg", false, UDP, "UDP receives, IPv6"), \
	CALL(b, in, out, "unix_send", "unix_stream_sendmsg", false, UNIX, "Unix stream sends"), \
	RECEIVE(b, in, out, "unix_recv", "unix_stream_recvmsg", false, UNIX, \
		"Unix stream receives"), \
	CALL(b, in, out, "dgram_send", "unix_dgram_sendmsg", false, UNIX, "Unix datagram sends"), \
	RECEIVE(b, in, out, "dgram_recv", "__unix_dgram_recvmsg unix_dgram_recvmsg", false, UNIX, \
		"Unix datagram receives"), \
	CALL(b, in, out, "pipe_write", "anon_pipe_write pipe_write", false, PIPE, \
		"writes to pipes"), \
	CALL(b, in, out, "pipe_read", "anon_pipe_read pipe_read", false, PIPE, \
		"reads from pipes"), \
	CALL(b, in, out, "fifo_write", "fifo_pipe_write", false, PIPE, \
		"writes to FIFOs (elsewhere: as pipes)"), \
	CALL(b, in, out, "fifo_read", "fifo_pipe_read", false, PIPE, \
		"reads from FIFOs (elsewhere: as pipes)"), \
	{ b, in, "on_fd", "fd_install", false, 0, "sockets and pipes, from their creation" }, \
	{ b, in, "on_passed", "__scm_send", false, 0, \
		"who had a descriptor before it was passed to another process" }, \
	{ b, in, "on_udp_gone", "sk_common_release", false, UDP, "the end of a UDP socket" }, \
	{ b, in, "on_unix_gone", "unix_release", false, UNIX, "the end of a Unix socket" }, \
	{ b, in, "on_pipe_gone", "free_pipe_info", false, PIPE, "the end of a pipe" }

/* From 6.3 on sock_def_readable() contains a tracepoint, which costs half as much as a
 * trampoline. */
#define READABLE "datagrams as they come"
#define ON_READABLE(b, in, given) \
	{ b, in, "on_readable", "sock_def_readable", false, UDP | UNIX, READABLE, PART_ALWAYS, \
		given }

#define FREED(b, in, part) \
	{ b, in, "on_tcp_freed", "tcp_wfree", false, TCP, "the end of `device`, TCP", part }, \
	{ b, in, "on_udp_freed", "sock_wfree", false, UDP, "the end of `device`, UDP", part }

#define SETTLED(name, point) \
	{ TRACE_FENTRY, HOOK_FEXIT, name, point, false, TCP, \
		"the queue's state right after the event", PART_EXACT }

const struct hook hook_table[] = {
	SHARED(TRACE_FENTRY, PART_GUESS),
	CALLS(TRACE_FENTRY, HOOK_FENTRY, HOOK_FEXIT),
	FREED(TRACE_FENTRY, HOOK_FENTRY, PART_EXACT),
	{ TRACE_FENTRY, HOOK_RAWTP, "on_ready", "sk_data_ready", false, UDP | UNIX, READABLE,
		PART_ALWAYS, "sk_data_ready" },
	ON_READABLE(TRACE_FENTRY, HOOK_FENTRY, "!sk_data_ready"),
	SETTLED("on_tcp_received", "tcp_rcv_established"),
	SETTLED("on_tcp_state", "tcp_rcv_state_process"),
	SETTLED("on_tcp_written", "tcp_write_xmit"),
	SETTLED("on_tcp_timed", "tcp_write_timer_handler"),
	{ TRACE_FENTRY, HOOK_FENTRY, "on_tcp_ack", "tcp_send_ack", false, TCP,
		"the end of an owed ACK", PART_EXACT },

	SHARED(TRACE_KPROBE, PART_ALWAYS),
	CALLS(TRACE_KPROBE, HOOK_KPROBE, HOOK_KRETPROBE),
	{ TRACE_KPROBE, HOOK_RAWTP, "on_sys_exit", "sys_exit", false, 0,
		"the ends of calls for which return probes run short", PART_LATE },
	FREED(TRACE_KPROBE, HOOK_KPROBE, PART_ALWAYS),
	ON_READABLE(TRACE_KPROBE, HOOK_KPROBE, NULL),

	SHARED(TRACE_RAWTP, PART_ALWAYS),
	RAWTP("on_sent", "sock_send_length", true, SOCKETS,
		"the end of every send: bytes, messages, the state after it"),
	RAWTP("on_received", "sock_recv_length", true, SOCKETS,
		"the end of every receive: bytes, messages, what is left unread"),
	RAWTP("on_tcp_sendmsg", "tcp_sendmsg_locked", false, TCP,
		"the beginning of a TCP send: `work` of the tx ledger"),
	RAWTP("on_data_ready", "sk_data_ready", true, UDP | UNIX,
		"datagrams as they come: `unread` of the rx ledger"),
	/* The end comes first: if the beginning of a call is seen while the hooks are being
	 * attached, its end must be seen. */
	RAWTP("on_sys_exit", "sys_exit", false, PIPE, "calls on pipes"),
	RAWTP("on_sys_enter", "sys_enter", false, PIPE,
		"calls on pipes; who had a descriptor before it was passed to another process"),

	ONCE("once_state", "inet_sock_set_state", true, TCP,
		"connections, from their creation"),
	ONCE("once_gone", "tcp_destroy_sock", true, TCP, "the end of a TCP socket"),
	ONCE("on_fork", "sched_process_fork", false, 0, "children of followed processes"),
	ONCE("once_exit", "sched_process_exit", false, 0, "the ends of followed processes"),
};

const size_t hook_count = sizeof(hook_table) / sizeof(hook_table[0]);

const char *hook_kind_name(enum hook_kind k)
{
	static const char *const names[HOOK_KIND_N] = { "raw tracepoint", "fentry", "fexit",
		"kprobe", "kretprobe" };

	return names[k];
}
