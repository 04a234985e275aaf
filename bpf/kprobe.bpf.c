// SPDX-License-Identifier: GPL-2.0-only
/* Calls entered and left, through kprobes: for kernels without BPF trampolines. A return probe has the result, no arguments. */
#include "enter.bpf.h"

#define ENTER_SOCK(name, point, dir)						\
	SEC("kprobe/" point) int BPF_KPROBE(name, struct sock *sk)		\
	{ return enter_sock((__u64)sk, dir); }

#define ENTER_SOCKET(name, point, dir)						\
	SEC("kprobe/" point) int BPF_KPROBE(name, struct socket *socket)	\
	{ return enter_sock(ADDRESS(socket, socket, sk), dir); }

#define ENTER_FILE(name, point, dir)						\
	SEC("kprobe/" point) int BPF_KPROBE(name, struct kiocb *iocb)		\
	{ return enter_file(ADDRESS(iocb, kiocb, ki_filp), dir); }

#define LEAVE(name, point, dir)							\
	SEC("kretprobe/" point) int BPF_KRETPROBE(name, long ret)		\
	{ return leave(ctx, dir, (int)ret); }

ENTER_SOCK(tcp_send_in, "tcp_sendmsg_locked", DIR_TX)
LEAVE(tcp_send_out, "tcp_sendmsg_locked", DIR_TX)
ENTER_SOCK(tcp_recv_in, "tcp_recvmsg", DIR_RX)
LEAVE(tcp_recv_out, "tcp_recvmsg", DIR_RX)
ENTER_SOCK(udp_send_in, "udp_sendmsg", DIR_TX)
LEAVE(udp_send_out, "udp_sendmsg", DIR_TX)
ENTER_SOCK(udp6_send_in, "udpv6_sendmsg", DIR_TX)
LEAVE(udp6_send_out, "udpv6_sendmsg", DIR_TX)
ENTER_SOCK(udp_recv_in, "udp_recvmsg", DIR_RX)
LEAVE(udp_recv_out, "udp_recvmsg", DIR_RX)
ENTER_SOCK(udp6_recv_in, "udpv6_recvmsg", DIR_RX)
LEAVE(udp6_recv_out, "udpv6_recvmsg", DIR_RX)
ENTER_SOCKET(unix_send_in, "unix_stream_sendmsg", DIR_TX)
LEAVE(unix_send_out, "unix_stream_sendmsg", DIR_TX)
ENTER_SOCKET(unix_recv_in, "unix_stream_recvmsg", DIR_RX)
LEAVE(unix_recv_out, "unix_stream_recvmsg", DIR_RX)
ENTER_SOCKET(dgram_send_in, "unix_dgram_sendmsg", DIR_TX)
LEAVE(dgram_send_out, "unix_dgram_sendmsg", DIR_TX)
ENTER_SOCKET(dgram_recv_in, "unix_dgram_recvmsg", DIR_RX)
LEAVE(dgram_recv_out, "unix_dgram_recvmsg", DIR_RX)
ENTER_FILE(pipe_write_in, "pipe_write", DIR_TX)
LEAVE(pipe_write_out, "pipe_write", DIR_TX)
ENTER_FILE(pipe_read_in, "pipe_read", DIR_RX)
LEAVE(pipe_read_out, "pipe_read", DIR_RX)
ENTER_FILE(fifo_write_in, "fifo_pipe_write", DIR_TX)
LEAVE(fifo_write_out, "fifo_pipe_write", DIR_TX)
ENTER_FILE(fifo_read_in, "fifo_pipe_read", DIR_RX)
LEAVE(fifo_read_out, "fifo_pipe_read", DIR_RX)

SEC("kprobe/fd_install")
int BPF_KPROBE(on_fd, unsigned int fd, struct file *file)
{
	file_born((__u64)file);
	return 0;
}

SEC("kprobe/tcp_wfree")
int BPF_KPROBE(on_tcp_freed, struct sk_buff *skb)
{
	device_freed(ADDRESS(skb, sk_buff, sk), GET(CAST(sk_buff, skb), truesize));
	return 0;
}

SEC("kprobe/sock_wfree")
int BPF_KPROBE(on_udp_freed, struct sk_buff *skb)
{
	device_freed(ADDRESS(skb, sk_buff, sk), GET(CAST(sk_buff, skb), truesize));
	return 0;
}

SEC("kprobe/sock_def_readable")
int BPF_KPROBE(on_readable, struct sock *sk)
{
	datagram_ready((__u64)sk);
	return 0;
}

SEC("kprobe/sk_destruct")
int BPF_KPROBE(on_sock_gone, struct sock *sk)
{
	gone((__u64)sk);
	return 0;
}

SEC("kprobe/free_pipe_info")
int BPF_KPROBE(on_pipe_gone, struct pipe_inode_info *pipe)
{
	gone((__u64)pipe);
	return 0;
}
