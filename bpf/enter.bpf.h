/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls seen at entry and exit, for the backends that hook functions. The entry notes the endpoint
 * by thread, so the exit needs no argument, which a return probe would not have.
 */
#ifndef IPCSTALL_ENTER_BPF_H
#define IPCSTALL_ENTER_BPF_H

#include "destination.bpf.h"
#include "passed_fd.bpf.h"
#include "preexisting.bpf.h"

static __always_inline void tcp_enters(struct endpoint *ep, enum dir dir, ns_t now)
{
	struct input in = { .at = now };

	if (ep->id.proto == PROTO_TCP && dir == DIR_TX && !sees_exactly())
		tcp_look_back_slow(ep, ep->id.key, now, 0);
	if (dir == DIR_TX)
		refused_back(ep, now);
	call_enter(ep, dir, &in);
}

/*
 * Ends the call of a thread whose exit these hooks did not see. That is so if the call was under
 * way when the session began, or if the same program was running on that processor for another
 * thread that had been preempted in it (the kernel does not nest a program). The call ended before
 * its thread entered another call or slept in one. The date taken is when the thread last ran.
 */
__u8 ends_unseen; /* 1: left_unseen() has happened to a call that was seen to begin */

static __noinline int left_unseen(struct call *c)
{
	struct endpoint *ep = call_endpoint(c);
	struct input in = { .at = c->ran, .working = -1 };

	if (ep && !ep->closed) {
		call_resume(ep, c);
		if (c->before && ep->id.proto == PROTO_TCP)
			in.bytes = moved_since(ep, c->dir, ALL_OF_IT);
		apply(ep, &in, c->dir);
		if (!c->before)
			end_missed(ep, c->dir);
		count(COUNT_OBSERVED);
	}
	if (!c->before) {
		count(COUNT_UNPAIRED);
		ends_unseen = 1;
	}
	c->peeks = 0;
	call_over(c);
	return 0;
}

static __always_inline bool sleeps_elsewhere(__u64 task)
{
	return number_bits(CAST(task_struct, task), CALL_NR(current_regs(task), PLAINLY)) &
	       SYS_WAIT;
}

static __noinline int still_in(const struct call *c, __u64 task)
{
	struct task_struct *t = CAST(task_struct, task);
	struct target to = {};
	struct syscall_args r;

	request_of(&r, t, current_regs(task));
	if (syscall_splices(r.bits)) /* it may be about to go on at its other end by now */
		return (c->dir == DIR_RX ? splice_reads(&to, t, r.first)
					 : splice_writes(&to, t, r.third)) &&
		       c->key == target_key(&to);
	if (!bits_target(&to, t, r.bits, r.first, r.third))
		return false;
	return to.dir == c->dir && c->key == target_key(&to);
}

/* the hooked functions call each other: a Unix packet is sent as a datagram, sendfile's page as
 * data, a FIFO is a pipe */
static __always_inline bool calls_nest(const struct endpoint *ep, enum dir dir)
{
	return dir == DIR_TX || ep->id.proto == PROTO_PIPE;
}

/* A call inside a call of the same thread belongs to the outer one. Where calls do not nest, the
 * exit of the outer one was missed. */
static __always_inline bool inner_call(const struct call *c, const struct endpoint *ep,
				       enum dir dir)
{
	return c->entered && !c->before && c->key == ep->id.key && c->dir == dir &&
	       calls_nest(ep, dir);
}

static __always_inline void enter(struct endpoint *ep, enum dir dir, ns_t now, __u32 tid)
{
	struct call *c = ep ? call_of(tid, true) : 0;

	if (!c || inner_call(c, ep, dir))
		return;
	if (c->before || c->entered)
		left_unseen(c);
	call_is_on(c, ep, dir);
	c->off = 0;
	c->ran = now; /* if its end is missed, and it never slept: left_unseen() */
	c->entered = 1;
	tcp_enters(ep, dir, now);
}

/* the current thread's receive call takes nothing */
static __noinline int takes_nothing(void)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);

	if (c && c->entered && c->dir == DIR_RX)
		c->peeks = 1;
	return 0;
}

/* how much of its result the call took; the next call starts afresh */
static __always_inline long call_took(struct call *c, long ret)
{
	if (!c->peeks)
		return ret;
	c->peeks = 0;
	return TOOK_NOTHING;
}

