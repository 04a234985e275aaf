/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP: from a socket's fields to an input. The decisions are tcp_head()'s, in step.h; this file
 * only reads. */
#ifndef IPCSTALL_TCP_BPF_H
#define IPCSTALL_TCP_BPF_H

#include "refused.bpf.h"

#define SK_PACING_NEEDED	1
#define SK_PACING_FQ		2
#define TSQ_THROTTLED		1 /* bit 0 of sk_tsq_flags */
#define ICSK_TIME_RETRANS	1
#define ICSK_TIME_LOSS_PROBE	5
#define ICSK_ACK_TIMER		2
#define RCV_SHUTDOWN		1
#define TCP_ESTABLISHED		1
#define TCP_CLOSE		7

/* Nothing was acknowledged since the retransmission timer fired. A stack frame of its own: a look's
 * has no room left. */
SUBPROG int timer_unanswered(__u64 sk)
{
	return GET(CAST(inet_connection_sock, sk), icsk_retransmits) > 0;
}

/* if nothing is unsent, the head needs no more than these */
static __always_inline void snap_sent(struct tcp_snap *s, struct tcp_sock *tp)
{
	s->packets_out = GET(tp, packets_out);
	if (!s->packets_out)
		return;
	s->lost_out = GET(tp, lost_out);
	s->retrans_out = GET(tp, retrans_out);
}

/* tcp_disconnect() moves write_seq on, and only that */
static __always_inline void snap_unsent(struct tcp_snap *s, struct sock *sk, struct tcp_sock *tp)
{
	s->write_seq = GET(tp, write_seq);
	s->snd_nxt = GET(tp, snd_nxt);
	if (tcp_unsent(s) && GET(sk, __sk_common.skc_state) == TCP_CLOSE)
		s->snd_nxt = s->write_seq;
}

/*
 * __tcp_transmit_skb() stamps a segment before it hands it down. If this host refuses the segment
 * (a full qdisc, no route), it stays at the head with that stamp until a timer tries again. A
 * segment stamped since the last look may be on its way down at this moment.
 */
static __always_inline bool was_refused(const struct sk_buff *head, ns_t since)
{
	ns_t stamp = GET(head, tstamp);

	return stamp && stamp < since;
}

/* `since`: a pacing deadline after it held the queue in the interval that is looked at */
static __always_inline void snap_queued(struct tcp_snap *s, struct sock *sk, struct tcp_sock *tp,
					ns_t since)
{
	struct sk_buff *head = CAST(sk_buff, GET(sk, sk_write_queue.next));

	s->snd_una = GET(tp, snd_una);
	s->snd_wnd = GET(tp, snd_wnd);
	s->snd_sml = GET(tp, snd_sml);
	s->snd_cwnd = GET(tp, snd_cwnd);
	s->mss = GET(tp, mss_cache);
	s->sacked_out = GET(tp, sacked_out);
	s->nonagle = GET_BITS(tp, nonagle);
	s->head_len = GET(head, len);
	s->paced = GET(sk, sk_pacing_status) == SK_PACING_NEEDED && GET(tp, tcp_wstamp_ns) > since;
	s->refused = was_refused(head, since);
}

#define ZERO_WINDOW 1

/* `zero`: something is queued, and there is no window for it */
static __always_inline void note_window(struct endpoint *ep, __u32 zero)
{
	if (zero == (ep->episode & ZERO_WINDOW))
		return;
	if (zero)
		atomic_add(&ep->zero_windows, 1);
	ep->episode ^= ZERO_WINDOW;
}

/* From `at` on the state is in another part, or in none; the part before is charged until then. */
static __always_inline void part_turns(struct endpoint *ep, ns_t at, __u64 part)
{
	struct parts *p = &ep->parts;
	__u64 was = ep->episode >> 1;

	BOUND(was, 7);
	BOUND(part, 7);
	if (was == part || was >= SLICE_N || part >= SLICE_N)
		return;
	if (was && at > p->since)
		atomic_add(&p->ns[was], at - p->since);
	if (part)
		atomic_add(&p->n[part], 1);
	p->since = at;
	ep->episode = (ep->episode & ZERO_WINDOW) | part << 1;
}

/* The effect of an event shows at the next look. A segment of the peer that acknowledges nothing,
 * and our ACK of it, change nothing here. */
