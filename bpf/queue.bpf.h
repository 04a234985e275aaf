/* SPDX-License-Identifier: GPL-2.0-only */
/* Queues that are not TCP's: datagrams and pipes. Residence by Little's law: the integral of length
 * over time by items taken. */
#ifndef IPCSTALL_QUEUE_BPF_H
#define IPCSTALL_QUEUE_BPF_H

#include "call.bpf.h"

/* The queue of a listening Unix socket holds connections, for accept() and not to be read. */
static __always_inline bool takes_connections(struct sock *sk0)
{
	struct sock *sk = CAST(sock, sk0);

	return GET(sk, __sk_common.skc_state) == TCP_LISTEN;
}

/* udp_recvmsg() moves whole batches from the receive queue to the reader's own */
static __always_inline __u32 sock_queue(struct endpoint *ep, struct sock *sk0)
{
	struct sock *sk = CAST(sock, sk0);
	struct udp_sock *up;
	__u32 n = GET(sk, sk_receive_queue.qlen);

	if (ep->id.proto != PROTO_UDP)
		return takes_connections(sk0) ? 0 : n;
	up = CAST(udp_sock, sk0);
	return n + GET(up, reader_queue.qlen);
}

static __always_inline __u32 pipe_queue(struct pipe_inode_info *pipe0)
{
	struct pipe_inode_info *pipe = CAST(pipe_inode_info, pipe0);

	return GET(pipe, head) - GET(pipe, tail);
}

static __always_inline bool pipe_full(struct pipe_inode_info *pipe)
{
	return pipe_queue(pipe) >= GET(CAST(pipe_inode_info, pipe), ring_size);
}

/* the length was `queue_len` since the last look and is `len` from now on */
static __always_inline void queue_is(struct endpoint *ep, __u32 len, ns_t now)
{
	ns_t since = ep->queue_at;

	if (now > since && ep->queue_len)
		atomic_add(&ep->queue_integral, (now - since) * ep->queue_len);
	ep->queue_at = now;
	ep->queue_len = len;
	raise_max(&ep->queue_max, len);
}

/* something was put into the socket's queue; a reader on another processor may have been faster
 * than we */
static __always_inline void something_came(struct endpoint *ep, struct sock *sk)
{
	__u32 len = sock_queue(ep, sk);
	struct input in = { .at = bpf_ktime_get_ns(), .says = IN_FULL, .full = len > 0 };

	queue_is(ep, len, in.at);
	apply_rx_slow(ep, &in);
	ep->rx.seen = in.at;
	count(COUNT_OBSERVED);
	note_mark(ep, MARK_ARRIVAL, in.at, 0);
}

/* UDP: data that UDP_CORK or MSG_MORE holds back is charged to the socket as if it were under way
 * (__ip_append_data()) */
static __always_inline void sock_device(struct endpoint *ep, struct sock *sk0, struct input *in,
					__u32 own)
{
	struct sock *sk = CAST(sock, sk0);
	bool corked = GET(CAST(udp_sock, sk0), pending);

	in->says |= IN_DEVICE | IN_HEAD;
	in->head = corked ? HEAD_CORK : HEAD_NONE;
	in->device =
		corked ? 0 : below(GET(sk, sk_wmem_alloc.refs.counter), own, !own || tx_device(ep));
}

/* UDP: bytes below the protocol since the last look; a Unix socket's wmem is the peer's queue, not
 * a device */
static __always_inline void udp_look_back(struct endpoint *ep, struct sock *sk, ns_t now, __u32 own)
{
	struct input in = { .at = ep->tx.seen };

	if (ep->id.proto == PROTO_UDP) {
		sock_device(ep, sk, &in, own);
		apply_tx_slow(ep, &in);
	}
	ep->tx.seen = now;
	count(COUNT_OBSERVED);
}

/*
 * A packet goes out to the driver. If the device was at rest, all that is charged was charged just
 * now, with all pieces of a datagram that leaves in pieces (ip_do_fragment(), udp_segment). If no
 * hook shows when the driver is done, what is charged beside this packet is taken to be below from
 * now on: UDP gets no ACK at which to look back.
 */
static __always_inline void udp_goes_out(struct endpoint *ep, struct sock *sk, ns_t now, __u32 own)
{
	struct input in = { .at = now, .says = IN_DEVICE };

	udp_look_back(ep, sk, now, tx_device(ep) ? own : ALL_BELOW);
	if (sees_exactly() || !tx_device(ep))
		return;
	in.device = GET(CAST(sock, sk), sk_wmem_alloc.refs.counter) - (__s32)own >= WMEM_REST;
	apply_tx_slow(ep, &in);
}

#endif