static __noinline int enter_sock(__u64 sk, enum dir dir)
{
	__u64 current = bpf_get_current_pid_tgid();
	bool mine = task_wanted(current >> 32);
	struct endpoint *ep;
	ns_t now;

	if (!mine && !key_maybe(sk))
		return 0;
	now = bpf_ktime_get_ns();
	ep = endpoint_known(sk);
	if (ep)
		told_apart(ep, mine);
	ep = sock_endpoint((struct sock *)sk, mine, now);
	if (!ep)
		return 0;
	refresh_addresses(ep, (struct sock *)sk);
	note_accepted(ep, now);
	endpoint_settles(ep);
	enter(ep, dir, now, (__u32)current);
	return 0;
}

/* for TCP, which has most of the sends and receives */
static __always_inline int enter_tcp(__u64 sk, enum dir dir)
{
	struct endpoint *ep = endpoint_known(sk);

	if (!ep || !ep->settled)
		return enter_sock(sk, dir);
	enter(ep, dir, bpf_ktime_get_ns(), (__u32)bpf_get_current_pid_tgid());
	return 0;
}

static __noinline int enter_file(__u64 file, enum dir dir)
{
	struct target to = {};
	ns_t now;

	if (!current_wanted() || !file_target(&to, file) || !to.pipe)
		return 0;
	now = bpf_ktime_get_ns();
	enter(pipe_endpoint(to.pipe, to.node, now), dir, now, (__u32)bpf_get_current_pid_tgid());
	return 0;
}

/* a segment that went out in the call carried the ACK */
static __always_inline void tcp_acked(struct endpoint *ep)
{
	if (sees_exactly() && ep->ack_owed && !tcp_owes_ack((struct sock *)ep->id.key))
		ack_rides(ep, tx_since(ep));
}

static __always_inline void leave_tx(struct endpoint *ep, struct input *in)
{
	struct sock *sk = (struct sock *)ep->id.key;

	if (ep->id.proto == PROTO_TCP) {
		tcp_acked(ep);
		tcp_tx_ends(ep, ep->id.key, in->at, in->bytes);
		return;
	}
	if (ep->id.proto == PROTO_UDP)
		udp_sent(ep, sk, in);
	apply_tx_slow(ep, in);
	ep->tx.seen = in->at;
}

static __always_inline void leave_rx(struct endpoint *ep, struct input *in, long ret)
{
	struct sock *sk = (struct sock *)ep->id.key;

	in->says = IN_FULL;
	if (ep->id.proto == PROTO_TCP) {
		in->full = tcp_unread(sk);
	} else {
		__u32 len = sock_queue(ep, sk);

		in->full = len > 0;
		queue_is(ep, len, in->at);
		if (ret >= 0) /* a datagram may be empty */
			atomic_add(&ep->dequeued, 1);
	}
	rx_ends(ep, in->at, in->full, in->bytes);
	ep->rx.seen = in->at;
}

static __always_inline void leave_any(struct endpoint *ep, enum dir dir, struct input *in, long ret)
{
	if (ep->id.proto == PROTO_PIPE) {
		pipe_look(ep, (struct pipe_inode_info *)ep->id.key, in->at);
		apply(ep, in, dir);
	} else if (dir == DIR_TX) {
		leave_tx(ep, in);
	} else {
		leave_rx(ep, in, ret);
	}
}

/* the current thread's call that a return may end */
static __always_inline struct call *call_entered(__u64 current, enum dir dir)
{
	struct call *c = call_of((__u32)current, false);

	return c && c->entered && c->dir == dir ? c : 0;
}

static __always_inline int leaves(void *ctx, enum dir dir, long ret)
{
	__u64 current = bpf_get_current_pid_tgid();
	struct call *c = call_entered(current, dir);
	struct input in = { .working = -1 };
	struct endpoint *ep;

	if (!c)
		return 0;
	ret = call_took(c, ret);
	ep = call_endpoint(c);
	if (ep && !ep->closed) {
		call_resume(ep, c);
		in.at = bpf_ktime_get_ns();
		call_moved(&in, ret);
		if (c->before && ep->id.proto == PROTO_TCP)
			in.bytes = moved_since(ep, dir, in.bytes);
		leave_any(ep, dir, &in, ret);
		if (dir == DIR_TX) {
			refused_after(ep, ret, in.at);
			note_held_stack(ctx, ep);
		} else {
			refused_read(ep, in.at);
		}
		call_done(ep, dir, ret, (__u32)current);
		count_more(COUNT_OBSERVED, BOTH_ENDS);
	}
	call_over(c);
	return 0;
}

static __noinline int leave(void *ctx, enum dir dir, long ret)
{
	return leaves(ctx, dir, ret);
}

/* the same with less stack: no send call ends here */
static __noinline int leave_receive(void *ctx, long ret)
{
	return leaves(ctx, DIR_RX, ret);
}

/* the third argument of tcp_sendmsg_locked(), which fexit has, is how much it was given */
static __always_inline bool took_all(void *ctx, long ret)
{
#ifdef HAS_EXACT
	return ret == (long)((__u64 *)ctx)[2];
#else
	return false;
#endif
}

