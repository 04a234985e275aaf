/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One sample of an endpoint: its state at this instant, decided by the same functions as in the
 * ledger. Half of the time since the previous sample is charged to the state found then, half to
 * the state found now. It also counts how often a state was found, and found again one and two
 * samples later; the interval of its share follows from these (user/sampler/interval.h).
 */
#ifndef IPCSTALL_SAMPLE_BPF_H
#define IPCSTALL_SAMPLE_BPF_H

#include "own_counts.h"
#include "pending_request.bpf.h"
#include "waiters.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_sock___sampled {
	__u32 chrono_stat[CHRONO_N];
	struct {
		void *rb_node;
	} out_of_order_queue;
	__u32 total_retrans;
};

/* From 6.18 on a UDP socket counts what it drops by NUMA node. */
struct numa_drop_counters___sampled {
	struct {
		__s32 counter;
	} drops0, drops1;
};

struct sock___sampled {
	void *sk_filter;
	struct {
		void *next;
	} sk_receive_queue;
	struct {
		__s32 counter;
	} sk_drops;
	struct numa_drop_counters___sampled *sk_drop_counters;
};

struct inet_connection_sock___sampled {
	__u8 icsk_ca_state : 5;
};

#pragma clang attribute pop

#ifndef READ_PROBED
CAST_ANEW(sock___sampled)
CAST_ANEW(tcp_sock___sampled)
CAST_ANEW(inet_connection_sock___sampled)
#endif

/* keys of the endpoints to sample: user space chooses them, and writes them here */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SAMPLED_AT_ONCE);
	__type(key, __u32);
	__type(value, __u64);
} sample_keys SEC(".maps");

/* what a sample found of one endpoint */
struct found {
	ns_t at;
	word_t tx, rx; /* facets, without a time */
	__u32 facts;   /* 1 << enum sample_fact */
	__u32 blamed;  /* HELD_BY_* */
};

static __always_inline word_t facets_of(__u32 head, bool full, bool device, bool asleep)
{
	return (word_t)(head & 7) << HEAD_SHIFT | (word_t)full << FULL_SHIFT |
	       (word_t)device << DEVICE_SHIFT | (asleep ? ASLEEP_BIT : 0);
}

/* ---- TCP ---- */

/* The thread that owns the socket sends, unless it is a reader: then there is data to read. */
static __always_inline bool is_sending(struct sock *sk)
{
	return GET(sk, sk_lock.owned) && !tcp_unread(sk);
}

/* A sample holds no lock: between two reads of a socket its queue may have been sent. What holds
 * the queue is sure only if the same segment is its head before and after. */
struct queue_head {
	__u64 segment;
	__u32 snd_nxt;
};

static __always_inline struct queue_head queue_head(__u64 sk)
{
	return (struct queue_head){ (__u64)GET(CAST(sock, sk), sk_write_queue.next),
				    GET(CAST(tcp_sock, sk), snd_nxt) };
}

static __always_inline bool is_same_head(__u64 sk, const struct queue_head *before)
{
	struct queue_head now = queue_head(sk);
	__u64 empty = sk + bpf_core_field_offset(struct sock, sk_write_queue);

	return now.segment == before->segment && now.segment != empty &&
	       now.snd_nxt == before->snd_nxt;
}

/* A segment stamped since the last sample is on its way down just now, and not refused. */
static __always_inline bool goes_out(const struct endpoint *ep, const struct input *in,
				     const struct queue_head *head)
{
	return in->head == HEAD_RECOVERY && !was_refused(CAST(sk_buff, head->segment), ep->tx.seen);
}

/*
 * While a thread owns the socket, the queue is on its way out: what held it before is taken to hold
 * it still. If no thread owns the socket, and none of TCP's own tests holds the queue, its writer
 * said that more will follow (MSG_MORE).
 */
SUBPROG int found_tcp_tx(struct endpoint *ep, struct found *f)
{
	struct queue_head before;
	struct input in = {};
	struct sock *sk;
	__u64 key;
	__u32 head;

	if (!ep || !f)
		return 0;
	key = ep->id.key;
	sk = CAST(sock, key);
	in.at = f->at;
	before = queue_head(key);
	if (tcp_at_ease(key))
		tcp_facets_at_ease(ep, key, &in);
	else
		tcp_facets_of(ep, key, &in, GET(sk, sk_lock.owned) ? HEAD_REST : HEAD_CORK, 0);
	if (in.head != HEAD_NONE && !GET(CAST(tcp_sock, key), lost_out) &&
	    (!is_same_head(key, &before) || goes_out(ep, &in, &before)))
		in.head = HEAD_NONE;
	head = in.says & IN_HEAD ? in.head : word_head(ep->tx.word);
	f->tx = facets_of(head, in.full, in.device, in.full && nospace(sk) && !tcp_room_left(sk));
	if (is_sending(sk))
		f->tx |= AWAKE_BIT;
	return 1;
}

