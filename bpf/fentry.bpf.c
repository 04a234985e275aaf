// SPDX-License-Identifier: GPL-2.0-only
/* The exact backend: entry and exit of functions, through BPF trampolines. */
#define HAS_EXACT
#include "enter.bpf.h"
#include "calls.h"

/* A load of its own: the compiler would merge several into one at a computed offset, which the
 * verifier does not allow for a context. */
#define RESULT_AT(ctx, at) \
	({ \
		long ret_; \
		asm volatile("%0 = *(u64 *)(%1 + " #at ")" : "=r"(ret_) : "r"(ctx)); \
		(long)(int)ret_; \
	})

/* tcp_recvmsg() and udp_recvmsg() have had 6, 5 and 4 arguments. The number is a constant at load,
 * so one of these cases is left. */
static __always_inline long recv_result(void *ctx)
{
	switch (opt.recv_args) {
	case 4:
		return RESULT_AT(ctx, 32);
	case 5:
		return RESULT_AT(ctx, 40);
	default:
		return RESULT_AT(ctx, 48);
	}
}

/* the place of the argument is a constant at load */
static __always_inline __u32 flags_arg(void *ctx, int at)
{
	return at == 4 ? RESULT_AT(ctx, 32) : RESULT_AT(ctx, 24);
}

/* the result stands behind the arguments */
#define CALL(kind, name, point, dir, nr_args) \
	SEC("fentry/" point) int name##_in(unsigned long long *ctx) \
	{ \
		ENTER_##kind(kind##_OF(func_arg(ctx, 0)), dir); \
		if ((dir) == DIR_RX && FLAGS_##kind >= 0 && flags_arg(ctx, \
			FLAGS_##kind) & TAKES_NOTHING) \
			takes_nothing(); \
		return 0; \
	} \
	SEC("fexit/" point) int name##_out(unsigned long long *ctx) \
	{ return LEAVE_##kind(ctx, dir, (nr_args) ? (long)(int)ctx[nr_args] : recv_result(ctx)); }
CALL_ROWS(CALL)

SEC("fentry/fd_install")
int on_fd(unsigned long long *ctx)
{
	file_born(func_arg(ctx, 1));
	return 0;
}

SEC("fentry/__scm_send")
int on_passed(unsigned long long *ctx)
{
	message_passes(func_arg(ctx, 1));
	return 0;
}

SEC("fexit/tcp_rcv_established")
int on_tcp_received(unsigned long long *ctx)
{
	tcp_received(func_arg(ctx, 0));
	return 0;
}

SEC("fexit/tcp_rcv_state_process")
int on_tcp_state(unsigned long long *ctx)
{
	tcp_received(func_arg(ctx, 0));
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
	tcp_timer_done(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/tcp_send_ack")
int on_tcp_ack(unsigned long long *ctx)
{
	ack_goes(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/tcp_wfree")
int on_tcp_freed(unsigned long long *ctx)
{
	device_freed(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/sock_wfree")
int on_udp_freed(unsigned long long *ctx)
{
	device_freed(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/sock_def_readable")
int on_readable(unsigned long long *ctx)
{
	datagram_ready(func_arg(ctx, 0));
	return 0;
}

/* the same event, by a tracepoint, which costs half */
SEC("raw_tp/sk_data_ready")
int BPF_PROG(on_ready, struct sock *sk)
{
	datagram_ready((__u64)sk);
	return 0;
}

SEC("fentry/sk_common_release")
int on_udp_gone(unsigned long long *ctx)
{
	gone(func_arg(ctx, 0));
	return 0;
}

SEC("fentry/unix_release")
int on_unix_gone(unsigned long long *ctx)
{
	gone(ADDRESS(func_arg(ctx, 0), socket, sk));
	return 0;
}

SEC("fentry/free_pipe_info")
int on_pipe_gone(unsigned long long *ctx)
{
	gone(func_arg(ctx, 0));
	return 0;
}
