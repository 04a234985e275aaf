// SPDX-License-Identifier: GPL-2.0-only
/* From the kernel half's record of an endpoint to what is told of it: sums, and what is unknown
 * because no hook saw it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/endpoint_detail.h"
#include "tracer/figure.h"
#include "tracer/internal.h"
#include "tracer/pack.h"

#include "bpf/charge.h"

#include <cmocka.h>

enum { BORN = 1000, END = 2000, MIB = 1 << 20 };

/* a pipe through which `in` bytes were written and `out` read, in calls that were seen; closed */
static struct endpoint pipe_of(uint64_t in, uint64_t out)
{
	struct endpoint ep = { .id.proto = PROTO_PIPE, .born = BORN, .closed = END };

	ep.tx.word = ep.rx.word = word_open(BORN);
	ep.tx_calls.own.bytes = in;
	ep.rx_calls.own.bytes = out;
	return ep;
}

static struct trace_details details;

static struct trace_endpoint told_of(const struct endpoint *ep)
{
	static const struct trace t = { .backend = TRACE_FENTRY };
	struct trace_endpoint out;

	endpoint_fill(&out, ep, &t, &details);
	assert_int_equal(out.tx.unaccounted_ns, 0);
	assert_int_equal(out.rx.unaccounted_ns, 0);
	return out;
}

static void assert_known(const struct trace_call_stats *b, uint64_t bytes)
{
	assert_int_equal(b->bytes_res, TRACE_EXACT);
	assert_int_equal(b->blocked_res, TRACE_EXACT);
	assert_int_equal(b->bytes, bytes);
}

/* at least so many bytes went through; how and when is not known */
static void assert_missed(const struct trace_call_stats *b, uint64_t bytes)
{
	assert_int_not_equal(b->bytes_res, TRACE_EXACT);
	assert_int_equal(b->blocked_res, TRACE_UNKNOWN);
	assert_int_equal(b->bytes, bytes);
}

static void what_was_written_was_read(void **state)
{
	struct endpoint ep = pipe_of(10 * MIB, 10 * MIB);
	struct trace_endpoint e = told_of(&ep);

	assert_known(&e.tx_calls, 10 * MIB);
	assert_known(&e.rx_calls, 10 * MIB);
	assert_int_equal(e.tx.resolution[TX_SNDBUF], TRACE_EXACT);
	assert_int_equal(e.rx.resolution[RX_WAIT], TRACE_EXACT);
	assert_int_equal(e.tx.ns[TX_IDLE], END - BORN);
}

/* two flights of 100 and 3 us ended, and the first had been lost */
static struct endpoint tcp_with_a_late_loss(void)
{
	struct endpoint ep = { .id.proto = PROTO_TCP, .born = BORN, .closed = BORN + 103000 };

	ep.rx.word = word_open(BORN);
	ep.tx.word = word_open(BORN + 103000);
	ep.tx.ns[TX_FLIGHT] = 103000;
	ep.tx.max[TX_FLIGHT] = 100000;
	ep.tx.hist[TX_FLIGHT][hist_slot(100000)] = ep.tx.hist[TX_FLIGHT][hist_slot(3000)] = 1;
	ep.tail_lost.ns = ep.tail_lost.max = 100000;
	ep.tail_lost.hist[hist_slot(100000)] = 1;
	return ep;
}

static void what_flew_and_was_lost_is_recovery(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();
	struct trace_endpoint e = told_of(&ep);

	assert_int_equal(e.tx.ns[TX_RECOVERY], 100000);
	assert_int_equal(e.tx.max[TX_RECOVERY], 100000);
	assert_int_equal(e.tx.count[TX_RECOVERY], 1);
	assert_int_equal(trace_detail(&e)->tx_hist[TX_RECOVERY][hist_slot(100000)], 1);
	assert_int_equal(e.tx.ns[TX_FLIGHT], 3000);
	assert_int_equal(e.tx.count[TX_FLIGHT], 1);
	assert_true(e.tx.max[TX_FLIGHT] >= 3000 && e.tx.max[TX_FLIGHT] < 100000);
}