static __always_inline bool withholds_ack(__u64 sk)
{
	return tcp_owes_ack(CAST(sock, sk)) &&
	       GET(CAST(inet_connection_sock, sk), icsk_ack.pending) & ICSK_ACK_TIMER;
}

#define TCP_CA_DISORDER 1
#define TCP_CA_RECOVERY 3

static __always_inline __u32 tcp_facts(__u64 sk0)
{
	struct inet_connection_sock___sampled *icsk = CAST(inet_connection_sock___sampled, sk0);
	struct tcp_sock___sampled *tp = CAST(tcp_sock___sampled, sk0);
	struct sock *sk = CAST(sock, sk0);
	__u32 ca = GET_BITS(icsk, icsk_ca_state), facts = 0;

	facts |= (__u32)withholds_ack(sk0) << SAMPLE_ACK_OWED;
	facts |= (__u32)(GET(sk, __sk_common.skc_state) == TCP_ESTABLISHED && !GET(sk, sk_socket))
		 << LOOK_BACKLOG;
	facts |= (__u32)(GET(tp, out_of_order_queue.rb_node) != 0) << SAMPLE_HOLE;
	facts |= (__u32)(GET(CAST(tcp_sock___dates, sk0), packets_out) != 0) << SAMPLE_IN_FLIGHT;
	facts |= (__u32)(ca == TCP_CA_DISORDER) << SAMPLE_DISORDER;
	facts |= pending_request(sk0);
	return facts | (__u32)(ca >= TCP_CA_RECOVERY) << SAMPLE_LOSS;
}

SUBPROG int found_tcp(struct endpoint *ep, struct found *f)
{
	__u64 sk;

	if (!ep || !f)
		return 0;
	sk = ep->id.key;
	found_tcp_tx(ep, f);
	f->rx = facets_of(0, tcp_unread(CAST(sock, sk)), 0, sock_waiters(ep, sk) & SLEEPS_IN);
	f->facts = tcp_facts(sk);
	if (f->facts & 1u << SAMPLE_OWES_ANSWER)
		f->facts |= (__u32)is_unattended(sk) << SAMPLE_UNATTENDED;
	if (f->tx >> DEVICE_SHIFT & 1 && timer_unanswered(sk))
		f->facts |= 1 << SAMPLE_UNDELIVERED;
	return 1;
}

/* ---- the others ---- */

/* a sender of datagrams waits in its receiver's wait queue */
static __always_inline bool waits_at_receiver(struct endpoint *ep)
{
	__u64 receiver = ADDRESS(ep->id.key, unix_sock, peer);

	return receiver && senders_waiting(ep, receiver) & SLEEPS_OUT;
}

static __always_inline bool unix_full(struct endpoint *ep, __u32 waiters)
{
	return waiters & SLEEPS_OUT || no_room_is_left(ep) ||
	       (ep->id.proto == PROTO_UNIX_DGRAM && waits_at_receiver(ep));
}

static __always_inline bool udp_full(struct sock *sk, __u32 waiters)
{
	return waiters & SLEEPS_OUT && buffer_was_full(PROTO_UDP, sk);
}

/* UDP and Unix: what is in a socket's queue, and which tasks sleep on it */
SUBPROG int found_socket(struct endpoint *ep, struct found *f)
{
	struct input in = {};
	__u32 waiters, len;
	struct sock *sk;
	bool udp;

	if (!ep || !f)
		return 0;
	udp = ep->id.proto == PROTO_UDP;
	sk = CAST(sock, ep->id.key);
	waiters = sock_waiters(ep, ep->id.key);
	len = sock_queue(ep, sk);
	queue_is(ep, len, f->at);
	if (udp)
		sock_device(ep, sk, &in, 0);
	f->tx = facets_of(0, 0, in.device, udp ? udp_full(sk, waiters) : unix_full(ep, waiters));
	f->rx = facets_of(0, len > 0, 0, !takes_connections(sk) && waiters & SLEEPS_IN);
	return 1;
}