static __always_inline void note_flying(struct endpoint *ep, const struct tcp_snap *s)
{
	if (s->packets_out == ep->flying)
		return;
	ep->flying = s->packets_out;
	ep->flown = ep->tx.seen;
}

/* for the proof that a stall's record carries */
static __always_inline void note_held(struct endpoint *ep, const struct tcp_snap *s, __u32 head)
{
	struct held *h = &ep->held;

	h->queued = tcp_unsent(s);
	h->unacked = s->snd_nxt - s->snd_una;
	h->small = tcp_small_out(s) ? s->snd_sml - s->snd_una : 0;
	h->mss = s->mss;
	h->cwnd = s->snd_cwnd;
	h->in_flight = tcp_in_flight(s);
	h->window = s->snd_wnd;
	h->nonagle = s->nonagle;
	h->head = head;
}

/* What holds the queue. `rest`: the reason if none of tcp_write_xmit()'s tests holds it; HEAD_REST:
 * leave the facet as it was. */
static __always_inline __u32 tcp_held(struct endpoint *ep, struct tcp_snap *s, __u32 rest)
{
	__u32 head = tcp_head(s);

	if (head == HEAD_REST)
		head = tcp_unsent(s) < s->mss ? rest : HEAD_NONE;
	if (opt.stall_threshold && head && head != HEAD_REST)
		note_held(ep, s, head);
	return head;
}

/*
 * Before the handshake is over, and once either end has closed its half, segments go through
 * tcp_rcv_state_process(): no tracepoint reports an ACK then, and the first effect of an ACK that
 * is seen is the segment that it let go.
 */
static __always_inline bool half_closed(struct sock *sk)
{
	return GET(sk, __sk_common.skc_state) != TCP_ESTABLISHED;
}

static __always_inline __u32 held_before(struct tcp_sock *tp, __u32 head)
{
	return tcp_held_before(head, GET_BITS(tp, chrono_type), GET_BITS(tp, is_cwnd_limited));
}

static __always_inline bool fin_alone(const struct tcp_snap *s, struct sock *sk,
				      struct tcp_sock *tp)
{
	return half_closed(sk) && tcp_fin_alone(s, GET_BITS(tp, chrono_type));
}

/* if nothing is unsent */
static __always_inline void facets_sent(struct endpoint *ep, struct input *in,
					const struct tcp_snap *s)
{
	in->head = tcp_all_sent(s);
	in->says |= IN_FULL | IN_DEVICE | IN_HEAD;
	in->full = positive(s->packets_out);
}

/* Nothing is queued and nothing is lost, as after nearly every event of a conversation: all data in
 * flight will be acknowledged. */
static __always_inline bool tcp_at_ease(__u64 sk)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);

	return GET(tp, write_seq) == GET(tp, snd_nxt) && !GET(tp, lost_out);
}

/*
 * The bytes below are still in the queueing discipline fq. It paces for TCP, which sets the time
 * (tcp_wstamp_ns) and sends a millisecond's worth ahead. In the ledger that is `pacing`, as where
 * TCP paces by itself.
 */
static __always_inline bool is_paced_by(struct sock *sk, struct tcp_sock *tp, __u32 status,
					ns_t since)
{
	return GET(sk, sk_pacing_status) == status && GET(tp, tcp_wstamp_ns) > since;
}

/* More is queued than TCP leaves below; no rule holds a partial segment then. */
static __always_inline __u32 throttled_part(struct sock *sk, struct tcp_sock *tp)
{
	__s32 unsent = GET(tp, write_seq) - GET(tp, snd_nxt);

	if (unsent <= 0 || !(GET(sk, sk_tsq_flags) & TSQ_THROTTLED))
		return SLICE_NONE;
	if (unsent >= (__s32)GET(tp, mss_cache))
		return SLICE_TSQ;
	return GET_BITS(tp, nonagle) & 2 ? SLICE_NONE : SLICE_AUTOCORK;
}

static __always_inline __u32 part_of(__u64 sk0, ns_t at, __u32 device, __u32 head)
{
	struct sock *sk = CAST(sock, sk0);
	struct tcp_sock *tp = CAST(tcp_sock, sk0);

	if (device && is_paced_by(sk, tp, SK_PACING_FQ, at))
		return SLICE_FQ;
	if (device)
		return !head || head == HEAD_CORK || head == HEAD_REST ? throttled_part(sk, tp)
								       : SLICE_NONE;
	return head == HEAD_PACING && !is_paced_by(sk, tp, SK_PACING_NEEDED, at) ? SLICE_DEFERRED
										 : SLICE_NONE;
}