/* of the only flight, all but its first and last microsecond was lost: it still flew */
static void what_is_left_of_a_lost_flight_is_a_visit(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();
	struct trace_endpoint e;

	ep.tx.hist[TX_FLIGHT][hist_slot(3000)] = 0;
	ep.tx.ns[TX_FLIGHT] = 102000;
	ep.tx.ns[TX_WORK] = 1000;
	ep.tx.hist[TX_WORK][hist_slot(1000)] = 1;
	ep.tx.max[TX_FLIGHT] = 102000;
	e = told_of(&ep);
	assert_int_equal(e.tx.ns[TX_FLIGHT], 2000);
	assert_int_equal(e.tx.count[TX_FLIGHT], 1);
	assert_int_equal(e.tx.max[TX_FLIGHT], 2000);
	assert_int_equal(e.tx.count[TX_RECOVERY], 1);
	/* which was longer than what was lost of it */
	ep.tx.hist[TX_FLIGHT][hist_slot(100000)] = 0;
	ep.tx.hist[TX_FLIGHT][hist_slot(100000) + 1] = 1;
	e = told_of(&ep);
	assert_int_equal(e.tx.count[TX_FLIGHT], 1);
	assert_int_equal(trace_detail(&e)->tx_hist[TX_FLIGHT][hist_slot(100000) + 1], 0);
	assert_int_equal(e.tx.max[TX_FLIGHT], 2000);
}

/* it flew before the phase; that it was lost came out in it */
static void a_loss_of_before_is_not_the_phases(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();
	struct trace_endpoint then, now = told_of(&ep);
	struct trace_snapshot a = { .ep = &then, .n = 1 }, b = { .ep = &now, .n = 1 };
	struct trace_packed packed;

	ep.tail_lost = (struct tail_loss){};
	then = told_of(&ep);
	assert_int_equal(trace_pack(&packed, &a), 0);
	assert_int_equal(trace_subtract(&b, &packed), 0);
	assert_int_equal(now.tx.ns[TX_FLIGHT], 0);
	assert_int_equal(now.tx.ns[TX_RECOVERY], 0);
	assert_int_equal(now.tx.count[TX_FLIGHT], 0);
	assert_int_equal(now.tx.unaccounted_ns, 0);
	trace_packed_free(&packed);
}

/* about one word of four is not zero, as of an endpoint that did something */
static void scatter(void *v, size_t size, uint64_t *seed)
{
	memset(v, 0, size);
	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
		if (*seed >> 62 == 0)
			memcpy((char *)v + i, seed, sizeof(*seed));
	}
}

#define PACKED_ENDS 5

static void what_is_packed_comes_out_as_it_was(void **state)
{
	static struct trace_detail detail[PACKED_ENDS];
	struct trace_endpoint ep[PACKED_ENDS];
	struct trace_samples samples[PACKED_ENDS];
	struct unpacked out;
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = PACKED_ENDS };
	struct trace_packed packed;
	uint64_t seed = 57;
	size_t at;

	scatter(ep, sizeof(ep), &seed);
	scatter(samples, sizeof(samples), &seed);
	scatter(detail, sizeof(detail), &seed);
	for (size_t i = 0; i < PACKED_ENDS; i++) {
		ep[i].serial = 100 - 7 * i;
		ep[i].detail = i % 2 ? &detail[i] : NULL;
	}
	memset(&ep[2], 0, sizeof(ep[2])); /* one that has nothing, not even a number */
	memset(&samples[3], 0xff, sizeof(samples[3]));
	assert_int_equal(trace_pack(&packed, &s), 0);
	for (size_t i = 0; i < PACKED_ENDS; i++) {
		assert_true(packed_find(&packed, ep[i].serial, &at));
		packed_read(&packed, at, &out);
		assert_memory_equal(&out.samples, &samples[i], sizeof(out.samples));
		assert_int_equal(packed_has_detail(&packed, at), i % 2);
		assert_ptr_equal(out.ep.detail, i % 2 ? &out.detail : NULL);
		if (out.ep.detail)
			assert_memory_equal(&out.detail, &detail[i], sizeof(out.detail));
		out.ep.detail = ep[i].detail;
		assert_memory_equal(&out.ep, &ep[i], sizeof(out.ep));
	}
	assert_false(packed_find(&packed, 99, &at));
	trace_packed_free(&packed);
}