/* a task in the writers' wait queue, in a call or in poll(), waits for room */
SUBPROG int found_pipe(struct endpoint *ep, struct found *f)
{
	struct pipe_inode_info *pipe;
	__u32 waiters, len;

	if (!ep || !f)
		return 0;
	pipe = (struct pipe_inode_info *)ep->id.key;
	waiters = pipe_waiters(ep, ep->id.key);
	len = pipe_queue(pipe);
	queue_is(ep, len, f->at);
	f->tx = facets_of(0, 0, 0, waiters & SLEEPS_OUT && pipe_full(pipe));
	f->rx = facets_of(0, len > 0, 0, waiters & SLEEPS_IN);
	return 1;
}

/* ---- what changed since the sample before ---- */

/* A sender to a Unix datagram socket with a full receive queue is refused, or waits: no task need
 * be in a wait queue. The queue is not limited if the socket is connected to its sender. */
static __always_inline bool takes_no_more(struct endpoint *ep)
{
	__u64 key = ep->id.key;
	struct sock *sk = CAST(sock, key);

	return ep->id.proto == PROTO_UNIX_DGRAM && !ADDRESS(key, unix_sock, peer) &&
	       GET(sk, sk_receive_queue.qlen) > GET(sk, sk_max_ack_backlog);
}

static __always_inline void note_full(struct endpoint *ep)
{
	struct samples *l = &ep->rx.samples;
	__u64 key = ep->id.key;
	__u32 oldest = 0;

	if (takes_no_more(ep)) {
		oldest = (__u32)ADDRESS(key, sock___sampled, sk_receive_queue.next);
		l->full++;
		l->refilled += l->oldest && l->oldest != oldest;
	}
	l->oldest = oldest;
}

/* A pipe has no date of its last write, but the head of its ring moves with each write. */
static __always_inline void note_writes(struct endpoint *ep, ns_t at)
{
	__u64 key = ep->id.key; /* GET() would take `ep` for the kernel's too */
	__u32 head = GET(CAST(pipe_inode_info, key), head);
	struct samples *l = &ep->tx.samples;

	if (!l->n)
		l->head_then = head;
	else if (head != l->head) {
		l->wrote_after = ep->tx.seen;
		l->wrote_by = at;
	}
	l->head = head;
}

static __always_inline void note_changes(struct endpoint *ep, ns_t at)
{
	if (ep->id.proto == PROTO_PIPE)
		note_writes(ep, at);
	else if (ep->id.proto > PROTO_UDP)
		note_full(ep);
}

/* ---- whose part it is ---- */

static __always_inline bool other_end_unread(const struct endpoint *ep, const struct endpoint *peer,
					     const struct found *f)
{
	struct sock *sk = CAST(sock, peer->id.key);

	if (ep->id.proto == PROTO_PIPE)
		return WORD_STATE(f->rx, DIR_RX) == RX_UNREAD;
	if (ep->id.proto == PROTO_TCP)
		return tcp_unread(sk);
	return GET(sk, sk_receive_queue.qlen) > 0;
}

SUBPROG int found_blame(struct endpoint *ep, struct found *f)
{
	struct endpoint *peer = ep ? peer_of(ep) : 0;

	if (!peer || !f)
		return 0;
	if (other_end_unread(ep, peer, f))
		f->blamed = HELD_BY_READER;
	else if (ep->id.proto == PROTO_TCP && withholds_ack(peer->id.key))
		f->blamed = HELD_BY_DELACK;
	return 1;
}

/* books `some` of the time of a stall, by what explains it */
static __always_inline void book_stall(struct endpoint *ep, __u64 state, __u32 blamed, ns_t some)
{
	BOUND(state, 15);
	if (state >= STATES_MAX)
		return;
	ep->blame.delack_ns[state] += blamed & HELD_BY_DELACK ? some : 0;
	ep->blame.unread_ns[state] += blamed & HELD_BY_READER ? some : 0;
}

static __always_inline void vote_stall(struct endpoint *ep, __u64 state, __u32 blamed, ns_t gap)
{
	struct endpoint *peer = blamed ? peer_of(ep) : 0;

	writer_held_up(ep, state, gap);
	if (peer)
		reader_was_late(ep, peer, state, gap, ep->tx.seen, gap);
}

/* ---- what TCP and UDP count by themselves: see own_counts.h ---- */

