// SPDX-License-Identifier: GPL-2.0-only
/*
 * The raw-tracepoint backend: for kernels that forbid or lack everything else. No tracepoint fires when an acknowledgement
 * has been processed, so most of these look back: what the socket's fields say at an event, before its effects, has held since
 * the event before. Needs sock_send_length and sock_recv_length (6.3 on).
 */
#include "tcp.bpf.h"
#include "task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* the thread that goes on sending has slept for memory */
static __always_inline bool tx_resumes(struct endpoint *ep)
{
	struct call *c = call_of((__u32)bpf_get_current_pid_tgid(), false);

	if (!c || c->key != ep->id.key || c->dir != DIR_TX || !c->off)
		return false;
	call_resume(ep, c);
	return true;
}

/* TCP: one thread at a time holds the socket, and the tracepoint comes for every piece of one call */
SEC("raw_tp/tcp_sendmsg_locked")
int BPF_PROG(on_tcp_sendmsg, struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	struct input in = {};

	if (ep && tx_working(ep))
		return 0;
	in.at = bpf_ktime_get_ns();
	if (!ep || ep->closed || !ep->id.inode)
		ep = current_wanted() ? sock_endpoint(sk, true, in.at) : 0;
	if (!ep)
		return 0;
	tcp_look_back(ep, (__u64)sk, in.at, 0);
	if (word_asleep(ep->tx.word) && tx_resumes(ep))
		return 0;
	call_enter(ep, DIR_TX, &in);
	return 0;
}

/* the endpoint of a socket that the current task has called into */
static __always_inline struct endpoint *touched(struct sock *sk, ns_t now)
{
	struct endpoint *ep = endpoint_known((__u64)sk);

	if (ep && ep->id.proto == PROTO_TCP && ep->id.inode && !ep->closed)
		return ep;
	return current_wanted() || (ep && !ep->closed) ? sock_endpoint(sk, true, now) : 0;
}

static __always_inline void tcp_sent(struct endpoint *ep, struct sock *sk, struct input *in)
{
	if (word_asleep(ep->tx.word))
		tx_resumes(ep);
	in->working = word_working(ep->tx.word) ? -1 : 0;
	tcp_look_now(ep, (__u64)sk, in, HEAD_CORK);
}

static __always_inline void other_sent(struct endpoint *ep, struct sock *sk, struct input *in)
{
	in->working = call_was_in(ep, DIR_TX) ? -1 : 0;
	if (ep->id.proto == PROTO_UDP)
		sock_device(ep, sk, in, 0);
	apply_tx(ep, in);
	ep->tx.seen = in->at;
	count(COUNT_OBSERVED);
}

SEC("raw_tp/sock_send_length")
int BPF_PROG(on_sent, struct sock *sk, int ret)
{
	struct input in = {};
	struct endpoint *ep;

	if (!key_maybe((__u64)sk) && !current_wanted())
		return 0;
	in.at = bpf_ktime_get_ns();
	ep = touched(sk, in.at);
	if (!ep)
		return 0;
	refresh_addresses(ep, sk);
	if (ep->id.proto == PROTO_TCP)
		tcp_sent(ep, sk, &in);
	else
		other_sent(ep, sk, &in);
	call_done(ep, DIR_TX, ret);
	return 0;
}

static __always_inline void rx_left(struct endpoint *ep, struct sock *sk, struct input *in, int ret)
{
	__u32 len = 0;

	if (ep->id.proto == PROTO_TCP) {
		in->full = tcp_unread(sk);
	} else {
		len = sock_queue(ep, sk);
		in->full = len > 0;
		queue_is(ep, len, in->at);
		if (ret > 0)
			atomic_add(&ep->dequeued, 1);
	}
	in->says = IN_FULL;
	if (word_working(ep->rx.word) && call_was_in(ep, DIR_RX))
		in->working = -1;
	apply_rx(ep, in);
	ep->rx.seen = in->at;
	count(COUNT_OBSERVED);
}

SEC("raw_tp/sock_recv_length")
int BPF_PROG(on_received, struct sock *sk, int ret, int flags)
{
	struct input in = {};
	struct endpoint *ep;

	if (!key_maybe((__u64)sk) && !current_wanted())
		return 0;
	in.at = bpf_ktime_get_ns();
	ep = touched(sk, in.at);
	if (!ep)
		return 0;
	refresh_addresses(ep, sk);
	rx_left(ep, sk, &in, ret);
	call_done(ep, DIR_RX, flags & 2 /* MSG_PEEK */ ? 0 : ret);
	return 0;
}

SEC("raw_tp/sk_data_ready")
int BPF_PROG(on_data_ready, struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	struct input in = { .says = IN_FULL, .full = 1 };

	if (!ep || ep->closed || ep->id.proto == PROTO_TCP)
		return 0;
	in.at = bpf_ktime_get_ns();
	queue_is(ep, sock_queue(ep, sk), in.at);
	apply_rx(ep, &in);
	ep->rx.seen = in.at;
	count(COUNT_OBSERVED);
	return 0;
}

