/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer that does not sleep in its call: it was refused room (EAGAIN, or fewer bytes taken than
 * it gave), and waits for room elsewhere, in epoll for example. In the ledger it sleeps for buffer
 * memory like any other writer, from the refusal until it comes back or until there is room.
 */
#ifndef IPCSTALL_REFUSED_BPF_H
#define IPCSTALL_REFUSED_BPF_H

#include "queue.bpf.h"

#define SOCK_NOSPACE 4 /* bit 2 of the socket's flags */
#define EAGAIN	     11

/* 1: some writer has been refused; until then readers need not look for one */
__u8 any_refused;

/* set by sk_stream_wait_memory() and sock_alloc_send_pskb(), and for TCP cleared when room comes
 * (sk_stream_write_space()) */
static __always_inline bool nospace(struct sock *sk)
{
	struct socket *s = CAST(socket, GET(sk, sk_socket));

	return s && GET(s, flags) & SOCK_NOSPACE;
}

/* sk_stream_is_writeable() */
static __always_inline bool tcp_room_left(struct sock *sk)
{
	__s32 queued = GET(sk, sk_wmem_queued);

	return GET(sk, sk_sndbuf) - queued >= queued >> 1;
}

/* The receiver's queue is full. It is limited only if the receiver is not connected to the sender
 * (unix_dgram_sendmsg(), unix_dgram_poll()). */
static __always_inline bool unix_queue_full(__u64 key)
{
	__u64 other = ADDRESS(key, unix_sock, peer);
	struct sock *peer = CAST(sock, other);

	if (!other || sends_to(other, key))
		return false;
	return GET(peer, sk_receive_queue.qlen) > GET(peer, sk_max_ack_backlog);
}

/* unix_writable(), and for datagrams unix_recvq_full() */
static __always_inline bool unix_room_left(__u64 key)
{
	struct sock *sk = CAST(sock, key);

	if (GET(sk, sk_type) != SOCK_STREAM && unix_queue_full(key))
		return false;
	return GET(sk, sk_wmem_alloc.refs.counter) * 4 <= GET(sk, sk_sndbuf);
}

static __always_inline bool room_left(const struct endpoint *ep)
{
	__u64 key = ep->id.key;

	if (ep->id.proto == PROTO_PIPE)
		return !pipe_full((struct pipe_inode_info *)key);
	return ep->id.proto == PROTO_TCP ? tcp_room_left(CAST(sock, key)) : unix_room_left(key);
}

/* a writer has met the end of the Unix socket's or pipe's room */
static __always_inline bool no_room_is_left(const struct endpoint *ep)
{
	struct sock *sk = CAST(sock, ep->id.key);

	if (ep->id.proto == PROTO_PIPE)
		return !room_left(ep);
	return ep->id.proto == PROTO_UNIX_STREAM && nospace(sk) &&
	       GET(sk, sk_wmem_alloc.refs.counter) >= GET(sk, sk_sndbuf);
}

/* a writer was refused before the session: there is no room, and it was asked for */
static __always_inline bool had_been_refused(const struct endpoint *ep)
{
	if (ep->id.proto != PROTO_TCP && ep->id.proto != PROTO_UNIX_STREAM)
		return false;
	return nospace(CAST(sock, ep->id.key)) && !room_left(ep);
}

/*
 * For a datagram socket whose receiver gets datagrams from others too. A waiting sender may be
 * woken late (unix_dgram_recvmsg() wakes one of many): only a queue that is half empty by now was
 * not full when the sender fell asleep.
 */
static __always_inline bool receiver_was_full(__u64 key)
{
	__u64 other = ADDRESS(key, unix_sock, peer);
	struct sock *peer = CAST(sock, other);

	if (!other) /* it names its receiver in each call, which is not known here */
		return true;
	return !sends_to(other, key) &&
	       2 * GET(peer, sk_receive_queue.qlen) > GET(peer, sk_max_ack_backlog);
}

/* sock_wait_for_wmem() sleeps until sock_def_write_space() or unix_write_space() find this much
 * room, not just any */
static __always_inline bool buffer_was_full(__u32 proto, struct sock *sk)
{
	__u64 charged = GET(sk, sk_wmem_alloc.refs.counter);

	return nospace(sk) && charged << (proto == PROTO_UDP ? 1 : 2) > (__u64)GET(sk, sk_sndbuf);
}

/*
 * A thread falls asleep in a send call: for room? It may also sleep because another program must
 * fill its buffer's memory (userfaultfd), because the file that it sends is slow, or because
 * seccomp asks another program. TCP tells: sk_stream_wait_memory() sets SOCK_NOSPACE before it
 * sleeps, and it is cleared when there is room. Elsewhere the flag stays set, so the room is
 * checked too; a reader may have made some at this moment.
 */