/* Seldom called: bytes are below, or the queue is paced, or was. Notes which part of its state that
 * is. Returns 1 for fq: the state is `pacing`. */
SUBPROG int note_part(struct endpoint *ep, __u64 sk, ns_t at, __u32 device, __u32 head)
{
	__u32 part;

	if (!ep)
		return 0;
	part = part_of(sk, at, device, head);
	part_turns(ep, at, part);
	return part == SLICE_FQ;
}

static __always_inline void held_by_fq(struct input *in)
{
	in->device = 0;
	in->head = HEAD_PACING;
	in->says |= IN_HEAD;
	in->full = 1;
}

/* the last look was at a segment that went out, and none at an ACK since */
static __always_inline bool saw_segment(const struct endpoint *ep)
{
	return ep->went_out == (__u32)ep->tx.seen;
}

static __always_inline bool was_paced(const struct endpoint *ep)
{
	return tcp_was_paced(word_head(ep->tx.word), saw_segment(ep));
}

static __always_inline void tcp_facets(struct endpoint *ep, __u64 sk0, struct input *in, __u32 rest,
				       __u32 own)
{
	struct tcp_snap s = {};
	struct sock *sk = CAST(sock, sk0);
	struct tcp_sock *tp = CAST(tcp_sock, sk0);

	snap_unsent(&s, sk, tp);
	if (own && fin_alone(&s, sk, tp))
		s.snd_nxt = s.write_seq;
	snap_sent(&s, tp);
	if (s.lost_out) /* tcp_enter_loss() has marked all that was out */
		s.timed_out = timer_unanswered(sk0);
	s.wmem = GET(sk, sk_wmem_alloc.refs.counter);
	if (tcp_unsent(&s)) {
		snap_queued(&s, sk, tp, in->at);
		if (own && !was_paced(ep))
			s.paced = 0;
		if (own && saw_segment(ep)) /* the rest of the head, which is being cut up */
			s.refused = 0;
		in->head = tcp_held(ep, &s, rest);
		if (own && half_closed(sk))
			in->head = held_before(tp, in->head);
		in->says |= IN_FULL | IN_DEVICE | (in->head == HEAD_REST ? 0 : IN_HEAD);
		in->full = tcp_outstanding(&s);
		note_window(ep, !s.snd_wnd);
	} else {
		facets_sent(ep, in, &s);
		note_window(ep, 0);
	}
	in->device = below(s.wmem, own, !own || tx_device(ep));
	note_flying(ep, &s);
}

/* The same by a real call, for a caller that has more to do: its variables leave the stack, of
 * which a program has 512 bytes. */
SUBPROG int tcp_facets_alone(struct endpoint *ep, __u64 sk, struct input *in, __u32 rest, __u32 own)
{
	if (ep && in)
		tcp_facets(ep, sk, in, rest, own);
	return 0;
}

SUBPROG int tcp_part(struct endpoint *ep, __u64 sk, struct input *in)
{
	if (!ep || !in || (!in->device && in->head != HEAD_PACING && !ep->episode))
		return 0;
	if (ep->episode && tcp_at_ease(sk))
		note_window(ep, 0);
	if (note_part(ep, sk, in->at, in->device, in->head))
		held_by_fq(in);
	return 1;
}

static __always_inline void tcp_facets_of(struct endpoint *ep, __u64 sk, struct input *in,
					  __u32 rest, __u32 own)
{
	tcp_facets_alone(ep, sk, in, rest, own);
	tcp_part(ep, sk, in);
}

/* More is queued than the segment that goes out just now, which is not counted as sent yet. Its
 * headers are small beside what a stall holds. */
static __always_inline bool tcp_more_queued(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);

	return (__s32)(GET(tp, write_seq) - GET(tp, snd_nxt)) > (__s32)GET(CAST(sk_buff, skb), len);
}

/*
 * tcp_facets() of a socket at ease. Nothing here may take the address of `in`: in memory instead of
 * registers it cost 200 instructions for each 64 B message (fentry, 6.12).
 */