/* bytes behind the TCP header; tcp_rcv_established() has set skb->data to it */
static __always_inline bool has_payload(struct sk_buff *skb0)
{
	struct sk_buff *skb = CAST(sk_buff, skb0);
	struct tcphdr *th = CAST(tcphdr, GET(skb, data));

	return GET(skb, len) > GET_BITS(th, doff) * 4;
}

/*
 * Data is about to be queued. A reader asleep in its call stays in `wait` until it runs; a segment that turns out to be a
 * duplicate is found at the next look, and dated back to this one.
 */
static __always_inline void tcp_data(struct endpoint *ep, struct sock *sk, ns_t now)
{
	struct input in = { .at = now, .says = IN_FULL, .full = 1 };

	if (!ep->ack_owed)
		ep->ack_owed = now;
	if (!word_working(ep->rx.word))
		apply_rx(ep, &in);
	ep->rx.seen = now;
}

/* an acknowledgement or data comes in; the fields are still those of before */
SEC("raw_tp/tcp_probe")
int BPF_PROG(on_tcp_probe, struct sock *sk, struct sk_buff *skb)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	ns_t now;

	if (!ep || ep->closed)
		return 0;
	now = bpf_ktime_get_ns();
	tcp_look_back(ep, (__u64)sk, now, 0);
	if (has_payload(skb))
		tcp_data(ep, sk, now);
	return 0;
}

SEC("raw_tp/net_dev_start_xmit")
int BPF_PROG(on_xmit, struct sk_buff *skb)
{
	struct sock *sk = (struct sock *)ADDRESS(skb, sk_buff, sk);
	struct endpoint *ep = endpoint_known((__u64)sk);
	__u32 own;
	ns_t now;

	if (!ep || ep->closed)
		return 0;
	if (tx_working(ep) && !ep->ack_owed)
		return 0;
	now = bpf_ktime_get_ns();
	own = GET(CAST(sk_buff, skb), truesize);
	if (ep->id.proto != PROTO_TCP) {
		udp_look_back(ep, sk, now, own);
		return 0;
	}
	ack_sent(ep, now);
	tcp_look_back(ep, (__u64)sk, now, own);
	return 0;
}

SEC("raw_tp/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);

	if (!ep || ep->closed)
		return 0;
	atomic_add(&ep->retransmits, 1);
	tcp_look_back(ep, (__u64)sk, bpf_ktime_get_ns(), 0);
	return 0;
}

static __always_inline struct sock *delack_sock(void *timer)
{
	struct inet_connection_sock___timers *icsk = 0;

	return timer - bpf_core_field_offset(icsk->icsk_delack_timer);
}

static __always_inline struct sock *write_sock(void *timer)
{
	struct inet_connection_sock___timers *icsk = 0;
	struct sock___timer *sk = 0;

	if (bpf_core_field_exists(sk->tcp_retransmit_timer))
		return timer - bpf_core_field_offset(sk->tcp_retransmit_timer);
	return timer - bpf_core_field_offset(icsk->icsk_retransmit_timer);
}

static __always_inline void delack_expired(struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	struct inet_connection_sock *icsk;

	if (!ep || ep->closed)
		return;
	icsk = CAST(inet_connection_sock, sk);
	if (GET(icsk, icsk_ack.pending) & ICSK_ACK_TIMER)
		ack_timer(ep, bpf_ktime_get_ns());
}

/* the timer is armed lazily on some kernels: it may fire before what is pending is due */
static __always_inline bool write_due(struct sock *sk)
{
	struct inet_connection_sock___timeout *icsk = CAST(inet_connection_sock___timeout, sk);

	if (!bpf_core_field_exists(icsk->icsk_timeout))
		return true;
	return (__s64)(GET(icsk, icsk_timeout) - bpf_jiffies64()) <= 0;
}

static __always_inline void write_expired(struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	struct inet_connection_sock *icsk;
	__u32 pending;

	if (!ep || ep->closed)
		return;
	icsk = CAST(inet_connection_sock, sk);
	pending = GET(icsk, icsk_pending);
	/* a loss probe (TLP) is sent for late acknowledgements too: it proves nothing */
	if (pending == ICSK_TIME_RETRANS && write_due(sk))
		tcp_timeout(ep, bpf_ktime_get_ns());
	else
		tcp_look_back(ep, (__u64)sk, bpf_ktime_get_ns(), 0);
}

SEC("raw_tp/timer_expire_entry")
int BPF_PROG(on_timer, void *timer)
{
	__u64 fn = ADDRESS(timer, timer_list, function);

	if (fn == opt.fn_delack)
		delack_expired(delack_sock(timer));
	else if (fn == opt.fn_write)
		write_expired(write_sock(timer));
	return 0;
}