static void histograms_of_before_are_subtracted(void **state)
{
	struct trace_detail had = { .tx_hist[TX_WORK][3] = 7, .rx_hist[RX_WAIT][9] = 2 }, has = had;
	struct trace_endpoint then = { .serial = 1, .detail = &had },
			      now[2] = { { .serial = 1, .detail = &has }, { .serial = 2 } };
	struct trace_snapshot a = { .ep = &then, .n = 1 }, b = { .ep = now, .n = 2 };
	struct trace_packed packed;

	has.tx_hist[TX_WORK][3] = 9;
	assert_int_equal(trace_pack(&packed, &a), 0);
	assert_int_equal(trace_subtract(&b, &packed), 0);
	assert_int_equal(trace_detail(&now[0])->tx_hist[TX_WORK][3], 2);
	assert_int_equal(trace_detail(&now[0])->rx_hist[RX_WAIT][9], 0);
	assert_null(now[1].detail); /* it has none, and needs none */
	assert_int_equal(had.tx_hist[TX_WORK][3], 7);
	trace_packed_free(&packed);
	details_free(&b.details);
}

/* The first of two went meanwhile: the other's place is the first now. */
static void samples_stay_with_their_endpoint(void **state)
{
	struct trace_endpoint then[2] = { { .serial = 1 }, { .serial = 2 } }, now = { .serial = 2 };
	struct trace_samples seen[2] = { { .n = 70 }, { .n = 5 } }, samples = { .n = 8 };
	struct trace_snapshot a = { .ep = then, .samples = seen, .n = 2 },
			      b = { .ep = &now, .samples = &samples, .n = 1 };
	struct trace_packed packed;

	assert_int_equal(trace_pack(&packed, &a), 0);
	assert_int_equal(trace_subtract(&b, &packed), 0);
	assert_int_equal(samples.n, 3);
	trace_packed_free(&packed);
}

/* Of a life of ten its last two: known of both, or at the end alone */
static struct trace_call_stats cpu_of_phase(enum trace_resolution then_known)
{
	struct trace_endpoint then = { .serial = 1, .rx.lifetime_ns = 8 }, now = then;
	struct trace_samples samples[2] = {};
	struct trace_snapshot a = { .ep = &then, .samples = samples, .n = 1 },
			      b = { .ep = &now, .samples = samples + 1, .n = 1 };
	struct trace_packed packed;

	then.rx_calls.cpu_res = then.rx_calls.no_cpu_res = (uint8_t)then_known;
	then.rx_calls.cpu_ns = then_known == TRACE_UNKNOWN ? 0 : 8;
	now.rx.lifetime_ns = 10;
	now.rx_calls.cpu_ns = 9;
	now.rx_calls.cpu_res = now.rx_calls.no_cpu_res = TRACE_BOUNDED;
	assert_int_equal(trace_pack(&packed, &a), 0);
	assert_int_equal(trace_subtract(&b, &packed), 0);
	trace_packed_free(&packed);
	return now.rx_calls;
}

/* By samples it is known late, and then of the whole life: eight seconds are no share of two. */
static void cpu_time_that_became_known_is_not_the_phases(void **state)
{
	struct trace_call_stats b = cpu_of_phase(TRACE_UNKNOWN);

	assert_int_equal(b.cpu_res, TRACE_UNKNOWN);
	assert_int_equal(b.cpu_ns, 0);
	b = cpu_of_phase(TRACE_BOUNDED);
	assert_int_equal(b.cpu_res, TRACE_BOUNDED);
	assert_int_equal(b.cpu_ns, 1);
}

/* Each phase begins where the last one ended. */
static void one_phase_follows_the_other(void **state)
{
	struct trace_packed last = {};

	for (uint64_t bytes = 0; bytes < 500; bytes += 100) {
		struct trace_endpoint ep = { .serial = 1, .tx_calls.bytes = bytes };
		struct trace_snapshot s = { .ep = &ep, .n = 1 };

		assert_int_equal(trace_next_phase(&s, &last), 0);
		assert_int_equal(ep.tx_calls.bytes, bytes ? 100 : 0);
	}
	trace_packed_free(&last);
}

static struct trace_endpoint sampled_of(const struct endpoint *ep)
{
	static const struct trace t = { .backend = TRACE_SAMPLED };
	struct trace_endpoint out;

	endpoint_fill(&out, ep, &t, &details);
	return out;
}

