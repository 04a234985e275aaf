// SPDX-License-Identifier: GPL-2.0-only
/* The exact backend: functions entered and left, through BPF trampolines. */
#include "enter.bpf.h"

#define ENTER_SOCK(name, point, dir)						\
	SEC("fentry/" point) int name(unsigned long long *ctx)			\
	{ return enter_sock(func_arg(ctx, 0), dir); }

/* what a protocol's own call gets is the struct socket */
#define ENTER_SOCKET(name, point, dir)						\
	SEC("fentry/" point) int name(unsigned long long *ctx)			\
	{ return enter_sock(ADDRESS(func_arg(ctx, 0), socket, sk), dir); }

#define ENTER_FILE(name, point, dir)						\
	SEC("fentry/" point) int name(unsigned long long *ctx)			\
	{ return enter_file(ADDRESS(func_arg(ctx, 0), kiocb, ki_filp), dir); }

/* the result stands behind the arguments */
#define LEAVE(name, point, dir, nr_args)					\
	SEC("fexit/" point) int name(unsigned long long *ctx)			\
	{ return leave(ctx, dir, (long)(int)ctx[nr_args]); }

/* tcp_recvmsg() and udp_recvmsg() have had 6, 5 and 4 arguments */
static __always_inline long recv_result(void *ctx)
{
	__u64 ret = 0;

#ifdef NO_CMPXCHG	/* bpf_get_func_ret() is of 5.17 */
	bpf_probe_read_kernel(&ret, sizeof(ret), (__u64 *)ctx + opt.recv_args);
#else
	bpf_get_func_ret(ctx, &ret);
#endif
	return (int)ret;
}

#define LEAVE_RECV(name, point)							\
	SEC("fexit/" point) int name(unsigned long long *ctx)			\
	{ return leave(ctx, DIR_RX, recv_result(ctx)); }

ENTER_SOCK(tcp_send_in, "tcp_sendmsg_locked", DIR_TX)
LEAVE(tcp_send_out, "tcp_sendmsg_locked", DIR_TX, 3)
ENTER_SOCK(tcp_recv_in, "tcp_recvmsg", DIR_RX)
LEAVE_RECV(tcp_recv_out, "tcp_recvmsg")
ENTER_SOCK(udp_send_in, "udp_sendmsg", DIR_TX)
LEAVE(udp_send_out, "udp_sendmsg", DIR_TX, 3)
ENTER_SOCK(udp6_send_in, "udpv6_sendmsg", DIR_TX)
LEAVE(udp6_send_out, "udpv6_sendmsg", DIR_TX, 3)
ENTER_SOCK(udp_recv_in, "udp_recvmsg", DIR_RX)
LEAVE_RECV(udp_recv_out, "udp_recvmsg")
ENTER_SOCK(udp6_recv_in, "udpv6_recvmsg", DIR_RX)
LEAVE_RECV(udp6_recv_out, "udpv6_recvmsg")
ENTER_SOCKET(unix_send_in, "unix_stream_sendmsg", DIR_TX)
LEAVE(unix_send_out, "unix_stream_sendmsg", DIR_TX, 3)
ENTER_SOCKET(unix_recv_in, "unix_stream_recvmsg", DIR_RX)
LEAVE(unix_recv_out, "unix_stream_recvmsg", DIR_RX, 4)
ENTER_SOCKET(dgram_send_in, "unix_dgram_sendmsg", DIR_TX)
LEAVE(dgram_send_out, "unix_dgram_sendmsg", DIR_TX, 3)
ENTER_SOCKET(dgram_recv_in, "unix_dgram_recvmsg", DIR_RX)
LEAVE(dgram_recv_out, "unix_dgram_recvmsg", DIR_RX, 4)
ENTER_FILE(pipe_write_in, "pipe_write", DIR_TX)
LEAVE(pipe_write_out, "pipe_write", DIR_TX, 2)
ENTER_FILE(pipe_read_in, "pipe_read", DIR_RX)
LEAVE(pipe_read_out, "pipe_read", DIR_RX, 2)
ENTER_FILE(fifo_write_in, "fifo_pipe_write", DIR_TX)
LEAVE(fifo_write_out, "fifo_pipe_write", DIR_TX, 2)
ENTER_FILE(fifo_read_in, "fifo_pipe_read", DIR_RX)
LEAVE(fifo_read_out, "fifo_pipe_read", DIR_RX, 2)

SEC("fentry/fd_install")
int on_fd(unsigned long long *ctx)
{
	file_born(func_arg(ctx, 1));
	return 0;
}

SEC("fexit/tcp_rcv_established")
int on_tcp_received(unsigned long long *ctx)
{
	tcp_settled(func_arg(ctx, 0));
	return 0;
}

SEC("fexit/tcp_rcv_state_process")
int on_tcp_state(unsigned long long *ctx)
{
	tcp_settled(func_arg(ctx, 0));
	return 0;
}

SEC("fexit/tcp_write_xmit")
int on_tcp_written(unsigned long long *ctx)
{
	tcp_settled(func_arg(ctx, 0));
	return 0;
}

SEC("fexit/tcp_write_timer_handler")
int on_tcp_timed(unsigned long long *ctx)
{
	tcp_settled(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/tcp_wfree")
int on_tcp_freed(unsigned long long *ctx)
{
	__u64 skb = func_arg(ctx, 0);

	device_freed(ADDRESS(skb, sk_buff, sk), GET(CAST(sk_buff, skb), truesize));
	return 0;
}

SEC("fentry/sock_wfree")
int on_udp_freed(unsigned long long *ctx)
{
	__u64 skb = func_arg(ctx, 0);

	device_freed(ADDRESS(skb, sk_buff, sk), GET(CAST(sk_buff, skb), truesize));
	return 0;
}

SEC("fentry/sock_def_readable")
int on_readable(unsigned long long *ctx)
{
	datagram_ready(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/sk_destruct")
int on_sock_gone(unsigned long long *ctx)
{
	gone(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/free_pipe_info")
int on_pipe_gone(unsigned long long *ctx)
{
	gone(func_arg(ctx, 0));
	return 0;
}