/* the same for a TCP call, of which more is known beforehand */
static __always_inline void tcp_leaves_tx(void *ctx, struct endpoint *ep, struct call *c,
					  struct input *in, long ret)
{
	call_resume(ep, c);
	tcp_acked(ep);
	tcp_tx_ended(ep, ep->id.key, in->at, in->bytes);
	if (!took_all(ctx, ret))
		refused_after(ep, ret, in->at);
	note_held_stack(ctx, ep);
}

static __always_inline void tcp_leaves_rx(struct endpoint *ep, struct call *c, struct input *in)
{
	in->full = tcp_unread((struct sock *)ep->id.key);
	call_reads(ep, c, in);
	ep->rx.seen = in->at;
}

static __always_inline int tcp_leaves(void *ctx, struct call *c, enum dir dir, long ret, __u32 tid)
{
	struct input in = { .working = -1 };
	struct endpoint *ep = call_endpoint(c);

	if (ep && ep->id.proto != PROTO_TCP) /* the outer call is of another kind */
		return 0;
	ret = call_took(c, ret);
	if (ep && !ep->closed) {
		in.at = bpf_ktime_get_ns();
		call_moved(&in, ret);
		if (dir == DIR_TX)
			tcp_leaves_tx(ctx, ep, c, &in, ret);
		else
			tcp_leaves_rx(ep, c, &in);
		call_done(ep, dir, ret, tid);
		count_more(COUNT_OBSERVED, BOTH_ENDS);
	}
	call_over(c);
	return 0;
}

static __always_inline int leave_tcp(void *ctx, enum dir dir, long ret)
{
	__u64 current = bpf_get_current_pid_tgid();
	struct call *c = call_entered(current, dir);

	return c ? tcp_leaves(ctx, c, dir, ret, (__u32)current) : 0;
}

/*
 * The end of every receive call on a socket, where the kernel has a tracepoint for it (from 6.3
 * on). It costs a third of a function's exit, and a call that was under way when the session began
 * ends here too.
 */
SEC("raw_tp/sock_recv_length")
int BPF_PROG(on_received, struct sock *sk, int ret, int flags)
{
	__u64 current = bpf_get_current_pid_tgid();
	struct call *c = call_entered(current, DIR_RX);

	if (!c)
		return 0;
	if (flags & TAKES_NOTHING)
		c->peeks = 1;
	if (c->before || GET(CAST(sock, sk), sk_protocol) != IPPROTO_TCP)
		return leave_receive(ctx, ret);
	return tcp_leaves(ctx, c, DIR_RX, ret, (__u32)current);
}

/* The thread falls asleep in the call it is in; TCP's head is settled by its own hooks. Returns the
 * time if the clock was read. */
static __always_inline ns_t entered_sleeps(void *ctx, const struct thread *who)
{
	struct call *c = call_of(who->tid, false);
	struct input in = {};
	struct endpoint *ep;
	bool pauses;

	if (c && c->entered && (c->before ? !still_in(c, who->task) : sleeps_elsewhere(who->task)))
		left_unseen(c);
	if (!c || !c->entered) {
		thread_asks(who);
		return 0;
	}
	ep = call_endpoint(c);
	if (!ep || ep->closed)
		return 0;
	call_resume(ep, c);
	in.at = bpf_ktime_get_ns();
	if (ep->id.proto == PROTO_PIPE)
		pipe_look(ep, (struct pipe_inode_info *)c->key, in.at);
	pauses = c->dir == DIR_TX && !lacks_room(ep);
	if (ep->id.proto == PROTO_TCP && c->dir == DIR_TX)
		tcp_facets_of(ep, c->key, &in, pauses ? HEAD_NONE : HEAD_CORK, 0);
	if (pauses)
		call_pauses(ep, c, who, &in);
	else
		call_sleeps(ctx, ep, c, c->dir, who, true, &in);
	if (c->dir == DIR_TX)
		ep->tx.seen = in.at;
	return in.at;
}

#define THREAD_SLEEPS entered_sleeps
#include "switch.bpf.h"

static __always_inline void datagram_ready(__u64 sk)
{
	struct endpoint *ep;

	if (GET(CAST(sock, sk), sk_protocol) == IPPROTO_TCP)
		return;
	ep = came_for((struct sock *)sk);
	if (ep && !takes_connections((struct sock *)sk))
		something_came(ep, (struct sock *)sk);
}

static __always_inline void gone(__u64 key)
{
	struct endpoint *ep = endpoint_known(key);

	if (ep && !ep->closed && ep->id.proto != PROTO_TCP)
		endpoint_close(ep, bpf_ktime_get_ns());
}