static uint8_t how_known(const struct trace_endpoint *ep, const char *key)
{
	const struct figures *s = &figures_of_endpoint;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].key && !strcmp(s->v[i].key + (*s->v[i].key == '~'), key))
			return figure_known(s, &s->v[i], ep);
	fail();
	return TRACE_UNKNOWN;
}

/* its timer fired at 1600, and sent again what was still below */
static struct endpoint tcp_below_since_it_fired(void)
{
	struct endpoint ep = { .id.proto = PROTO_TCP, .born = BORN, .closed = END };

	ep.rx.word = word_open(BORN);
	ep.tx.word = word_open(BORN) | 1ULL << DEVICE_SHIFT;
	ep.fired = 1600;
	ep.flown = 1610;
	ep.undelivered_ns = 300;
	return ep;
}

static void what_stays_below_is_undelivered_until_now(void **state)
{
	struct endpoint ep = tcp_below_since_it_fired();
	struct trace_endpoint e = told_of(&ep);

	(void)state;
	assert_int_equal(e.tx.now, TX_DEVICE);
	assert_int_equal(e.undelivered_ns, 300);
	assert_int_equal(e.open_undelivered_ns, END - 1600);
	ep.flown += 2 * RETRY_NS; /* something moved since */
	e = told_of(&ep);
	assert_int_equal(e.open_undelivered_ns, 0);
}

static void what_samples_find_below_is_undelivered(void **state)
{
	struct endpoint ep = tcp_below_since_it_fired();
	struct trace_endpoint e;

	(void)state;
	ep.tx.samples.n = 10;
	ep.tx.samples.seen[TX_DEVICE] = 8;
	ep.tx.samples.fact[SAMPLE_UNDELIVERED] = 4;
	e = sampled_of(&ep);
	assert_true(e.tx.ns[TX_DEVICE] > 0);
	assert_int_equal(e.undelivered_ns, e.tx.ns[TX_DEVICE] / 2);
	assert_int_equal(e.open_undelivered_ns, 0);
}

/* TCP's own count of what the path gives needs no hook; what a hook alone sees is unknown */
static void without_hooks_the_path_is_known(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();
	struct trace_endpoint e;

	ep.path = (struct path){ .rate_delivered = 10,
				 .rate_interval_us = 1000,
				 .mss = 1448,
				 .cwnd = 10,
				 .lost = 3,
				 .segs_out = 500,
				 .ooo = 2,
				 .app_limited = 1,
				 .pacing_rate = 2000000,
				 .congestion_control = "bbr" };
	ep.parts.ns[SLICE_DEFERRED] = 7;
	ep.tx.ns[TX_PACING] = 3000;
	ep.tx.ns[TX_FLIGHT] -= 3000;
	e = sampled_of(&ep);
	assert_int_equal(e.path.delivery_bytes_per_s, 14480000);
	assert_int_equal(e.path.pacing_bytes_per_s, 2000000);
	assert_int_equal(e.path.lost_segments, 3);
	assert_int_equal(e.path.sent_segments, 500);
	assert_int_equal(e.path.out_of_order, 2);
	assert_int_equal(e.path.cwnd, 10);
	assert_true(e.path.app_limited);
	assert_string_equal(e.path.congestion_control, "bbr");
	assert_int_equal(e.parts.ns[TRACE_PART_DEFERRED], 7); /* whose pace it is */
	assert_int_equal(how_known(&e, "lost_segments"), TRACE_EXACT);
	assert_int_equal(how_known(&e, "tso_deferral_ns"), TRACE_UNKNOWN);
	assert_int_equal(how_known(&e, "connecting"), TRACE_UNKNOWN);
	assert_int_equal(how_known(&e, "unaccepted"), TRACE_UNKNOWN);
	e = told_of(&ep);
	assert_int_equal(how_known(&e, "connecting"), TRACE_EXACT);
	assert_int_equal(how_known(&e, "unaccepted"), TRACE_EXACT);
}

