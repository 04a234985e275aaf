/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pure machine: what state a ledger is in, and what an input does to it. No BPF helper, no
 * allocation, no loop: the same text is compiled for the kernel and for the host, where it is
 * unit-tested and fuzzed.
 *
 * The present of a ledger is one 64-bit word, swapped whole by compare-and-exchange. It holds the
 * beginning of the present state, and the facets from which the state follows. The processor that
 * wins the swap charges the elapsed time to the state that ended; one that loses it reads the word
 * again. So two processors can neither charge an interval twice nor leave a gap, and the sum of the
 * states is the lifetime to the nanosecond.
 */
#ifndef IPCSTALL_STEP_H
#define IPCSTALL_STEP_H

#include "causes.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

typedef unsigned long long ns_t;
typedef unsigned long long word_t;

enum dir { DIR_TX, DIR_RX };

/*
 * The word, from bit 0:
 *	43	since: CLOCK_MONOTONIC modulo 2^43 ns (2.4 hours). More than half of that is read
 *		as a clock that runs ahead, so a state that lasts is charged, and begun anew, long
 *		before that (SPLIT_NS)
 *	1	turn: who may change the sums; no facet, step() leaves it alone (see charge.h)
 *	6	more awake: number of threads beside the one that `awake` stands for
 *	6	more asleep: the same for `asleep`
 *	3	head: why the head of the queue is held
 *	1	full: tx: something is outstanding; rx: data is queued
 *	1	device: bytes are below the protocol
 *	1	awake: a thread is in the call, and does not sleep
 *	1	asleep: a thread sleeps in the call
 *	1	closed: nothing is charged any more
 *
 * A state depends on whether there is a thread, not on how many there are. Nearly every step is
 * that of the only thread, and turns a bit or two.
 */
#define SINCE_BITS	  43
#define SINCE_MASK	  ((1ULL << SINCE_BITS) - 1)
#define TURN_BIT	  (1ULL << SINCE_BITS)
#define MORE_AWAKE_SHIFT  44
#define MORE_ASLEEP_SHIFT 50
#define MORE_MAX	  63u
#define HEAD_SHIFT	  56
#define FULL_SHIFT	  59
#define DEVICE_SHIFT	  60
#define AWAKE_SHIFT	  61
#define ASLEEP_SHIFT	  62
#define CLOSED_SHIFT	  63
#define AWAKE_BIT	  (1ULL << AWAKE_SHIFT)
#define ASLEEP_BIT	  (1ULL << ASLEEP_SHIFT)
#define CLOSED_BIT	  (1ULL << CLOSED_SHIFT)
#define COUNT_MAX	  (MORE_MAX + 1) /* threads in the call */

/* In the order of the states, so that one follows from the other without a table. HEAD_REST is
 * never stored: no known reason holds the head. */
enum head {
	HEAD_NONE,
	HEAD_RECOVERY,
	HEAD_PACING,
	HEAD_CORK,
	HEAD_NAGLE,
	HEAD_CWND,
	HEAD_RWND,
	HEAD_REST
};
#define HEAD_TO_STATE (TX_RECOVERY - HEAD_RECOVERY)
_Static_assert(HEAD_RWND + HEAD_TO_STATE == TX_RWND && HEAD_NAGLE + HEAD_TO_STATE == TX_NAGLE &&
		       HEAD_CORK + HEAD_TO_STATE == TX_CORK,
	       "heads and states are in another order");
_Static_assert(TX_IDLE == 0 && TX_FLIGHT == 1 && RX_IDLE == 0 && RX_UNREAD == 1,
	       "the full bit is no longer the lowest state");

/* which facets an input sets; the others stay as they are */
enum {
	IN_HEAD = 1 << 0,
	IN_FULL = 1 << 1,
	IN_DEVICE = 1 << 2,
	IN_CLOSE = 1 << 3,
	IN_SPLIT = 1 << 4 /* charge the present state now, whether it goes on or not */
};