/* sockets and pipes are born here */
static __always_inline void file_born(__u64 file)
{
	if (current_wanted())
		file_comes(file, bpf_ktime_get_ns());
}

/* After an event's effects: what the fields say holds from now on. Not called inside a send call,
 * whose exit looks. */
static __always_inline void tcp_look(struct endpoint *ep, __u64 sk, ns_t now)
{
	refused_look(ep, now);
	tcp_tx_looks(ep, sk, now);
	count(COUNT_OBSERVED);
}

static __always_inline void tcp_settled(__u64 sk)
{
	struct endpoint *ep = endpoint_known(sk);

	if (ep && !ep->closed && !tx_working(ep))
		tcp_look(ep, sk, bpf_ktime_get_ns());
}

/* A timer of TCP has done its work. If that was a tail loss probe, TCP notes what it repeats until
 * the answer. */
static __always_inline void tcp_timer_done(__u64 sk)
{
	struct endpoint *ep = endpoint_known(sk);

	if (ep && !ep->closed && ep->probing)
		probe_answered(ep, (struct sock *)sk);
	tcp_settled(sk);
}

/* a reader in its call stays in `work` or `wait` until it leaves */
static __always_inline void tcp_arrived(struct endpoint *ep, struct sock *sk, ns_t now)
{
	if (!word_working(LATEST(ep->rx.word)))
		rx_holds(ep, now, tcp_unread(sk));
	ep->rx.seen = now;
}

/* a FIN is counted as a byte, but is no data */
static __always_inline bool got_data_since(const struct endpoint *ep, __u64 sk)
{
	return GET(CAST(tcp_sock, sk), rcv_nxt) != ep->got_then &&
	       !(GET_BITS(CAST(sock, sk), sk_shutdown) & RCV_SHUTDOWN);
}

static __always_inline void tcp_received(__u64 sk)
{
	struct endpoint *ep = endpoint_known(sk);
	ns_t now;

	if (!ep || ep->closed)
		return;
	now = bpf_ktime_get_ns();
	if (ep->probing)
		probe_answered(ep, (struct sock *)sk);
	if (!tx_working(ep))
		tcp_look(ep, sk, now);
	if (!sees_exactly())
		return;
	tcp_arrived(ep, (struct sock *)sk, now);
	if (ep->holed != tcp_has_hole(sk))
		hole_turns(ep, now);
	if (ep->unanswered && got_data_since(ep, sk))
		timer_answered(ep, sk, now);
	if (!tcp_owes_ack((struct sock *)sk))
		ack_sent(ep, now);
	else if (!ep->ack_owed)
		ep->ack_owed = now;
}

/* an ACK of its own, without data */
static __always_inline void ack_goes(__u64 sk)
{
	struct endpoint *ep = endpoint_known(sk);

	if (ep && !ep->closed && sees_exactly())
		ack_sent(ep, bpf_ktime_get_ns());
}

/* held_by_fq() said that fq paces what is below: has it let go of that? */
static __always_inline void fq_has_let_go(struct endpoint *ep, struct input *in, __u64 sk)
{
	if (!sees_exactly() || word_head(LATEST(ep->tx.word)) != HEAD_PACING ||
	    (in->device && is_paced_by(CAST(sock, sk), CAST(tcp_sock, sk), SK_PACING_FQ, in->at)))
		return;
	in->says |= IN_HEAD;
	part_turns(ep, in->at, SLICE_NONE);
}

/* The last reference to a segment below the protocol goes. The socket's lock is not held, so only
 * the device may change, and what fq holds. */
static __always_inline void device_freed(__u64 skb)
{
	__u64 sk0 = ADDRESS(skb, sk_buff, sk);
	struct sock *sk = CAST(sock, sk0);
	struct input in = { .says = IN_DEVICE };
	struct endpoint *ep = endpoint_known(sk0);
	bool last;
	__s32 size;

	if (!ep || ep->closed || ep->id.proto > PROTO_UDP || tx_working(ep))
		return;
	last = saw_segment(ep);
	size = GET(CAST(sk_buff, skb), truesize);
	in.device = GET(sk, sk_wmem_alloc.refs.counter) - size >= WMEM_REST;
	in.at = bpf_ktime_get_ns();
	if (ep->episode >> 1 == SLICE_FQ) /* of TCP, and seldom */
		fq_has_let_go(ep, &in, sk0);
	apply_tx_slow(ep, &in);
	ep->tx.seen = in.at;
	if (last) /* this is no look at the queue: see was_paced() */
		ep->went_out = in.at;
	count(COUNT_OBSERVED);
}

#endif
