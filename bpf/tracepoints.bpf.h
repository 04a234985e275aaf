/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks of every backend: raw tracepoints that exist in all kernels from 6.1 on. Those that run
 * before an event's effects look back: what the fields say then has held since the last look.
 */
#ifndef IPCSTALL_TRACEPOINTS_BPF_H
#define IPCSTALL_TRACEPOINTS_BPF_H

#include "tcp.bpf.h"
#include "fd_holders.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* tcp_rcv_established() has set skb->data to it */
static __always_inline struct tcphdr *tcp_header(struct sk_buff *skb)
{
	return CAST(tcphdr, GET(CAST(sk_buff, skb), data));
}

/* bytes behind the TCP header */
static __always_inline __u32 payload(struct sk_buff *skb)
{
	struct tcphdr *th = tcp_header(skb);
	__u32 head = GET_BITS(th, doff) * 4, len = GET(CAST(sk_buff, skb), len);

	return len > head ? len - head : 0;
}

/* The segment brings new data in order: it has not come before, and is not behind a hole. */
static __always_inline bool tcp_brings(struct sock *sk, struct sk_buff *skb, __u32 bytes)
{
	__u32 old = GET(CAST(tcp_sock, sk), rcv_nxt) - bpf_ntohl(GET(tcp_header(skb), seq));

	return old < bytes;
}

static __always_inline bool tcp_leaves_hole(struct sock *sk, struct sk_buff *skb)
{
	return (__s32)(bpf_ntohl(GET(tcp_header(skb), seq)) - GET(CAST(tcp_sock, sk), rcv_nxt)) > 0;
}

/* Is there something to read once this segment is queued? */
static __always_inline bool tcp_readable_with(struct sock *sk, struct sk_buff *skb, __u32 bytes)
{
	return tcp_brings(sk, skb, bytes) || tcp_unread(sk);
}

/* Does something lie behind a hole? */
static __always_inline bool tcp_has_hole(__u64 sk)
{
	return ADDRESS(sk, tcp_sock, out_of_order_queue.rb_node) != 0;
}

/* a hole begins, or ends */
SUBPROG int hole_turns(struct endpoint *ep, ns_t now)
{
	ns_t since;

	if (!ep)
		return 0;
	since = ep->hole.since;
	ep->hole.since = since ? 0 : now;
	ep->holed = !since;
	if (!since || now < since)
		return 0;
	ep->hole.n++;
	atomic_add(&ep->hole.ns, now - since);
	raise_max(&ep->hole.max, now - since);
	return 1;
}

/* The hole is no more: the segment that brought data last has filled it. */
static __noinline int hole_look(struct endpoint *ep, __u64 sk)
{
	if (!ep || !ep->holed || tcp_has_hole(sk))
		return 0;
	return hole_turns(ep, ep->rx.seen > ep->hole.since ? ep->rx.seen : ep->hole.since);
}

/* called at each segment while a probe or a hole is there, which is seldom */
static __noinline int rare_look(struct endpoint *ep, __u64 sk)
{
	if (!ep)
		return 0;
	if (ep->probing)
		probe_answered(ep, (struct sock *)sk);
	return hole_look(ep, sk);
}

/* Data is about to be queued. A reader asleep in its call stays in `wait` until it runs. */
static __always_inline void tcp_data(struct endpoint *ep, struct sock *sk, struct sk_buff *skb,
				     ns_t now, __u32 bytes)
{
	if (!ep->ack_owed)
		ep->ack_owed = now;
	if (ep->unanswered && tcp_brings(sk, skb, bytes))
		timer_answered(ep, (__u64)sk, now);
	LATEST(ep->rx.seen) = now; /* before `announced`, whose date it is: see tcp_comes() */
	if (tcp_brings(sk, skb, bytes))
		LATEST(ep->announced) = bpf_ntohl(GET(tcp_header(skb), seq)) + bytes;
	else if (!ep->hole.since && tcp_leaves_hole(sk, skb))
		hole_turns(ep, now);
	if (!word_working(LATEST(ep->rx.word)))
		rx_holds(ep, now, tcp_readable_with(sk, skb, bytes));
}