struct input {
	ns_t at;	    /* when the facets below began to hold */
	unsigned char says; /* IN_* */
	unsigned char head; /* enum head */
	unsigned char full; /* 0 or 1, as the next */
	unsigned char device;
	signed char working; /* +1 a thread enters the call, -1 leaves */
	signed char asleep;  /* +1 it falls asleep there, -1 it wakes */
	/* beside the ledger, booked with the step */
	unsigned char slept; /* a sleep in the call is over: it lasted `blocked`, and `runq` at its
				end was spent without a CPU */
	unsigned int bytes;  /* that the call moved */
	ns_t blocked, runq;
};

/* what a step does: swap in `word`; if `ended`, charge `ns` to `from` */
struct transition {
	word_t word;
	ns_t ns;
	unsigned char from, to;
	unsigned char ended;
	unsigned char
		unpaired; /* a thread left that never entered, or more entered than are counted */
};

static __always_inline ns_t word_since(word_t w)
{
	return w & SINCE_MASK;
}

static __always_inline unsigned int word_head(word_t w)
{
	return w >> HEAD_SHIFT & 7;
}

static __always_inline unsigned int word_awake(word_t w)
{
	return (w >> AWAKE_SHIFT & 1) + (w >> MORE_AWAKE_SHIFT & MORE_MAX);
}

static __always_inline unsigned int word_asleep(word_t w)
{
	return (w >> ASLEEP_SHIFT & 1) + (w >> MORE_ASLEEP_SHIFT & MORE_MAX);
}

/* a thread is in the call, awake or not */
static __always_inline unsigned int word_working(word_t w)
{
	return w >> AWAKE_SHIFT & 3;
}

/* nanoseconds from the word's `since` to `at`; 0 if another processor's clock has already passed
 * `at` */
static __always_inline ns_t word_elapsed(word_t w, ns_t at)
{
	ns_t d = (at - word_since(w)) & SINCE_MASK;

	return d & ((d >> (SINCE_BITS - 1)) - 1);
}

/* when the state began, on the full clock; `near` is less than half the word's span from it */
static __always_inline ns_t word_began(word_t w, ns_t near)
{
	ns_t ahead = (word_since(w) - near) & SINCE_MASK;

	return near + ((long long)(ahead << (64 - SINCE_BITS)) >> (64 - SINCE_BITS));
}

/* 37 minutes. An endpoint is settled more often than twice an hour: both together are less than
 * half the word's span. */
#define SPLIT_NS (1ULL << 41)

static __always_inline word_t word_open(ns_t at)
{
	return at & SINCE_MASK;
}

/* Without this the compiler, which knows the range of a value, turns the arithmetic below into
 * comparisons and branches. */
#define OPAQUE(v) asm volatile("" : "+r"(v))

/* 1 if v > 0, without a branch: the verifier follows every path, and a step is taken in many
 * programs */
static __always_inline unsigned int positive(int v)
{
	unsigned int u = v;

	OPAQUE(u);
	u = -u >> 31;
	OPAQUE(u);
	return u;
}

static __always_inline unsigned int is_zero(word_t v)
{
	OPAQUE(v);
	v = ~(v | -v) >> 63;
	OPAQUE(v);
	return v;
}

static __always_inline unsigned int choose(unsigned int cond, unsigned int yes, unsigned int no)
{
	OPAQUE(cond);
	return no ^ (yes ^ no) * cond;
}

/* the first that holds of: work, device, what holds the head, sndbuf, flight, idle */
static __always_inline unsigned int tx_state(word_t w)
{
	unsigned int head = word_head(w);
	unsigned int s = w >> FULL_SHIFT & 1;

	s = choose(w >> ASLEEP_SHIFT & 1, TX_SNDBUF, s);
	s = choose(positive(head), head + HEAD_TO_STATE, s);
	s = choose(w >> DEVICE_SHIFT & 1, TX_DEVICE, s);
	return choose(w >> AWAKE_SHIFT & 1, TX_WORK, s);
}

/* A reader that sleeps with data queued has been woken and has no CPU yet: it is in its call, so
 * that is still `wait`. */