static __always_inline __u64 listener_key(struct sock *sk)
{
	return (__u64)sock_netns(sk) << 32 | GET(sk, __sk_common.skc_num);
}

/* the local port is chosen after SYN_SENT: read the addresses again */
static __always_inline void established(struct sock *sk0, ns_t now)
{
	struct endpoint *ep = endpoint_known((__u64)sk0);
	struct sock *sk = CAST(sock, sk0);
	__u64 key = listener_key(sk);

	if (ep && !ep->closed) {
		read_addresses(&ep->id, sk);
		join_inet(ep);
	} else if (bpf_map_lookup_elem(&listeners, &key)) {
		if (ep)
			endpoint_evict(ep, (__u64)sk0, now);
		sock_create((__u64)sk0, PROTO_TCP, now, 0);
	}
}

static __always_inline void listening(struct sock *sk0, bool on)
{
	__u64 key = listener_key(CAST(sock, sk0));
	__u8 one = 1;

	if (!on)
		bpf_map_delete_elem(&listeners, &key);
	else if (current_wanted())
		bpf_map_update_elem(&listeners, &key, &one, BPF_ANY);
}

#define TCP_ESTABLISHED	1
#define TCP_SYN_SENT	2
#define TCP_CLOSE	7
#define TCP_LISTEN	10

SEC("raw_tp/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk0, int old, int new)
{
	struct sock *sk = CAST(sock, sk0);

	bool unlisten = old == TCP_LISTEN && new == TCP_CLOSE;	/* a child leaves LISTEN for SYN_RECV: it is a clone */

	if (new != TCP_ESTABLISHED && new != TCP_SYN_SENT && new != TCP_LISTEN && !unlisten)
		return 0;
	if (!proto_wanted(PROTO_TCP) || GET(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	if (new == TCP_ESTABLISHED)
		established(sk0, bpf_ktime_get_ns());
	else if (new == TCP_LISTEN || unlisten)
		listening(sk0, new == TCP_LISTEN);
	else if (current_wanted())
		sock_create((__u64)sk0, PROTO_TCP, bpf_ktime_get_ns(), 0);
	return 0;
}

SEC("raw_tp/tcp_destroy_sock")
int BPF_PROG(on_destroy, struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	ns_t now;

	if (!ep || ep->closed)
		return 0;
	now = bpf_ktime_get_ns();
	tcp_look_back(ep, (__u64)sk, now, 0);
	endpoint_close(ep, now);
	return 0;
}

static __always_inline void note_drop(struct endpoint *ep, __u32 why)
{
	if (ep && !ep->closed && why < DROP_N)
		atomic_add(&ep->drops[why], 1);
}

static __always_inline __u32 drop_of(__u32 reason)
{
	if (reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_SOCKET_RCVBUFF) ||
	    reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_PROTO_MEM))
		return DROP_RCVBUF;
	if (reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_QDISC_DROP))
		return DROP_QDISC;
	if (reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_UDP_CSUM))
		return DROP_CHECKSUM;
	return DROP_OTHER;
}

/* rx_sk: the receiver that would not take it (6.11 on); skb->sk: the sender whose packet a qdisc dropped */
SEC("raw_tp/kfree_skb")
int BPF_PROG(on_drop, struct sk_buff *skb, void *where, __u32 reason, struct sock *rx_sk)
{
	__u32 why = drop_of(reason);

	if (why == DROP_OTHER)
		return 0;
	note_drop(endpoint_known(why == DROP_QDISC ? ADDRESS(skb, sk_buff, sk) : (__u64)rx_sk), why);
	return 0;
}

static __always_inline __u32 prev_state(struct task_struct *prev, __u64 passed)
{
	return opt.switch_state ? (__u32)passed : task_state(prev);
}

static __always_inline void sleep_in_sock(void *ctx, struct endpoint *ep, const struct target *to, __u32 tid, ns_t now)
{
	struct input in = { .at = now };
	bool tcp = ep->id.proto == PROTO_TCP, entered = tcp && to->dir == DIR_TX && tx_working(ep);

	if (tcp && to->dir == DIR_TX)
		tcp_facets(ep, (__u64)to->sk, &in, HEAD_CORK, 0);
	call_sleep(ctx, ep, to->dir, tid, entered, &in);
	if (to->dir == DIR_TX)
		ep->tx.seen = now;
}

static __always_inline void sleep_in_pipe(void *ctx, struct endpoint *ep, const struct target *to, __u32 tid, ns_t now)
{
	struct input in = { .at = now };

	pipe_look(ep, to->pipe, now);
	call_sleep(ctx, ep, to->dir, tid, false, &in);
}