static __always_inline void tcp_facets_at_ease_alone(struct endpoint *ep, __u64 sk,
						     struct input *in)
{
	struct tcp_snap s = { .packets_out = GET(CAST(tcp_sock, sk), packets_out) };

	facets_sent(ep, in, &s);
	in->device = below(GET(CAST(sock, sk), sk_wmem_alloc.refs.counter), 0, 1);
	note_flying(ep, &s);
}

static __always_inline void tcp_facets_at_ease(struct endpoint *ep, __u64 sk, struct input *in)
{
	tcp_facets_at_ease_alone(ep, sk, in);
	if (!(in->device | ep->episode))
		return;
	note_window(ep, 0);
	if (note_part(ep, sk, in->at, in->device, HEAD_NONE))
		held_by_fq(in);
}

static __always_inline bool tx_working(const struct endpoint *ep)
{
	return *(const volatile word_t *)&ep->tx.word >> AWAKE_SHIFT & 1;
}

/* when the present state began */
static __always_inline ns_t tx_since(const struct endpoint *ep)
{
	return word_began(ep->tx.word, ep->tx.seen);
}

static __always_inline __u32 tx_now(const struct endpoint *ep)
{
	return WORD_STATE(*(const volatile word_t *)&ep->tx.word, DIR_TX);
}

static __always_inline bool tx_resting(const struct endpoint *ep)
{
	return tx_now(ep) == TX_IDLE;
}

/* more than the FIN that close() has just queued */
static __always_inline bool tcp_drains(__u64 sk)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);

	return (__s32)(GET(tp, write_seq) - GET(tp, snd_nxt)) > 1 && half_closed(CAST(sock, sk));
}

#ifdef LOOKS_BACK /* with every message, where no tracepoint reports that a send call has begun \
		     (before 6.16); elsewhere there is no room */
#define FLIGHT_LANDS apply_tx_in_place
#else
#define FLIGHT_LANDS apply_tx_slow
#endif

/*
 * All data in flight was acknowledged by the event of the last look, which looked before its
 * effects: a new segment goes out with no other outstanding (tcp_write_xmit() counts it after).
 * Nothing was queued then, or the state would not be `flight`. If the last look was at a segment
 * too, the present one may be the rest of it, cut up on its way down (validate_xmit_skb()) and not
 * counted yet either.
 */
SUBPROG int flight_landed(struct endpoint *ep, __u64 sk)
{
	struct input in = { .says = IN_FULL };

	if (!ep || saw_segment(ep) || tcp_drains(sk))
		return 0;
	in.at = ep->tx.seen;
	if (!GET(CAST(tcp_sock, sk), packets_out))
		FLIGHT_LANDS(ep, &in);
	return 0;
}

/* the queue was held at the last look and is gone now: all of it was sent */
static __always_inline bool tcp_queue_left(const struct endpoint *ep, const struct input *in,
					   struct tcp_sock *tp)
{
	return word_head(ep->tx.word) >= HEAD_CORK && in->says & IN_HEAD && in->head < HEAD_CORK &&
	       GET(tp, write_seq) == GET(tp, snd_nxt);
}

/* the bytes below the protocol at the last look are not there any more */
SUBPROG int device_left(struct endpoint *ep)
{
	struct input in = { .says = IN_DEVICE };

	if (!ep)
		return 0;
	in.at = ep->tx.seen;
	return apply_tx_slow(ep, &in);
}

/* see tcp_left_at(); 0: no segment went out since the last look */
static __always_inline ns_t queue_left_at(struct endpoint *ep, struct sock *sk, ns_t at, ns_t now)
{
	struct tcp_dates d = { .seen = ep->tx.seen, .now = now };

	if (GET(sk, sk_pacing_status)) {
		d.since = tx_since(ep);
		return tcp_left_paced(&d, at);
	}
	d.stamp = GET(CAST(tcp_sock, sk), tcp_wstamp_ns);
	return tcp_left_at(&d);
}

/* returns 1 if the state before was `device`, which ended with the last look */
SUBPROG int queue_left_late(struct endpoint *ep, struct input *in, __u64 sk0, ns_t now)
{
	struct sock *sk = CAST(sock, sk0);
	ns_t at;

	if (!ep || !in)
		return 0;
	at = queue_left_at(ep, sk, in->at, now);
	if (!at)
		return 0;
	in->at = at;
	return tx_device(ep) && !in->device && !GET(sk, sk_pacing_status);
}