static __always_inline unsigned int rx_state(word_t w)
{
	unsigned int s = choose(w >> ASLEEP_SHIFT & 1, RX_WAIT, w >> FULL_SHIFT & 1);

	return choose(w >> AWAKE_SHIFT & 1, RX_WORK, s);
}

static __always_inline unsigned int word_state(word_t w, enum dir dir)
{
	return dir == DIR_TX ? tx_state(w) : rx_state(w);
}

/* A state follows from these bits alone. The kernel half looks it up in a table that user space
 * makes with the functions above. */
#define FACETS (1u << (CLOSED_SHIFT - HEAD_SHIFT))

static __always_inline unsigned int word_facets(word_t w)
{
	return w >> HEAD_SHIFT & (FACETS - 1);
}

#ifndef WORD_STATE
#define WORD_STATE(w, dir) word_state(w, dir)
#endif

/* add a step of -1, 0 or +1 to a count; what does not fit is reported, not wrapped */
static __always_inline unsigned int count_add(unsigned int n, int step, unsigned char *unpaired)
{
	unsigned int sum = n + step, bad = (sum | (COUNT_MAX - sum)) >> 31; /* one more, or -1 */

	*unpaired |= bad;
	return choose(bad, n, sum);
}

/*
 * True for nearly every step: the only thread enters (and perhaps falls asleep), sleeps, wakes or
 * leaves, or no thread moves.
 */
static __always_inline int sole_thread(word_t w, const struct input *in)
{
	unsigned int all = MORE_MAX | MORE_MAX << (MORE_ASLEEP_SHIFT - MORE_AWAKE_SHIFT) |
			   3u << (AWAKE_SHIFT - MORE_AWAKE_SHIFT);
	unsigned int threads = w >> MORE_AWAKE_SHIFT & all;
	unsigned int one = 1u << (AWAKE_SHIFT - MORE_AWAKE_SHIFT),
		     one_asleep = 1u << (ASLEEP_SHIFT - MORE_AWAKE_SHIFT);

	if (in->working > 0)
		return in->asleep >= 0 && !threads;
	if (in->working < 0)
		return !in->asleep && threads == one;
	return !in->asleep || threads == (in->asleep > 0 ? one : one_asleep);
}

/* the bits that such a step turns: none, one or two */
static __always_inline word_t sole_bit(const struct input *in)
{
	return (in->working ? AWAKE_BIT : 0) ^ (in->asleep ? AWAKE_BIT | ASLEEP_BIT : 0);
}

/* the bits for `n` threads: one and more */
static __always_inline word_t count_bits(unsigned int n, unsigned int one_shift,
					 unsigned int more_shift)
{
	unsigned int one = positive(n);

	return (word_t)one << one_shift | (word_t)(n - one) << more_shift;
}

/* No more threads sleep in a call than are in it. */
static __always_inline word_t apply_counts(word_t w, const struct input *in,
					   unsigned char *unpaired)
{
	unsigned int asleep = word_asleep(w), working = word_awake(w) + asleep;

	working = count_add(working, in->working, unpaired);
	asleep = count_add(asleep, in->asleep, unpaired);
	asleep = choose(positive(asleep - working), working, asleep);
	w &= ~(AWAKE_BIT | ASLEEP_BIT | (word_t)MORE_MAX << MORE_AWAKE_SHIFT |
	       (word_t)MORE_MAX << MORE_ASLEEP_SHIFT);
	return w | count_bits(working - asleep, AWAKE_SHIFT, MORE_AWAKE_SHIFT) |
	       count_bits(asleep, ASLEEP_SHIFT, MORE_ASLEEP_SHIFT);
}

/* `w` with its bits under the mask replaced by those of `v`, if the input sets them */
static __always_inline word_t facet(word_t w, const struct input *in, unsigned int bit, word_t mask,
				    word_t v)
{
	word_t spoken = in->says >> bit & 1;

	if (__builtin_constant_p(spoken)) /* a constant in most callers: little code is left */
		return spoken ? (w & ~mask) | v : w;
	OPAQUE(spoken);
	mask *= spoken; /* not `& -spoken`: from 6.18 on the verifier follows both ways if it knows
			   that a value is 0 or all ones */
	return (w & ~mask) | (v & mask);
}