static __always_inline void tcp_segment(struct endpoint *ep, struct sock *sk, struct sk_buff *skb,
					ns_t now, __u32 bytes)
{
	tcp_look_back_fast(ep, (__u64)sk, now);
	if (bytes)
		tcp_data(ep, sk, skb, now, bytes);
}

/* the segment that may end a stall; tcp_ack() has not run yet */
static __always_inline void note_ack(struct endpoint *ep, struct sock *sk, struct sk_buff *skb,
				     ns_t now, __u32 bytes)
{
	ep->ack.acked = bpf_ntohl(GET(tcp_header(skb), ack_seq)) - GET(CAST(tcp_sock, sk), snd_una);
	ep->ack.payload = bytes;
	ep->ack.at = now;
}

/* an acknowledgement or data arrives; TCP's fields do not reflect it yet */
SEC("raw_tp/tcp_probe")
int BPF_PROG(on_tcp_probe, struct sock *sk, struct sk_buff *skb)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	__u32 bytes;
	ns_t now;

	if (!ep || ep->closed)
		return 0;
	now = bpf_ktime_get_ns();
	bytes = payload(skb);
	if (ep->rare)
		rare_look(ep, (__u64)sk);
	if (!sees_exactly())
		tcp_segment(ep, sk, skb, now, bytes);
	if (opt.stall_threshold)
		note_ack(ep, sk, skb, now, bytes);
	note_mark(ep, bytes ? MARK_SEGMENT : MARK_ACK, now, bytes);
	return 0;
}

#define UDP_HEADER 8
#define HANDED_NS  10000 /* from TCP to a driver without a queue in between */

/* When TCP handed this packet down (__tcp_transmit_skb()), if that was after the last look; 0:
 * before. */
static __always_inline ns_t handed_since(const struct endpoint *ep, struct sk_buff *skb, ns_t now)
{
	ns_t handed = GET(CAST(sk_buff, skb), tstamp);

	return handed > ep->tx.seen && handed <= now ? handed : 0;
}

/*
 * fq sends a packet at the time that TCP stamped on it (skb_set_delivery_time()), or later if the
 * link is not free: until the stamp it was paced, and from then on it was the device's.
 */
SUBPROG int fq_lets_go(struct endpoint *ep, ns_t due, ns_t now)
{
	struct input paced = { .says = IN_DEVICE | IN_HEAD | IN_FULL, .head = HEAD_PACING,
		.full = 1 };
	struct input queued = { .says = IN_DEVICE | IN_HEAD | IN_FULL, .device = 1, .full = 1 };

	if (!ep)
		return 0;
	count(COUNT_OBSERVED);
	if (due > now)
		due = now;
	queued.at = paced.at = ep->tx.seen;
	if (due > ep->tx.seen && !tx_resting(ep)) {
		apply_tx_slow(ep, &paced);
		part_turns(ep, ep->tx.seen, SLICE_FQ);
		queued.at = due;
	}
	if (queued.at < now && !tx_resting(ep)) {
		apply_tx_slow(ep, &queued);
		part_turns(ep, queued.at, SLICE_NONE);
	}
	ep->tx.seen = now;
	return 1;
}

/*
 * A segment goes out to the driver. A socket's bytes go down in order: if this segment was handed
 * over since the last look, so was all that is charged now (the rest of a burst, or of a large
 * packet that is cut up on its way), and the device had been at rest.
 */
static __always_inline void tcp_goes_out(struct endpoint *ep, struct sk_buff *skb, struct sock *sk,
					 ns_t now)
{
	bool fq = GET(CAST(sock, sk), sk_pacing_status) == SK_PACING_FQ;
	ns_t handed = fq ? 0 : handed_since(ep, skb, now);
	struct input queued = { .at = handed, .says = IN_DEVICE | IN_FULL, .device = 1, .full = 1 };
	__u32 own = GET(CAST(sk_buff, skb), truesize);
	int charged = GET(CAST(sock, sk), sk_wmem_alloc.refs.counter);

	if (fq && own >= WMEM_REST)
		fq_lets_go(ep, GET(CAST(sk_buff, skb), tstamp), now);
	else
		tcp_look_back_slow(ep, (__u64)sk, now, handed ? ALL_BELOW : own);
	if (own >= WMEM_REST) /* a pure ACK leaves no pacing deadline behind */
		ep->went_out = now;
	if (!sees_exactly() && tcp_more_queued(sk, skb))
		note_peer_unread(ep, now);
	if (handed && now > handed + HANDED_NS &&
	    charged >= WMEM_REST) /* netem gives back what it delays: skb_orphan_partial() */
		apply_tx_slow(ep, &queued);
}