/*
 * The deadline of internal pacing passed after the last look, and the queue is still there:
 * something else has held it since, or a segment would have gone out then and been looked at.
 */
SUBPROG int pacing_passed(struct endpoint *ep, struct input *in, __u64 sk, ns_t now)
{
	ns_t until = GET(CAST(tcp_sock, sk), tcp_wstamp_ns);

	if (!ep || !in || !tcp_pacing_passed(until, in->at, now))
		return 0;
	apply_tx_slow(ep, in);
	in->at = now;
	tcp_facets_of(ep, sk, in, HEAD_REST, 0);
	in->at = until;
	return 1;
}

/* see tcp_window_shut_since() */
SUBPROG int window_shut(struct endpoint *ep, struct input *in, __u64 sk, ns_t now)
{
	__u32 ticks = (__u32)bpf_jiffies64() - GET(CAST(tcp_sock, sk), chrono_start);
	ns_t since;

	if (!ep || !in || !half_closed(CAST(sock, sk)))
		return 0;
	since = tcp_window_shut_since(in->at, now, ticks, opt.tick);
	if (!since)
		return 0;
	in->head =
		GET(CAST(sock, sk), sk_pacing_status) == SK_PACING_NEEDED ? HEAD_PACING : HEAD_NONE;
	apply_tx_slow(ep, in);
	in->head = HEAD_RWND;
	in->at = since;
	return 1;
}

#ifdef LOOKS_BACK /* at every segment; elsewhere the stack has no room for the fast step, nor here \
		     where it is not needed (TX_LOOKS) */
#define TX_LOOKED_BACK apply_tx_settled_slow
#define TX_LOOKS_BACK  apply_tx_settled_fast
#define TX_LOOKS       apply_tx_slow
#else
#define TX_LOOKED_BACK apply_tx_slow
#define TX_LOOKS_BACK  apply_tx_slow
#define TX_LOOKS       apply_tx_in_place
#endif

/*
 * An event whose effects have not happened yet: what the fields say has held since the last look.
 * While a thread runs the send path they say nothing, and the state is `work` in any case. `own`:
 * see below(); a segment that goes out of an idle socket (a FIN, for example) was queued at this
 * moment.
 */
SUBPROG int tcp_look_back_slow(struct endpoint *ep, __u64 sk, ns_t now, __u32 own)
{
	struct input in = {};

	if (!ep)
		return 0;
	refused_look(ep, ep->tx.seen);
	if (own && tx_now(ep) == TX_FLIGHT)
		flight_landed(ep, sk);
	if (!tx_working(ep) && !(own && tx_resting(ep))) {
		in.at = ep->tx.seen;
		if (!own && tcp_at_ease(sk))
			tcp_facets_at_ease_alone(ep, sk, &in);
		else
			tcp_facets_alone(ep, sk, &in, HEAD_REST, own);
		if (in.device || in.head == HEAD_PACING || ep->episode)
			tcp_part(ep, sk, &in);
		if (in.head == HEAD_PACING && !own)
			pacing_passed(ep, &in, sk, now);
		if (in.head == HEAD_RWND && own)
			window_shut(ep, &in, sk, now);
		if (tcp_queue_left(ep, &in, CAST(tcp_sock, sk)) &&
		    queue_left_late(ep, &in, sk, now))
			device_left(ep);
		if (apply_facets(ep->tx.word, &in) != ep->tx.word)
			TX_LOOKED_BACK(ep, &in);
	}
	ep->tx.seen = now;
	count(COUNT_OBSERVED);
	return 0;
}

/* the same without a call, if nothing is or was queued, no thread sends and no writer was refused:
 * as before most events */
QUICK int tcp_look_back_fast(struct endpoint *ep, __u64 sk, ns_t now)
{
	struct input in = {};

	if (!ep || ep->refused || tx_working(ep) || word_head(ep->tx.word) >= HEAD_CORK ||
	    !tcp_at_ease(sk))
		return tcp_look_back_slow(ep, sk, now, 0);
	in.at = ep->tx.seen;
	tcp_facets_at_ease(ep, sk, &in);
	if (in.head == HEAD_PACING) /* by fq: until when? */
		return tcp_look_back_slow(ep, sk, now, 0);
	if (apply_facets(ep->tx.word, &in) != ep->tx.word)
		TX_LOOKS_BACK(ep, &in);
	ep->tx.seen = now;
	count(COUNT_OBSERVED);
	return 0;
}

