/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls that are hooked at entry and exit: one row each, for fentry and kprobe alike.
 *
 *	ROW(kind of the first argument, name, function, direction, number of arguments)
 *
 * The number is 0 where it differs between kernels. The function is a default: user/tracer/hooks.c
 * says which is taken. Before 6.5 sendfile() and splice() call tcp_sendpage(). From 5.15 on
 * unix_dgram_recvmsg() wraps another function: that one is hooked, since some compilers inline the
 * outer one into unix_seqpacket_recvmsg().
 */
#ifndef IPCSTALL_CALLS_H
#define IPCSTALL_CALLS_H

#define CALL_ROWS(ROW) \
	ROW(TCP, tcp_send, "tcp_sendmsg_locked", DIR_TX, 3) \
	ROW(SOCK, tcp_page, "tcp_sendpage", DIR_TX, 5) \
	ROW(TCP, tcp_recv, "tcp_recvmsg", DIR_RX, 0) \
	ROW(SOCK, udp_send, "udp_sendmsg", DIR_TX, 3) \
	ROW(SOCK, udp6_send, "udpv6_sendmsg", DIR_TX, 3) \
	ROW(SOCK, udp_recv, "udp_recvmsg", DIR_RX, 0) \
	ROW(SOCK, udp6_recv, "udpv6_recvmsg", DIR_RX, 0) \
	ROW(SOCKET, unix_send, "unix_stream_sendmsg", DIR_TX, 3) \
	ROW(SOCKET, unix_recv, "unix_stream_recvmsg", DIR_RX, 4) \
	ROW(SOCKET, dgram_send, "unix_dgram_sendmsg", DIR_TX, 3) \
	ROW(DGRAM, dgram_recv, "unix_dgram_recvmsg", DIR_RX, 4) \
	ROW(FILE, pipe_write, "pipe_write", DIR_TX, 2) \
	ROW(FILE, pipe_read, "pipe_read", DIR_RX, 2) \
	ROW(FILE, fifo_write, "fifo_pipe_write", DIR_TX, 2) \
	ROW(FILE, fifo_read, "fifo_pipe_read", DIR_RX, 2)

/* the endpoint's key, from the first argument */
#define SOCK_OF(arg)   ((__u64)(arg))
#define TCP_OF(arg)    ((__u64)(arg))
#define SOCKET_OF(arg) ADDRESS(arg, socket, sk) /* what a protocol's own call gets */
#define DGRAM_OF(arg)  (opt.dgram_sock ? (__u64)(arg) : (__u64)ADDRESS(arg, socket, sk))
#define FILE_OF(arg)   ADDRESS(arg, kiocb, ki_filp)

/* the flags of a receive call; tcp_recvmsg() and udp_recvmsg() had `nonblock` before them */
#define FLAGS_SOCK   (opt.recv_args == 6 ? 4 : 3)
#define FLAGS_TCP    FLAGS_SOCK
#define FLAGS_SOCKET 3
#define FLAGS_DGRAM  3
#define FLAGS_FILE   (-1) /* has none */

#define ENTER_SOCK   enter_sock
#define ENTER_TCP    enter_tcp
#define ENTER_SOCKET enter_sock
#define ENTER_DGRAM  enter_sock
#define ENTER_FILE   enter_file

#define LEAVE_SOCK   leave
#define LEAVE_TCP    leave_tcp
#define LEAVE_SOCKET leave
#define LEAVE_DGRAM  leave
#define LEAVE_FILE   leave

#endif