static __always_inline word_t apply_facets(word_t w, const struct input *in)
{
	w = facet(w, in, 0, 7ULL << HEAD_SHIFT, (word_t)in->head << HEAD_SHIFT);
	w = facet(w, in, 1, 1ULL << FULL_SHIFT, (word_t)in->full << FULL_SHIFT);
	w = facet(w, in, 2, 1ULL << DEVICE_SHIFT, (word_t)in->device << DEVICE_SHIFT);
	return facet(w, in, 3, CLOSED_BIT, CLOSED_BIT);
}

/*
 * Takes one step. If the state stays the same, `since` stays too: an episode is charged once and
 * whole, at its end. An input dated before the present state began takes effect where that state
 * began: time never runs backwards. `counted`: the word with the threads after the input.
 */
static __always_inline struct transition step_counted(word_t w, word_t counted,
						      const struct input *in, enum dir dir)
{
	struct transition t = { .word = w };

	t.from = t.to = WORD_STATE(w, dir);
	if (w & CLOSED_BIT)
		return t;
	t.word = apply_facets(counted, in);
	t.to = WORD_STATE(t.word, dir);
	if (t.from == t.to && !(in->says & (IN_CLOSE | IN_SPLIT)))
		return t;
	t.ended = 1;
	t.ns = word_elapsed(w, in->at);
	t.word = (t.word & ~SINCE_MASK) | ((word_since(w) + t.ns) & SINCE_MASK);
	return t;
}

static __always_inline struct transition step(word_t w, const struct input *in, enum dir dir)
{
	unsigned char unpaired = 0;
	struct transition t = step_counted(w, apply_counts(w, in, &unpaired), in, dir);

	t.unpaired = w & CLOSED_BIT ? 0 : unpaired;
	return t;
}

/* ---- TCP: why does the head of the queue wait? ---- */

#define WMEM_REST \
	256 /* sk_wmem_alloc: 1 at rest, +2 for each pure ACK, +1 TSQ reference; a data skb is \
	       never this small */

/* the fields of struct tcp_sock that decide why the head waits, all read at one moment */
struct tcp_snap {
	unsigned int write_seq, snd_nxt, snd_una, snd_wnd, snd_sml;
	unsigned int snd_cwnd, mss, head_len;
	unsigned int packets_out, sacked_out, lost_out, retrans_out;
	int wmem;
	unsigned char nonagle; /* TCP_NAGLE_OFF 1, _CORK 2, _PUSH 4 */
	unsigned char paced;   /* internal pacing holds the next segment */
	unsigned char refused; /* the next segment was handed down, and this host did not take it */
	unsigned char timed_out; /* what the retransmission timer sent last is not answered yet */
};

static __always_inline unsigned int tcp_unsent(const struct tcp_snap *s)
{
	int n = (int)(s->write_seq - s->snd_nxt);

	return n > 0 ? n : 0;
}

static __always_inline unsigned int tcp_in_flight(const struct tcp_snap *s)
{
	return s->packets_out - (s->sacked_out + s->lost_out) + s->retrans_out;
}

/* bytes of the peer's window still open beyond snd_nxt; may be negative when the window shrank */
static __always_inline int tcp_room(const struct tcp_snap *s)
{
	return (int)(s->snd_una + s->snd_wnd - s->snd_nxt);
}

/* tcp_minshall_check(): a small segment is out and not acknowledged */
static __always_inline int tcp_small_out(const struct tcp_snap *s)
{
	return s->packets_out && (int)(s->snd_sml - s->snd_una) > 0 &&
	       (int)(s->snd_nxt - s->snd_sml) >= 0;
}

/* tcp_tso_should_defer(): as is_cwnd_limited and is_rwnd_limited do, blame the smaller window if
 * the head does not fit it */