static __always_inline __u32 chrono_ticks(__u64 sk, __u32 which)
{
	struct tcp_sock___sampled *tp = CAST(tcp_sock___sampled, sk);
	struct tcp_sock *now = CAST(tcp_sock, sk);
	__u32 ticks = which == CHRONO_BUSY   ? GET(tp, chrono_stat[0])
		      : which == CHRONO_RWND ? GET(tp, chrono_stat[1])
					     : GET(tp, chrono_stat[2]);

	if (GET_BITS(now, chrono_type) == which + 1)
		ticks += (__u32)bpf_jiffies64() - GET(now, chrono_start);
	return ticks;
}

#define DROPS_BY_NODE(counters, field) \
	((__u32)load_word((counters) + \
			  bpf_core_field_offset(struct numa_drop_counters___sampled, field)))

static __always_inline __u32 drops_of(__u64 sk0)
{
	struct sock___sampled *sk = CAST(sock___sampled, sk0);
	__u64 counters = 0;

	if (bpf_core_field_exists(sk->sk_drop_counters))
		counters = ADDRESS(sk0, sock___sampled, sk_drop_counters);
	return counters ? DROPS_BY_NODE(counters, drops0) + DROPS_BY_NODE(counters, drops1)
			: (__u32)GET(sk, sk_drops.counter);
}

static __always_inline void read_own_counts(const struct endpoint *ep, struct own_counts *now)
{
	__u64 sk = ep->id.key;

	if (ep->id.proto == PROTO_UDP) {
		now->drops = drops_of(sk);
		now->filtered = ADDRESS(sk, sock___sampled, sk_filter) != 0;
		return;
	}
	for (__u32 i = 0; i < CHRONO_N; i++)
		now->chrono[i] = chrono_ticks(sk, i);
	/* as tcp_get_info_chrono_stats(): TCP's own does not contain the limited parts */
	now->chrono[CHRONO_BUSY] += now->chrono[CHRONO_RWND] + now->chrono[CHRONO_SNDBUF];
	now->retransmits = GET(CAST(tcp_sock___sampled, sk), total_retrans);
}

SUBPROG int counts_now(struct endpoint *ep)
{
	struct own_counts now = {};

	if (!ep || ep->id.proto > PROTO_UDP)
		return 0;
	read_own_counts(ep, &now);
	counts_book(ep, &now, opt.tick);
	return 1;
}

/* ---- the sums ---- */

struct turned {
	ns_t gap;
	__u32 from, to;
};

/* Sets the ledger to what was found, from `at` on. False: it has ended, or others were at it. */
static __always_inline bool turns_to(struct ledger *l, word_t facets, ns_t at, enum dir dir,
				     struct turned *t)
{
	word_t old = LATEST(l->word);

	if (!old || old & CLOSED_BIT)
		return false;
	t->gap = word_elapsed(old, at);
	t->from = WORD_STATE(old, dir);
	t->to = WORD_STATE(facets, dir);
	return swap_word(l, old, facets | ((word_since(old) + t->gap) & SINCE_MASK));
}

static __always_inline void book_half(struct ledger *l, __u64 state, ns_t half)
{
	BOUND(state, 15);
	if (state < STATES_MAX)
		l->ns[state] += half;
}

static __always_inline void count_sample(struct samples *l, __u64 state, const struct turned *t,
					 ns_t at)
{
	BOUND(state, 15);
	if (state >= STATES_MAX)
		return;
	if (t->from != t->to || !l->n)
		l->since = at;
	l->seen[state]++;
	if (t->from == t->to && l->n)
		l->again[state]++;
	if (l->earlier == t->to && l->n > 1)
		l->later[state]++;
	l->earlier = t->from;
	l->n++;
}

SUBPROG int book_sample(struct ledger *l, word_t facets, ns_t at, __u32 dir, struct turned *t)
{
	if (!l || !t || !turns_to(l, facets, at, dir & 1, t))
		return 0;
	if (!l->samples.n) /* what it did before is unknown: most begin at once */
		t->from = t->to;
	book_half(l, t->from, t->gap / 2);
	book_half(l, t->to, t->gap - t->gap / 2);
	count_sample(&l->samples, t->to, t, at);
	l->seen = at;
	return 1;
}

static __always_inline void flight_was_loss(struct ledger *l, ns_t ns)
{
	if (ns > l->ns[TX_FLIGHT])
		return;
	l->ns[TX_FLIGHT] -= ns;
	l->ns[TX_RECOVERY] += ns;
}

/* Resent data is acknowledged: it had been lost, unless the peer got it twice (DSACK). */
static __always_inline void resent_answered(struct ledger *l, __u64 sk)
{
	if (GET(CAST(tcp_sock, sk), dsack_dups) == l->samples.dsacks)
		flight_was_loss(l, l->samples.resent);
	l->samples.resent = 0;
}

