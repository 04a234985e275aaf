// SPDX-License-Identifier: GPL-2.0-only
/* Entry and exit of calls, through kprobes: for kernels without BPF trampolines. A return probe has
 * the result, but no arguments. */
#include "enter.bpf.h"
#include "calls.h"

/* Both are loaded: the compiler would make one load of the two at a computed offset, which the
 * verifier does not allow for a context. */
static __always_inline __u32 flags_arg(struct pt_regs *ctx, int at)
{
	__u64 fourth = PT_REGS_PARM4(ctx), fifth = PT_REGS_PARM5(ctx);

	OPAQUE(fourth);
	OPAQUE(fifth);
	return at == 4 ? fifth : fourth;
}

#define CALL(kind, name, point, dir, nr_args) \
	SEC("kprobe/" point) int BPF_KPROBE(name##_in, void *arg) \
	{ \
		ENTER_##kind(kind##_OF(arg), dir); \
		if ((dir) == DIR_RX && FLAGS_##kind >= 0 && flags_arg(ctx, \
			FLAGS_##kind) & TAKES_NOTHING) \
			takes_nothing(); \
		return 0; \
	} \
	SEC("kretprobe/" point) int BPF_KRETPROBE(name##_out, long ret) \
	{ return LEAVE_##kind(ctx, dir, (int)ret); }
CALL_ROWS(CALL)

/*
 * A kernel runs only so many return probes of one function at a time (register_kretprobe(),
 * maxactive: ten, or twice the number of processors), and readers asleep in their calls hold them.
 * Other calls of that function then end with their system call, which has the same result. This
 * hook slows every system call of the machine, so user space attaches it only after an exit was
 * missed (`ends_unseen`).
 */
SEC("raw_tp/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs0, long ret)
{
	struct pt_regs *regs = CAST(pt_regs, regs0);
	struct call *c;

	if (!current_wanted())
		return 0;
	c = call_of((__u32)bpf_get_current_pid_tgid(), false);
	if (!c || !c->entered)
		return 0;
	if (number_bits(CURRENT(), CALL_NR(regs, GET)) & SYS_ONE)
		return leave(ctx, c->dir, ret);
	return left_unseen(c);
}

SEC("kprobe/fd_install")
int BPF_KPROBE(on_fd, unsigned int fd, struct file *file)
{
	file_born((__u64)file);
	return 0;
}

SEC("kprobe/__scm_send")
int BPF_KPROBE(on_passed, struct socket *sock, struct msghdr *msg)
{
	message_passes((__u64)msg);
	return 0;
}

SEC("kprobe/tcp_wfree")
int BPF_KPROBE(on_tcp_freed, struct sk_buff *skb)
{
	device_freed((__u64)skb);
	return 0;
}

SEC("kprobe/sock_wfree")
int BPF_KPROBE(on_udp_freed, struct sk_buff *skb)
{
	device_freed((__u64)skb);
	return 0;
}

SEC("kprobe/sock_def_readable")
int BPF_KPROBE(on_readable, struct sock *sk)
{
	datagram_ready((__u64)sk);
	return 0;
}

SEC("kprobe/sk_common_release")
int BPF_KPROBE(on_udp_gone, struct sock *sk)
{
	gone((__u64)sk);
	return 0;
}

SEC("kprobe/unix_release")
int BPF_KPROBE(on_unix_gone, struct socket *sock)
{
	gone(ADDRESS(sock, socket, sk));
	return 0;
}

SEC("kprobe/free_pipe_info")
int BPF_KPROBE(on_pipe_gone, struct pipe_inode_info *pipe)
{
	gone((__u64)pipe);
	return 0;
}
