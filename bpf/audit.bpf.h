/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks that the observed calls account for all bytes of a TCP socket. The socket counts bytes
 * that no hook sees: splice() out of it, or a call whose end was missed. If the observed bytes fall
 * short, the socket's count replaces them, and the number of calls is unknown. This never runs on
 * the message path.
 */
#ifndef IPCSTALL_AUDIT_BPF_H
#define IPCSTALL_AUDIT_BPF_H

#include "apply.bpf.h"

/* tcp_snd_una_update() counts acknowledged bytes; the others are between snd_una and write_seq */
static __always_inline __u64 tcp_put(struct tcp_sock *tp)
{
	__u64 acked = GET(tp, bytes_acked);

	return acked + (__u32)(GET(tp, write_seq) - GET(tp, snd_una));
}

/* tcp_rcv_nxt_update() counts the bytes that arrived in order; those that nobody has read yet are
 * between copied_seq and rcv_nxt */
static __always_inline __u64 tcp_taken(struct tcp_sock *tp)
{
	__u64 received = GET(tp, bytes_received);

	return received - (__u32)(GET(tp, rcv_nxt) - GET(tp, copied_seq));
}

/* It is unknown how many bytes one call moved, and so how many all calls moved. */
static __always_inline void end_missed(struct endpoint *ep, enum dir dir)
{
	ep->flags |= EP_MISSED << (dir & 1);
}

/* A new endpoint counts from now on. */
static __always_inline void audit_begins(struct endpoint *ep, __u64 sk)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);

	ep->through[DIR_TX] = tcp_put(tp);
	ep->through[DIR_RX] = tcp_taken(tp);
	ep->dsacks_then = GET(tp, dsack_dups);
	ep->announced = GET(tp, rcv_nxt);
	ep->path.lost_then = GET(tp, lost);
	ep->path.segs_then = GET(tp, data_segs_out);
	ep->hole.ooo_then = GET(tp, rcv_ooopack);
}

/*
 * `final`: no call can be under way any more. A call under way has moved bytes that are only
 * counted when it ends. tcp_disconnect() resets TCP's counts: they are then below those of the
 * calls, which proves nothing.
 */
static __always_inline void audit_side(struct endpoint *ep, enum dir dir, const struct ledger *l,
				       const struct call_stats *b, __u64 through, bool final)
{
	__u64 seen = b->own.bytes + b->crowd.bytes;
	__u64 moved = through - ep->through[dir & 1];
	__s64 astray = moved - seen;

	if (astray <= SYN_AND_FIN) {
		ep->astray[dir & 1] = 0;
		return;
	}
	ep->moved[dir & 1] = moved;
#ifdef SAMPLED /* no call is seen: only TCP counts */
	return;
#endif
	if (!final && word_working(l->word))
		return;
	if (!final && ++ep->astray[dir & 1] < AUDIT_LOOKS)
		return;
	end_missed(ep, dir);
	if (astray > (__s64)seen)
		ep->flags |= EP_UNSEEN << (dir & 1);
}

static __always_inline void moved_by_others(struct endpoint *ep, struct tcp_sock *tp)
{
	ep->moved[DIR_TX] = tcp_put(tp) - ep->through[DIR_TX];
	ep->moved[DIR_RX] = tcp_taken(tp) - ep->through[DIR_RX];
}

/* TLS has taken the socket over: its readers call tls_sw_recvmsg(), which no hook sees but the raw
 * tracepoint at the end of every receive call. */
static __always_inline void upper_reads(struct endpoint *ep, __u64 sk)
{
#ifdef SAMPLED
	moved_by_others(ep, CAST(tcp_sock, sk));
#elif !defined(ENDS_UNSEEN)
	ep->moved[DIR_RX] = tcp_taken(CAST(tcp_sock, sk)) - ep->through[DIR_RX];
	end_missed(ep, DIR_RX);
	ep->flags |= EP_UNSEEN << DIR_RX;
	ep->upper = UPPER_TLS;
#endif
}

static __always_inline void calls_unseen(struct endpoint *ep, enum upper by)
{
	ep->flags |= EP_UNSEEN << DIR_TX | EP_UNSEEN << DIR_RX;
	ep->upper = by;
}

/* A subflow of MPTCP: its calls and buffers are those of another socket, so nothing that depends on
 * a call is known. */
static __always_inline bool is_subflow(__u64 ulp)
{
	__u32 name = 0, mptcp = 'm' | 'p' << 8 | 't' << 16 | 'c' << 24;

	bpf_probe_read_kernel(&name, sizeof(name),
			      (void *)(ulp + bpf_core_field_offset(struct tcp_ulp_ops, name)));
	return name == mptcp;
}