static __always_inline bool was_sent_again(const struct endpoint *ep)
{
	__u64 sk = ep->id.key;
	__u32 all = GET(CAST(tcp_sock___sampled, sk), total_retrans);

	return all - ep->tx.samples.then.retransmits > ep->retransmits;
}

/*
 * Lost data seems to be in flight until a timer or the peer shows the loss. All the time in which
 * none of it was acknowledged is moved to `recovery` then. The samples that found `flight` stay
 * counted as they are.
 */
static __always_inline void move_lost(struct endpoint *ep, const struct turned *t)
{
	struct ledger *l = &ep->tx;
	struct tcp_sock *tp = CAST(tcp_sock, ep->id.key);
	__u32 una = GET(tp, snd_una);
	bool same = l->samples.una == una;
	ns_t flew = l->samples.flew;

	if (same && t->from == TX_FLIGHT)
		flew += t->gap / 2;
	if (t->to != TX_RECOVERY && was_sent_again(ep)) {
		l->samples.resent += flew;
		flew = 0;
	} else if (!l->samples.resent) {
		l->samples.dsacks = GET(tp, dsack_dups);
	}
	if (!same) {
		if (l->samples.resent)
			resent_answered(l, ep->id.key);
		flew = 0;
	}
	if (t->to == TX_FLIGHT)
		flew += t->gap - t->gap / 2;
	if (t->to == TX_RECOVERY) {
		flight_was_loss(l, flew + l->samples.resent);
		l->samples.resent = flew = 0;
	}
	l->samples.flew = flew;
	l->samples.una = una;
}

static __always_inline void sample_is_tcps(struct endpoint *ep, const struct turned *t)
{
	__u64 sk = ep->id.key;

	move_lost(ep, t);
	ep->retransmits =
		GET(CAST(tcp_sock___sampled, sk), total_retrans) - ep->tx.samples.then.retransmits;
}

static __always_inline void count_gap(struct samples *l, ns_t gap)
{
	__u64 units = gap >> GAP_SHIFT;

	units = units < GAP_MOST ? units : GAP_MOST;
	l->cubes += (units * units * units + (1 << (CUBE_SHIFT - 1))) >> CUBE_SHIFT;
}

static __always_inline void count_facts(struct samples *l, __u32 facts)
{
	for (int i = 0; i < SAMPLE_FACTS_N; i++)
		l->fact[i] += facts >> i & 1;
}

SUBPROG int book_found(struct endpoint *ep, struct found *f)
{
	struct turned t = {};
	__u32 before;

	if (!ep || !f)
		return 0;
	if (ep->id.proto == PROTO_UDP || counts_are_to_begin(ep))
		counts_now(ep);
	note_changes(ep, f->at);
	before = ep->tx.samples.blamed;
	ep->refused = 0;
	if (tx_is_stall(WORD_STATE(f->tx, DIR_TX)))
		found_blame(ep, f);
	if (book_sample(&ep->tx, f->tx, f->at, DIR_TX, &t)) {
		count_gap(&ep->tx.samples, t.gap);
		count_facts(&ep->tx.samples, f->facts);
		if (ep->id.proto == PROTO_TCP)
			sample_is_tcps(ep, &t);
		ep->tx.samples.blamed = f->blamed;
		book_stall(ep, t.from, before, t.gap / 2);
		book_stall(ep, t.to, f->blamed, t.gap - t.gap / 2);
		if (tx_is_stall(t.to))
			vote_stall(ep, t.to, f->blamed, t.gap);
	}
	book_sample(&ep->rx, f->rx, f->at, DIR_RX, &t);
	return 1;
}

static __always_inline void find(struct endpoint *ep, struct found *f)
{
	switch (ep->id.proto) {
	case PROTO_TCP:
		found_tcp(ep, f);
		break;
	case PROTO_PIPE:
		found_pipe(ep, f);
		break;
	default:
		found_socket(ep, f);
	}
}

/* An address is reused soon, and is then asked for once per endpoint: one sample is enough. */
#define APART_NS 100000

static __always_inline bool was_just_sampled(const struct endpoint *ep, ns_t at)
{
	return ep->tx.samples.n && at - ep->tx.seen < APART_NS;
}