static __always_inline int tcp_ends(struct endpoint *ep, struct input *in)
{
	ep->tx.seen = in->at;
	return apply_tx_fast(ep, in);
}

/* After the effects: what the fields say holds from now on. A send call ends, and its data may
 * still be queued. */
SUBPROG int tcp_tx_ends(struct endpoint *ep, __u64 sk, ns_t at, __u32 bytes)
{
	struct input in = { .at = at, .working = -1, .bytes = bytes };

	if (!ep)
		return 0;
	tcp_facets_of(ep, sk, &in, HEAD_CORK, 0);
	return tcp_ends(ep, &in);
}

/* the same, if nothing is queued, as mostly */
QUICK int tcp_tx_ended(struct endpoint *ep, __u64 sk, ns_t at, __u32 bytes)
{
	struct input in = { .at = at, .working = -1, .bytes = bytes };

	if (!ep || !tcp_at_ease(sk))
		return tcp_tx_ends(ep, sk, at, bytes);
	tcp_facets_at_ease(ep, sk, &in);
	return tcp_ends(ep, &in);
}

static __always_inline int tcp_looks(struct endpoint *ep, struct input *in)
{
	ep->tx.seen = in->at;
	return apply_facets(ep->tx.word, in) != ep->tx.word ? apply_tx_fast(ep, in) : 0;
}

SUBPROG int tcp_tx_looks_queued(struct endpoint *ep, __u64 sk, ns_t at)
{
	struct input in = { .at = at };

	if (!ep)
		return 0;
	tcp_facets_of(ep, sk, &in, HEAD_REST, 0);
	ep->tx.seen = at;
	return apply_facets(ep->tx.word, &in) != ep->tx.word ? TX_LOOKS(ep, &in) : 0;
}

QUICK int tcp_tx_looks(struct endpoint *ep, __u64 sk, ns_t at)
{
	struct input in = { .at = at };

	if (!ep || !tcp_at_ease(sk))
		return tcp_tx_looks_queued(ep, sk, at);
	tcp_facets_at_ease(ep, sk, &in);
	return tcp_looks(ep, &in);
}

/* a send call whose beginning nobody saw */
static __always_inline void tcp_tx_moved(struct endpoint *ep, __u64 sk, struct input *in)
{
	if (tcp_at_ease(sk))
		tcp_facets_at_ease(ep, sk, in);
	else
		tcp_facets_of(ep, sk, in, HEAD_CORK, 0);
	apply_tx_settled_slow(ep, in);
	ep->tx.seen = in->at;
}

/* bytes that nobody has read; a FIN takes a sequence number too, but is no byte */
static __always_inline bool tcp_unread(struct sock *sk0)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk0);
	struct sock *sk = CAST(sock, sk0);
	__s32 n = GET(tp, rcv_nxt) - GET(tp, copied_seq);

	return n > 0 && n > (__s32)(GET_BITS(sk, sk_shutdown) & RCV_SHUTDOWN);
}

/* received data is not acknowledged: tcp_select_window() moves rcv_wup on with each segment sent */
static __always_inline bool tcp_owes_ack(struct sock *sk)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);

	return GET(tp, rcv_nxt) != GET(tp, rcv_wup);
}

/* any segment carries the ACK; true: one was owed */
static __always_inline bool ack_sent(struct endpoint *ep, ns_t now)
{
	ns_t owed = ep->ack_owed;

	if (!owed)
		return false;
	ep->ack_owed = 0;
	if (now > owed)
		atomic_add(&ep->ack_debt_ns, now - owed);
	return true;
}

/* Keeps two: a stall is reported at the event after the one that ended it, and by then the next ACK
 * may have gone out. */
static __always_inline void note_withheld(struct endpoint *ep, ns_t owed, ns_t now, enum delack how)
{
	ep->withheld[1] = ep->withheld[0];
	ep->withheld[0] = (struct withheld){ .owed = owed, .went = now, .how = how };
}

/* A segment of a send call carried the ACK: nothing else had made it go while the application had
 * nothing to send. */
static __always_inline void ack_rides(struct endpoint *ep, ns_t now)
{
	ns_t owed = ep->ack_owed;

	if (!ack_sent(ep, now))
		return;
	note_withheld(ep, owed, now, DELACK_RODE);
}

