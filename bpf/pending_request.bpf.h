/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request that was sent over a TCP connection and is not answered yet, inferred from the socket's
 * own fields: no call on it need have been seen.
 */
#ifndef IPCSTALL_PENDING_REQUEST_BPF_H
#define IPCSTALL_PENDING_REQUEST_BPF_H

#include "filter.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_sock___dates {
	__u32 lsndtime, data_segs_in, data_segs_out, packets_out, rcv_nxt, rcv_wup, srtt_us;
	__u64 tcp_wstamp_ns;
	struct {
		__u64 mstamp;
	} rack;
};

struct inet_connection_sock___dates {
	struct {
		__u32 lrcvtime;
	} icsk_ack;
};

#pragma clang attribute pop

#ifndef READ_PROBED
CAST_ANEW(tcp_sock___dates)
CAST_ANEW(inet_connection_sock___dates)
#endif

/* an end that sends more segments than this for each that comes does not ask, but pushes */
#define SEGMENTS_A_REPLY 4
#define FIRST_REQUEST	 2 /* segments at most: more without any answer may not be a request */

/* Was the last segment that it sent data? If not, it was the ACK of what had come; an ACK that is
 * still owed will be the last. rack.mstamp dates the last data that was acknowledged, in us. */
static __always_inline bool sent_data_last(const struct tcp_sock___dates *tp)
{
	__u64 last = GET(tp, tcp_wstamp_ns), data = GET(tp, rack.mstamp) * 1000;

	if (GET(tp, packets_out))
		return true;
	return GET(tp, rcv_wup) == GET(tp, rcv_nxt) && last - data < 1000;
}

static __always_inline bool may_ask(__u32 asked, __u32 answered)
{
	return answered ? (__u64)answered * SEGMENTS_A_REPLY >= asked
			: asked && asked <= FIRST_REQUEST;
}

/* HTTP/2's window updates and replies to pings go out at once, or come a round trip later. */
#define AT_ONCE_NS 10000000

static __always_inline bool is_unprompted(__u32 ticks, __u32 answered, __u64 round_trip_ns)
{
	return !answered || ticks * opt.tick > AT_ONCE_NS + round_trip_ns;
}

static __always_inline __u32 answer_facts(bool owes, __u32 ticks, __u32 answered,
					  __u64 round_trip_ns)
{
	return 1u << (owes ? SAMPLE_OWES_ANSWER : SAMPLE_UNANSWERED) |
	       (__u32)is_unprompted(ticks, answered, round_trip_ns) << SAMPLE_UNPROMPTED;
}

/* Which end waits for the other, by the dates of the last data each way, in ticks; within one tick
 * it may have asked again at once. */
static __always_inline __u32 pending_request(__u64 sk)
{
	struct inet_connection_sock___dates *icsk = CAST(inet_connection_sock___dates, sk);
	struct tcp_sock___dates *tp = CAST(tcp_sock___dates, sk);
	__u32 in, out, rtt;
	bool owes;
	__s32 later;

	if (!bpf_core_field_exists(tp->lsndtime) ||
	    !bpf_core_field_exists(icsk->icsk_ack.lrcvtime) ||
	    !bpf_core_field_exists(tp->rack.mstamp))
		return 0;
	in = GET(tp, data_segs_in);
	out = GET(tp, data_segs_out);
	rtt = GET(tp, srtt_us) >> 3;
	later = (__s32)(GET(tp, lsndtime) - GET(icsk, icsk_ack.lrcvtime));
	owes = later < 0 || (!later && !sent_data_last(tp));
	if (owes)
		return may_ask(in, out) ? answer_facts(true, -later, out, rtt * 1000ull) : 0;
	return may_ask(out, in) ? answer_facts(false, later, in, 0) : 0;
}

#endif