/* bytes behind the transport header of an outgoing packet, whatever headers come before it */
static __always_inline __u32 payload_out(const struct endpoint *ep, struct sk_buff *skb0)
{
	struct sk_buff *skb = CAST(sk_buff, skb0);
	__u64 th = (__u64)GET(skb, head) + GET(skb, transport_header);
	__u32 head = ep->id.proto == PROTO_TCP ? GET_BITS(CAST(tcphdr, th), doff) * 4 : UDP_HEADER;
	__u64 linked = th - (__u64)GET(skb, data);
	__u32 before, len = GET(skb, len);

	OPAQUE(linked); /* a newer verifier takes both for pointers: their difference is a number
			   only in 64 bits, and the compiler would take 32 */
	before = linked + head;
	return len > before ? len - before : 0;
}

static __always_inline void note_transmit(const struct endpoint *ep, struct sk_buff *skb)
{
	if (opt.timeline)
		note_mark(ep, MARK_TRANSMIT, bpf_ktime_get_ns(), payload_out(ep, skb));
}

SEC("raw_tp/net_dev_start_xmit")
int BPF_PROG(on_xmit, struct sk_buff *skb)
{
	struct sock *sk = (struct sock *)ADDRESS(skb, sk_buff, sk);
	struct endpoint *ep = endpoint_known((__u64)sk);
	ns_t now;

	if (!ep || ep->closed)
		return 0;
	note_transmit(ep, skb);
	if (tx_working(ep)) { /* the fields say nothing now; the ACK is dated to the call's begin */
		ack_rides(ep, tx_since(ep));
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (ep->id.proto != PROTO_TCP) {
		udp_goes_out(ep, sk, now, GET(CAST(sk_buff, skb), truesize));
		return 0;
	}
	ack_sent(ep, now);
	tcp_goes_out(ep, skb, sk, now);
	if (!sees_exactly() && !word_working(ep->rx.word) && half_closed(CAST(sock, sk)))
		rx_holds(ep, now, tcp_unread(sk));
	return 0;
}

static __always_inline void note_retransmit(struct endpoint *ep, struct sock *sk, ns_t now)
{
	atomic_add(&ep->retransmits, 1);
	if (GET(CAST(sock, sk), __sk_common.skc_state) == TCP_SYN_SENT) {
		atomic_add(&ep->syn_retransmits, 1);
		refresh_addresses(ep, sk);
	}
	note_mark(ep, MARK_RETRANSMIT, now, 0);
}

SEC("raw_tp/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, struct sock *sk)
{
	bool failed = opt.retransmit_args > 2 && (int)ctx[2];
	struct endpoint *ep = endpoint_known((__u64)sk);
	ns_t now;

	if (!ep || ep->closed)
		return 0;
	now = bpf_ktime_get_ns();
	if (!failed)
		note_retransmit(ep, sk, now);
	tcp_look_back_slow(ep, (__u64)sk, now, 0);
	stays_undelivered(ep, now);
	if (!failed)
		ep->flown = now;
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
	ns_t now;

	if (!ep || ep->closed)
		return;
	icsk = CAST(inet_connection_sock, sk);
	pending = GET(icsk, icsk_pending);
	now = bpf_ktime_get_ns();
	if (pending == ICSK_TIME_RETRANS && write_due(sk)) {
		tcp_timeout(ep, now);
		return;
	}
	tcp_look_back_slow(ep, (__u64)sk, now, 0);
	if (ep->probe.at)
		probe_answered(ep, sk);
	if (pending == ICSK_TIME_LOSS_PROBE && write_due(sk))
		probe_goes_out(ep, sk, now);
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

/* A new connection: any other endpoint at its address has ended. Null if it is not known yet. */
static __always_inline struct endpoint *connection(struct sock *sk, ns_t now)
{
	struct endpoint *ep = endpoint_known((__u64)sk);

	if (!ep || sock_same(ep, CAST(sock, sk)))
		return ep;
	endpoint_evict(ep, (__u64)sk, now);
	return 0;
}

/*
 * From a connection request until its answer the connection was in `flight`, whether the SYN was
 * seen or not: nothing looks in between, and TCP has processed the answer before it is reported.
 */
static __noinline int request_flew(struct endpoint *ep)
{
	struct input in = { .says = IN_FULL, .full = 1 };

	if (!ep || !tx_resting(ep))
		return 0;
	in.at = ep->tx.seen;
	return apply_tx_slow(ep, &in);
}

/* a connection is born in a listener's accept queue */
SUBPROG int born_in_queue(__u64 sk, __u32 proto, ns_t now)
{
	struct endpoint *ep;

	if (!sock_create(sk, proto, now, 0))
		return 0;
	ep = endpoint_known(sk);
	if (ep)
		ep->making.listened = 1;
	return 1;
}

static __always_inline void is_queued_for_accept(struct sock *sk, __u64 port, ns_t now)
{
	listener_gains(port);
	born_in_queue((__u64)sk, PROTO_TCP, now);
}

/* The request begins at `asked`, not with the socket. */
static __noinline int request_answered(struct endpoint *ep, __u64 sk, ns_t now)
{
	if (!ep || !ep->making.asked)
		return 0;
	request_flew(ep);
	if (!ep->making.connect_ns)
		ep->making.connect_ns = now - ep->making.asked;
	connection_asks(ep, now);
	return tcp_tx_looks_queued(ep, sk, now);
}

static __always_inline void asks_for_connection(struct sock *sk, ns_t now)
{
	struct endpoint *ep = endpoint_known((__u64)sk);

	if (!ep || ep->closed)
		return;
	ep->making.asked = now;
	ep->making.connect_ns = 0;
	ep->tx.seen = now;
}

/* the local port is chosen after SYN_SENT: read the addresses again */
static __always_inline void established(struct sock *sk0, ns_t now)
{
	struct endpoint *ep = connection(sk0, now);
	struct sock *sk = CAST(sock, sk0);
	__u64 key = listener_key(sk);

	if (ep) {
		leave_tuples(ep);
		read_addresses(&ep->id, sk);
		join_inet(ep);
		ep->announced = GET(CAST(tcp_sock, sk0),
				    rcv_nxt); /* the other end's first number is known only now */
		request_answered(ep, (__u64)sk0, now);
	} else if (bpf_map_lookup_elem(&listeners, &key)) {
		is_queued_for_accept(sk0, key, now);
	}
	note_subflow((__u64)sk0); /* before it closes MPTCP takes its mark off:
				     mptcp_subflow_drop_ctx() */
}

static __always_inline void connects(struct sock *sk)
{
	bool mine = current_wanted();
	ns_t now;

	if (!mine && !key_maybe((__u64)sk))
		return;
	now = bpf_ktime_get_ns();
	if (!connection(sk, now) && mine)
		sock_create((__u64)sk, PROTO_TCP, now, 0);
	asks_for_connection(sk, now);
}

static __always_inline void port_gains(__u64 port, __u64 sk)
{
	struct port *p, one = { .sockets = 1, .sk = sk };

	if (!bpf_map_update_elem(&listeners, &port, &one, BPF_NOEXIST))
		return;
	p = bpf_map_lookup_elem(&listeners, &port);
	if (!p) {
		count(COUNT_OVERFLOW);
		return;
	}
	atomic_add(&p->sockets, 1);
	p->sk = sk;
}

static __always_inline void port_loses(__u64 port)
{
	struct port *p = bpf_map_lookup_elem(&listeners, &port);

	if (!p)
		return;
	atomic_add(&p->sockets, -1);
	if (!LATEST(p->sockets))
		bpf_map_delete_elem(&listeners, &port);
}

static struct listener blank_listener;

static __always_inline void listener_begins(struct listener *l, __u64 sk0)
{
	struct sock *sk = CAST(sock, sk0);
	struct identity id = { .family = GET(sk, __sk_common.skc_family) };
	__u64 current = bpf_get_current_pid_tgid();

	read_addresses(&id, sk);
	l->key = sk0;
	l->inode = sock_inode(sk);
	l->port = listener_key(sk);
	l->netns = sock_netns(sk);
	l->family = id.family;
	l->local = id.local;
	l->born = bpf_ktime_get_ns();
	l->drops_then = GET(sk, sk_drops.counter);
	l->tid = (__u32)current;
	l->tgid = current_tgid(current);
	bpf_get_current_comm(l->comm, sizeof(l->comm));
	listener_look(l);
}

SUBPROG int listens(__u64 sk)
{
	long err = bpf_map_update_elem(&listening, &sk, &blank_listener, BPF_NOEXIST);
	struct listener *l = bpf_map_lookup_elem(&listening, &sk);

	if (!l || (err && err != -EEXIST))
		count(COUNT_OVERFLOW);
	if (!l || err)
		return 0;
	listener_begins(l, sk);
	port_gains(l->port, sk);
	return 1;
}

static __always_inline void listener_told(struct listener *l)
{
	struct record_listener *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

	if (!r) {
		count(COUNT_LOST);
		return;
	}
	r->head.type = RECORD_LISTENER;
	r->head.size = sizeof(*r);
	bpf_probe_read_kernel(&r->l, sizeof(r->l), l);
	bpf_ringbuf_submit(r, wake_flags());
}

/* only a socket that was counted, and at the port that it was counted for */
SUBPROG int listens_no_more(__u64 sk)
{
	struct listener *l = bpf_map_lookup_elem(&listening, &sk);
	__u64 port;

	if (!l)
		return 0;
	port = l->port;
	l->closed = bpf_ktime_get_ns();
	listener_look(l);
	listener_told(l);
	if (!bpf_map_delete_elem(&listening, &sk))
		port_loses(port);
	return 0;
}

/* Not attached: user space runs it for a listener before it reads it. */
SEC("raw_tp/settle_listener")
int settle_listener(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 sk = ctx->args[0];
	struct listener *l = bpf_map_lookup_elem(&listening, &sk);

	if (l && GET(CAST(sock, sk), __sk_common.skc_state) == TCP_LISTEN)
		listener_look(l);
	return l != 0;
}

/* a socket that begins to listen did not listen before: one at this address ended unseen */
static __always_inline void listening_turns(__u64 sk, bool on)
{
	listens_no_more(sk);
	if (on && current_wanted())
		listens(sk);
}

#define TCP_FIN_WAIT1 4
#define TCP_FIN_WAIT2 5
#define TCP_LAST_ACK  9
#define TCP_CLOSING   11

#define ETIMEDOUT 110

/*
 * A request for a connection ends without an answer: neither a refusal nor an ICMP error came
 * (sk_err), so the last SYN was lost, like all before it. Its addresses are still there, but for
 * the local port (inet_put_port()).
 */
static __always_inline void syn_unanswered(struct endpoint *ep, __u64 sk0, ns_t now)
{
	int err = GET(CAST(sock___err, sk0), sk_err);

	if (!ep->id.remote.port)
		read_addresses(&ep->id, CAST(sock, sk0));
	if (!err || err == ETIMEDOUT)
		tcp_lost(ep, now);
	if (err == ECONNREFUSED)
		ep->tx_calls.replies.refused++;
}

/*
 * Data that was held and is not sent was held until now: tcp_disconnect() throws it away next,
 * tcp_reset() just did (tcp_write_queue_purge(), which leaves write_seq as it was).
 */
static __noinline int tcp_ended(__u64 sk)
{
	struct endpoint *ep = endpoint_known(sk);
	struct input probed = { .says = IN_DEVICE };
	ns_t now = bpf_ktime_get_ns();

	if (!ep || ep->closed)
		return 0;
	if (GET(CAST(sock, sk), __sk_common.skc_state) == TCP_SYN_SENT) {
		request_flew(ep);
		syn_unanswered(ep, sk, now);
	}
	note_reset(ep, sk);
	tcp_audit(ep, 0);
	if (ep->probe.at)
		probe_answered(ep, (struct sock *)sk);
	if (word_head(ep->tx.word) >= HEAD_CORK && !tcp_at_ease(sk)) {
		probed.at = ep->tx.seen; /* a window probe may have gone out then */
		if (tx_device(ep))
			apply_tx_slow(ep, &probed);
		ep->tx.seen = now;
	}
	tcp_look_back_slow(ep, sk, now, 0);
	return 0;
}

/*
 * A FIN will be queued (tcp_close_state() comes before tcp_send_fin()): what holds it then has held
 * nothing until now. The current process is the last to close the socket.
 */
static __noinline int fin_follows(__u64 sk)
{
	struct endpoint *ep = endpoint_known(sk);
	ns_t now = bpf_ktime_get_ns();

	if (!ep || ep->closed)
		return 0;
	if (ep->tx_calls.left || ep->rx_calls.left)
		closed_by(ep);
	if (GET_BITS(CAST(sock, sk), sk_shutdown) & RCV_SHUTDOWN)
		ep->asking.given_up = now;
	tcp_look_back_slow(ep, sk, now, 0);
	stays_undelivered(ep, now);
	return 1;
}

/* a child leaves LISTEN for SYN_RECV: it is a clone */
static __always_inline bool stops_listening(int old, int state)
{
	return old == TCP_LISTEN && state == TCP_CLOSE;
}

/* A socket begins to connect, is connected, begins to listen or stops. */
static __always_inline void connection_turns(struct sock *sk0, int old, int state)
{
	bool unlisten = stops_listening(old, state);

	if (state != TCP_ESTABLISHED && state != TCP_SYN_SENT && state != TCP_LISTEN && !unlisten)
		return;
	if (!proto_wanted(PROTO_TCP) || GET(CAST(sock, sk0), sk_protocol) != IPPROTO_TCP)
		return;
	if (state == TCP_ESTABLISHED)
		established(sk0, bpf_ktime_get_ns());
	else if (state == TCP_LISTEN || unlisten)
		listening_turns((__u64)sk0, state == TCP_LISTEN);
	else
		connects(sk0);
}

SEC("raw_tp/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int old, int state)
{
	if (state == TCP_CLOSE && !stops_listening(old, state))
		return tcp_ended((__u64)sk);
	if (state == TCP_FIN_WAIT1 || state == TCP_LAST_ACK)
		return fin_follows((__u64)sk);
	connection_turns(sk, old, state);
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
	tcp_look_back_slow(ep, (__u64)sk, now, 0);
	endpoint_close(ep, now);
	return 0;
}

static __always_inline void note_drop(struct endpoint *ep, __u32 why)
{
	if (ep && !ep->closed && why < DROP_N)
		atomic_add(&ep->drops[why], 1);
}

#define IS_REASON(reason, name) \
	(bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_##name) && \
	 (reason) == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_##name))

/* until 6.13 one reason for all qdiscs; then one for each; by 7.2 they have a range, in the upper
 * half (enum skb_drop_reason_subsys) */
static __always_inline bool dropped_by_qdisc(__u32 reason)
{
	if (reason >> 16)
		return bpf_core_enum_value_exists(enum skb_drop_reason_subsys,
						  SKB_DROP_REASON_SUBSYS_QDISC) &&
		       reason >> 16 == bpf_core_enum_value(enum skb_drop_reason_subsys,
							   SKB_DROP_REASON_SUBSYS_QDISC);
	return IS_REASON(reason, QDISC_DROP) || IS_REASON(reason, QDISC_OVERLIMIT) ||
	       IS_REASON(reason, QDISC_CONGESTED) || IS_REASON(reason, QDISC_BURST_DROP) ||
	       IS_REASON(reason, CAKE_FLOOD) || IS_REASON(reason, FQ_BAND_LIMIT) ||
	       IS_REASON(reason, FQ_HORIZON_LIMIT) || IS_REASON(reason, FQ_FLOW_LIMIT);
}

static __always_inline __u32 drop_of(__u32 reason)
{
	if (IS_REASON(reason, SOCKET_RCVBUFF) || IS_REASON(reason, PROTO_MEM))
		return DROP_RCVBUF;
	if (dropped_by_qdisc(reason))
		return DROP_QDISC;
	if (IS_REASON(reason, UDP_CSUM))
		return DROP_CHECKSUM;
	return DROP_OTHER;
}

/* rx_sk: the receiver that would not take it (6.11 on); skb->sk: the sender whose packet a qdisc
 * dropped */
SEC("raw_tp/kfree_skb")
int BPF_PROG(on_drop, struct sk_buff *skb, void *where, __u32 reason)
{
	struct sock *rx_sk = opt.drop_args > 3 ? (struct sock *)ctx[3] : 0;
	__u32 why = opt.drop_args > 2 ? drop_of(reason) : DROP_OTHER;

	if (why == DROP_OTHER)
		return 0;
	note_drop(endpoint_known(why == DROP_QDISC ? ADDRESS(skb, sk_buff, sk) : (__u64)rx_sk),
		  why);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	follow_fork(parent, child);
	return 0;
}

/* the new name is not there yet, but no call on an endpoint is made before it is
 * (__set_task_comm()) */
SEC("raw_tp/task_rename")
int BPF_PROG(on_rename, struct task_struct *task)
{
	__sync_fetch_and_add(&renames, 1);
	return 0;
}

/*
 * Reads memory that may have been freed, so it checks both ways: a pipe's inode points to it until
 * put_pipe_info(), and the next inode in the same memory has another number. A FIFO's inode
 * outlives its pipe. If the FIFO is opened again and its new pipe gets the same memory, that is
 * taken for the same pipe.
 */
static __always_inline bool pipe_lives(struct endpoint *ep)
{
	return ADDRESS(ep->node, inode, i_pipe) == ep->id.key &&
	       inode_number(ep->node) == ep->id.inode;
}

static __always_inline bool still_there(struct endpoint *ep)
{
	if (ep->id.proto == PROTO_PIPE)
		return pipe_lives(ep);
	return ep->id.proto == PROTO_TCP || sock_is(ep, CAST(sock, ep->id.key));
}

/* If no hook sees the end of a socket or pipe, a look finds it gone: it ended when last seen. */
static __always_inline bool ended_unseen(struct endpoint *ep)
{
#ifdef ENDS_UNSEEN
	if (still_there(ep))
		return false;
	endpoint_close(ep, last_seen(ep));
	return true;
#else
	return false;
#endif
}

/*
 * No tracepoint reports data that came with the ACK that established a connection, or in its SYN
 * (tcp_child_process(), tcp_fastopen_add_skb()). The data came after what was last reported, if
 * anything was.
 */
static __always_inline void look_before_accept(struct endpoint *ep, __u64 sk)
{
	if (ep->id.proto == PROTO_TCP && !word_working(ep->rx.word))
		rx_holds(ep, ep->rx.seen, tcp_unread(CAST(sock, sk)));
}

#ifdef SAMPLED
/* the next look finds the state, at an instant that nobody chose */
static __always_inline void settle_live(struct endpoint *ep, __u64 key, ns_t now)
{
	if (ep->id.proto != PROTO_PIPE)
		refresh_addresses(ep, (struct sock *)key);
}
#else
static __always_inline void settle_live(struct endpoint *ep, __u64 key, ns_t now)
{
	struct sock *sk = (struct sock *)key;

	if (ep->id.proto == PROTO_TCP && ep->rare)
		rare_look(ep, key);
	if (ep->making.listened && !ep->making.accepted)
		look_before_accept(ep, key);
	if (ep->id.proto == PROTO_TCP)
		tcp_look_back_slow(ep, key, now, 0);
	else if (ep->id.proto == PROTO_UDP)
		udp_look_back(ep, sk, now, 0);
	else
		refused_look(ep, now);
	if (ep->id.proto <= PROTO_UDP)
		refresh_addresses(ep, sk);
	queue_is(ep,
		 ep->id.proto == PROTO_PIPE ? pipe_queue((struct pipe_inode_info *)key)
					    : ep->queue_len,
		 now);
	ep->tx.seen = ep->rx.seen = now;
}
#endif

/*
 * A descriptor goes. Whether it is the last of its socket or pipe is not known, and need not be:
 * the endpoint was there until now, and if nothing is seen of it later, it has ended. Null: no
 * endpoint is known, or it is another one.
 */
static __always_inline struct endpoint *seen_going(const struct target *to, ns_t now)
{
	struct endpoint *ep = target_known(to);

	if (ep && ep->id.proto == PROTO_TCP)
		note_bypass(ep, ep->id.key); /* close() takes it out of a sockmap before its end is
						seen (sock_map_close()) */
	if (!ep || ep->id.proto == PROTO_TCP ||
	    (to->pipe ? !pipe_lives(ep) : !sock_is(ep, CAST(sock, to->sk))))
		return 0;
	settle_live(ep, ep->id.key, now);
	return ep;
}

/* For a process that exits: it waits for room no longer, either. */
SUBPROG int file_dies(__u64 file, __u32 tgid)
{
	struct target to = {};
	struct endpoint *ep;
	ns_t now;

	if (!file_target(&to, file))
		return 0;
	ep = target_known(&to);
	if (!ep)
		return 0;
	file_passes(target_key(&to), file, tgid, 0);
	now = bpf_ktime_get_ns();
	if (ep->refused && ep->tx_calls.tgid == tgid)
		refused_ends(ep, now);
	return seen_going(&to, now) != 0;
}

struct table_left {
	__u64 files;
	__u32 tgid;
};

static long descriptor_dies(__u32 fd, struct table_left *t)
{
	__u64 file = load_word(t->files + fd * sizeof(__u64));

	if (file)
		file_dies(file, t->tgid);
	return 0;
}

/*
 * A process that exits lets go of its descriptors without a close() (exit_files(), just after this
 * tracepoint). If its threads exit by themselves, the table of the last one is looked at.
 */
static __always_inline void files_die(struct task_struct *task0)
{
	struct task_struct *task = CAST(task_struct, task0);
	struct signal_struct *signal = CAST(signal_struct, GET(task, signal));
	struct fdtable *table = CAST(fdtable, GET(task, files, fdt));
	struct table_left t = { .files = (__u64)GET(table, fd) };

	if (GET(signal, live.counter) || !task_wanted(GET(task, tgid)))
		return;
	t.tgid = current_tgid(bpf_get_current_pid_tgid());
	bpf_loop(at_most(GET(table, max_fds), FILES_MAX), descriptor_dies, &t, 0);
}

SEC("raw_tp/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 tid = GET(CAST(task_struct, task), pid);

	refused_dies(tid);
	files_die(task); /* asks how long the thread was stopped */
	call_dies(tid);
	unfollow_exit(task);
	return 0;
}

/* charges a state that has lasted for half an hour what it lasted so far; the state goes on */
static __always_inline void split_long(struct endpoint *ep, ns_t now)
{
	struct input in = { .at = now, .says = IN_SPLIT };

	if (word_elapsed(LATEST(ep->tx.word), now) >= SPLIT_NS)
		apply_tx_slow(ep, &in);
	if (word_elapsed(LATEST(ep->rx.word), now) >= SPLIT_NS)
		apply_rx_slow(ep, &in);
}

/* Settles an endpoint up to now; 1: it is alive. A stack frame of its own, not that of a caller
 * that reads on: there are 512 bytes in all. */
SUBPROG int settle_key(__u64 key)
{
	struct endpoint *ep = endpoint_known(key);
	ns_t now = bpf_ktime_get_ns();

	if (!ep || !ep->tx.word || !ep->rx.word) /* being made */
		return 0;
	if (ep->closed) { /* the record of its end is under way, or found no room before */
		if (ep->flags & EP_UNSENT)
			endpoint_evict(ep, key, now);
		return 0;
	}
	if (ended_unseen(ep))
		return 0;
	settle_live(ep, key, now);
	count_cpu(&ep->tx_calls);
	count_cpu(&ep->rx_calls);
	split_long(ep, now);
	tcp_audit(ep, 0);
	return 1;
}

/* Not attached: user space runs it for one key before it reads, so that no later look can change
 * what it has read. */
SEC("raw_tp/settle")
int settle(struct bpf_raw_tracepoint_args *ctx)
{
	return settle_key(ctx->args[0]);
}

#include "ongoing.bpf.h"
#include "evict_endpoint.bpf.h"
#include "digest.bpf.h"

#endif
