// SPDX-License-Identifier: GPL-2.0-only
#include "hooks.h"

#define TCP	(1u << TRACE_TCP)
#define UDP	(1u << TRACE_UDP)
#define UNIX	(1u << TRACE_UNIX_STREAM | 1u << TRACE_UNIX_DGRAM | 1u << TRACE_UNIX_SEQPACKET)
#define PIPE	(1u << TRACE_PIPE)
#define SOCKETS	(TCP | UDP | UNIX)

#define RAWTP(program, point, required, protos, feeds) \
	{ TRACE_RAWTP, HOOK_RAWTP, program, point, required, protos, feeds }

const struct hook hook_table[] = {
	RAWTP("on_sent", "sock_send_length", true, SOCKETS, "the end of every send: bytes, messages, the state after it"),
	RAWTP("on_received", "sock_recv_length", true, SOCKETS, "the end of every receive: bytes, messages, what is left unread"),
	RAWTP("on_tcp_sendmsg", "tcp_sendmsg_locked", false, TCP, "the beginning of a TCP send: `work` of the tx ledger"),
	RAWTP("on_tcp_probe", "tcp_probe", true, TCP, "acknowledgements and data as they come: the ends of held queues, `unread`, owed ACKs"),
	RAWTP("on_data_ready", "sk_data_ready", true, UDP | UNIX, "datagrams as they come: `unread` of the rx ledger"),
	RAWTP("on_xmit", "net_dev_start_xmit", false, TCP | UDP, "transmissions outside a send call; the end of `device`"),
	RAWTP("on_retransmit", "tcp_retransmit_skb", false, TCP, "retransmissions"),
	RAWTP("on_timer", "timer_expire_entry", false, TCP, "delayed-ACK and retransmission timers: blame, `recovery`"),
	RAWTP("on_state", "inet_sock_set_state", false, TCP, "connections from their first moment on"),
	RAWTP("on_destroy", "tcp_destroy_sock", true, TCP, "the end of a TCP socket"),
	RAWTP("on_drop", "kfree_skb", false, UDP, "dropped datagrams by reason"),
	RAWTP("on_switch", "sched_switch", true, 0, "sleeps inside calls: `wait`, `sndbuf`, blocked time"),
	RAWTP("on_fork", "sched_process_fork", false, 0, "children of followed processes"),
	RAWTP("on_exit", "sched_process_exit", false, 0, "reuse of process numbers"),
	RAWTP("on_sys_enter", "sys_enter", false, PIPE, "calls on pipes"),
	RAWTP("on_sys_exit", "sys_exit", false, PIPE, "calls on pipes"),
};

const size_t hook_count = sizeof(hook_table) / sizeof(hook_table[0]);

const char *hook_kind_name(enum hook_kind k)
{
	static const char *const names[HOOK_KIND_N] = { "raw tracepoint", "fentry", "fexit", "kprobe", "kretprobe" };

	return names[k];
}