/* a subflow, whose data belongs to another socket */
static void without_hooks_mptcp_is_told(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();
	struct trace_endpoint e = sampled_of(&ep);

	assert_int_equal(e.unseen[DIR_TX], TRACE_UNSEEN_NOT);
	assert_int_equal(e.unseen[DIR_RX], TRACE_UNSEEN_NOT);
	ep.flags = EP_UNSEEN << DIR_TX | EP_UNSEEN << DIR_RX;
	ep.upper = UPPER_MPTCP;
	ep.tx.samples.n = 1;
	e = sampled_of(&ep);
	assert_int_equal(e.unseen[DIR_TX], TRACE_UNSEEN_MPTCP);
	assert_int_equal(e.unseen[DIR_RX], TRACE_UNSEEN_MPTCP);
	assert_int_equal(e.rx.resolution[RX_UNREAD], TRACE_UNKNOWN);
	assert_int_equal(e.tx.resolution[TX_SNDBUF], TRACE_UNKNOWN);
	assert_int_equal(e.tx.resolution[TX_NAGLE], TRACE_BY_SAMPLES);
}

/* A connection that was made in advance asks for nothing. If the server sends first, the connection
 * was the request. */
static void a_new_connection_asks_nothing_until_it_is_used(void **state)
{
	static const struct trace t = { .backend = TRACE_FENTRY };
	struct endpoint ep = tcp_with_a_late_loss();
	struct trace_endpoint e;

	ep.asking.asked = ep.asking.took = 1;
	endpoint_fill(&e, &ep, &t, &details);
	assert_int_equal(e.rx_calls.open_reply_ns + e.tx_calls.open_reply_ns, 0);
	ep.tx_calls.own.bytes = 1;
	endpoint_fill(&e, &ep, &t, &details);
	assert_true(e.rx_calls.open_reply_ns > 0);
	ep.making.asked = 1;
	ep.rx_calls.replies = (struct replies){ .ns = 100, .max = 100, .n = 1, .first = 101 };
	endpoint_fill(&e, &ep, &t, &details);
	assert_int_equal(e.rx_calls.reply_n, 1);
	ep.tx_calls.own.bytes = 0; /* it never sends: what came is news, and no greeting */
	endpoint_fill(&e, &ep, &t, &details);
	assert_int_equal(e.rx_calls.reply_n, 0);
	assert_int_equal(e.rx_calls.reply_ns, 0);
}

/* Samples tell how long requests had no answer; one that was open as tracing began has its answer
 * if anything came. */
static void without_hooks_an_open_request_ends_with_the_first_bytes(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();

	ep.flags |= EP_JOINED_LATE;
	ep.asking.asked = ep.asking.took = 1;
	assert_true(sampled_of(&ep).rx_calls.open_reply_ns > 0);
	assert_true(sampled_of(&ep).tx_calls.open_reply_ns > 0);
	ep.moved[DIR_RX] = 1;
	assert_int_equal(sampled_of(&ep).rx_calls.open_reply_ns, 0);
	assert_true(sampled_of(&ep).tx_calls.open_reply_ns > 0);
	ep.moved[DIR_TX] = 1;
	assert_int_equal(sampled_of(&ep).tx_calls.open_reply_ns, 0);
}

/* TCP's counts begin with the first sample of one that had a life before, and are unknown until
 * then
 */
static void without_a_sample_counts_have_not_begun(void **state)
{
	struct endpoint ep = tcp_with_a_late_loss();

	assert_int_equal(sampled_of(&ep).retransmits_res, TRACE_EXACT);
	ep.flags = EP_JOINED_LATE;
	assert_int_equal(sampled_of(&ep).retransmits_res, TRACE_UNKNOWN);
	ep.tx.samples.n = 1;
	assert_int_equal(sampled_of(&ep).retransmits_res, TRACE_EXACT);
}

/* a UDP socket of a sampled session, which counted so many */
static struct endpoint udp_that_dropped(uint64_t n)
{
	struct endpoint ep = { .id.proto = PROTO_UDP, .born = BORN, .flags = EP_JOINED_LATE };

	ep.tx.word = ep.rx.word = word_open(BORN);
	ep.tx.samples.n = 1;
	ep.drops[DROP_OTHER] = n;
	return ep;
}