static __always_inline void note_subflow(__u64 sk)
{
	__u64 ulp = ADDRESS(sk, inet_connection_sock, icsk_ulp_ops);
	struct endpoint *ep = ulp ? endpoint_known(sk) : 0;

	if (!ep || !is_subflow(ulp))
		return;
	ep->flags |= EP_MISSED << DIR_TX | EP_MISSED << DIR_RX;
	calls_unseen(ep, UPPER_MPTCP);
}

#define SK_USER_DATA_PSOCK 4 /* in the pointer's low bits, from 6.0 on */

/* The socket is in a sockmap: a BPF program may redirect its data, which no call moves and TCP does
 * not count (sk_psock_init()). */
static __always_inline bool is_in_sockmap(__u64 sk)
{
	return ADDRESS(sk, sock, sk_user_data) & SK_USER_DATA_PSOCK;
}

/* SMC did its handshake over this connection, and no descriptor leads to it: its data goes by
 * shared memory (smc_connect_rdma()). */
static __always_inline bool carries_smc(__u64 sk)
{
	struct tcp_sock___smc *tp = CAST(tcp_sock___smc, sk);
	__u64 socket = ADDRESS(sk, sock, sk_socket);

	return bpf_core_field_exists(tp->syn_smc) && GET_BITS(tp, syn_smc) && socket &&
	       !ADDRESS(socket, socket, file);
}

static __always_inline void note_bypass(struct endpoint *ep, __u64 sk)
{
	if (is_in_sockmap(sk))
		calls_unseen(ep, UPPER_SOCKMAP);
	else if (carries_smc(sk))
		calls_unseen(ep, UPPER_SMC);
}

static __always_inline void note_congestion_control(struct path *p, __u64 ops)
{
	__u64 name = ops + bpf_core_field_offset(struct tcp_congestion_ops, name);

	if (ops)
		bpf_probe_read_kernel(p->congestion_control, sizeof(p->congestion_control),
				      (void *)name);
}

/* what TCP knows of the path at this moment */
static __always_inline void note_path(struct endpoint *ep, __u64 sk)
{
	struct tcp_sock *tp = CAST(tcp_sock, sk);
	struct path *p = &ep->path;

	p->rate_delivered = GET(tp, rate_delivered);
	p->rate_interval_us = GET(tp, rate_interval_us);
	p->app_limited = GET_BITS(tp, rate_app_limited);
	p->mss = GET(tp, mss_cache);
	p->cwnd = GET(tp, snd_cwnd);
	p->ssthresh = GET(tp, snd_ssthresh);
	p->rcv_wnd = GET(tp, rcv_wnd);
	p->lost = GET(tp, lost) - p->lost_then;
	p->segs_out = GET(tp, data_segs_out) - p->segs_then;
	p->ooo = GET(tp, rcv_ooopack) - ep->hole.ooo_then;
	p->pacing_rate = GET(CAST(sock, sk), sk_pacing_rate);
	p->max_pacing_rate = GET(CAST(sock, sk), sk_max_pacing_rate);
	note_congestion_control(p, ADDRESS(sk, inet_connection_sock, icsk_ca_ops));
}

/*
 * The bytes of an upper protocol (TLS) are moved by its calls, not by TCP's. tcp_disconnect(),
 * after a refused connect() or for a close() that resets, clears TCP's counts and the remote port:
 * the values noted at TCP_CLOSE stay.
 */
SUBPROG int tcp_audit(struct endpoint *ep, __u32 final)
{
	struct tcp_sock *tp;
	__u64 sk;

	if (!ep || ep->id.proto != PROTO_TCP)
		return 0;
	sk = ep->id.key;
	if (!GET(CAST(sock, sk), __sk_common.skc_dport))
		return 0;
	ep->rtt_us = GET(CAST(tcp_sock, sk), srtt_us) >> 3;
	ep->min_rtt_us = GET(CAST(tcp_sock___least, sk), rtt_min.s[0].v);
	note_path(ep, sk);
	if (ADDRESS(sk, inet_connection_sock, icsk_ulp_ops)) {
		note_subflow(sk);
		if (ep->upper == UPPER_MPTCP)
			moved_by_others(ep, CAST(tcp_sock, sk));
		else
			upper_reads(ep, sk);
		return 0;
	}
	note_bypass(ep, sk);
	tp = CAST(tcp_sock, sk);
	ep->dsacks = GET(tp, dsack_dups) - ep->dsacks_then;
	audit_side(ep, DIR_TX, &ep->tx, &ep->tx_calls, tcp_put(tp), final);
	audit_side(ep, DIR_RX, &ep->rx, &ep->rx_calls, tcp_taken(tp), final);
	return 0;
}

#endif