static __always_inline enum head tcp_deferred(const struct tcp_snap *s, unsigned int in_flight)
{
	unsigned long long cong = (unsigned long long)(s->snd_cwnd - in_flight) * s->mss;
	unsigned int room = tcp_room(s);

	if (cong < room)
		return cong <= s->head_len ? HEAD_CWND : HEAD_PACING;
	return room <= s->head_len ? HEAD_RWND : HEAD_PACING;
}

/* HEAD_RECOVERY: lost segments are not retransmitted yet, or the timer has retransmitted them
 * without an answer so far, and they wait for its next expiry. */
static __always_inline enum head tcp_all_sent(const struct tcp_snap *s)
{
	return s->lost_out > s->retrans_out || s->timed_out ? HEAD_RECOVERY : HEAD_NONE;
}

/* The room that tcp_snd_wnd_test() asks for: a whole segment, or all that is unsent. A FIN is part
 * of the last segment, and is not cut off it. */
static __always_inline unsigned int tcp_wants(const struct tcp_snap *s)
{
	unsigned int unsent = tcp_unsent(s);

	if (unsent == s->head_len + 1 && s->head_len <= s->mss)
		return unsent;
	return unsent < s->mss ? unsent : s->mss;
}

/*
 * The tests of tcp_write_xmit() in its own order. HEAD_REST: data is queued, and none of them holds
 * it; the caller knows whether that is MSG_MORE (after a send call) or a transmission under way.
 */
static __always_inline enum head tcp_head(const struct tcp_snap *s)
{
	unsigned int unsent = tcp_unsent(s), in_flight = tcp_in_flight(s);

	if (!unsent)
		return tcp_all_sent(s);
	if (s->timed_out) /* its window of one segment is out: no larger one would help */
		return HEAD_RECOVERY;
	if (s->paced)
		return HEAD_PACING;
	if (in_flight >= s->snd_cwnd)
		return HEAD_CWND;
	if (tcp_room(s) < (int)tcp_wants(s))
		return HEAD_RWND;
	if (s->refused)
		return HEAD_RECOVERY;
	if (unsent < s->mss) {
		if (s->nonagle & 2)
			return HEAD_CORK;
		return !s->nonagle && tcp_small_out(s) ? HEAD_NAGLE : HEAD_REST;
	}
	return in_flight ? tcp_deferred(s, in_flight) : HEAD_REST;
}

/*
 * Are bytes below the protocol? `own`: the size of the packet that is being handed to the driver at
 * this moment. If the device was at rest before, that packet was charged just now and says nothing
 * about the time before; otherwise it may have waited there. ALL_BELOW: all bytes below were
 * charged just now, as when a large packet is cut up on its way down.
 */
#define ALL_BELOW (~0u)

static __always_inline unsigned int below(int wmem, unsigned int own, unsigned int before)
{
	if (own == ALL_BELOW)
		return 0;
	return positive((before ? wmem : wmem - (int)own) - (WMEM_REST - 1));
}

/* ---- TCP: what held the queue before this moment, and since when ---- */

#define TCP_CHRONO_RWND_LIMITED 2

/*
 * What held the queue of a half-closed connection until a segment goes out. TCP's own chronograph
 * still says it then, because tcp_write_xmit() sets that only after it has sent all it may. The
 * pacing deadline is gone: __tcp_transmit_skb() sets it to now.
 */
static __always_inline unsigned int tcp_held_before(unsigned int head, unsigned int chrono,
						    unsigned int cwnd_limited)
{
	if (chrono == TCP_CHRONO_RWND_LIMITED)
		return HEAD_RWND;
	return head != HEAD_PACING && cwnd_limited ? HEAD_CWND : head;
}

/* The FIN of a half-closed connection that goes out alone was queued this moment, unless the window
 * held it. */
static __always_inline int tcp_fin_alone(const struct tcp_snap *s, unsigned int chrono)
{
	return tcp_unsent(s) == 1 && chrono != TCP_CHRONO_RWND_LIMITED;
}

/*
 * When a segment goes out, the pacing deadline that the segment before it had set is gone (see
 * tcp_held_before()). If other looks came between the two, the last of them knows whether that
 * deadline held the queue.
 */