/* nobody reads its count at its end, and what a filter refused is not told from the rest */
static void drops_of_samples_may_be_a_bound(void **state)
{
	struct endpoint ep = udp_that_dropped(3);

	assert_int_equal(sampled_of(&ep).drops_res, TRACE_EXACT);
	ep.closed = END;
	assert_int_equal(sampled_of(&ep).drops_res, TRACE_BOUNDED);
	ep.closed = 0;
	ep.tx.samples.filtered = 1;
	assert_int_equal(sampled_of(&ep).drops_res, TRACE_BOUNDED);
	ep.drops[DROP_OTHER] = 0;
	assert_int_equal(sampled_of(&ep).drops_res, TRACE_UNKNOWN);
	ep = udp_that_dropped(0);
	assert_int_equal(sampled_of(&ep).drops_res, TRACE_EXACT);
	ep.tx.samples.n = 0;
	assert_int_equal(sampled_of(&ep).drops_res, TRACE_UNKNOWN);
}

static void reads_without_writes_had_a_writer(void **state)
{
	struct endpoint ep = pipe_of(0, 5000);
	struct trace_endpoint e = told_of(&ep);

	assert_missed(&e.tx_calls, 5000);
	assert_known(&e.rx_calls, 5000);
	assert_int_equal(e.tx.resolution[TX_SNDBUF], TRACE_UNKNOWN);
	assert_int_equal(e.tx.resolution[TX_IDLE], TRACE_UNKNOWN);
	assert_int_equal(e.rx.resolution[RX_WAIT], TRACE_EXACT);
}

/* it may have been full when it was first seen */
static void what_lay_in_the_ring_before_was_nobodys_call(void **state)
{
	struct endpoint ep = pipe_of(0, MIB);
	struct trace_endpoint e;

	ep.flags = EP_JOINED_LATE;
	e = told_of(&ep);
	assert_known(&e.tx_calls, 0);
	ep.rx_calls.own.bytes++;
	e = told_of(&ep);
	assert_missed(&e.tx_calls, MIB + 1);
}

static void writes_without_reads_had_a_reader(void **state)
{
	struct endpoint ep = pipe_of(3 * MIB, 0);
	struct trace_endpoint e = told_of(&ep);

	assert_known(&e.tx_calls, 3 * MIB);
	assert_missed(&e.rx_calls, 2 * MIB);
	assert_int_equal(e.rx.resolution[RX_WAIT], TRACE_UNKNOWN);
	assert_int_equal(e.tx.resolution[TX_SNDBUF], TRACE_EXACT);
}

/* a ring that its owner made larger than others may, and that was found full */
static void a_large_ring_holds_more(void **state)
{
	struct endpoint ep = pipe_of(3 * MIB, 0);
	struct trace_endpoint e;

	ep.queue_max = 3 * MIB / 4096;
	e = told_of(&ep);
	assert_known(&e.tx_calls, 3 * MIB);
	assert_known(&e.rx_calls, 0);
}

/* bytes are counted when a call ends: while one is under way nothing is missing yet */
static void a_call_under_way_is_not_judged(void **state)
{
	struct endpoint ep = pipe_of(0, 5000);
	struct trace_endpoint e;

	ep.closed = 0;
	ep.tx.word |= AWAKE_BIT;
	e = told_of(&ep);
	assert_int_equal(e.tx.now, TX_WORK);
	assert_known(&e.tx_calls, 0);
}

/* one long send() into a small window: TCP has taken some of it already */
static void what_a_call_under_way_moved_shows(void **state)
{
	struct endpoint ep = { .id.proto = PROTO_TCP, .born = BORN, .moved = { 5 * MIB, 0 } };
	struct trace_endpoint e;

	ep.tx.word = ep.rx.word = word_open(BORN);
	ep.tx_calls.own.bytes = MIB;
	e = told_of(&ep);
	assert_known(&e.tx_calls, MIB); /* a count of an earlier sample */
	ep.tx.word |= AWAKE_BIT;
	e = told_of(&ep);
	assert_known(&e.tx_calls, 5 * MIB - SYN_AND_FIN);
	assert_known(&e.rx_calls, 0);
	ep.tx_calls.own.bytes = 6 * MIB;
	e = told_of(&ep);
	assert_known(&e.tx_calls, 6 * MIB);
}

/* TASK_COMM_LEN bytes as the program chose them, cut within a character */
static void a_name_comes_in_clean(void **state)
{
	struct endpoint ep = pipe_of(0, 0);
	struct trace_endpoint e;

	memcpy(ep.tx_calls.comm, "\x1b[2J\n", 6);
	memcpy(ep.rx_calls.comm, "nginx: worker \xd0", 16);
	e = told_of(&ep);
	assert_string_equal(e.tx_calls.comm, "?[2J?");
	assert_string_equal(e.rx_calls.comm, "nginx: worker ?");
}