/* `again`: samples only the endpoint of this serial, and adds what it finds to no sum. */
SUBPROG int sample_endpoint(__u64 key, __u64 again)
{
	struct endpoint *ep = endpoint_known(key);
	struct found f = {};

	if (!ep || !ep->tx.word || !ep->rx.word) /* being made */
		return 0;
	if (ep->closed) {
		if (ep->flags & EP_UNSENT)
			endpoint_evict(ep, key, ep->closed);
		return 0;
	}
	if (ended_unseen(ep) || (again && ep->id.serial != again))
		return 0;
	f.at = bpf_ktime_get_ns();
	if (!again && was_just_sampled(ep, f.at))
		return 0;
	find(ep, &f);
	if (!again)
		book_found(ep, &f);
	return FOUND | f.facts << FOUND_FACTS | WORD_STATE(f.rx, DIR_RX) << FOUND_RX |
	       WORD_STATE(f.tx, DIR_TX);
}

/* args: the number of keys. Replaces each key by what was found, and returns how many of the
 * endpoints were there. With 0: one more sample of a single endpoint (args: key, serial); returns
 * what it found. */
SEC("raw_tp/look")
int sample_endpoints(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 n = ctx->args[0], sampled = 0, found;

	if (!n)
		return sample_endpoint(ctx->args[1], ctx->args[2]);
	for (__u32 i = 0; i < SAMPLED_AT_ONCE; i++) {
		__u32 at = i; /* a copy: the verifier tracks no bound of a stack variable */
		__u64 *key = bpf_map_lookup_elem(&sample_keys, &at);

		if (!key || i >= n)
			break;
		found = sample_endpoint(*key, 0);
		*key = found;
		sampled += found / FOUND; /* a branch would double the verifier's paths each time */
	}
	count_more(COUNT_OBSERVED, sampled);
	return sampled;
}

/* For one key, before it is read: is it still there, and what has TCP counted? */
SEC("raw_tp/settle_sampled")
int settle_sampled(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 key = ctx->args[0];
	struct endpoint *ep;

	if (!settle_key(key))
		return 0;
	ep = endpoint_known(key);
	if (ep)
		counts_now(ep);
	return 1;
}

/* ---- what happens once to a connection ---- */

/* Names the process of a connection that lives between two samples: connect(), shutdown() and
 * close() set these states, in the process that calls them. */
static __always_inline void note_process(struct endpoint *ep)
{
	struct task_struct *me = (struct task_struct *)CURRENT();
	struct holder who = { .task = (__u64)me,
			      .cgroup = bpf_get_current_cgroup_id(),
			      .tgid = current_tgid(bpf_get_current_pid_tgid()) };

	if (calls_nothing(me)) /* a kernel worker closes what a task left */
		return;
	if (!ep->tx_calls.tgid)
		note_holder(&ep->tx_calls, &who);
	if (!ep->rx_calls.tgid)
		note_holder(&ep->rx_calls, &who);
}

/* Both ends have closed it, and TCP's counts stay what they are. */
static __always_inline bool ends_in_order(int old)
{
	return old == TCP_LAST_ACK || old == TCP_FIN_WAIT2 || old == TCP_CLOSING;
}

SEC("raw_tp/inet_sock_set_state")
int BPF_PROG(once_state, struct sock *sk, int old, int state)
{
	struct endpoint *ep;

	connection_turns(sk, old, state);
	if (state != TCP_SYN_SENT && state != TCP_FIN_WAIT1 && state != TCP_LAST_ACK &&
	    state != TCP_CLOSE && (state != TCP_ESTABLISHED || old != TCP_SYN_SENT))
		return 0;
	ep = endpoint_known((__u64)sk);
	if (!ep || ep->closed)
		return 0;
	if (state == TCP_ESTABLISHED) {
		ep->syn_retransmits = GET(CAST(tcp_sock___sampled, (__u64)sk), total_retrans);
		return 0;
	}
	if (state != TCP_CLOSE) {
		note_process(ep);
		return 0;
	}
	note_reset(ep, (__u64)sk);
	return ends_in_order(old) ? 0 : tcp_audit(ep, 0);
}

SEC("raw_tp/sched_process_exit")
int BPF_PROG(once_exit, struct task_struct *task)
{
	unfollow_exit(task);
	return 0;
}

SEC("raw_tp/tcp_destroy_sock")
int BPF_PROG(once_gone, struct sock *sk)
{
	struct endpoint *ep = endpoint_known((__u64)sk);
	struct turned no_sample = {};

	if (!ep || ep->closed)
		return 0;
	move_lost(ep, &no_sample); /* for what was acknowledged since the last sample */
	counts_now(ep);
	endpoint_close(ep, bpf_ktime_get_ns());
	return 0;
}

#endif