/* No answer comes before the path's minimum round-trip time, as measured; a quarter more is for its
 * queues, the rest for wake-ups at both ends. */
#define ANSWER_EARLY_NS 100000
#define ANSWER_LATE_NS	1000000

static __always_inline bool in_a_round_trip(ns_t ns, struct tcp_sock___least *tp)
{
	__u32 least_us = GET(tp, rtt_min.s[0].v); /* ~0: unknown */
	ns_t least = 1000ULL * least_us, early = least / 2;

	if (early > ANSWER_EARLY_NS)
		early = ANSWER_EARLY_NS;
	return least_us != ~0u && ns + least / 16 + early >= least &&
	       ns <= least + least / 4 + ANSWER_LATE_NS;
}

static __always_inline void spread_add(struct spread *s, ns_t ns)
{
	unsigned long long us = ns / 1000;

	atomic_add(&s->sum, us);
	atomic_add(&s->squares, us * us);
}

/*
 * The first data since the delayed-ACK timer fired, on an endpoint that has sent nothing meanwhile.
 * If the data comes a round trip after the ACK, its sender may have waited for that ACK: by Nagle's
 * rule, or with its buffer or window full. A sender with a rhythm of its own varies less from the
 * data before than from the timer, which fires at a tick of the clock: user space compares both.
 */
SUBPROG int timer_answered(struct endpoint *ep, __u64 sk, ns_t now)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);
	ns_t fired, owed;

	if (!ep)
		return 0;
	fired = ep->unanswered;
	owed = ep->unanswered_owed;
	ep->unanswered = 0;
	if (!fired || owed > fired || now < fired || GET(tp, snd_nxt) != ep->sent_then)
		return 0;
	if (!in_a_round_trip(now - fired, CAST(tcp_sock___least, sk)))
		return 0;
	atomic_add(&ep->answers.n, 1);
	atomic_add(&ep->answers.ns, fired - owed);
	spread_add(&ep->answers.since_fired, now - fired);
	spread_add(&ep->answers.since_owed, now - owed);
	return 1;
}

/* A peer that waits for the ACK sends nothing meanwhile, and what it sent is read. */
static __always_inline bool was_silent(const struct endpoint *ep, ns_t owed, ns_t now)
{
	return owed && now > owed && ep->rx.seen < owed + (now - owed) / 2;
}

static __always_inline void await_answer(struct endpoint *ep, ns_t owed, ns_t now)
{
	struct tcp_sock *tp = CAST(tcp_sock, ep->id.key);

	ep->unanswered = 0;
	if (!was_silent(ep, owed, now))
		return;
	ep->sent_then = GET(tp, snd_nxt);
	ep->got_then = GET(tp, rcv_nxt);
	ep->unanswered_owed = owed;
	asm volatile("" ::: "memory"); /* last: the timer runs without the socket's lock */
	ep->unanswered = now;
}

/* the delayed-ACK timer fired: the ACK that follows was withheld until now */
static __always_inline void ack_timer(struct endpoint *ep, ns_t now)
{
	ns_t owed = ep->ack_owed;

	await_answer(ep, owed, now);
	atomic_add(&ep->delack_fires, 1);
	note_withheld(ep, owed, now, DELACK_FIRED);
	note_mark(ep, MARK_DELACK, now, 0);
	if (owed && now > owed)
		atomic_add(&ep->delack_ns, now - owed);
}

/*
 * Data that seemed to be in flight, or held, had been lost since it last went out or was partly
 * acknowledged. While a connection is being made, no flight is known, and a date before the state's
 * beginning may be too far back for the word's clock.
 */
static __always_inline void tcp_lost(struct endpoint *ep, ns_t now)
{
	struct input in = { .at = tx_since(ep), .says = IN_HEAD | IN_FULL | IN_DEVICE,
		.head = HEAD_RECOVERY, .full = 1 };
	struct sock *sk = CAST(sock, ep->id.key);

	if (ep->flown > in.at)
		in.at = ep->flown;
	in.device = below(GET(sk, sk_wmem_alloc.refs.counter), 0, 1);
	apply_tx_slow(ep, &in);
	ep->tx.seen = now;
}

/*
 * A tail loss probe goes out when an acknowledgement is late or the data is lost
 * (tcp_send_loss_probe()): which of the two is known only when the probe is answered, or when the
 * retransmission timer fires after it.
 */