/* a TCP connection that has ended */
static struct record_close end_of(uint64_t serial, uint64_t bytes, uint64_t stall)
{
	struct record_close r = { .head.type = RECORD_CLOSE, .ep = { .id = { .serial = serial,
		.proto = PROTO_TCP }, .born = BORN, .closed = END } };

	r.ep.tx.word = r.ep.rx.word = word_open(END) | CLOSED_BIT;
	r.ep.tx.ns[TX_NAGLE] = stall;
	r.ep.tx.ns[TX_IDLE] = END - BORN - stall;
	r.ep.rx.ns[RX_IDLE] = END - BORN;
	r.ep.tx_calls.own.bytes = bytes;
	r.ep.rx_calls.own.bytes = 2 * bytes;
	return r;
}

static void what_is_not_kept_is_summed(void **state)
{
	struct trace t = { .opts.max_closed = 4, .backend = TRACE_FENTRY };
	uint64_t bytes = 0, stall = 0;

	for (uint64_t i = 1; i <= 20; i++) {
		struct record_close r = end_of(i, i, 10 * i);

		on_record(&t, &r, sizeof(r));
	}
	assert_int_equal(t.closed.dropped + t.closed.n, 20);
	assert_int_not_equal(t.closed.dropped, 0);
	for (size_t i = 0; i < t.closed.n; i++) {
		bytes += t.closed.ep[i].tx_calls.own.bytes;
		stall += t.closed.ep[i].tx.ns[TX_NAGLE];
	}
	assert_int_equal(bytes + t.closed.rest[TRACE_TCP].tx_calls.bytes, 20 * 21 / 2);
	assert_int_equal(stall + t.closed.rest[TRACE_TCP].tx.ns[TX_NAGLE], 10 * 20 * 21 / 2);
	assert_int_equal(t.closed.rest[TRACE_TCP].tx.lifetime_ns, t.closed.dropped * (END - BORN));
	assert_int_equal(t.closed.rest[TRACE_TCP].tx_calls.bytes_res, TRACE_EXACT);
	assert_int_equal(t.closed.rest[TRACE_UDP].tx.lifetime_ns, 0);
	free(t.closed.ep);
	free(t.closed.rest);
}

static int free_details(void **state)
{
	details_free(&details);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_was_read),
		cmocka_unit_test(what_flew_and_was_lost_is_recovery),
		cmocka_unit_test(what_is_left_of_a_lost_flight_is_a_visit),
		cmocka_unit_test(a_loss_of_before_is_not_the_phases),
		cmocka_unit_test(what_is_packed_comes_out_as_it_was),
		cmocka_unit_test(histograms_of_before_are_subtracted),
		cmocka_unit_test(samples_stay_with_their_endpoint),
		cmocka_unit_test(cpu_time_that_became_known_is_not_the_phases),
		cmocka_unit_test(one_phase_follows_the_other),
		cmocka_unit_test(what_stays_below_is_undelivered_until_now),
		cmocka_unit_test(what_samples_find_below_is_undelivered),
		cmocka_unit_test(without_hooks_the_path_is_known),
		cmocka_unit_test(without_hooks_mptcp_is_told),
		cmocka_unit_test(a_new_connection_asks_nothing_until_it_is_used),
		cmocka_unit_test(without_hooks_an_open_request_ends_with_the_first_bytes),
		cmocka_unit_test(without_a_sample_counts_have_not_begun),
		cmocka_unit_test(drops_of_samples_may_be_a_bound),
		cmocka_unit_test(reads_without_writes_had_a_writer),
		cmocka_unit_test(what_lay_in_the_ring_before_was_nobodys_call),
		cmocka_unit_test(writes_without_reads_had_a_reader),
		cmocka_unit_test(a_large_ring_holds_more),
		cmocka_unit_test(a_call_under_way_is_not_judged),
		cmocka_unit_test(what_a_call_under_way_moved_shows),
		cmocka_unit_test(a_name_comes_in_clean),
		cmocka_unit_test(what_is_not_kept_is_summed),
	};

	return cmocka_run_group_tests(tests, NULL, free_details);
}
