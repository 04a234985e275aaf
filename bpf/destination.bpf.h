/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP: the address that the datagrams of an unconnected socket go to. The sender names it in each
 * call, so it is read from the caller's memory. */
#ifndef IPCSTALL_DESTINATION_BPF_H
#define IPCSTALL_DESTINATION_BPF_H

#include "queue.bpf.h"
#include "task.bpf.h"

/* struct sockaddr_in and sockaddr_in6 up to where they differ */
struct socket_name {
	__u16 family;
	__u16 port; /* network order */
	__u32 ip4;  /* IPv6: the flow */
};

/* where the destination's name is in user memory; 0: the call gives none */
static __always_inline __u64 name_given(__u32 bits, struct pt_regs *regs)
{
	__u64 fifth = CALL_ARG_4(regs), name = 0;

	OPAQUE(fifth); /* else both share one load, which the verifier refuses */
	if (bits & SYS_LENGTH)
		return fifth;
	bpf_probe_read_user(&name, sizeof(name), (void *)CALL_ARG_1(regs)); /* msg_name */
	return name;
}

static __always_inline bool read_name(struct address *to, __u64 at)
{
	struct socket_name name = {};

	if (bpf_probe_read_user(&name, sizeof(name), (void *)at))
		return false;
	to->port = bpf_ntohs(name.port);
	if (name.family == AF_INET6)
		return !bpf_probe_read_user(to->ip, sizeof(to->ip), (void *)(at + sizeof(name)));
	__builtin_memcpy(to->ip, &name.ip4, sizeof(name.ip4));
	return true;
}

static __always_inline bool same_place(const struct address *a, const struct address *b)
{
	__u64 x[2], y[2];

	__builtin_memcpy(x, a->ip, sizeof(x));
	__builtin_memcpy(y, b->ip, sizeof(y));
	return x[0] == y[0] && x[1] == y[1] && a->port == b->port;
}

/* sendmmsg() may name an address for each datagram, and is not looked into; nor is a 32-bit
 * program's call */
SUBPROG int note_destination(struct endpoint *ep)
{
	struct task_struct *task = CURRENT();
	struct pt_regs *regs = current_regs((__u64)task);
	struct address to = {};
	__u64 name;
	__u32 bits;

	if (!ep)
		return 0;
	bits = syscall_bits(CALL_NR(regs, PLAINLY));
	if (calls_nothing(task) || is_compat(task) || !(bits & SYS_OUT) || !(bits & SYS_ONE)) {
		ep->sent_elsewhere = 1;
		return 0;
	}
	name = bits & SYS_SOCKETS ? name_given(bits, regs) : 0;
	if (!name) /* the rest of a corked datagram */
		return 0;
	if (!read_name(&to, name) || (ep->sent_to.port && !same_place(&to, &ep->sent_to)))
		ep->sent_elsewhere = 1;
	else
		ep->sent_to = to;
	return 1;
}

/* a send call of a UDP socket ends */
static __always_inline void udp_sent(struct endpoint *ep, struct sock *sk, struct input *in)
{
	sock_device(ep, sk, in, 0);
	if (in->bytes && !ep->sent_elsewhere && !GET(CAST(sock, sk), __sk_common.skc_dport))
		note_destination(ep);
}

#endif