static __noinline int probe_goes_out(struct endpoint *ep, struct sock *sk, ns_t now)
{
	ns_t since = tx_since(ep);

	if (!ep || tx_now(ep) != TX_FLIGHT)
		return 0;
	ep->probe.since = ep->flown > since ? ep->flown : since;
	ep->probe.at = now;
	ep->probing = 1;
	ep->probe.high = 0;
	ep->probe.dsacks = GET(CAST(tcp_sock, sk), dsack_dups);
	ep->probe.retransmits = ep->retransmits;
	return 1;
}

static __always_inline void probe_over(struct endpoint *ep)
{
	ep->probe.at = 0;
	ep->probing = 0;
}

/* The data was lost, although that time is charged as `flight`. */
SUBPROG int probe_proves(struct endpoint *ep)
{
	__u64 slot;
	ns_t lost;

	if (!ep || ep->probe.at <= ep->probe.since)
		return 0;
	lost = ep->probe.at - ep->probe.since;
	slot = HIST_SLOT(lost);
	BOUND(slot, 31);
	if (slot >= HIST_SLOTS)
		return 0;
	atomic_add(&ep->tail_lost.ns, lost);
	atomic_add(&ep->tail_lost.hist[slot], 1);
	raise_max(&ep->tail_lost.max, lost);
	if (opt.timeline) {
		emit_event(ep, RECORD_STEP, ep->probe.since, 0,
			   EVENT_STEP(DIR_TX, TX_FLIGHT, TX_RECOVERY, 0));
		emit_event(ep, RECORD_STEP, ep->probe.at, lost,
			   EVENT_STEP(DIR_TX, TX_RECOVERY, TX_FLIGHT, 0));
	}
	probe_over(ep);
	return 1;
}

/*
 * As tcp_process_tlp_ack() decides: an ACK beyond the data that the probe repeated, without a DSACK
 * for the repetition, proves the loss. Until then tlp_high_seq is set; a probe with new data
 * repeats nothing.
 */
static __noinline int probe_answered(struct endpoint *ep, struct sock *sk0)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk0);
	__u32 high = GET(tp, tlp_high_seq);

	if (!ep)
		return 0;
	if (high) {
		ep->probe.high = high;
		return 0;
	}
	if (ep->probe.high && (__s32)(GET(tp, snd_una) - ep->probe.high) > 0 &&
	    GET(tp, dsack_dups) == ep->probe.dsacks && ep->retransmits > ep->probe.retransmits)
		return probe_proves(ep);
	probe_over(ep);
	return 0;
}

/* The time since when no ACK has come, no segment has gone out, and the timer has not fired. */
static __always_inline ns_t nothing_moved_since(const struct endpoint *ep, struct tcp_sock *tp,
						ns_t now)
{
	__u32 ticks = (__u32)bpf_jiffies64() - GET(tp, rcv_tstamp);
	ns_t ago = ticks * opt.tick, since = ago < now ? now - ago : 0;

	since = ep->born > since ? ep->born : since;
	since = ep->flown > since ? ep->flown : since;
	return ep->fired > since ? ep->fired : since;
}

static __always_inline void note_undelivered(struct endpoint *ep, ns_t now)
{
	struct tcp_sock *tp = CAST(tcp_sock, ep->id.key);
	ns_t since = nothing_moved_since(ep, tp, now);

	ep->flying = GET(tp, packets_out);
	if (tx_device(ep) && now > since)
		atomic_add(&ep->undelivered_ns, now - since);
	ep->fired = now;
}

/* The timer has fired before: the data that it waits for may still be on this host. */
SUBPROG int stays_undelivered(struct endpoint *ep, ns_t now)
{
	if (!ep || !ep->fired || ep->flown > ep->fired + RETRY_NS)
		return 0;
	note_undelivered(ep, now);
	return 1;
}

/* the retransmission timer fired */
static __always_inline void tcp_timeout(struct endpoint *ep, ns_t now)
{
	if (ep->probe.at)
		probe_proves(ep);
	tcp_lost(ep, now);
	note_undelivered(ep, now);
	atomic_add(&ep->timeouts, 1);
	note_mark(ep, MARK_TIMEOUT, now, 0);
	count(COUNT_OBSERVED);
}

#endif