static __always_inline bool lacks_room(const struct endpoint *ep)
{
	struct sock *sk = CAST(sock, ep->id.key);

	if (ep->id.proto == PROTO_PIPE)
		return pipe_full((struct pipe_inode_info *)ep->id.key);
	if (ep->id.proto == PROTO_TCP)
		return nospace(sk);
	return (ep->id.proto == PROTO_UNIX_DGRAM && receiver_was_full(ep->id.key)) ||
	       buffer_was_full(ep->id.proto, sk);
}

/* of two processors that change it at once, only one succeeds */
static __always_inline bool refused_swap(struct endpoint *ep, __u32 old, __u32 new)
{
	return __sync_val_compare_and_swap(&ep->refused, old, new) == old;
}

/*
 * Many may send to one datagram socket, which names only the last of them. Senders that were
 * refused room there stand in a list until there is room. A sender without a place in the list
 * counts as refused until it tries again.
 */
static __always_inline void waits_at(struct endpoint *receiver, __u64 key)
{
	for (int i = 0; i < WAITERS; i++)
		if (!receiver->waiters[i] || receiver->waiters[i] == key) {
			receiver->waiters[i] = key;
			return;
		}
}

static __always_inline int begin_refusal(struct endpoint *ep, ns_t now)
{
	struct input in = { .at = now, .working = 1, .asleep = 1 };
	struct endpoint *receiver;

	if (!refused_swap(ep, 0, 1))
		return 0;
	any_refused = 1;
	receiver = ep->id.proto == PROTO_UNIX_DGRAM ? peer_of(ep) : 0;
	if (receiver)
		waits_at(receiver, ep->id.key);
	apply_tx_slow(ep, &in);
	return 1;
}

static __noinline int refused_begins(struct endpoint *ep, ns_t now)
{
	return ep ? begin_refusal(ep, now) : 0;
}

static __always_inline int end_refusal(struct endpoint *ep, ns_t at)
{
	struct input in = { .at = at, .working = -1, .asleep = -1 };

	return refused_swap(ep, 1, 0) ? apply_tx_slow(ep, &in) : 0;
}

SUBPROG int refused_ends(struct endpoint *ep, ns_t at)
{
	return ep ? end_refusal(ep, at) : 0;
}

/* the writer is back */
static __always_inline void refused_back(struct endpoint *ep, ns_t now)
{
	if (ep->refused)
		refused_ends(ep, now);
}

/* the refused writer has closed the pipe */
static __always_inline bool writer_gone(const struct endpoint *ep)
{
	struct pipe_inode_info *pipe = CAST(pipe_inode_info, ep->id.key);

	return ep->id.proto == PROTO_PIPE && !GET(pipe, writers);
}

SUBPROG int refused_until(struct endpoint *ep, ns_t at)
{
	return ep && (room_left(ep) || writer_gone(ep)) ? end_refusal(ep, at) : 0;
}

/* there may be room, although the writer has not come back */
static __always_inline void refused_look(struct endpoint *ep, ns_t at)
{
	if (ep->refused)
		refused_until(ep, at);
}

/* The thread whose last call was refused has exited, and waits for nothing. If another writer had
 * come since, the refusal would be that writer's. */
static __noinline int refused_dies(__u32 tid)
{
	struct call *c = call_of(tid, false);
	struct endpoint *ep = c && c->dir == DIR_TX ? call_endpoint(c) : 0;

	if (ep && !ep->closed && ep->tx_calls.tid == tid)
		refused_back(ep, bpf_ktime_get_ns());
	return 0;
}

SUBPROG int waiters_look(struct endpoint *receiver, ns_t now)
{
	if (!receiver)
		return 0;
	for (int i = 0; i < WAITERS; i++) {
		__u64 key = receiver->waiters[i];
		struct endpoint *ep = key ? endpoint_here(key) : 0;

		if (ep)
			refused_look(ep, now);
		if (!ep || !ep->refused)
			receiver->waiters[i] = 0;
	}
	return 1;
}

/* a reader took something: the writer of this pipe, or at the other end of this Unix socket, may
 * have room */
static __always_inline void refused_read(struct endpoint *ep, ns_t now)
{
	struct endpoint *peer;

	if (!*(volatile __u8 *)&any_refused || ep->id.proto <= PROTO_UDP)
		return;
	if (ep->id.proto == PROTO_UNIX_DGRAM) {
		waiters_look(ep, now);
		return;
	}
	peer = peer_of(ep);
	if (peer)
		refused_look(peer, now);
}

#endif