/* the current task gives up the CPU to sleep: in a call on an endpoint? */
static __noinline int task_sleeps(void *ctx, __u32 tid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct call *c = call_of(tid, false);
	struct endpoint *ep;
	struct target to = {};
	int dir = call_dir(regs->orig_ax);
	ns_t now;

	if (dir < 0 || !file_target(&to, file_of(task, regs->di)))
		return 0;
	to.dir = dir;
	now = bpf_ktime_get_ns();
	ep = target_endpoint(&to, now);
	if (!ep)
		return 0;
	if (c && c->off && c->key == ep->id.key)
		call_resume(ep, c);
	if (to.pipe)
		sleep_in_pipe(ctx, ep, &to, tid, now);
	else
		sleep_in_sock(ctx, ep, &to, tid, now);
	return 0;
}

/* only noted: the thread itself takes the step, when it leaves the call or sleeps again */
static __always_inline void task_runs(__u32 tid)
{
	struct call *c = call_of(tid, false);

	if (c && c->off && !c->ran)
		c->ran = bpf_ktime_get_ns();
}

SEC("raw_tp/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev0, struct task_struct *next0, __u64 state)
{
	struct task_struct *prev = CAST(task_struct, prev0), *next = CAST(task_struct, next0);

	if (!preempt && task_wanted(GET(prev, tgid)) && prev_state(prev0, state) & TASK_INTERRUPTIBLE)
		task_sleeps(ctx, GET(prev, pid));
	if (task_wanted(GET(next, tgid)))
		task_runs(GET(next, pid));
	return 0;
}

SEC("raw_tp/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	follow_fork(parent, child);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	unfollow_exit(task);
	return 0;
}

/* pipes only: these two slow every system call of the machine, and are attached when pipes are asked for */
SEC("raw_tp/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs0, long nr)
{
	struct pt_regs *regs = CAST(pt_regs, regs0);
	struct target to = {};
	struct input in = {};
	struct endpoint *ep;
	struct call *c;
	int dir;

	if (!current_wanted())
		return 0;
	dir = call_dir(nr);
	if (dir < 0 || !file_target(&to, file_of(bpf_get_current_task_btf(), GET(regs, di))) || !to.pipe)
		return 0;
	in.at = bpf_ktime_get_ns();
	ep = pipe_endpoint(to.pipe, to.inode, in.at);
	c = call_of((__u32)bpf_get_current_pid_tgid(), true);
	if (!ep || !c)
		return 0;
	c->key = ep->id.key;
	c->dir = dir;
	c->entered = 1;
	pipe_look(ep, to.pipe, in.at);
	call_enter(ep, dir, &in);
	return 0;
}

static __always_inline void sys_made(struct pt_regs *regs0, long ret)
{
	struct pt_regs *regs = CAST(pt_regs, regs0);
	enum made made = call_makes(GET(regs, orig_ax));

	if (made == MADE_NONE || ret < 0)
		return;
	if (made == MADE_ONE)
		fd_born(ret, bpf_ktime_get_ns());
	else
		pair_born(made == MADE_PAIR_FIRST ? GET(regs, di) : GET(regs, r10), bpf_ktime_get_ns());
}

SEC("raw_tp/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	struct input in = {};
	struct endpoint *ep;
	struct call *c;

	if (!current_wanted())
		return 0;
	sys_made(regs, ret);
	c = call_of((__u32)bpf_get_current_pid_tgid(), false);
	if (!c || !c->entered)
		return 0;
	ep = bpf_map_lookup_elem(&endpoints, &c->key);
	if (!ep || ep->id.proto != PROTO_PIPE)
		return 0;
	call_resume(ep, c);
	c->entered = 0;
	in.at = bpf_ktime_get_ns();
	pipe_look(ep, (struct pipe_inode_info *)c->key, in.at);
	call_leave(ep, c->dir, &in);
	call_done(ep, c->dir, ret);
	return 0;
}

/* Not attached: user space runs it for one key before it reads, so that no later look can change what was read. */
SEC("raw_tp/settle")
int settle(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 key = ctx->args[0];
	struct endpoint *ep = bpf_map_lookup_elem(&endpoints, &key);
	struct sock *sk = (struct sock *)key;
	ns_t now = bpf_ktime_get_ns();

	if (!ep)
		return 0;
	if (ep->closed)
		return ep->flags & EP_UNSENT ? endpoint_evict(ep, key, now) : 0;
	if (ep->id.proto == PROTO_TCP)
		tcp_look_back(ep, (__u64)sk, now, 0);
	else if (ep->id.proto == PROTO_UDP)
		udp_look_back(ep, sk, now, 0);
	if (ep->id.proto <= PROTO_UDP)
		refresh_addresses(ep, sk);
	queue_is(ep, ep->queue_len, now);
	ep->tx.seen = ep->rx.seen = now;
	return 0;
}