static __always_inline int tcp_was_paced(unsigned int head, unsigned int saw_segment)
{
	return head == HEAD_PACING || saw_segment;
}

/* the dates at a look that comes late, all of one moment */
struct tcp_dates {
	ns_t seen;  /* when the look before this one was */
	ns_t since; /* when the present state began */
	ns_t stamp; /* tcp_wstamp_ns */
	ns_t now;
};

/*
 * A held queue goes out by a transmission, before which on_xmit looks. If the kernel did not run
 * that program, the present look is late; but TCP notes when a segment last went out
 * (__tcp_transmit_skb()). Returns that time; 0: none went out since the last look.
 */
static __always_inline ns_t tcp_left_at(const struct tcp_dates *d)
{
	return d->stamp > d->seen && d->stamp <= d->now ? d->stamp : 0;
}

/* With pacing, the stamp is the time at which the next segment may go out. A state that began with
 * the last look has then held all along, for all that is known. */
static __always_inline ns_t tcp_left_paced(const struct tcp_dates *d, ns_t at)
{
	return d->since == d->seen ? d->now : at;
}

/* the deadline of internal pacing lies between two looks */
static __always_inline int tcp_pacing_passed(ns_t until, ns_t from, ns_t now)
{
	return until > from && until < now;
}

/*
 * The peer's window holds the queue of a half-closed connection, but only since the time that TCP's
 * chronograph gives (in ticks). Before that the queue was paced, or nothing was queued and the sent
 * data was in flight. Returns that time; 0: the window held all along, for all that is known.
 */
static __always_inline ns_t tcp_window_shut_since(ns_t from, ns_t now, unsigned int ticks,
						  ns_t tick)
{
	ns_t since = now - ticks * tick;

	return since > now || since <= from + tick ? 0 : since;
}

/* something of this socket is still to be sent or acknowledged */
static __always_inline int tcp_outstanding(const struct tcp_snap *s)
{
	return s->packets_out || tcp_unsent(s);
}

/*
 * Data is announced before it is queued: is data announced that is not queued yet? `announced` is
 * set when the connection is made, since of two sequence numbers that are far apart either is
 * ahead. FAR: data came unannounced (no tracepoint reports it after a FIN).
 */
#define ANNOUNCED_FAR (1 << 30)

static __always_inline int tcp_announced(unsigned int announced, unsigned int queued)
{
	return (int)(announced - queued) > 0;
}

static __always_inline int tcp_announced_long_ago(unsigned int announced, unsigned int queued)
{
	return (int)(announced - queued) < -ANNOUNCED_FAR;
}

/* ---- histograms ---- */

/* slot 0: below 1 us; slot k: [2^(k-1), 2^k) us; the last one is open */
#define HIST_SLOTS 24
#define HIST_BASE  10 /* 2^10 ns stands for 1 us */

#define SLOTS_TABLED 256 /* the kernel half looks these up */

/* 1 if v has a bit above the lowest `bits` */
static __always_inline ns_t exceeds(ns_t v, unsigned int bits)
{
	return (((1ULL << bits) - 1) - v) >> 63;
}

/* the number of the highest bit, for v < 2^63; no branches, as above */
static __always_inline unsigned int log2_ns(ns_t v)
{
	unsigned int r = 0, n;

	n = exceeds(v, 32) << 5;
	v >>= n;
	r |= n;
	n = exceeds(v, 16) << 4;
	v >>= n;
	r |= n;
	n = exceeds(v, 8) << 3;
	v >>= n;
	r |= n;
	n = exceeds(v, 4) << 2;
	v >>= n;
	r |= n;
	n = exceeds(v, 2) << 1;
	v >>= n;
	r |= n;
	return r | (unsigned int)(v >> 1);
}

static __always_inline unsigned int hist_slot(ns_t v)
{
	unsigned int b = log2_ns(v);

	if (b < HIST_BASE)
		return 0;
	b -= HIST_BASE - 1;
	return b < HIST_SLOTS ? b : HIST_SLOTS - 1;
}

#endif
