// SPDX-License-Identifier: GPL-2.0-only
/* What is said where only one end was seen, where no hook saw the calls, and where the blame
 * explains a part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <cmocka.h>

#include "bpf/charge.h"
#include "stats/rng.h"
#include "verdict/blame.h"
#include "verdict/by_address.h"
#include "verdict/feed.h"
#include "verdict/unsampled_connections.h"
#include "verdict/mutual_wait.h"
#include "verdict/waiting_processes.h"
#include "render/card.h"
#include "render/names.h"

enum { SECOND = 1000000000 };

static const char *said_of_all(struct trace_endpoint *ep, size_t n, struct verdict *v)
{
	static char text[VERDICT_TEXT];
	struct trace_snapshot s = { .ep = ep, .n = n };

	verdict_make(&s, v);
	verdict_sentence(&s, v, text, sizeof(text));
	return text;
}

static const char *said_of(struct trace_endpoint *ep, struct verdict *v)
{
	return said_of_all(ep, 1, v);
}

static const char *said_of_both(struct trace_endpoint *ep, struct verdict *v)
{
	return said_of_all(ep, 2, v);
}

/* a downloader that has unread data for `ns` of a second, having sent a request */
static struct trace_endpoint downloader(uint64_t ns)
{
	struct trace_endpoint ep = { .proto = TRACE_TCP, .family = 2, .peer = -1 };

	memset(ep.tx.resolution, TRACE_EXACT, sizeof(ep.tx.resolution));
	memset(ep.rx.resolution, TRACE_EXACT, sizeof(ep.rx.resolution));
	strcpy(ep.rx_calls.comm, "curl");
	ep.rx_calls.tgid = 12;
	ep.tx_calls.bytes = 100;
	ep.tx.lifetime_ns = ep.rx.lifetime_ns = SECOND;
	ep.rx.ns[RX_UNREAD] = ep.rx.max[RX_UNREAD] = ns;
	ep.rx.count[RX_UNREAD] = 1;
	return ep;
}

static void card_of(const struct trace_endpoint *ep, struct card *c)
{
	struct trace_endpoint copy = *ep;
	struct trace_snapshot s = { .ep = &copy, .n = 1 };
	struct verdict v;

	verdict_make(&s, &v);
	card_make(&s, &v, c);
}

static void a_late_reader_is_no_health(void **state)
{
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	assert_non_null(strstr(said_of(&ep, &v), "curl[12] on tcp 0.0.0.0:0 > 0.0.0.0:0 has unread "
						 "data: 1 time, 900 ms in all (90.0 %"));
	assert_int_equal(v.late.endpoint, 0);
	assert_int_equal(v.n, 0);
}

static void a_sender_that_was_seen_speaks_for_itself(void **state)
{
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	ep.paired = true;
	ep.rx.count[RX_UNREAD] = 20;
	ep.rx.max[RX_UNREAD] = 80000000;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	assert_int_equal(v.late.endpoint, -1);
}

/* The server sends more than the answers, which lies there until the client asks again. */
static void what_a_client_finds_as_it_asks_again_is_not_late(void **state)
{
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	ep.local.port = 50000;
	ep.remote.port = 80;
	ep.rx.count[RX_UNREAD] = 20;
	ep.rx.max[RX_UNREAD] = 50000000;
	ep.rx_calls.bytes = 4000;
	ep.rx_calls.messages = 40;
	ep.tx_calls.messages = 20;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = TRACE_EXACT;
	said_of(&ep, &v);
	assert_int_equal(v.late.endpoint, -1);
	ep.making.other_full = true; /* the server cannot go on */
	said_of(&ep, &v);
	assert_int_equal(v.late.endpoint, 0);
	ep.making.other_full = false;
	ep.tx_calls.messages = 2; /* news that it does not read */
	said_of(&ep, &v);
	assert_int_equal(v.late.endpoint, 0);
	ep.tx_calls.messages = 20;
	ep.rx.max[RX_UNREAD] = 400000000;
	said_of(&ep, &v);
	assert_int_equal(v.late.endpoint, 0);
}

/* as much as this host carries: more of it is there whenever its reader looks */
static void the_reader_of_a_fast_stream_is_not_late(void **state)
{
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	ep.rx.count[RX_UNREAD] = 20;
	ep.rx.max[RX_UNREAD] = 80000000;
	ep.rx_calls.bytes = 100000000;
	assert_non_null(strstr(said_of(&ep, &v), "has unread data"));
	ep.rx_calls.bytes = 500000000;
	assert_null(strstr(said_of(&ep, &v), "has unread data"));
	ep.rx.max[RX_UNREAD] = 150000000; /* but for that it stays away */
	assert_non_null(strstr(said_of(&ep, &v), "has unread data"));
}

/* a connection of 10 ms, all of it unread, in a session of a second: a sample found it once */
static void a_few_milliseconds_are_not_late(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(10000000) };
	struct verdict v;

	(void)state;
	ep[0].at_ns = ep[1].at_ns = 2ull * SECOND;
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = 10000000;
	assert_null(strstr(said_of_both(ep, &v), "has unread data"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 250000000; /* that is felt */
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = 250000000;
	assert_non_null(strstr(said_of_both(ep, &v), "has unread data"));
}

/* it forked, and never closed the write end */
static void who_alone_may_write_waits_for_itself(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct card c;

	(void)state;
	ep.proto = TRACE_PIPE;
	ep.family = 0;
	ep.peer = 0;
	ep.tx_calls.bytes = 0;
	ep.rx_calls.bytes = 12;
	ep.tx.ns[TX_IDLE] = ep.rx.ns[RX_WAIT] = ep.rx.max[RX_WAIT] = SECOND;
	ep.rx.count[RX_WAIT] = 1;
	card_of(&ep, &c);
	assert_string_equal(c.head, "curl[12] waits for the other end to send");
	ep.making.own_writer = true;
	card_of(&ep, &c);
	assert_string_equal(c.head, "curl[12] waits for data that only it can send");
	assert_non_null(strstr(c.why, "neither data nor EOF can come"));
	assert_string_equal(c.next, "");
}

/* 209 pieces in a second, none of them late */
static void what_comes_evenly_is_said_to(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct card c;

	(void)state;
	ep.rx.ns[RX_WAIT] = 99 * (SECOND / 100);
	ep.rx.max[RX_WAIT] = 16000000;
	ep.rx.count[RX_WAIT] = 209;
	ep.rx_calls.messages = 209;
	ep.rx_calls.bytes = 960000;
	ep.tx_calls.messages = ep.tx_calls.bytes = 0;
	ep.rx_calls.bytes_res = ep.tx_calls.bytes_res = TRACE_EXACT;
	card_of(&ep, &c);
	assert_non_null(strstr(c.why, "960 kB/s come evenly: the path or the sender limits them"));
	ep.rx.max[RX_WAIT] = SECOND / 2;
	card_of(&ep, &c);
	assert_null(strstr(c.why, "evenly"));
}

/* a request that the server forgot: its client sent it without a stall, and may have asked by
 * poll() for the answer */
static void a_message_that_lies_is_no_health(void **state)
{
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	assert_non_null(strstr(said_of(&ep, &v), "was not traced, and may wait for an answer"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep.making.other_full = true;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING); /* it reads by now */
	ep.rx.now = RX_UNREAD;
	assert_non_null(strstr(said_of(&ep, &v), "has unread data"));
	assert_non_null(strstr(said_of(&ep, &v), "; the sender's buffer is full"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.making.other_full = false;
	ep.paired = true;
	assert_non_null(strstr(said_of(&ep, &v), "has unread data"));
	assert_non_null(strstr(said_of(&ep, &v), "the sender may wait for an answer"));
	struct trace_endpoint both[2] = { ep, ep };

	both[0].peer = 1;
	both[1].peer = 0;
	both[0].at_ns = SECOND;
	both[1].rx.ns[RX_UNREAD] = both[1].rx.max[RX_UNREAD] = 0;
	both[1].at_ns = SECOND;
	assert_non_null(strstr(said_of_both(both, &v), "the sender may wait for an answer"));
	both[1].closed = true; /* its farewell, long ago */
	both[1].at_ns = 100000000;
	assert_non_null(strstr(said_of_both(both, &v), "healthy"));
	ep.proto = TRACE_PIPE; /* tokens may lie there for as long as nobody needs them */
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep.tx_calls.bytes = ep.tx_calls.messages = ep.tx_calls.tid =
		0; /* their writer is not seen either */
	ep.rx_calls.tgid = 7;
	ep.queue_max = 1;
	assert_null(strstr(said_of(&ep, &v), "has unread data"));
	ep.queue_max = 16; /* but there is no room for more, and who would write waits */
	assert_non_null(
		strstr(said_of(&ep, &v), "the sender was not traced, and may wait for an answer"));
	ep.making.no_writer = true; /* it has ended */
	assert_null(strstr(said_of(&ep, &v), "has unread data"));
}

/* a device that is at work is no stall; data that is on this host when the retransmission timer
 * fires is told of, however much went out before */
static void what_does_not_leave_is_no_health(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	(void)state;
	ep.tx.ns[TX_IDLE] -= 500000000;
	ep.tx.ns[TX_DEVICE] = ep.tx.max[TX_DEVICE] = 500000000;
	ep.tx_calls.bytes = 100000000;
	ep.timeouts = 2;
	assert_null(strstr(said_of(&ep, &v), "had not left this host"));
	ep.undelivered_ns = 300000000;
	assert_non_null(strstr(
		said_of(&ep, &v),
		"had not left this host when the retransmission timer fired: 2 times, 300 ms"));
	ep.open_undelivered_ns = 100000000; /* it goes on */
	assert_non_null(strstr(said_of(&ep, &v), "2 times, 400 ms"));
	ep.open_undelivered_ns = 9ULL * SECOND; /* since before this phase */
	assert_non_null(strstr(said_of(&ep, &v), "2 times, 500 ms"));
	ep.open_undelivered_ns = 0;
	ep.undelivered_ns = 199000000; /* less than the timer takes */
	assert_null(strstr(said_of(&ep, &v), "had not left this host"));
}

/* a pulled cable: what the device dropped before the kernel noticed was sent again */
static void what_does_not_leave_is_told_before_what_was_dropped(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	(void)state;
	ep.tx.ns[TX_IDLE] -= 500000000;
	ep.tx.ns[TX_DEVICE] = ep.tx.max[TX_DEVICE] = 300000000;
	ep.tx.ns[TX_RECOVERY] = ep.tx.max[TX_RECOVERY] = 200000000;
	ep.tx_calls.bytes = 100000000;
	ep.timeouts = 2;
	ep.undelivered_ns = 300000000;
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_UNDELIVERED);
	ep.tx.ns[TX_DEVICE] = ep.tx.max[TX_DEVICE] = ep.undelivered_ns = 210000000;
	ep.tx.ns[TX_RECOVERY] = ep.tx.max[TX_RECOVERY] = 290000000;
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_STALL);
}

/* the second of two clients: its request lies for 1.9 s of 3.9 until the first one's is done with;
 * both ends were seen */
static void second_client(struct trace_endpoint ep[2])
{
	for (int i = 0; i < 2; i++) {
		ep[i] = downloader(0);
		ep[i].paired = true;
		ep[i].peer = !i;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 1;
		ep[i].rx_calls.bytes = 100;
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = 3900000000;
		ep[i].at_ns = 3900000000;
	}
	strcpy(ep[1].rx_calls.comm, "server");
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 1900000000;
}

static void a_request_that_waits_its_turn_is_no_health(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	second_client(ep);
	assert_non_null(strstr(said_of_both(ep, &v), "server[12] on tcp 0.0.0.0:0 > 0.0.0.0:0 has "
						     "unread data: 1 time, 1.90 s in all (48.7 %"));
	assert_int_equal(v.late.endpoint, 1);
}

static void who_waits_for_no_answer_is_not_kept_waiting(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	second_client(ep);
	ep[0].tx_calls.messages = 100; /* it sends on and on, and is acknowledged now and then */
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
	second_client(ep);
	ep[1].tx.ns[TX_IDLE] -=
		1000000000; /* it may have been the answer to the one before that took so long */
	ep[1].tx.ns[TX_DEVICE] = 1000000000;
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
	second_client(ep);
	ep[0].rx.ns[RX_UNREAD] = 1000000000; /* nor does it come for its own */
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 1200000000;
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
	second_client(ep);
	ep[1].tx_calls.bytes_res = TRACE_BOUNDED; /* how many answers there were is not known */
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
}

/* a connection that lives on between requests, each of which is read at once; and one that was
 * once, of many times, read late */
static void a_server_that_answers_at_once_is_not_late(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	second_client(ep);
	ep[0].tx_calls.messages = ep[1].rx_calls.messages = ep[1].tx_calls.messages =
		ep[1].rx.count[RX_UNREAD] = 1000;
	ep[1].rx.ns[RX_UNREAD] = 900000000;
	ep[1].rx.max[RX_UNREAD] = 2000000;
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 150000000;
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
}

/* a state that lasts for hours stands as several episodes, of which none is half of its time */
static void a_server_that_hung_hours_ago_is_late(void **state)
{
	const uint64_t hours = 10800ull * SECOND;
	struct trace_endpoint ep[2];
	struct verdict v;

	second_client(ep);
	for (int i = 0; i < 2; i++)
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = ep[i].at_ns =
			hours;
	ep[1].tx_calls.messages = 0;
	ep[1].rx.ns[RX_UNREAD] = hours - SECOND;
	ep[1].rx.count[RX_UNREAD] = 5;
	ep[1].rx.max[RX_UNREAD] = TRACE_SPLIT_NS + SECOND;
	assert_non_null(strstr(said_of_both(ep, &v), "has unread data"));
	ep[1].rx.ns[RX_UNREAD] =
		5 * (ep[1].rx.max[RX_UNREAD] =
			     TRACE_SPLIT_NS / 5); /* of many shorter ones each is what it is */
	assert_non_null(strstr(said_of_both(ep, &v), "healthy"));
}

/* there is always something to read, and it is read all the time */
static void who_comes_back_at_once_is_not_late(void **state)
{
	struct trace_endpoint ep = downloader(990000000);
	struct verdict v;

	ep.rx_calls.bytes_res = TRACE_EXACT;
	ep.rx_calls.messages = 10000;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep.rx_calls.messages = 20;
	assert_int_equal(said_of(&ep, &v) && v.late.endpoint, 0);
}

/* a server beside a hog on its CPU: every request waits, and nobody stalls */
static void who_had_no_cpu_is_named(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.rx_calls.runq_res = TRACE_EXACT;
	ep.rx_calls.wakeups = 20;
	ep.rx_calls.runq_ns = 800000000;
	ep.rx_calls.runq_max_ns = 60000000;
	assert_non_null(strstr(said_of(&ep, &v),
			       "curl[12] on tcp 0.0.0.0:0 > 0.0.0.0:0 was woken 20 times "
			       "and then waited for a CPU: 800 ms in all (80.0 %"));
	ep.rx_calls.wakeups = 100000; /* they took turns */
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep.rx_calls.wakeups = 20;
	ep.rx_calls.runq_res = TRACE_UNKNOWN;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
}

/* in the middle of its work, or by epoll, while somebody waits for it */
static void who_had_no_cpu_out_of_calls_is_named(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(0) };
	struct verdict v;

	ep[0].peer = 1;
	ep[1].peer = 0;
	ep[0].rx.ns[RX_WAIT] = 900000000;
	strcpy(ep[1].tx_calls.comm, "httpd");
	ep[1].tx_calls.tgid = 13;
	ep[1].tx_calls.no_cpu_ns = 700000000;
	ep[1].tx_calls.no_cpu_res = TRACE_BOUNDED;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "httpd[13] on tcp 0.0.0.0:0 > 0.0.0.0:0 was waiting for a CPU while "
			       "others waited for it: 700 ms in all (70.0 %"));
	ep[1].tx_calls.no_cpu_ns = 400000000; /* it was elsewhere for most of that */
	assert_null(strstr(said_of_both(ep, &v), "no CPU"));
	ep[0].rx.ns[RX_WAIT] = 0; /* nobody waited */
	ep[1].tx_calls.no_cpu_ns = 700000000;
	assert_null(strstr(said_of_both(ep, &v), "no CPU"));
	ep[1] = downloader(900000000); /* what had come lay there, and it could not read */
	strcpy(ep[1].rx_calls.comm, "httpd");
	ep[1].peer = 0;
	assert_non_null(strstr(said_of_both(ep, &v), "has unread data"));
	ep[1].rx_calls.no_cpu_ns = 800000000;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "was waiting for a CPU while others waited for it: 800 ms"));
}

static void every_reader_is_a_little_late(void **state)
{
	struct trace_endpoint ep = downloader(50000000);
	struct verdict v;

	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = downloader(300000000);
	ep.rx.count[RX_UNREAD] = 2000; /* 150 us each */
	ep.rx.max[RX_UNREAD] = 400000;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = downloader(900000000);
	ep.proto = TRACE_UDP;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = downloader(900000000);
	ep.rx.resolution[RX_UNREAD] = TRACE_UNKNOWN;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
}

/* The timer fires 40 to 44 ms after the data; what comes next comes so long after that, give or
 * take `noise`. */
static void answered_after(struct trace_answers *a, uint64_t us, uint64_t noise)
{
	a->since_fired = a->since_owed = (struct trace_spread){};
	for (uint64_t i = 0; i < a->n; i++) {
		uint64_t fired = us + i % 2 * noise, owed = fired + 40000 + i * 997 % 4000;

		a->since_fired.sum += fired;
		a->since_fired.squares += fired * fired;
		a->since_owed.sum += owed;
		a->since_owed.squares += owed * owed;
	}
}

/* its timer fired ten times, after 40 ms each, and n of these times the other end sent as soon as
 * it could */
static struct trace_endpoint withholder(uint64_t n)
{
	struct trace_endpoint ep = downloader(0);

	ep.delack_res = TRACE_BOUNDED;
	ep.delack_fires = 10;
	ep.delack_ns = 400000000;
	ep.answers.n = n;
	ep.answers.ns = n * 40000000;
	answered_after(&ep.answers, 200, 4);
	return ep;
}

static void a_sender_that_waits_for_our_acks_is_told_of(void **state)
{
	struct trace_endpoint ep = withholder(9);
	struct verdict v;

	assert_non_null(strstr(said_of(&ep, &v),
			       "curl[12] on tcp 0.0.0.0:0 > 0.0.0.0:0: its delayed ACKs held up "
			       "the other end, which was not seen: 9 times, "
			       "360 ms in all (36.0 % of its time)"));
	assert_int_equal(v.withheld.endpoint, 0);
	assert_int_equal(v.withheld.count, 9);
}

static void some_messages_come_just_then_by_themselves(void **state)
{
	struct trace_endpoint ep = withholder(6);
	struct verdict v;

	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	assert_int_equal(v.withheld.endpoint, -1);
	ep = withholder(4);
	ep.delack_fires = 4;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = withholder(9);
	ep.paired = true; /* it says itself what it waited for */
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = withholder(9);
	ep.rx.lifetime_ns = 100ull * SECOND;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = withholder(9);
	ep.delack_res = TRACE_UNKNOWN;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
}

static void a_beat_is_no_wait(void **state)
{
	struct trace_endpoint ep = withholder(10);
	struct trace_spread fired;
	struct verdict v;

	fired = ep.answers.since_fired; /* from the data it is as regular as a waiter is from the
					   fire */
	ep.answers.since_fired = ep.answers.since_owed;
	ep.answers.since_owed = fired;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	ep = withholder(10);
	answered_after(&ep.answers, 20000,
		       3000); /* a path whose own time varies as much as the timer */
	assert_non_null(strstr(said_of(&ep, &v), "held up the other end"));
}

/* nine short holds and one of 41 ms, seen from one end */
static void one_long_hold_among_short_ones_is_the_timers(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.tx.ns[TX_NAGLE] = 50000000;
	ep.tx.max[TX_NAGLE] = 41000000;
	ep.tx.count[TX_NAGLE] = 10;
	ep.detail = &detail;
	detail.tx_hist[TX_NAGLE][10] = 9;
	detail.tx_hist[TX_NAGLE][TRACE_SLOT_DELACK] = 1;
	assert_non_null(strstr(said_of(&ep, &v),
			       "nagle <- delayed ACK of the peer: 10 times, 50.0 ms in all"));
	ep.tx.ns[TX_NAGLE] = 150000000;
	assert_null(strstr(said_of(&ep, &v), "delayed ACK"));
}

static void a_lost_syn_is_told_from_a_lossy_path(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.tx.ns[TX_RECOVERY] = ep.tx.max[TX_RECOVERY] = SECOND;
	ep.tx.count[TX_RECOVERY] = 1;
	ep.tx.lifetime_ns = 2000000000;
	ep.retransmits = 3;
	ep.syn_retransmits = 2;
	assert_non_null(
		strstr(said_of(&ep, &v),
		       "curl[12] on tcp 0.0.0.0:0 > 0.0.0.0:0: recovery <- no answer to its SYN"));
	assert_true(v.v[0].unanswered_syn);
	ep.syn_retransmits = 1;
	assert_null(strstr(said_of(&ep, &v), "SYN"));
	ep.tx_calls.bytes = ep.syn_retransmits = 0; /* samples count no SYN: nobody has answered */
	said_of(&ep, &v);
	assert_true(v.v[0].unanswered_syn);
	ep.rtt_us = 30;
	said_of(&ep, &v);
	assert_false(v.v[0].unanswered_syn);
}

/* the other end said so by DSACKs, of most */
static void what_was_late_was_not_lost(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.rtt_us = 5000;
	ep.tx.ns[TX_RECOVERY] = ep.tx.max[TX_RECOVERY] = SECOND / 2;
	ep.tx.count[TX_RECOVERY] = 3;
	ep.retransmits = 4;
	ep.needless = 2;
	assert_non_null(strstr(said_of(&ep, &v), "recovery <- the path delayed packets"));
	assert_true(v.v[0].late_not_lost);
	ep.needless = 1;
	assert_non_null(strstr(said_of(&ep, &v), "recovery <- loss on the path"));
	ep.retransmits = ep.needless = 0; /* none was seen */
	assert_false(said_of(&ep, &v) && v.v[0].late_not_lost);
}

static void of_two_that_tell_of_an_unseen_sender_the_longer_leads(void **state)
{
	struct trace_endpoint ep = withholder(9);
	struct verdict v;

	ep.rx.ns[RX_UNREAD] = ep.rx.max[RX_UNREAD] = 300000000;
	ep.rx.count[RX_UNREAD] = 1;
	assert_non_null(strstr(said_of(&ep, &v), "delayed ACKs held up"));
	ep.rx.ns[RX_UNREAD] = 500000000;
	assert_non_null(strstr(said_of(&ep, &v), "has unread data"));
	assert_int_equal(v.withheld.endpoint, 0);
}

static void a_writer_that_nobody_saw_is_not_healthy(void **state)
{
	struct trace_endpoint ep = { .proto = TRACE_PIPE, .paired = true };
	struct verdict v;

	ep.tx_calls.bytes = ep.rx_calls.bytes = 6000000;
	ep.tx.lifetime_ns = ep.rx.lifetime_ns = SECOND;
	assert_non_null(strstr(said_of(&ep, &v), "is unknown"));
	assert_int_equal(v.n_unknown, 1);
	ep.tx.resolution[TX_SNDBUF] = TRACE_EXACT;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
}

static void a_blame_for_a_part_says_so(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.paired = true;
	ep.tx.ns[TX_NAGLE] = 98000000;
	ep.tx.count[TX_NAGLE] = 648;
	ep.blame.delack_ns[TX_NAGLE] = 87000000;
	ep.blame.delack_n[TX_NAGLE] = 2;
	assert_non_null(strstr(said_of(&ep, &v), "648 times, 98.0 ms in all"));
	assert_non_null(strstr(said_of(&ep, &v), ", of which 2 times, 87.0 ms, by delayed ACKs"));
	ep.blame.delack_ns[TX_NAGLE] = ep.blame.delack_n[TX_NAGLE] = 0;
	ep.blame.unread_ns[TX_NAGLE] = 87000000;
	ep.blame.unread_n[TX_NAGLE] = 2;
	assert_non_null(
		strstr(said_of(&ep, &v), ", of which 2 times, 87.0 ms, with unread data there"));
	assert_non_null(strstr(said_of(&ep, &v), ": nagle, while "));
	ep.blame.unread_ns[TX_NAGLE] = 0;
	ep.blame.delack_n[TX_NAGLE] = 648;
	ep.blame.delack_ns[TX_NAGLE] = 98000000;
	assert_null(strstr(said_of(&ep, &v), "of which"));
}

/* who slept, and who left it lying, are not who came last */
static void of_several_the_one_that_waited(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.proto = TRACE_PIPE;
	ep.family = 0;
	ep.peer = 0;
	ep.tx_calls.tgid = 20;
	strcpy(ep.tx_calls.comm, "last");
	ep.tx.ns[TX_SNDBUF] = ep.blame.unread_ns[TX_SNDBUF] = SECOND / 2;
	ep.tx.count[TX_SNDBUF] = ep.blame.unread_n[TX_SNDBUF] = 1;
	assert_non_null(strstr(said_of(&ep, &v), "last[20] on "));
	assert_non_null(strstr(said_of(&ep, &v), "<- curl[12] is not reading"));
	ep.detail = &detail;
	detail.held_up[trace_vote(TX_SNDBUF)] = (struct trace_who){ .tgid = 21, .comm = "writer" };
	detail.late[trace_vote(TX_SNDBUF)] = (struct trace_who){ .tgid = 22, .comm = "reader" };
	detail.late[trace_vote(TX_NAGLE)] = (struct trace_who){ .tgid = 23, .comm = "another's" };
	assert_non_null(strstr(said_of(&ep, &v), "writer[21] and others on "));
	assert_non_null(strstr(said_of(&ep, &v), "<- reader[22] and others are not reading"));
}

/* a verb agrees with the name before it */
static void several_wait_and_one_waits(void **state)
{
	assert_string_equal(verb_of("writer[21] and others", "waits", "wait"), "wait");
	assert_string_equal(verb_of("several nginx", "waits", "wait"), "wait");
	assert_string_equal(verb_of("nginx[7]", "waits", "wait"), "waits");
	assert_string_equal(verb_of(" and others[7]", "waits", "wait"), "waits");
}

/* nobody was seen to send: of a socket that is who reads from it too; of a pipe it is not */
static void who_has_the_socket_is_who_waits(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.tx.ns[TX_RWND] = SECOND / 2;
	ep.tx.count[TX_RWND] = 1;
	assert_non_null(strstr(said_of(&ep, &v), "curl[12] on tcp"));
	ep.tx_calls.tgid = 20;
	strcpy(ep.tx_calls.comm, "sender");
	assert_non_null(strstr(said_of(&ep, &v), "sender[20] on tcp"));
	ep.detail = &detail;
	detail.held_up[trace_vote(TX_RWND)] = (struct trace_who){
		.lead_ns = 1, .sum_ns = 9, .second = VOTE_MANY, .tgid = 20, .mixed = 1
	};
	assert_non_null(strstr(said_of(&ep, &v), "several processes on tcp"));
	ep = downloader(0);
	ep.proto = TRACE_PIPE;
	ep.family = 0;
	ep.tx.ns[TX_SNDBUF] = SECOND / 2;
	ep.tx.count[TX_SNDBUF] = 1;
	assert_non_null(strstr(said_of(&ep, &v), "nobody seen on pipe"));
}

/* a client that waits for its answer, and the server that it waits for */
static void client_and_server(struct trace_endpoint ep[2])
{
	for (int i = 0; i < 2; i++) {
		ep[i] = downloader(0);
		ep[i].paired = true;
		ep[i].peer = !i;
		ep[i].tx_calls.tgid = ep[i].rx_calls.tgid;
		strcpy(ep[i].tx_calls.comm, "curl");
		ep[i].tx.ns[TX_IDLE] = SECOND;
	}
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = 9 * (SECOND / 10);
	ep[0].rx.count[RX_WAIT] = 1;
	strcpy(ep[1].tx_calls.comm, "nginx");
	ep[1].tx_calls.tgid = 7;
}

static void leaves(struct trace_call_stats *b, uint64_t at)
{
	b->left_ns = at;
	b->fd_owner = 9;
	strcpy(b->fd_owner_comm, "helper");
}

static void card_of_both(struct trace_endpoint ep[2], struct card *c)
{
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct verdict v;

	verdict_make(&s, &v);
	card_make(&s, &v, c);
}

/* As MariaDB: the server says hello first. */
static void whoever_connected_waits_for_the_server_that_greets(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].proto = TRACE_UNIX_STREAM;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 100;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 14;
		ep[i].rx_calls.reply_n = ep[i].tx_calls.reply_n = 13;
		ep[i].rx_calls.first_reply_ns = 20 - i;
		ep[i].tx_calls.first_reply_ns = 19 + i;
	}
	ep[0].making.connected = ep[1].making.accepted = true;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 0);
}

/* A thread of the server is back in its receive call while another works on the answer. */
static void a_server_whose_reader_is_back_is_still_awaited(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;
	struct card c;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 100;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 20;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 9 * (SECOND / 10);
		ep[i].rx.ns[RX_IDLE] = SECOND / 10;
	}
	ep[0].making.connected = ep[1].making.accepted = true;
	ep[0].rx_calls.reply_n = ep[1].tx_calls.reply_n = 20;
	ep[0].rx_calls.reply_ns = ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	ep[1].rx_calls.reply_n = 19;
	ep[1].rx_calls.reply_ns = SECOND / 100;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 0);
	card_of_both(ep, &c);
	assert_string_equal(c.why, "nginx[7] thinks 45.0 ms a request, 20 requests");
	for (int i = 0; i < 2; i++) { /* without a ledger */
		memset(ep[i].rx.resolution, TRACE_BY_SAMPLES, sizeof(ep[i].rx.resolution));
		ep[i].rx_calls.reply_n = ep[i].tx_calls.reply_n = 0;
	}
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0);
	for (int i = 0; i < 2; i++) {
		memset(ep[i].rx.resolution, TRACE_EXACT, sizeof(ep[i].rx.resolution));
		ep[i].rx_calls.reply_n = ep[i].tx_calls.reply_n = 20;
	}
	for (int i = 0; i < 2; i++) /* news go both ways, and neither waits for an answer */
		ep[i].rx_calls.reply_ns = ep[i].tx_calls.reply_ns = SECOND / 100;
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, -1);
}

/* A worker has a connection from its supervisor, where it never asks anything. */
static void whoever_waits_for_a_worker_is_the_news(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	client_and_server(ep);
	client_and_server(ep + 2);
	ep[0].making.connected = ep[1].making.accepted = true;
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 20;
		ep[i].rx_calls.bytes = 100;
		ep[2 + i].proto = TRACE_UNIX_STREAM;
		ep[2 + i].peer = 3 - i;
		ep[2 + i].tx_calls.bytes_res = ep[2 + i].rx_calls.bytes_res = TRACE_EXACT;
		ep[2 + i].tx_calls.bytes = 0;
	}
	ep[1].rx.ns[RX_IDLE] = ep[0].rx_calls.reply_ns = 9 * (SECOND / 10);
	ep[0].rx_calls.reply_n = ep[1].tx_calls.reply_n = 20;
	ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	ep[0].rx.max[RX_WAIT] = SECOND / 20;
	ep[2].rx.ns[RX_WAIT] = 99 * (SECOND / 100);
	ep[2].tx_calls.tgid = ep[2].rx_calls.tgid = 7;
	ep[2].rx_calls.bytes = ep[3].tx_calls.bytes = 2;
	ep[2].rx_calls.messages = ep[3].tx_calls.messages = 2;
	ep[3].tx_calls.tgid = ep[3].rx_calls.tgid = 1;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.wait.endpoint, 0);
	assert_string_equal(c.head, "curl[12] waits for nginx[7] to answer");
	ep[2].rx_calls.messages = ep[3].tx_calls.messages = 20; /* each is passed on */
	ep[2].rx.max[RX_WAIT] = SECOND / 20;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[12] waits for nginx[1], through curl[7]");
}

/* of one process that reads there, and waits for another */
static void waits_at(struct trace_endpoint *ep, int at, int reader, int sender)
{
	client_and_server(ep + at);
	ep[at].peer = at + 1;
	ep[at + 1].peer = at;
	ep[at].making.connected = ep[at + 1].making.accepted = true;
	ep[at].rx_calls.tgid = ep[at].tx_calls.tgid = reader;
	ep[at + 1].rx_calls.tgid = ep[at + 1].tx_calls.tgid = sender;
}

/* A subscriber waits for a broker, that for a publisher, and the publisher for the broker. */
static void a_chain_ends_before_it_comes_back(void **state)
{
	struct trace_endpoint ep[6];
	struct trace_snapshot s = { .ep = ep, .n = 6 };
	struct verdict v;
	struct card c;

	(void)state;
	waits_at(ep, 0, 12, 7);
	waits_at(ep, 2, 7, 5);
	waits_at(ep, 4, 5, 7);
	ep[0].rx.ns[RX_WAIT] = 95 * (SECOND / 100);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[12] waits for nginx[5], through curl[7]");
}

/* rsync's receiver waits for its sender, and its generator for the receiver. */
static void links_of_a_chain_may_have_one_name(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	waits_at(ep, 0, 12, 7);
	waits_at(ep, 2, 7, 5);
	for (int i = 0; i < 4; i++) {
		ep[i].proto = TRACE_UNIX_STREAM;
		strcpy(ep[i].tx_calls.comm, "rsync");
		strcpy(ep[i].rx_calls.comm, "rsync");
	}
	ep[0].rx.ns[RX_WAIT] = 95 * (SECOND / 100);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "rsync[12] waits for rsync[5], through rsync[7]");
}

/* a subscriber, 12, of a broker, 7, and who publishes, 5: so many messages each way */
static void publishes_through_broker(struct trace_endpoint ep[4], uint64_t messages)
{
	waits_at(ep, 0, 12, 7);
	waits_at(ep, 2, 5, 7);
	for (int i = 0; i < 4; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = messages;
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 100;
	}
	ep[0].rx_calls.reply_n = ep[1].tx_calls.reply_n = messages;
	ep[0].rx_calls.reply_ns = ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	ep[0].rx.max[RX_WAIT] = ep[1].tx_calls.reply_max_ns = SECOND / 20;
	ep[2].rx.ns[RX_WAIT] = ep[2].rx.max[RX_WAIT] = 0;
	ep[3].rx.ns[RX_IDLE] = 95 * (SECOND / 100);
	ep[3].rx.max[RX_IDLE] = SECOND / 20;
	ep[3].rx_calls.bytes = ep[2].tx_calls.bytes = 1000;
	ep[3].rx_calls.reply_n = messages;
	ep[3].rx_calls.reply_ns = 9 * (SECOND / 10);
	ep[3].rx_calls.reply_max_ns = SECOND / 25;
}

/* The longest pause is not the same where the host took the CPU once; all of them together are. */
static void who_waits_for_a_broker_waits_for_the_publisher(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	publishes_through_broker(ep, 20);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[12] waits for curl[5], through curl[7]");
	ep[3].rx_calls.messages = 60; /* it reads each in three calls */
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[12] waits for curl[5], through curl[7]");
	ep[3].rx_calls.reply_ns = SECOND / 2;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[12] waits for nginx[7] to answer");
}

/* Of a database one client was not traced, and asks for as many bytes as the other is answered. */
static void clients_of_one_server_wait_for_no_other(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct verdict v;
	struct card c;

	(void)state;
	waits_at(ep, 0, 12, 7);
	ep[2] = ep[1];
	ep[2].peer = -1;
	ep[2].paired = false;
	ep[1].tx_calls.bytes = ep[2].rx_calls.bytes = 1000;
	ep[2].rx.ns[RX_IDLE] = 9 * (SECOND / 10);
	ep[2].rx.max[RX_IDLE] = SECOND / 10;
	ep[2].rx_calls.bytes_res = ep[2].tx_calls.bytes_res = TRACE_EXACT;
	ep[2].rx_calls.messages = ep[2].rx_calls.reply_n = 20;
	ep[2].tx_calls.messages = ep[2].tx_calls.reply_n = 20;
	ep[2].rx_calls.reply_ns = 9 * (SECOND / 10);
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 2); /* a worker: what it sends is what the other gets */
	ep[2].rx_calls.reply_ns = SECOND / 10;
	ep[2].tx_calls.reply_ns = 9 * (SECOND / 10);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.wait.endpoint, 0);
	assert_string_equal(c.whom, "nginx[7]");
}

static void who_publishes_to_itself_waits_for_nobody(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;

	(void)state;
	publishes_through_broker(ep, 100);
	ep[0].rx_calls.reply_n = ep[1].tx_calls.reply_n = 1;
	ep[0].tx_calls.messages = ep[1].rx_calls.messages = 1;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[2].tx_calls.tgid = ep[2].rx_calls.tgid = 12;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* As of ssh, whose windows are no requests: what its own end sends is not answered. */
static void a_fast_stream_from_afar_is_no_wait(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.remote.port = 22;
	ep.tx.ns[TX_IDLE] = SECOND;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = TRACE_EXACT;
	ep.tx_calls.messages = ep.rx_calls.messages = 1000;
	ep.rx.ns[RX_WAIT] = 6 * (SECOND / 10);
	ep.rx.max[RX_WAIT] = SECOND / 100;
	ep.rx.count[RX_WAIT] = 1000;
	ep.rx_calls.bytes = 100000000;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.rx.max[RX_WAIT] = SECOND / 2; /* for most of the time nothing came */
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep.rx.max[RX_WAIT] = SECOND / 100;
	ep.rx_calls.bytes = 1000000;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
}

/* Two services call each other back: neither accepts, or answers, while it waits itself. */
static void two_that_call_each_other_wait_for_each_other(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	waits_at(ep, 0, 12, 7); /* 12 has called 7 */
	waits_at(ep, 2, 7, 12); /* and 7 calls 12, which does not accept */
	for (int i = 0; i < 4; i += 2) {
		ep[i].closed = ep[i + 1].closed = true;
		ep[i].tx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = 1;
		ep[i].tx_calls.quiet_ns = ep[i].rx.ns[RX_WAIT];
		ep[i].rx_calls.blocked_ns = ep[i].rx_calls.blocked_max_ns = ep[i].rx.ns[RX_WAIT];
		ep[i].rx_calls.tid = ep[i].rx_calls.tgid;
		ep[i].at_ns = ep[i + 1].at_ns = 2 * (uint64_t)SECOND;
	}
	ep[1].tx_calls.tid = ep[1].rx_calls.tid = 7;
	memset(&ep[3].tx_calls, 0, sizeof(ep[3].tx_calls));
	memset(&ep[3].rx_calls, 0, sizeof(ep[3].rx_calls));
	ep[3].local.port = ep[2].remote.port = 81;
	ep[3].rx.ns[RX_UNREAD] = ep[3].rx.max[RX_UNREAD] = 9 * (SECOND / 10);
	s.listeners.n = 1;
	s.listeners.v[0] = (struct trace_listener){ .family = 2, .local.port = 81, .tgid = 12 };
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[12] and curl[7] wait for each other");
	ep[2].tx_calls.bytes = 0; /* 7 waits at a connection that it never used */
	verdict_make(&s, &v);
	assert_int_equal(v.mutual.endpoint, -1);
}

/* Nothing was lost, and the connection is gone before its window is as large as the path. */
static void a_young_connection_is_in_slow_start(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct verdict v;
	struct card c;

	(void)state;
	ep.min_rtt_us = ep.rtt_us = 100000;
	ep.retransmits_res = TRACE_EXACT;
	ep.tx.ns[TX_CWND] = ep.tx.max[TX_CWND] = SECOND / 2;
	ep.tx.count[TX_CWND] = 9;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.head, " waits for its window to grow"));
	assert_string_equal(c.why, "cwnd: slow start: the connection lived for 10 round trips of "
				   "100 ms, and its window still grew");
	assert_non_null(strstr(c.fix, "initcwnd"));
	ep.retransmits = 1;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_null(strstr(c.why, "slow start"));
	ep.retransmits = 0;
	ep.min_rtt_us = ep.rtt_us = 10000; /* a hundred round trips */
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_null(strstr(c.why, "slow start"));
}

/* As of BLPOP: another client pushes after 900 ms, and both are answered. */
static void a_broker_answers_when_it_is_brought_something(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	publishes_through_broker(ep, 1);
	ep[1].tx_calls.first_reply_ns = 5 * (uint64_t)SECOND;
	ep[3].tx_calls.reply_n = 1;
	ep[3].tx_calls.reply_ns = ep[3].tx_calls.reply_max_ns = SECOND / 10000;
	ep[3].tx_calls.first_reply_ns = ep[1].tx_calls.first_reply_ns + SECOND / 1000;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.brought_by, 3);
	assert_string_equal(c.why,
			    "nginx[7] had nothing to answer until curl[5] sent it something");
	ep[3].rx.max[RX_UNREAD] = SECOND / 2; /* it was busy with the first */
	verdict_make(&s, &v);
	assert_int_equal(v.brought_by, -1);
	ep[3].rx.max[RX_UNREAD] = 0;
	ep[3].tx_calls.first_reply_ns += SECOND / 10; /* long after */
	verdict_make(&s, &v);
	assert_int_equal(v.brought_by, -1);
}

/* Each of two asks once. One of them was accepted late, and waited for less than half of its life.
 */
static void a_wait_beside_its_like_may_be_shorter(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	(void)state;
	for (int i = 0; i < 4; i += 2) {
		waits_at(ep, i, 12, 7);
		for (int k = i; k < i + 2; k++) {
			ep[k].proto = TRACE_UNIX_STREAM;
			ep[k].tx_calls.bytes_res = ep[k].rx_calls.bytes_res = TRACE_EXACT;
			ep[k].tx_calls.messages = ep[k].rx_calls.messages = 1;
			ep[k].rx_calls.bytes = 100;
		}
		ep[i].rx_calls.reply_n = ep[i + 1].tx_calls.reply_n = 1;
		ep[i].rx_calls.reply_ns = ep[i + 1].tx_calls.reply_ns = ep[i].rx.ns[RX_WAIT];
	}
	ep[2].rx.ns[RX_WAIT] = ep[2].rx.max[RX_WAIT] = 4 * (SECOND / 10);
	ep[2].rx_calls.reply_ns = ep[3].tx_calls.reply_ns = 4 * (SECOND / 10);
	said_of_all(ep, 4, &v);
	assert_int_equal(v.waits.connections, 2);
	assert_int_equal(v.waits.ns, 13 * (SECOND / 10));
}

enum { PIPELINES = 40 };

/* A script's pipelines: each writer waits until its reader has been started. */
static void the_start_of_short_pipelines_is_no_stall(void **state)
{
	struct trace_endpoint ep[PIPELINES];
	struct trace_snapshot s = { .ep = ep, .n = PIPELINES };
	struct verdict v;

	(void)state;
	for (int i = 0; i < PIPELINES; i++) {
		ep[i] = downloader(0);
		ep[i].proto = TRACE_PIPE;
		ep[i].peer = i;
		ep[i].paired = ep[i].closed = true;
		ep[i].tx_calls.tgid = 1000 + i;
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = SECOND / 50;
		ep[i].tx.ns[TX_SNDBUF] = ep[i].tx.max[TX_SNDBUF] = SECOND / 60;
		ep[i].tx.count[TX_SNDBUF] = 1;
		ep[i].born_ns = SECOND;
		ep[i].at_ns = SECOND + SECOND / 50;
	}
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED); /* the reader was there before */
	for (int i = 0; i < PIPELINES; i++)
		ep[i].rx_calls.born_ns = SECOND + 1000;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	for (int i = 0; i < PIPELINES; i++) {
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = SECOND / 5;
		ep[i].tx.ns[TX_SNDBUF] = ep[i].tx.max[TX_SNDBUF] = SECOND / 6;
	}
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

enum { FORKS = 30 };

/* The server forks for each connection, and each request has a client of its own. */
static void waits_of_many_short_programs_are_one(void **state)
{
	struct trace_endpoint ep[2 * FORKS];
	struct trace_snapshot s = { .ep = ep, .n = 2 * FORKS };
	struct verdict v;
	struct card c;

	(void)state;
	for (int i = 0; i < FORKS; i++) {
		struct trace_endpoint *client = &ep[2 * i], *server = client + 1;

		client_and_server(client);
		client->peer = 2 * i + 1;
		server->peer = 2 * i;
		client->closed = server->closed = true;
		client->at_ns = server->at_ns = SECOND + (uint64_t)i * (SECOND / 10);
		client->born_ns = server->born_ns = client->at_ns - SECOND / 10;
		client->remote.port = 80;
		client->tx_calls.tgid = client->rx_calls.tgid = 1000 + i;
		server->tx_calls.tgid = server->rx_calls.tgid = 2000 + i;
		client->rx.lifetime_ns = client->tx.lifetime_ns = SECOND / 10;
		client->rx.ns[RX_WAIT] = client->rx.max[RX_WAIT] = 9 * (SECOND / 100);
	}
	verdict_make(&s, &v);
	assert_int_equal(v.waits.connections, FORKS);
	assert_true(v.waits.others_wait && v.waits.others_awaited);
	card_make(&s, &v, &c);
	assert_string_equal(c.head,
			    "curl[1000] and others wait for nginx[2000] and others to answer");
}

/* who has ended sends nothing more: whoever holds the descriptor keeps the reader from the end */
static void who_has_ended_is_not_awaited(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;
	struct card c;

	client_and_server(ep);
	ep[0].at_ns = ep[1].at_ns = ep[0].born_ns + SECOND;
	leaves(&ep[1].tx_calls, ep[0].born_ns + SECOND / 100);
	assert_non_null(
		strstr(said_of_both(ep, &v), "(90.0 % of its time) for more data or EOF: nginx[7] "
					     "has ended, but helper[9] still holds the "
					     "descriptor"));
	ep[1].tx_calls.let_go = true;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "nginx[7] has closed its descriptor, but helper[9] still holds"));
	card_of_both(ep, &c);
	assert_non_null(strstr(c.next, "attach -p 9 ")); /* who has ended cannot be looked at */
	ep[1].tx_calls.fd_owner = 12;
	strcpy(ep[1].tx_calls.fd_owner_comm, "curl");
	assert_non_null(
		strstr(said_of_both(ep, &v), "but curl[12] itself still holds the descriptor"));
	ep[1].tx_calls.fd_owner = 0;
	assert_non_null(
		strstr(said_of_both(ep, &v), "and it is unknown which process still holds the "
					     "descriptor"));
	ep[1].tx_calls.left_ns = ep[0].born_ns + SECOND / 2; /* most of it may have been before */
	assert_non_null(strstr(said_of_both(ep, &v), "for nginx[7] to send"));
	ep[0].at_ns += SECOND; /* of a phase: what was before it does not count */
	ep[1].tx_calls.left_ns = ep[0].born_ns + SECOND;
	assert_non_null(strstr(said_of_both(ep, &v), "has closed its descriptor"));
}

/* nor does it read: of its votes, and of what it left lying */
static void who_has_ended_does_not_read(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	ep.at_ns = ep.born_ns + SECOND;
	leaves(&ep.rx_calls, ep.born_ns + SECOND / 100);
	assert_non_null(
		strstr(said_of(&ep, &v),
		       "helper[9], which has held the descriptor since curl[12] ended, on tcp"));
	ep = downloader(0);
	ep.proto = TRACE_PIPE;
	ep.family = ep.peer = 0;
	ep.tx.ns[TX_SNDBUF] = ep.blame.unread_ns[TX_SNDBUF] = SECOND / 2;
	ep.tx.count[TX_SNDBUF] = ep.blame.unread_n[TX_SNDBUF] = 1;
	ep.detail = &detail;
	detail.late[trace_vote(TX_SNDBUF)] =
		(struct trace_who){ .tgid = TRACE_FD_OWNER, .comm = "curl" };
	assert_non_null(
		strstr(said_of(&ep, &v), "<- curl[12] is not reading")); /* it is there again */
	leaves(&ep.rx_calls, 1);
	assert_non_null(strstr(
		said_of(&ep, &v),
		"<- helper[9], which has held the descriptor since curl[12] ended, is not "
		"reading"));
	ep.rx_calls.fd_owner = 0;
	ep.rx_calls.let_go = true;
	assert_non_null(strstr(said_of(&ep, &v), "<- an unseen process, which has held the "
						 "descriptor since curl[12] closed it, is not "
						 "reading"));
}

static void gives(struct trace_call_stats *b, uint64_t at)
{
	b->giver = 9;
	b->given_ns = at;
	strcpy(b->giver_comm, "supervisor");
}

/* as a supervisor that accepts, and passes the connection to a worker */
static void who_was_given_it_late_is_not_late(void **state)
{
	struct trace_endpoint ep = downloader(900000000);
	struct verdict v;

	ep.at_ns = ep.born_ns + SECOND;
	gives(&ep.rx_calls, ep.born_ns + 9 * (SECOND / 10));
	ep.rx_calls.giver_unread_ns = 8 * (SECOND / 10);
	assert_non_null(strstr(said_of(&ep, &v), "supervisor[9] on tcp"));
	ep.rx_calls.giver_unread_ns = SECOND / 10;
	assert_non_null(strstr(said_of(&ep, &v), "curl[12] on tcp"));
	ep.rx_calls.giver_unread_ns = 8 * (SECOND / 10);
	ep.at_ns += SECOND; /* of a phase that began after that */
	assert_non_null(strstr(said_of(&ep, &v), "curl[12] on tcp"));
}

static void who_was_given_the_question_late_does_not_think(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].at_ns = ep[1].at_ns = ep[0].born_ns + SECOND;
	gives(&ep[1].tx_calls, ep[0].born_ns + 9 * (SECOND / 10));
	assert_non_null(strstr(said_of_both(ep, &v), "for nginx[7] to send"));
	ep[1].tx_calls.giver_thought_ns = 8 * (SECOND / 10);
	assert_non_null(strstr(said_of_both(ep, &v), "for supervisor[9] to send"));
}

/* a pipe that one process writes, and of which the reader of another waits */
static void is_pipe(struct trace_endpoint *ep, int index, pid_t writer, pid_t reader,
		    uint64_t wait_ns)
{
	ep->proto = TRACE_PIPE;
	ep->family = 0;
	ep->peer = index;
	ep->tx_calls.tgid = writer;
	ep->rx_calls.tgid = reader;
	ep->rx.ns[RX_WAIT] = wait_ns;
}

/* A decompressor computes, and who counts its output waits for that: as fast as it can be. */
static void a_stream_may_be_limited_by_its_senders_cpu(void **state)
{
	struct trace_endpoint ep;
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct verdict v;
	struct card c;

	(void)state;
	ep = downloader(0);
	is_pipe(&ep, 0, 7, 8, 9 * (SECOND / 10));
	ep.tx.ns[TX_IDLE] = SECOND;
	ep.tx_calls.bytes = ep.rx_calls.bytes = 1000000;
	ep.tx_calls.messages = ep.rx_calls.messages = 100;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = TRACE_EXACT;
	ep.tx_calls.cpu_res = TRACE_EXACT;
	ep.tx_calls.cpu_ns = 95 * (SECOND / 100);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_non_null(strstr(c.head, "limited by: the sender's CPU"));
	ep.tx_calls.cpu_ns = SECOND / 2;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep.tx_calls.cpu_ns = 95 * (SECOND / 100);
	ep.tx_calls.bytes = ep.rx_calls.bytes = 20; /* one line, when it has finished */
	ep.tx_calls.messages = ep.rx_calls.messages = 1;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
}

/* A database has a thread for each connection. */
static void a_thread_at_an_idle_client_holds_up_no_other(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct verdict v;

	client_and_server(ep);
	ep[1].rx_calls = (struct trace_call_stats){ .tgid = 7, .tid = 70 };
	ep[2] = ep[1];
	ep[2].peer = -1;
	ep[2].paired = false;
	ep[2].rx_calls.tid = 71;
	for (int i = 0; i < 3; i++) { /* all that was said was said before */
		ep[i].tx_calls.bytes = ep[i].tx_calls.messages = 0;
		ep[i].rx_calls.bytes = ep[i].rx_calls.messages = 0;
		ep[i].joined_late = true;
		ep[i].making = (struct trace_making){ .accepted = i > 0, .connected = !i };
	}
	ep[2].rx.ns[RX_WAIT] = ep[2].rx.max[RX_WAIT] = SECOND;
	ep[2].rx.ns[RX_IDLE] = 0;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 0);
	assert_int_equal(v.chain.n, 0);
	ep[2].rx_calls.tid = 70; /* the same thread: it answers nobody until that one asks */
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 2);
}

static void a_healthy_wait_has_an_other_end(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	assert_non_null(
		strstr(said_of_both(ep, &v), "nothing holds a sender up: stalls add up to 0 ns"));
	assert_non_null(strstr(said_of_both(ep, &v),
			       "; curl[12] on tcp 0.0.0.0:0 > 0.0.0.0:0 waited 900 "
			       "ms (90.0 % of its time) for nginx[7] to send"));
	assert_int_equal(v.wait.endpoint, 0);
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] =
		5 * (SECOND / 10); /* each waits for the other in turn */
	assert_null(strstr(said_of_both(ep, &v), "waited"));
	ep[1].rx.max[RX_WAIT] = SECOND / 100; /* but the one waited once, and long */
	assert_non_null(strstr(said_of_both(ep, &v), "waited"));
	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = 4 * (SECOND / 10); /* as any reader does */
	assert_null(strstr(said_of_both(ep, &v), "waited"));
}

/* each connection asks once, and is answered late */
static void waits_of_short_connections_are_told_together(void **state)
{
	struct trace_endpoint ep[6];
	struct verdict v;

	(void)state;
	for (int i = 0; i < 6; i += 2) {
		client_and_server(&ep[i]);
		ep[i].peer = i + 1;
		ep[i + 1].peer = i;
		ep[i].remote.port = ep[i + 1].local.port = 80;
	}
	assert_non_null(strstr(said_of_all(ep, 6, &v),
			       "; curl[12] on tcp to 0.0.0.0:80 and 2 more waited 2.70 s "
			       "(90.0 % of their time) for nginx[7] to send"));
	assert_int_equal(v.wait.ns, 9 * (SECOND / 10));
	ep[4].rx_calls.tgid = 13; /* another process of that name, at the same time */
	said_of_all(ep, 6, &v);
	assert_int_equal(v.waits.connections, 3);
	assert_true(v.waits.others_wait);
	ep[2].remote.port = 81;
	snprintf(ep[4].rx_calls.comm, sizeof(ep[4].rx_calls.comm), "wget");
	assert_non_null(strstr(said_of_all(ep, 6, &v),
			       "; curl[12] on tcp to 0.0.0.0:80 waited "
			       "900 ms (90.0 % of its time) for nginx[7] to send"));
}

/* both ends of a socket, of 1 s, asleep in recv() for 0.96 s and 0.95 s of it */
static void both_asleep(struct trace_endpoint ep[2])
{
	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].at_ns = SECOND;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 95 * (SECOND / 100);
		ep[i].rx.count[RX_WAIT] = 1;
		strcpy(ep[i].rx_calls.comm, ep[i].tx_calls.comm);
		ep[i].rx_calls.tgid = ep[i].tx_calls.tgid;
		ep[i].rx_calls.tid = ep[i].tx_calls.tid = ep[i].tx_calls.tgid;
	}
	ep[0].rx.ns[RX_WAIT] = 96 * (SECOND / 100);
}

static void each_waits_for_the_other(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	(void)state;
	both_asleep(ep);
	assert_string_equal(
		said_of_both(ep, &v),
		"nothing holds a sender up: stalls add up to 0 ns, 0.00 % of the senders' time; "
		"each waits for the other to send, a deadlock: curl[12] on tcp 0.0.0.0:0 > "
		"0.0.0.0:0 for 960 ms (96.0 % of its time), "
		"nginx[7] on tcp 0.0.0.0:0 > 0.0.0.0:0 for 950 ms (95.0 % of its time)");
	assert_int_equal(v.wait.endpoint, 0);
	assert_int_equal(v.mutual.endpoint, 1);
	ep[0].proto = ep[1].proto = TRACE_UNIX_STREAM;
	ep[0].family = ep[1].family = 1;
	assert_non_null(
		strstr(said_of_both(ep, &v), "each waits for the other to send, a deadlock"));
	ep[0].tx_calls.tid = 0; /* it sent before it was seen, or never */
	assert_non_null(strstr(said_of_both(ep, &v), "nothing holds a sender up"));
	assert_non_null(
		strstr(said_of_both(ep, &v), "each waits for the other to send, and neither goes "
					     "on unless another thread sends"));
}

static void who_waits_by_turns_is_no_deadlock(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	(void)state;
	both_asleep(ep);
	ep[0].at_ns += SECOND; /* the one may have been over before the other began */
	assert_null(strstr(said_of_both(ep, &v), "waits for the other"));
	assert_int_equal(v.mutual.endpoint, -1);
	both_asleep(ep);
	ep[1].tx_calls.tid = 8; /* another thread of its sends */
	assert_null(strstr(said_of_both(ep, &v), "waits for the other"));
	both_asleep(ep);
	ep[0].tx.ns[TX_IDLE] = SECOND / 10; /* the question is on its way */
	ep[0].tx.ns[TX_FLIGHT] = 9 * (SECOND / 10);
	assert_null(strstr(said_of_both(ep, &v), "waits for the other"));
	both_asleep(ep);
	ep[1].rx.ns[RX_WAIT] = SECOND / 2;
	assert_null(strstr(said_of_both(ep, &v), "waits for the other"));
}

/* The parent's main thread waits for the child's output, and another one, which feeds the child,
 * waits for a third process: git clone, say. */
static void who_feeds_waits_for_another(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	(void)state;
	both_asleep(ep);
	both_asleep(ep + 2);
	is_pipe(&ep[0], 0, 10, 11, 95 * (SECOND / 100));
	is_pipe(&ep[1], 1, 11, 10, 95 * (SECOND / 100));
	is_pipe(&ep[2], 2, 12, 10, 96 * (SECOND / 100));
	for (int i = 0; i < 3; i++) {
		ep[i].tx_calls.tid = 0;
		ep[i].rx_calls.tid = ep[i].rx_calls.tgid;
	}
	assert_non_null(strstr(said_of_all(ep, 3, &v), "each waits for the other to send"));
	ep[2].rx_calls.tid++; /* not the thread that waits for the child */
	assert_null(strstr(said_of_all(ep, 3, &v), "each waits for the other to send"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[0].tx_calls.tid = 10; /* it is the thread that waits for the child that feeds it */
	assert_non_null(strstr(said_of_all(ep, 3, &v), "each waits for the other to send"));
}

/* a subprocess that reads its input, and the parent that reads its output; beside them its errors,
 * where nothing ever comes */
static void pipes_of_which_each_waits(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	(void)state;
	both_asleep(ep);
	both_asleep(ep + 2);
	is_pipe(&ep[0], 0, 11, 10, 0);
	is_pipe(&ep[1], 1, 10, 11, 95 * (SECOND / 100));
	is_pipe(&ep[2], 2, 11, 10, 96 * (SECOND / 100));
	for (int i = 0; i < 3; i++) {
		ep[i].tx_calls.tid = ep[i].tx_calls.tgid;
		ep[i].rx_calls.tid = ep[i].rx_calls.tgid;
	}
	assert_non_null(
		strstr(said_of_all(ep, 3, &v), "each waits for the other to send, a deadlock"));
	assert_int_equal(v.wait.endpoint, 2);
	assert_int_equal(v.mutual.endpoint, 1);
	ep[2].at_ns += SECOND;
	assert_null(strstr(said_of_all(ep, 3, &v), "waits for the other"));
}

/* Three programs, each of which reads from a pipe what the next one writes. They did so for a
 * while, and for the last 0.95 s of one nothing was written. */
static void ring_of_readers(struct trace_endpoint ep[3])
{
	for (int i = 0; i < 3; i++) {
		struct trace_endpoint two[2];

		both_asleep(two);
		ep[i] = two[0];
		is_pipe(&ep[i], i, 10 + (i + 1) % 3, 10 + i, 96 * (SECOND / 100));
		ep[i].at_ns = 2ull * SECOND;
		ep[i].rx.now = RX_WAIT;
		ep[i].rx.since_ns = ep[i].at_ns - 95 * (SECOND / 100);
		ep[i].tx_calls.tid = ep[i].tx_calls.tgid;
		ep[i].rx_calls.tid = ep[i].rx_calls.tgid;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = ep[i].rx_calls.bytes = 9;
		ep[i].tx_calls.quiet_ns = 95 * (SECOND / 100);
	}
}

static void readers_that_wait_in_a_circle_are_a_deadlock(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct card card;
	struct verdict v;

	(void)state;
	ring_of_readers(ep);
	assert_non_null(strstr(said_of_all(ep, 3, &v),
			       "each waits for the next to send, a deadlock: curl[10] on pipe #0 "
			       "for 960 ms (96.0 % of its time), curl[11] on pipe #0 for 960 ms "
			       "(96.0 % of its time) and 1 more in a circle"));
	assert_int_equal(v.kind, KIND_MUTUAL);
	assert_int_equal(v.mutual.circle, 3);
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "3 wait in a circle, curl[10] for curl[11]");
	ep[1].tx_calls.others = true; /* whoever else has written there may do so again */
	assert_non_null(strstr(said_of_all(ep, 3, &v), "none goes on unless another thread"));
	ring_of_readers(ep);
	for (int i = 0; i < 3; i++)
		ep[i].closed = true;
	assert_non_null(strstr(said_of_all(ep, 3, &v), "a deadlock until one closed"));
}

static void a_ring_that_passes_something_on_is_no_deadlock(void **state)
{
	struct trace_endpoint ep[3];
	struct verdict v;

	(void)state;
	ring_of_readers(ep);
	ep[2].tx_calls.quiet_ns = SECOND / 10; /* it is on its way round */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.mutual.circle, 0);
	ring_of_readers(ep);
	ep[0].rx.now = RX_IDLE; /* it has it, and works */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.mutual.circle, 0);
	ring_of_readers(ep);
	for (int i = 0; i < 3; i++) { /* all wait for a moment, as they often did */
		ep[i].rx.max[RX_WAIT] = ep[i].tx_calls.quiet_ns = SECOND / 10;
		ep[i].rx.since_ns = ep[i].at_ns - SECOND / 10;
	}
	said_of_all(ep, 3, &v);
	assert_int_equal(v.mutual.circle, 0);
	assert_int_equal(v.kind, KIND_WAIT);
}

/* who hangs beside who is merely slow, and beside who stalls: it never ends */
static void a_deadlock_comes_before_a_slow_answer(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	(void)state;
	both_asleep(ep);
	client_and_server(ep + 2);
	ep[2].peer = 3;
	ep[3].peer = 2;
	ep[2].rx.ns[RX_WAIT] = 99 * (SECOND / 100);
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 0);
	assert_int_equal(v.mutual.endpoint, 1);
	ep[3].tx.ns[TX_NAGLE] = ep[3].tx.max[TX_NAGLE] = 9 * (SECOND / 10);
	assert_non_null(strstr(said_of_all(ep, 4, &v), "each waits for the other to send"));
	assert_int_equal(v.v[0].endpoint, 3);
}

/* what stalled is told first, and what is far longer beside it */
static void a_wait_that_dwarfs_a_stall_is_told_too(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[1].tx.ns[TX_NAGLE] = ep[1].tx.max[TX_NAGLE] = 40000000;
	ep[1].tx.count[TX_NAGLE] = 1;
	ep[1].tx.ns[TX_IDLE] = SECOND - 40000000;
	assert_non_null(
		strstr(said_of_both(ep, &v),
		       "nginx[7] on tcp 0.0.0.0:0 > 0.0.0.0:0: nagle: 1 time, 40.0 ms in all"));
	assert_non_null(strstr(said_of_both(ep, &v),
			       "; curl[12] on tcp 0.0.0.0:0 > 0.0.0.0:0 waited 900 "
			       "ms (90.0 % of its time) for nginx[7] to send"));
	ep[1].tx.ns[TX_NAGLE] = 450000000;
	assert_null(strstr(said_of_both(ep, &v), "waited"));
	assert_int_equal(v.wait.endpoint, -1);
}

/* two pipes between two programs; and two that have nothing to do with each other */
static void pipes_by_turns(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	is_pipe(&ep[0], 0, 10, 11, 9 * (SECOND / 10));
	is_pipe(&ep[1], 1, 11, 10, SECOND / 2);
	ep[1].rx.max[RX_WAIT] = SECOND / 2;
	assert_null(strstr(said_of_both(ep, &v), "waited"));
	ep[1].rx_calls.tgid = 99;
	assert_non_null(strstr(said_of_both(ep, &v), "waited"));
}

static void who_was_held_up_is_not_awaited(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[1].tx.ns[TX_IDLE] = SECOND / 10; /* nearly all the time something was on its way */
	ep[1].tx.ns[TX_DEVICE] = 9 * (SECOND / 10);
	assert_null(strstr(said_of_both(ep, &v), "waited"));
}

/* what flew was there already: the reader's own kernel withheld its ACK */
static void what_was_not_acknowledged_is_no_delay_of_the_path(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[1].tx.ns[TX_IDLE] = SECOND / 2;
	ep[1].tx.ns[TX_FLIGHT] = SECOND / 2;
	assert_null(strstr(said_of_both(ep, &v), "waited"));
	ep[0].ack_debt_ns = SECOND / 2;
	assert_non_null(strstr(said_of_both(ep, &v), "for nginx[7] to send"));
}

/* the other end was not seen, but how long the way to it is */
static void a_long_path_is_told_of(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].peer = -1;
	ep[0].tx_calls.messages = ep[0].rx_calls.messages = 20;
	ep[0].tx_calls.bytes = ep[0].rx_calls.bytes = 20;
	ep[0].tx_calls.bytes_res = ep[0].rx_calls.bytes_res = TRACE_EXACT;
	ep[0].min_rtt_us = 40000;
	assert_non_null(
		strstr(said_of(ep, &v), "to send: its path takes 40.0 ms for each of 20 answers"));
	ep[0].min_rtt_us = 4000;
	assert_null(strstr(said_of(ep, &v), "its path"));
}

/* source > relay > sink: the relay reads what comes at once, and waits in poll() for both */
static void whose_bytes_pass_through_is_awaited(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	client_and_server(ep);
	client_and_server(ep + 2);
	ep[2].peer = 3;
	ep[3].peer = 2;
	ep[1].rx_calls.tgid = ep[2].rx_calls.tgid = ep[2].tx_calls.tgid = 7;
	ep[1].tx_calls.bytes = ep[0].rx_calls.bytes = ep[2].rx_calls.bytes = ep[3].tx_calls.bytes =
		12000;
	ep[2].rx.ns[RX_WAIT] = 0;
	ep[2].rx.ns[RX_IDLE] = SECOND;
	ep[3].tx_calls.tgid = 5;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 2);
	ep[2].rx.ns[RX_UNREAD] = SECOND / 2; /* it had it, and did not pass it on */
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 0);
	ep[2].rx.ns[RX_UNREAD] = 0;
	ep[2].rx.max[RX_IDLE] =
		SECOND - SECOND / 100; /* as sort: it read all there was, and then worked */
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 0);
	ep[2].rx.max[RX_IDLE] = SECOND / 5;
	ep[2].making.connected = true; /* a proxy that itself works for most of the time */
	ep[2].rx_calls.messages = ep[2].rx_calls.reply_n = 400;
	ep[2].rx_calls.reply_ns = SECOND / 5;
	ep[2].rx_calls.bytes_res = TRACE_EXACT;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 0);
	ep[2].rx_calls.reply_n = 0;
	ep[2].rx_calls.bytes = 300; /* questions, not what it answers */
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 0);
}

/* curl > nginx > its helper, over two pipes: question and answer are of one length, but the helper
 * passes nothing on */
static void a_question_does_not_pass_through(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	client_and_server(ep);
	client_and_server(ep + 2);
	is_pipe(&ep[2], 2, 7, 20, 0);
	is_pipe(&ep[3], 3, 20, 7, 89 * (SECOND / 100));
	for (int i = 2; i < 4; i++)
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 20;
	ep[2].rx.ns[RX_IDLE] = ep[3].tx.ns[TX_IDLE] = ep[2].tx.ns[TX_IDLE] = SECOND;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 3);
}

enum { HELPERS = 20 };

/* a shell that reads the output of so many commands, one after the other, and the clients of nginx
 * beside it; each waits so long, in a second */
static void shell_and_client(struct trace_endpoint ep[HELPERS + 2], uint64_t each, uint64_t client)
{
	for (int i = 0; i < HELPERS; i++) {
		client_and_server(&ep[i]);
		is_pipe(&ep[i], i, 30 + i, 20, each);
		ep[i].rx.lifetime_ns = ep[i].tx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = each;
		ep[i].at_ns = (uint64_t)(i + 1) * (SECOND / HELPERS);
		strcpy(ep[i].rx_calls.comm, "bash");
		strcpy(ep[i].tx_calls.comm, "sed");
	}
	client_and_server(&ep[HELPERS]);
	ep[HELPERS].peer = HELPERS + 1;
	ep[HELPERS + 1].peer = HELPERS;
	ep[HELPERS].at_ns = ep[HELPERS + 1].at_ns = SECOND;
	ep[HELPERS].rx.ns[RX_WAIT] = client;
}

static void helpers_lead_where_they_are_most_of_the_run(void **state)
{
	struct trace_endpoint ep[HELPERS + 2];
	struct verdict v;

	(void)state;
	shell_and_client(ep, SECOND / 50, 0);
	said_of_all(ep, HELPERS + 2, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	shell_and_client(ep, SECOND / 50, SECOND / 2);
	assert_non_null(strstr(said_of_all(ep, HELPERS + 2, &v), "for nginx[7] to send"));
	shell_and_client(ep, SECOND / 25, SECOND / 2); /* one of them is shorter */
	struct trace_snapshot later = { .ep = ep, .n = HELPERS, .at_ns = 4ull * SECOND };

	verdict_make(&later, &v); /* and then it did other things */
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_non_null(strstr(said_of_all(ep, HELPERS + 2, &v),
			       "bash[20] on pipe #0 and 19 more waited 800 ms (80.8 % of their "
			       "time) for sed[30] and others to send"));
}

static void a_programs_own_helper_is_no_news(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[1].tx_calls.tgid = ep[0].rx_calls.tgid;
	assert_null(strstr(said_of_both(ep, &v), "waited"));
}

/* a client thread and a server thread, over a connection; over a pipe it is a helper's wake-up */
static void threads_of_one_program_wait_for_each_other(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct card card;
	struct verdict v;

	client_and_server(ep);
	ep[0].rx_calls.tid = ep[0].tx_calls.tid = 13;
	ep[1].rx_calls.tgid = ep[1].tx_calls.tgid = 12;
	ep[1].rx_calls.tid = ep[1].tx_calls.tid = 14;
	assert_non_null(strstr(said_of_both(ep, &v), "for its own thread 14 to send"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "curl[12] waits for its own thread 14 to answer");
	is_pipe(&ep[0], 0, 12, 12, 9 * (SECOND / 10));
	ep[0].rx_calls.tid = 13;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* cat waits for sed, sed waits for bash: it is bash that is slow */
static void the_last_of_a_chain_is_named(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	is_pipe(&ep[0], 0, 20, 19, 95 * (SECOND / 100));
	is_pipe(&ep[1], 1, 21, 20, 94 * (SECOND / 100));
	strcpy(ep[1].tx_calls.comm, "bash");
	assert_non_null(strstr(said_of_both(ep, &v), "for bash[21] to send"));
	assert_int_equal(v.wait.endpoint, 1);
}

static void three_requests(struct trace_endpoint ep[2])
{
	client_and_server(ep);
	ep[0].rx.max[RX_WAIT] = 3 * (SECOND / 10);
	ep[0].rx.count[RX_WAIT] = 3;
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 3;
		ep[i].rx_calls.bytes = 100;
	}
}

static void who_asks_over_a_long_path_waits_for_the_path(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	three_requests(ep);
	ep[1].rx.ns[RX_IDLE] = SECOND;
	ep[0].min_rtt_us = ep[1].min_rtt_us = 290000;
	ep[0].rtt_us = ep[1].rtt_us = 290000;
	ep[0].tx.ns[TX_FLIGHT] = ep[1].tx.ns[TX_FLIGHT] = 43 * (SECOND / 100);
	ep[1].tx_calls.reply_n = 3;
	ep[1].tx_calls.reply_ns = SECOND / 1000;
	ep[0].rx_calls.reply_n = 3;
	ep[0].rx_calls.reply_ns = 9 * (SECOND / 10);
	card_of_both(ep, &c);
	assert_string_equal(c.head, "curl[12] waits for the path to nginx[7]");
	assert_non_null(strstr(c.fix, "each costs a round trip"));
	assert_string_equal(c.next, "");
	ep[0].min_rtt_us = ep[1].min_rtt_us = 100; /* the server thinks */
	ep[0].tx.ns[TX_FLIGHT] = ep[1].tx.ns[TX_FLIGHT] = 0;
	ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	card_of_both(ep, &c);
	assert_string_equal(c.head, "curl[12] waits for nginx[7] to answer");
}

/* A thread of a busy server reads from a pipe that its manager seldom writes to. */
static void a_busy_server_that_waits_for_orders_is_healthy(void **state)
{
	struct trace_endpoint ep[3];
	struct verdict v;

	(void)state;
	waits_at(ep, 0, 12, 7);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = SECOND / 100;
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 20000;
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 100000;
	}
	ep[2] = downloader(0);
	is_pipe(&ep[2], 2, 5, 7, 0);
	ep[2].rx.ns[RX_WAIT] = ep[2].rx.max[RX_WAIT] = 98 * (SECOND / 100);
	ep[2].tx.ns[TX_IDLE] = SECOND;
	ep[2].tx_calls.bytes_res = ep[2].rx_calls.bytes_res = TRACE_EXACT;
	ep[2].tx_calls.messages = ep[2].rx_calls.messages = 3;
	ep[2].rx_calls.bytes = ep[2].tx_calls.bytes = 77;
	said_of_all(ep, 3, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	for (int i = 0; i < 2; i++) /* it has nothing else to do */
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 1;
	said_of_all(ep, 3, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
}

/* dbus-daemon, say, traced alone: both its clients connected to it, and one of them serves */
static void who_a_broker_passes_requests_to_is_awaited(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(0) };
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct verdict v;
	struct card c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		ep[i].serial = (uint64_t)i + 1;
		ep[i].making.accepted = true;
		ep[i].tx_calls.tgid = ep[i].rx_calls.tgid = 7;
		strcpy(ep[i].rx_calls.comm, "dbus-daemon");
		strcpy(ep[i].tx_calls.comm, "dbus-daemon");
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 4;
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 1000;
	}
	ep[0].tx_calls.reply_n = ep[1].rx_calls.reply_n = 4;
	ep[0].tx_calls.reply_ns = 90 * (SECOND / 100);
	ep[1].rx_calls.reply_ns = 89 * (SECOND / 100);
	ep[1].making.other_pid = 9;
	strcpy(ep[1].making.other_comm, "service");
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_int_equal(v.answers.behind, 1);
	assert_non_null(strstr(c.head, "for service[9], through dbus-daemon[7]"));
	assert_non_null(strstr(c.next, "attach -p 9"));
	ep[1].rx_calls.reply_ns = SECOND / 2; /* another client's pauses */
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_int_equal(v.answers.behind, -1);
}

/* a small SO_RCVBUF, and 60 ms to the server, which is not traced */
static void a_small_window_at_a_long_path_holds_who_receives(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	client_and_server(ep);
	ep[0].peer = -1;
	ep[0].min_rtt_us = ep[0].rtt_us = 60000;
	ep[0].rx_calls.bytes_res = TRACE_EXACT;
	ep[0].rx_calls.bytes = 300000;
	ep[0].path.receive_window = 20000;
	card_of(&ep[0], &c);
	assert_string_equal(c.head, "curl[12] waits for its own receive window");
	assert_non_null(strstr(c.why, "of 20.0 kB lets in no more than that in "
				      "each round trip of 60.0 ms: 300 kB/s arrive"));
	assert_non_null(strstr(c.fix, "SO_RCVBUF"));
	ep[0].path.receive_window = 3000000; /* as the kernel chooses */
	card_of(&ep[0], &c);
	assert_null(strstr(c.head, "window"));
}

/* WebSocket pongs, or what a broker's consumer acknowledges */
static void what_a_server_that_polls_is_sent_are_no_requests(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	(void)state;
	three_requests(ep);
	ep[0].tx_calls.bytes = ep[1].rx_calls.bytes = 3 * 21;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[1].making.server_polls = true;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].tx_calls.bytes = ep[1].rx_calls.bytes = 3 * 300; /* as large as requests */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
}

/* a system's log, traced alone */
static void who_only_receives_datagrams_waits_for_nobody(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	(void)state;
	ep.rx.ns[RX_WAIT] = 9 * (SECOND / 10);
	ep.rx.max[RX_WAIT] = SECOND / 10;
	ep.rx.count[RX_WAIT] = ep.rx_calls.messages = 9;
	ep.rx_calls.bytes = 900;
	ep.proto = TRACE_UNIX_DGRAM;
	ep.family = 1;
	ep.tx_calls.bytes = ep.tx_calls.messages = 0;
	said_of(&ep, &v);
	assert_int_not_equal(v.outcome, OUTCOME_WAITING);
	ep.proto = TRACE_UNIX_STREAM;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
}

/* curl to a sink that is not traced, at 500 MB/s */
static void an_unseen_reader_that_is_back_at_once_limits(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 1 };
	struct verdict v;
	struct card c;

	(void)state;
	client_and_server(ep);
	ep[0].peer = -1;
	ep[0].rx.ns[RX_WAIT] = 0;
	ep[0].min_rtt_us = ep[0].rtt_us = 20;
	ep[0].tx.ns[TX_RWND] = 3 * (SECOND / 10);
	ep[0].tx.ns[TX_IDLE] = 7 * (SECOND / 10);
	ep[0].tx.count[TX_RWND] = 3000;
	ep[0].tx.max[TX_RWND] = SECOND / 1000;
	ep[0].blame.unread_ns[TX_RWND] = 3 * (SECOND / 10);
	ep[0].tx_calls.bytes_res = TRACE_EXACT;
	ep[0].tx_calls.bytes = 500000000;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_non_null(strstr(c.head, "limited by: its reader"));
	assert_non_null(strstr(
		c.why, "reads 500 MB/s, and when the window is full it reads again within 100 us"));
	ep[0].tx.max[TX_RWND] = SECOND / 10; /* it was elsewhere once */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

/* `dig` again and again, on a path that loses one in three */
static void datagrams_among_others_that_had_an_answer_are_lost(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(0) };
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct verdict v;
	struct card c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		ep[i].proto = TRACE_UDP;
		ep[i].closed = true;
		ep[i].remote.port = 53;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = 1;
		ep[i].rx_calls.messages = i;
	}
	ep[0].rx.ns[RX_WAIT] = 9 * (SECOND / 10);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(v.kind, KIND_UNANSWERED);
	assert_string_equal(c.why, "1 datagram went out, and nothing came back; 1 other socket of "
				   "the program had an answer");
	assert_non_null(strstr(c.fix, "find where datagrams are dropped"));
}

/* HTTP/2 sends pings, windows and settings of its own accord; a greeting, and an answer in two
 * pieces, are regular */
static void what_both_send_unasked_are_no_requests(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct card card;
	struct verdict v;

	(void)state;
	three_requests(ep);
	ep[0].tx_calls.messages = 41;
	ep[1].tx_calls.messages = 62;
	ep[1].rx.ns[RX_IDLE] = SECOND;
	assert_non_null(strstr(said_of_both(ep, &v), " a message, 41 messages"));
	assert_true(v.waits.requests.uneven);
	card_make(&s, &v, &card);
	assert_int_equal(card.surety, INFERRED);
	ep[1].rx.ns[RX_UNREAD] = 8 * (SECOND / 10); /* which of them the client waits for? */
	assert_non_null(strstr(said_of_both(ep, &v), "leaves each message unread for"));
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "curl[12] waits for nginx[7] to answer");
	ep[1].rx.ns[RX_UNREAD] = 0;
	ep[1].tx_calls.messages = 83;
	assert_non_null(strstr(said_of_both(ep, &v), " a request, 41 requests"));
}

/* 117 requests, one of which took 0.8 s */
static void a_pause_among_quick_requests_is_told(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep[2];
	struct verdict v;

	waits_at(ep, 0, 20, 7);
	for (int i = 0; i < 2; i++) {
		ep[i].at_ns = 3ull * SECOND;
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = 2ull * SECOND;
		ep[i].tx.ns[TX_IDLE] = 2ull * SECOND;
	}
	ep[0].rx.ns[RX_WAIT] = 81 * (SECOND / 100);
	ep[0].rx.max[RX_WAIT] = 8 * (SECOND / 10);
	ep[0].rx.count[RX_WAIT] = 107;
	ep[1].rx.ns[RX_WAIT] = SECOND;
	ep[1].rx.max[RX_WAIT] = SECOND / 100;
	ep[1].rx.count[RX_WAIT] = 118;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 0);
	ep[0].rx.max[RX_WAIT] = SECOND / 10; /* no pause, but work */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx.max[RX_WAIT] = SECOND / 5; /* several: two of 131 to 262 ms */
	ep[0].detail = &detail;
	detail.rx_hist[RX_WAIT][18] = 2;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	detail.rx_hist[RX_WAIT][18] = 0;
	detail.rx_hist[RX_WAIT][17] = 2; /* shorter ones */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* sed, whose output lies in its buffer until its input ends; and three workers, of which one is
 * slow, whose master waits for all of them in epoll */
static void pipes_to_a_helper(struct trace_endpoint ep[2], pid_t master, pid_t helper)
{
	for (int i = 0; i < 2; i++) {
		ep[i] = downloader(0);
		is_pipe(&ep[i], i, i ? helper : master, i ? master : helper, 0);
		ep[i].paired = true;
		ep[i].at_ns = 2ull * SECOND;
		ep[i].tx.ns[TX_IDLE] = SECOND;
		ep[i].tx_calls.tid = ep[i].tx_calls.tgid;
		ep[i].rx_calls.tid = ep[i].rx_calls.tgid;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 1;
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 4;
	}
}

static void a_flush_that_is_forgotten_is_a_deadlock(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	pipes_to_a_helper(ep, 20, 21);
	for (int i = 0; i < 2; i++) {
		ep[i].closed = true;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 99 * (SECOND / 100);
		ep[i].rx.count[RX_WAIT] = 1;
	}
	ep[0].tx_calls.quiet_ns = 99 * (SECOND / 100); /* to the end that the master made */
	ep[1].tx_calls.quiet_ns = SECOND / 1000;       /* the answer came then */
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_MUTUAL);
	assert_int_equal(v.mutual.end, WAIT_CLOSED);
	ep[0].tx_calls.quiet_ns = SECOND / 1000; /* it sent the rest, which was answered */
	said_of_both(ep, &v);
	assert_int_not_equal(v.mutual.end, WAIT_CLOSED);
}

static void one_of_several_helpers_is_awaited_in_epoll(void **state)
{
	struct trace_endpoint ep[6];
	struct verdict v;

	for (int i = 0; i < 6; i += 2) {
		pipes_to_a_helper(&ep[i], 20, 21 + i);
		ep[i].peer = i;
		ep[i + 1].peer = i + 1;
		for (int k = i; k < i + 2; k++)
			ep[k].tx_calls.messages = ep[k].rx_calls.messages = 3;
		ep[i + 1].tx_calls.reply_n = 3; /* the helper's own times */
		ep[i + 1].tx_calls.reply_ns = SECOND / 100;
		ep[i + 1].tx_calls.first_reply_ns = SECOND + 2;
	}
	ep[3].tx_calls.reply_ns = 9 * (SECOND / 10);
	ep[3].tx_calls.reply_max_ns = 3 * (SECOND / 10);
	said_of_all(ep, 6, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 3);
}

/* a pool of one: three clients wait at once for a proxy, which waits for its only server */
static void clients_that_wait_at_once_wait_no_longer_than_one(void **state)
{
	struct trace_endpoint ep[8];
	struct verdict v;

	for (int i = 0; i < 6; i += 2)
		waits_at(ep, i, 20, 7);
	waits_at(ep, 6, 7, 8);
	ep[6].remote.port = 8080;
	for (int i = 0; i < 8; i++)
		ep[i].at_ns = 2ull * SECOND;
	said_of_all(ep, 8, &v);
	assert_int_equal(v.wait.endpoint, 6);
	assert_int_equal(v.chain.n, 1);
	ep[6].rx.ns[RX_WAIT] = ep[6].rx.max[RX_WAIT] = SECOND / 2; /* works for most of the rest */
	said_of_all(ep, 8, &v);
	assert_true(v.wait.endpoint < 6);
}

/* curl > nginx > one of its servers, by a connection for each request, each of which is short */
static void a_proxys_short_connections_are_one_link(void **state)
{
	struct trace_endpoint ep[10];
	struct verdict v;

	client_and_server(ep);
	for (int i = 2; i < 10; i += 2) {
		client_and_server(&ep[i]);
		ep[i].peer = i + 1;
		ep[i + 1].peer = i;
		ep[i].rx_calls.tgid = ep[i].tx_calls.tgid = 7;
		ep[i].remote.port = 8080;
		ep[i + 1].tx_calls.tgid = 8;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 21 * (SECOND / 100);
		ep[i].rx.lifetime_ns = 22 * (SECOND / 100);
	}
	said_of_all(ep, 10, &v);
	assert_true(v.wait.endpoint >= 2);
	assert_int_equal(v.waits.connections, 4);
	assert_int_equal(v.waits.ns, 84 * (SECOND / 100));
	for (int i = 2; i < 10; i += 2)
		ep[i].rx.ns[RX_WAIT] /= 2; /* it is busy itself for half of the time */
	said_of_all(ep, 10, &v);
	assert_int_equal(v.wait.endpoint, 0);
}

/* subprocess.run(): the parent looks by poll() at its output, and at its errors */
static void whose_output_a_parent_polls_is_awaited(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	is_pipe(&ep, 0, 20, 19, 0);
	ep.at_ns = 5ull * SECOND;
	ep.closed = true;
	ep.tx_calls.born_ns = ep.at_ns - SECOND + 1;
	ep.tx_calls.quiet_ns = 1000;
	ep.rx_calls.bytes = ep.tx_calls.bytes = 3;
	ep.tx.ns[TX_IDLE] = ep.rx.ns[RX_IDLE] = ep.rx.max[RX_IDLE] = 99 * (SECOND / 100);
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.ns, 99 * (SECOND / 100));
	ep.tx_calls.quiet_ns = 9 * (SECOND / 10); /* it came soon, and the pipe was left open */
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.tx_calls.quiet_ns = 1000;
	ep.tx_calls.born_ns = 1; /* its writer was there before: a log, perhaps */
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* a worker on a socket pair that answers each job at once; who has jobs is busy with others */
static void who_answers_on_a_socket_pair_waits_for_no_question(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	for (int i = 0; i < 2; i++)
		ep[i].proto = TRACE_UNIX_STREAM;
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0); /* nobody knows who asks */
	ep[1].rx_calls.reply_n = 3;
	ep[1].rx_calls.first_reply_ns = 1;
	ep[0].rx_calls.reply_n = 2;
	ep[0].rx_calls.first_reply_ns = ep[1].tx_calls.first_reply_ns = 2;
	ep[0].tx_calls.first_reply_ns = 1;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* client > a proxy that splices, whose reads no hook sees > a server that answers */
static void who_splices_waits_for_what_the_other_end_takes(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	three_requests(&ep[0]);
	three_requests(&ep[2]);
	for (int i = 2; i < 4; i++)
		ep[i].peer = 5 - i;
	for (int i = 1; i < 3; i++) {
		ep[i].rx_calls.tgid = ep[i].tx_calls.tgid = 7;
		ep[i].rx_calls.bytes_res = TRACE_UNKNOWN;
		memset(ep[i].rx.resolution, TRACE_UNKNOWN, sizeof(ep[i].rx.resolution));
		ep[i].rx.ns[RX_UNREAD] = 9 * (SECOND / 10); /* for all that is known */
		ep[i].rx.ns[RX_WAIT] = 0;
	}
	ep[3].rx_calls.tgid = ep[3].tx_calls.tgid = 8;
	ep[2].making.connect_ns = ep[3].making.accept_ns = 1;
	said_of_both(ep, &v);
	assert_int_equal(v.waits.requests.unread_ns, 0);
	assert_true(v.waits.requests.bounded); /* when it read is not known */
	ep[3].tx_calls.reply_n = 3;
	ep[3].tx_calls.reply_ns = 88 * (SECOND / 100);
	said_of_all(ep, 4, &v);
	assert_int_equal(v.wait.endpoint, 2);
	assert_int_equal(v.wait.ns, 88 * (SECOND / 100));
}

/* client > proxy > server: the card names whoever waits at the front, with the server's figures */
static void the_front_of_a_chain_is_named(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct card card;
	struct verdict v;

	three_requests(&ep[0]);
	three_requests(&ep[2]);
	for (int i = 2; i < 4; i++)
		ep[i].peer = 5 - i;
	for (int i = 1; i < 3; i++) {
		ep[i].rx_calls.tgid = ep[i].tx_calls.tgid = 7;
		strcpy(ep[i].rx_calls.comm, "proxy");
		strcpy(ep[i].tx_calls.comm, "proxy");
	}
	ep[3].rx_calls.tgid = ep[3].tx_calls.tgid = 8;
	said_of_all(ep, 4, &v);
	card_make(&s, &v, &card);
	assert_int_equal(v.wait.endpoint, 2);
	assert_int_equal(v.chain.n, 1);
	assert_int_equal(v.chain.by[0], 0);
	assert_string_equal(card.head, "curl[12] waits for nginx[8], through proxy[7]");
	ep[1].rx_calls.tgid = ep[1].tx_calls.tgid = 9; /* it has nothing to do with that */
	said_of_all(ep, 4, &v);
	assert_int_equal(v.chain.n, 0);
}

/* three clients > proxy > server, one request at a time: two of three wait in the proxy */
static void what_waits_in_a_proxy_before_it_is_passed_on(void **state)
{
	struct trace_endpoint ep[8];
	struct trace_snapshot s = { .ep = ep, .n = 8 };
	struct card card;
	struct verdict v;

	for (int i = 0; i < 8; i += 2) {
		three_requests(&ep[i]);
		ep[i].peer = i + 1;
		ep[i + 1].peer = i;
	}
	for (int i = 0; i < 8; i++) {
		struct trace_endpoint *e = &ep[i];
		bool proxy = i < 6 ? i % 2 : i == 6;

		e->rx_calls.tgid = e->tx_calls.tgid = proxy ? 7 : i < 6 ? 12 : 8;
		e->rx_calls.tid = e->tx_calls.tid = e->rx_calls.tgid + (proxy ? 0 : i);
		if (proxy) {
			strcpy(e->rx_calls.comm, "proxy");
			strcpy(e->tx_calls.comm, "proxy");
		}
		e->remote.port = i == 6 ? 90 : i % 2 ? e->remote.port : 80;
		if (i >= 6)
			e->tx_calls.messages = e->rx_calls.messages = 9;
		e->rx.ns[RX_IDLE] = i % 2 ? SECOND : 0;
	}
	said_of_all(ep, 8, &v);
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "curl[12] waits for nginx[8], through proxy[7]");
	assert_int_equal(v.first_waits.connections, 3);
	assert_int_equal(v.queued_ns, 2 * v.waits.ns);
	assert_non_null(strstr(card.why, "in proxy[7], which forwards fewer at a time"));
	ep[6].tx_calls.messages = ep[7].rx_calls.messages = 3; /* six had no answer from there */
	ep[6].rx_calls.messages = ep[7].tx_calls.messages = 3;
	said_of_all(ep, 8, &v);
	assert_int_equal(v.queued_ns, 0);
}

/* a server that was asked, and listens for more while it works: its answer ends the wait */
static void an_answer_ends_no_deadlock(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	both_asleep(ep);
	said_of_both(ep, &v);
	assert_true(v.mutual.endpoint >= 0);
	for (int i = 0; i < 2; i++) {
		ep[i].rx_calls.bytes = 10;
		ep[i].at_ns = 5ull * SECOND;
		ep[i].tx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = 1;
		ep[i].tx_calls.quiet_ns = 1000000;
	}
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
}

/* curl waits a second for the go-ahead (100 Continue), and then sends the rest all the same */
static void half_a_question_makes_both_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	(void)state;
	both_asleep(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].rx_calls.bytes = 10;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.quiet_ns = 1000000;
	}
	ep[0].tx_calls.messages = ep[1].rx_calls.messages = 2;
	ep[1].tx_calls.messages = ep[0].rx_calls.messages = 1;
	ep[0].making.connect_ns = ep[1].making.accept_ns = 1;
	ep[0].rx_calls.reply_n = 1;
	ep[0].rx_calls.reply_ns = ep[0].rx_calls.reply_max_ns = 1000000;
	ep[0].rx_calls.first_reply_ns = 98 * (SECOND / 100);
	assert_non_null(strstr(said_of_both(ep, &v),
			       "each waited for the other to send, until one of them did"));
	assert_int_equal(v.kind, KIND_MUTUAL);
	ep[0].rx_calls.first_reply_ns = SECOND / 100; /* an answer before: the next is another's */
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
	ep[0].rx_calls.first_reply_ns = 98 * (SECOND / 100);
	ep[0].rx_calls.reply_max_ns = 9 * (SECOND / 10); /* both halves were sent before */
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
}

/* Looks count no messages: of a connection its ports tell who asks, of two pipes the order in which
 * the processes were started; and how long the last data sent had no answer. */
static void seen_by_samples(struct trace_endpoint *ep)
{
	ep->rx_calls.bytes_res = ep->tx_calls.bytes_res = TRACE_BOUNDED;
	memset(ep->rx.resolution, TRACE_BY_SAMPLES, sizeof(ep->rx.resolution));
	memset(ep->tx.resolution, TRACE_BY_SAMPLES, sizeof(ep->tx.resolution));
}

/* A multiplexer waits two seconds for the client's first words, and greets it then. */
static void two_that_wait_for_first_words_wait_for_each_other(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	(void)state;
	waits_at(ep, 0, 12, 7);
	for (int i = 0; i < 2; i++) {
		ep[i].rx_calls.tgid = ep[i].rx_calls.tid = i ? 7 : 12;
		ep[i].tx_calls.tgid = ep[i].tx_calls.tid = ep[i].rx_calls.tgid;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 98 * (SECOND / 100);
		ep[i].rx.ns[RX_IDLE] = 2 * (SECOND / 100);
		ep[i].tx.ns[TX_IDLE] = SECOND;
		ep[i].tx_calls.bytes = i ? 11 : 0;
		ep[i].rx_calls.bytes = i ? 0 : 11;
		ep[i].closed = true;
		seen_by_samples(&ep[i]);
	}
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, 1);
	assert_int_equal(v.mutual.end, WAIT_SENT);
	ep[1].tx_calls.bytes = ep[0].rx_calls.bytes = 5000; /* a feed */
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
	ep[1].tx_calls.bytes = ep[0].rx_calls.bytes = 11;
	ep[0].joined_late = ep[1].joined_late = true; /* perhaps it had spoken before */
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
}

static struct trace_endpoint asks_alone(uint64_t n, uint64_t longest_ns);

/* A copy within this host, at the speed of its CPUs. */
static void a_little_of_a_window_within_the_host_is_no_stall(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_samples samples = { .n = 160, .tx_seen[TX_CWND] = 3 };
	struct trace_snapshot s = { .ep = &ep, .samples = &samples, .n = 1 };
	struct verdict v;

	(void)state;
	seen_by_samples(&ep);
	ep.tx_calls.tgid = 5;
	ep.tx.lifetime_ns = 7ull * SECOND;
	ep.tx.ns[TX_CWND] = 7ull * SECOND * 3 / 160;
	ep.min_rtt_us = 20;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.min_rtt_us = 20000; /* another host */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.min_rtt_us = 20;
	ep.tx.ns[TX_CWND] = SECOND;
	samples.tx_seen[TX_CWND] = 25;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

static void a_download_tells_its_rate(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct card c;

	(void)state;
	ep.local.port = 40000;
	ep.rx_calls.bytes = 300000;
	ep.rx_calls.bytes_res = TRACE_BOUNDED;
	card_of(&ep, &c);
	assert_non_null(strstr(c.why, "curl[12] got 300 kB/s from "));
	ep.making.accepted = true; /* an upload, at its client's pace */
	card_of(&ep, &c);
	assert_null(strstr(c.why, "300 kB/s"));
	ep.making.accepted = false;
	ep.tx_calls.bytes = 100000; /* a conversation */
	card_of(&ep, &c);
	assert_null(strstr(c.why, "300 kB/s"));
}

/* Later segments are there, and cannot be read. */
static void a_missing_segment_is_told(void **state)
{
	struct trace_endpoint ep = asks_alone(30, 32 * (SECOND / 100));
	struct card c;

	(void)state;
	ep.hole = (struct trace_hole){ .ns = 2 * (SECOND / 10), .n = 4 };
	card_of(&ep, &c);
	assert_non_null(strstr(
		c.why, "; for 200 ms, 4 times, a segment was missing while later ones had come"));
	ep.hole.ns = SECOND / 100;
	card_of(&ep, &c);
	assert_null(strstr(c.why, "missing"));
}

/* a server alone, of whose connection samples know bytes and segments */
static void long_answers_seen_by_samples_are_no_feed(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	(void)state;
	seen_by_samples(&ep);
	ep.making.accepted = ep.making.server_polls = true;
	ep.rx_calls.bytes = 10 * 20;
	ep.tx_calls.bytes = 10 * 100;
	ep.path.sent_segments = 10;
	assert_true(is_feed(&s, 0));
	ep.rx_calls.bytes = 10 * 100;
	assert_false(is_feed(&s, 0));
	ep.tx_calls.bytes = 70 * 1448; /* one answer, to one request */
	ep.path.sent_segments = 70;
	assert_false(is_feed(&s, 0));
	ep.proto = TRACE_UNIX_STREAM; /* samples do not see its bytes */
	ep.family = 1;
	ep.rx_calls.bytes = ep.tx_calls.bytes = ep.path.sent_segments = 0;
	assert_false(is_feed(&s, 0));
}

/* It mostly does something else, but each of its requests takes 150 ms. */
static void a_client_that_seldom_asks_waits_too(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot alone = { .ep = ep, .n = 1 };
	struct verdict v;

	(void)state;
	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 100;
		ep[i].rx_calls.messages = ep[i].tx_calls.messages = 2;
	}
	ep[0].local.port = ep[1].remote.port = 50000;
	ep[0].remote.port = ep[1].local.port = 80;
	ep[0].rx.ns[RX_WAIT] = 3 * (SECOND / 10);
	ep[0].rx.max[RX_WAIT] = 15 * (SECOND / 100);
	ep[0].rx.count[RX_WAIT] = 2;
	ep[0].rx_calls.reply_n = ep[1].tx_calls.reply_n = 2;
	ep[0].rx_calls.reply_ns = ep[1].tx_calls.reply_ns = 3 * (SECOND / 10);
	ep[1].rx.ns[RX_WAIT] = 7 * (SECOND / 10); /* for the next request */
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 0);
	ep[0].peer = -1;
	verdict_make(&alone, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	ep[0].min_rtt_us = 60000; /* it is the path's time */
	verdict_make(&alone, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].min_rtt_us = 0;
	ep[0].rx_calls.reply_n = 4; /* 75 ms each */
	verdict_make(&alone, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* By samples: a wait of two fifths of the time that most samples find again lasts long each time.
 */
static void samples_tell_pauses_from_short_waits(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_samples samples[2] = { { .n = 50 }, { .n = 50 } };
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = 2 };
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		seen_by_samples(&ep[i]);
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 100;
	}
	ep[0].local.port = ep[1].remote.port = 50000;
	ep[0].remote.port = ep[1].local.port = 80;
	ep[0].rx.ns[RX_WAIT] = 4 * (SECOND / 10);
	samples[0].rx_seen[RX_WAIT] = 20;
	samples[0].rx_again[RX_WAIT] = 18;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	samples[0].rx_again[RX_WAIT] = 14; /* 48 ms on average: some may be long */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.may_pause, ep[0].rx_calls.tgid);
	samples[0].rx_again[RX_WAIT] = 8; /* as many as by chance */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.may_pause, 0);
	ep[0].rx.ns[RX_WAIT] = 0; /* in epoll: nothing tells how long each takes */
	ep[0].rx_calls.reply_ns = 4 * (SECOND / 10);
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.may_pause, ep[0].rx_calls.tgid);
	ep[0].rx_calls.reply_ns = SECOND / 11;
	verdict_make(&s, &v);
	assert_int_equal(v.may_pause, 0);
}

static void an_idle_server_waits_for_nobody_by_samples_either(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++)
		seen_by_samples(&ep[i]);
	ep[0].local.port = ep[1].remote.port = 50000;
	ep[0].remote.port = ep[1].local.port = 80;
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0);
	ep[0].local.port = ep[1].remote.port = 80; /* the one that waits is the server */
	ep[0].remote.port = ep[1].local.port = 50000;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	is_pipe(&ep[0], 0, 20, 21, 9 * (SECOND / 10));
	is_pipe(&ep[1], 1, 21, 20, 0);
	said_of_both(ep, &v); /* a helper, started by the one that asks it */
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	is_pipe(&ep[0], 0, 21, 20, 9 * (SECOND / 10));
	is_pipe(&ep[1], 1, 20, 21, 0);
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0);
}

static void an_idle_worker_at_a_socket_pair_waits_for_nobody_by_samples(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		seen_by_samples(&ep[i]);
		ep[i].proto = TRACE_UNIX_STREAM;
		ep[i].tx_calls.tgid = 0;
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 0;
	}
	ep[0].rx_calls.tgid = 21;
	ep[1].rx_calls.tgid = 20; /* who started it */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].making.connected = ep[1].making.accepted = true; /* a client, born after its server */
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0);
}

static void samples_tell_who_has_no_answer(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		seen_by_samples(&ep[i]);
		ep[i].rx_calls.bytes = 100;
		ep[i].rx.ns[RX_WAIT] = 0; /* both by epoll */
	}
	ep[0].local.port = ep[1].remote.port = 50000;
	ep[0].remote.port = ep[1].local.port = 80;
	ep[0].rx_calls.reply_ns = SECOND / 2;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.ns, SECOND / 2);
	ep[0].rx_calls.bytes = 0; /* it pushes, and nobody ever answers */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* It asked again as soon as it had an answer, which TCP dates alike, and polls; only what the
 * server's threads do tells that it works on a request. */
static void a_client_that_polls_a_hung_server_waits(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_samples samples = { .n = 20 };
	struct trace_snapshot s = { .ep = &ep, .samples = &samples, .n = 1 };
	pid_t server = 7;
	struct verdict v;

	(void)state;
	seen_by_samples(&ep);
	ep.joined_late = true;
	ep.tx_calls.bytes = 0;
	ep.local.port = 50000;
	ep.remote.port = 80;
	ep.making.other_pid = server;
	ep.rx.ns[RX_IDLE] = ep.rx_calls.reply_ns = SECOND;
	samples.fact[TRACE_FACT_UNANSWERED] = 20;
	verdict_make(&s, &v);
	assert_int_not_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(verdict_silent_server(&s, &v, NULL, 0), server);
	assert_int_equal(verdict_silent_server(&s, &v, &server, 1), 0); /* it was asked */
	ep.making.server_works = true;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	samples.fact[TRACE_FACT_UNANSWERED] = 10;
	verdict_make(&s, &v);
	assert_int_not_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(verdict_silent_server(&s, &v, NULL, 0), 0);
}

/* The first answer has yet to come: a request, if all samples found that it had none. */
static void samples_tell_a_first_request(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_samples samples[2] = { { .n = 20 }, { .n = 20 } };
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = 2 };
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		seen_by_samples(&ep[i]);
		ep[i].rx.ns[RX_WAIT] = 0; /* both by epoll */
	}
	ep[0].local.port = ep[1].remote.port = 50000;
	ep[0].remote.port = ep[1].local.port = 80;
	ep[0].tx_calls.bytes = ep[1].rx_calls.bytes = 100;
	ep[0].rx_calls.bytes = 0;
	ep[0].rx_calls.reply_ns = SECOND;
	samples[0].fact[TRACE_FACT_UNANSWERED] = 19;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.ns, SECOND);
	samples[0].fact[TRACE_FACT_UNANSWERED] = 10;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* A system that gives its servers ports of its own choice too: the socket itself tells who
 * connected, however long before anybody looked. */
static void a_socket_tells_who_connected(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	seen_by_samples(&ep[0]);
	ep[0].peer = -1;
	ep[0].local.port = 50000;
	ep[0].remote.port = 40000;
	ep[0].rx_calls.bytes = 100;
	ep[0].rx.ns[RX_WAIT] = 0; /* in epoll */
	ep[0].rx_calls.reply_ns = 9 * (SECOND / 10);
	ep[0].making.connected = true;
	said_of(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.ns, 9 * (SECOND / 10));
	ep[0].making.connected = false;
	ep[0].making.accepted = true; /* a server that nobody asks */
	said_of(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].making.accepted = false;
	said_of(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* a client and its server, and beside them a program (20) with a helper (21), a pipe each way */
enum { QUESTIONS = 2, ANSWERS = 3, WITH_HELPER = 4 };

static void has_helper(struct trace_endpoint ep[WITH_HELPER])
{
	client_and_server(ep);
	client_and_server(ep + QUESTIONS);
	ep[0].rx.ns[RX_WAIT] = 0;
	is_pipe(&ep[QUESTIONS], QUESTIONS, 20, 21, 0);
	is_pipe(&ep[ANSWERS], ANSWERS, 21, 20, 19 * (SECOND / 20));
	for (int i = 0; i < WITH_HELPER; i++)
		seen_by_samples(&ep[i]);
	ep[QUESTIONS].tx_calls.bytes = ep[ANSWERS].tx_calls.bytes = 0;
}

static void judge_samples(struct trace_endpoint ep[WITH_HELPER], uint32_t questions,
			  uint32_t answers, struct verdict *v)
{
	struct trace_samples samples[WITH_HELPER] = {};
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = WITH_HELPER };

	samples[QUESTIONS].earlier_writes = questions;
	samples[ANSWERS].earlier_writes = answers;
	verdict_make(&s, v);
}

static void who_asked_last_through_pipes_waits_for_the_helper(void **state)
{
	struct trace_endpoint ep[WITH_HELPER];
	struct verdict v;

	has_helper(ep);
	judge_samples(ep, 5, 4, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, ANSWERS);
	judge_samples(ep, 1, 0, &v); /* its first question */
	assert_int_equal(v.wait.endpoint, ANSWERS);
	judge_samples(ep, 5, 5, &v); /* it has all its answers */
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	judge_samples(ep, 7, 0, &v); /* what is never answered are no questions */
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[QUESTIONS].rx.ns[RX_WAIT] = ep[ANSWERS].rx.ns[RX_WAIT]; /* it reads, and says nothing */
	judge_samples(ep, 1, 0, &v);
	assert_true(v.mutual.endpoint >= 0);
	judge_samples(ep, 5, 5, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

static void the_samples_between_which_it_wrote_tell_who_asked_last(void **state)
{
	struct trace_samples samples[WITH_HELPER] = {
		[QUESTIONS] = { .earlier_writes = 7,
				.writes = 2,
				.wrote_after_ns = 20,
				.wrote_by_ns = 30 },
		[ANSWERS] = { .earlier_writes = 2,
			      .writes = 2,
			      .wrote_after_ns = 10,
			      .wrote_by_ns = 20 },
	};
	struct trace_endpoint ep[WITH_HELPER];
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = WITH_HELPER };
	struct verdict v;

	has_helper(ep);
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, ANSWERS);
	samples[ANSWERS].wrote_by_ns =
		30; /* between the same two samples, and more than one piece */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	samples[ANSWERS].wrote_after_ns = 30;
	samples[ANSWERS].wrote_by_ns = 40; /* answered */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* each child that runs holds it, and whoever started them waits for their end */
static void who_waits_for_the_end_of_many_waits_for_no_data(void **state)
{
	struct trace_samples samples = {};
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .samples = &samples, .n = 1 };
	struct verdict v;

	client_and_server(ep);
	is_pipe(&ep[0], 0, 21, 20, SECOND);
	seen_by_samples(&ep[0]);
	ep[0].tx_calls.bytes = 0;
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 0);
	ep[0].tx_calls.others = true;
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, -1);
	samples.earlier_writes = 1;
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 0);
}

/* one after the other, ten milliseconds each: samples came to each tenth of them, and to no other
 */
enum { BRIEF = 100, LOOKED_AT = 10 };

static void brief_waits(struct trace_endpoint ep[BRIEF], struct trace_samples samples[BRIEF],
			uint32_t n_samples)
{
	for (uint64_t i = 0; i < BRIEF; i++) {
		bool looked_at = i % LOOKED_AT == 0;

		samples[i] = (struct trace_samples){ .n = looked_at ? n_samples : 0 };
		ep[i] = downloader(0);
		seen_by_samples(&ep[i]);
		memset(ep[i].rx.ns, 0, sizeof(ep[i].rx.ns));
		ep[i].rx.ns[RX_WAIT] = looked_at ? 9 * (SECOND / BRIEF / 10) : 0;
		ep[i].remote.port = 80;
		ep[i].local.port = (uint16_t)(50000 + i);
		ep[i].closed = true;
		ep[i].at_ns = (i + 1) * (SECOND / BRIEF);
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = SECOND / BRIEF;
	}
}

static void connections_between_samples_do_as_the_others(void **state)
{
	static struct trace_endpoint ep[BRIEF];
	static struct trace_samples samples[BRIEF];
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = BRIEF };
	struct verdict v;
	struct card c;

	(void)state;
	brief_waits(ep, samples, 2);
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.waits.connections, BRIEF);
	assert_int_equal(v.waits.ns / 1000000, 900);
	assert_int_equal(v.waits.lifetime_ns, SECOND);
	for (size_t i = 1; i < BRIEF; i++)
		samples[i].n = ep[i].rx.ns[RX_WAIT] = 0;
	samples[0].n = 2; /* too few to tell */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.why, "99 of them ended before they were sampled"));
	assert_non_null(strstr(c.next, "--exact"));
}

/* A server that runs all the time serves others while this request waits for its turn. */
static void a_reader_that_never_rests_is_busy(void **state)
{
	struct trace_endpoint ep = downloader(800000000);
	struct verdict v;

	ep.rx_calls.cpu_res = TRACE_BOUNDED;
	ep.rx_calls.cpu_ns = 930000000;
	assert_non_null(strstr(said_of(&ep, &v), "curl[12] is busy: it ran on a CPU for 93 % of "
						 "the time, while received data waits"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.rx_calls.cpu_ns = 400000000;
	assert_non_null(strstr(said_of(&ep, &v), "has unread data"));
	ep.rx_calls.cpu_res = TRACE_UNKNOWN; /* one of its threads runs, perhaps not that one */
	ep.rx_calls.busiest_cpu_ns = 930000000;
	assert_non_null(strstr(said_of(&ep, &v), "one of its threads was busy on a CPU for 930 "
						 "ms"));
	assert_int_equal(v.kind, KIND_LATE);
}

/* Which of its connections shows best that a process has no CPU is chance. */
static void a_process_without_cpu_reads_late_everywhere(void **state)
{
	struct trace_endpoint ep[2] = { downloader(900000000), downloader(700000000) };
	struct verdict v;

	ep[1].rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep[1].rx_calls.no_cpu_ns = 600000000;
	assert_non_null(strstr(said_of_both(ep, &v), "was waiting for a CPU"));
	assert_int_equal(v.kind, KIND_STARVED);
	ep[0].rx_calls.tgid = 13; /* another one */
	assert_non_null(strstr(said_of_both(ep, &v), "has unread data"));
}

/* A thousand connections looked at a few times each: one is found in some state by chance. */
static void what_one_sample_found_is_no_finding(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_samples samples = { .n = 15 };
	struct trace_snapshot s = { .ep = &ep, .samples = &samples, .n = 1 };
	struct verdict v;

	seen_by_samples(&ep);
	ep.tx.ns[TX_RECOVERY] = 70000000;
	ep.tx.ns[TX_IDLE] = SECOND - ep.tx.ns[TX_RECOVERY];
	samples.tx_seen[TX_RECOVERY] = 1;
	verdict_make(&s, &v);
	assert_int_equal(v.n, 0);
	samples.tx_seen[TX_RECOVERY] = 3;
	verdict_make(&s, &v);
	assert_int_equal(v.n, 1);
}

static void what_stands_for_others_is_an_estimate(void **state)
{
	static struct trace_endpoint ep[BRIEF];
	static struct trace_samples samples[BRIEF];
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = BRIEF };
	char text[VERDICT_TEXT];
	struct verdict v;
	struct card c;

	(void)state;
	brief_waits(ep, samples, 2);
	verdict_make(&s, &v);
	assert_true(v.waits.estimated);
	card_make(&s, &v, &c);
	assert_true(c.has_surety);
	assert_int_equal(c.surety, INFERRED);
	assert_non_null(strstr(c.where, " and 99 more: 900 ms of 1.00 s, estimated"));
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, " and 99 more waited an estimated 900 ms (90.0 %"));
}

static void one_stands_for_one_other(void **state)
{
	static struct trace_endpoint ep[BRIEF];
	static struct trace_samples samples[BRIEF];
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = BRIEF };
	struct unsampled b;

	(void)state;
	brief_waits(ep, samples, 2);
	b = unsampled_like(&s, &ep[0]);
	assert_int_equal(b.n, BRIEF - BRIEF / LOOKED_AT);
	for (size_t i = 1; i < BRIEF; i++)
		samples[i].n = 0;
	samples[0].n = 20; /* and not for 99, however often it was looked at */
	b = unsampled_like(&s, &ep[0]);
	assert_int_equal(b.n, 1);
	assert_int_equal(unsampled_part(&b, 1000000), 1000000);
}

static void a_full_queue_of_datagrams_refuses_more(void **state)
{
	struct trace_endpoint ep = downloader(SECOND);
	struct trace_samples samples = { .n = 100, .full = 90, .refilled = 40 };
	struct trace_snapshot s = { .ep = &ep, .samples = &samples, .n = 1 };
	struct verdict v;
	struct card c;

	ep.proto = TRACE_UNIX_DGRAM;
	ep.family = 1;
	ep.paired = true; /* its sender sleeps nowhere */
	seen_by_samples(&ep);
	ep.rx.max[RX_UNREAD] = 0;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_LATE);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.why, "EAGAIN"));
	assert_non_null(strstr(c.fix, "max_dgram_qlen"));
	samples.refilled = 0; /* it was left so, and nobody sends */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	samples.refilled = samples.full = 10; /* bursts */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

static void what_was_stopped_leads_by_samples_too(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	client_and_server(ep);
	for (int i = 0; i < 2; i++)
		seen_by_samples(&ep[i]);
	ep[0].rx.max[RX_WAIT] = 0;
	ep[0].local.port = ep[1].remote.port = 50000;
	ep[0].remote.port = ep[1].local.port = 80;
	ep[1].tx_calls.no_cpu_res = TRACE_BOUNDED;
	ep[1].tx_calls.stopped_ns = SECOND;
	card_of_both(ep, &c);
	assert_string_equal(c.why, "nginx[7] was stopped (signal, debugger or freezer) for 1.00 s");
}

static void who_was_stopped_does_not_accept_for_that(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	ep[0] = ep[1] = downloader(900000000);
	ep[0].making.accept_unread_ns = 800000000;
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "accept() was not called, or failed"));
	ep[0].rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep[0].rx_calls.stopped_ns = 800000000;
	card_of_both(ep, &c);
	assert_non_null(strstr(c.head, "to accept the connection"));
	assert_string_equal(c.why, "curl[12] was stopped (signal, debugger or freezer) for 800 ms");
}

/* two that chat, each with a thread asleep in recv(): what goes through shows that nobody hangs */
static void who_hears_something_waits_for_each_other_no_more(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	both_asleep(ep);
	for (int i = 0; i < 2; i++)
		seen_by_samples(&ep[i]);
	said_of_both(ep, &v);
	assert_true(v.mutual.endpoint >= 0);
	ep[0].rx_calls.bytes = 10;
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
}

static void an_idle_server_waits_for_nobody(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].tx_calls.bytes = ep[0].rx_calls.bytes =
		0; /* the other end sent something, not here */
	ep[0].peer = -1;
	assert_null(strstr(said_of_both(ep, &v), "waited"));
	ep[1].tx_calls.bytes = 0;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "nothing was sent through an endpoint that was seen; curl[12]"));
}

static void who_has_not_answered_yet_is_named(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[1].tx_calls.tgid = 0;
	strcpy(ep[1].rx_calls.comm, "slowd");
	ep[1].rx_calls.tgid = 8;
	assert_non_null(strstr(said_of_both(ep, &v), "for slowd[8] to send"));
	ep[1].rx_calls.tgid = 0;
	assert_non_null(strstr(said_of_both(ep, &v), "for the other end to send"));
}

static void a_wait_behind_a_stall_is_its_consequence(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[1].tx.ns[TX_NAGLE] = ep[1].tx.max[TX_NAGLE] = SECOND / 2;
	ep[1].tx.count[TX_NAGLE] = 1;
	assert_null(strstr(said_of_both(ep, &v), "waited"));
	assert_int_equal(v.wait.endpoint, -1);
}

static void a_wait_for_another_host_says_so(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].peer = -1;
	ep[0].paired = false;
	assert_non_null(strstr(said_of(ep, &v), "for the other end, which was not seen, to send"));
}

/* a query, and no answer to it: the socket is connected, so that there is one to wait for */
static void a_datagram_that_is_not_answered_is_told_of(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].proto = TRACE_UDP;
	ep[0].peer = -1;
	ep[0].paired = false;
	ep[0].remote.port = 53;
	assert_non_null(strstr(said_of(ep, &v), "; curl[12] on udp to 0.0.0.0:53 waited 900 ms "
						"(90.0 % of its time) for the other end to send"));
	ep[0].remote.port = 0; /* a server's */
	assert_null(strstr(said_of(ep, &v), "waited"));
	ep[0].remote.port = 53;
	ep[0].tx_calls.bytes = 0; /* it listens to one sender, and asked for nothing */
	ep[0].rx_calls.bytes = 100;
	assert_null(strstr(said_of(ep, &v), "waited"));
}

/* It answered first, so its wait is for the next question. */
static void a_server_of_datagrams_awaits_no_answer(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].proto = TRACE_UDP;
	ep[0].peer = -1;
	ep[0].paired = false;
	ep[0].remote.port = 4711;
	ep[0].making.unconnected = true;
	assert_non_null(strstr(said_of(ep, &v), "waited 900 ms"));
	ep[0].tx_calls.first_reply_ns = 1000;
	assert_null(strstr(said_of(ep, &v), "waited"));
	ep[0].rx_calls.first_reply_ns = 1001;
	assert_null(strstr(said_of(ep, &v), "waited"));
	ep[0].rx_calls.first_reply_ns = 999;
	assert_non_null(strstr(said_of(ep, &v), "waited 900 ms"));
}

/* the server drops each tenth, and the client's timer sends that again */
static void datagrams_that_a_timer_repeats_are_counted(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].proto = ep[1].proto = TRACE_UDP;
	ep[0].peer = ep[1].peer = -1;
	ep[0].paired = ep[1].paired = false;
	ep[0].remote.port = ep[1].local.port = 53;
	ep[0].tx_calls.bytes_res = ep[0].rx_calls.bytes_res = TRACE_EXACT;
	ep[0].tx_calls.messages = 40;
	ep[0].rx_calls.messages = 36;
	ep[0].rx.max[RX_WAIT] = SECOND / 5;
	ep[0].detail = &detail;
	detail.rx_hist[RX_WAIT][10] = 36;
	detail.rx_hist[RX_WAIT][18] = 4;
	assert_non_null(
		strstr(said_of_both(ep, &v),
		       "for nginx[7] to send; it did not answer 4 of 40 requests, or they were "
		       "lost; each cost a wait of up to 200 ms"));
	ep[0].rx.max[RX_WAIT] = SECOND / 50; /* most of the wait was for what came */
	assert_null(strstr(said_of_both(ep, &v), "unanswered"));
	ep[0].rx.max[RX_WAIT] = SECOND / 5;
	ep[0].tx_calls.messages = 36;
	assert_null(strstr(said_of_both(ep, &v), "unanswered"));
	ep[0].proto = ep[1].proto = TRACE_TCP;
	ep[0].tx_calls.messages = 40;
	ep[0].rx_calls.reply_n = 36;
	assert_non_null(strstr(said_of_both(ep, &v), "it did not answer 4 of 40 requests"));
	ep[0].rx_calls.open_reply_ns = SECOND / 5; /* the last one may be answered yet */
	assert_null(strstr(said_of_both(ep, &v), "it did not answer 4"));
}

/* BBR paces a connection whose window is small, too */
static void pacing_yields_to_another_stall_of_the_connection(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = ep[0].rx.count[RX_WAIT] = 0;
	ep[1].tx_calls.bytes = 1000000;
	ep[1].tx.ns[TX_IDLE] = SECOND / 5;
	ep[1].tx.ns[TX_PACING] = SECOND / 2;
	ep[1].tx.ns[TX_SNDBUF] = 3 * (SECOND / 10);
	said_of_both(ep, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[v.lead].cause, TX_SNDBUF);
	ep[1].tx.ns[TX_SNDBUF] = SECOND / 10; /* a sender that is told to pace itself */
	said_of_both(ep, &v);
	assert_int_equal(v.v[v.lead].cause, TX_PACING);
}

/* It fills the sender's buffer and closes the window by turns. */
static void a_readers_absence_is_one_finding(void **state)
{
	static const enum tx_state by[] = { TX_SNDBUF, TX_RWND, TX_PACING };
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = ep[0].rx.count[RX_WAIT] = 0;
	ep[1].tx_calls.bytes = 1000000;
	ep[1].tx.ns[TX_IDLE] = SECOND / 10;
	for (int i = 0; i < 3; i++) {
		ep[1].tx.ns[by[i]] = ep[1].blame.unread_ns[by[i]] = (3 - i) * (SECOND / 10);
		ep[1].tx.count[by[i]] = ep[1].blame.unread_n[by[i]] = 10;
		ep[1].tx.max[by[i]] = SECOND / 50;
	}
	assert_non_null(strstr(said_of_both(ep, &v), ": sndbuf, pacing, rwnd <- "));
	assert_non_null(strstr(said_of_both(ep, &v),
			       " 30 times, 600 ms in all (60.0 % of its time), longest 20.0 ms"));
	assert_int_equal(v.n, 1);
	assert_int_equal(v.v[0].cause, TX_SNDBUF);
	assert_int_equal(v.v[0].ns, 3 * (SECOND / 10));
	ep[1].blame.unread_ns[TX_RWND] = 0; /* a window that no reader explains */
	said_of_both(ep, &v);
	assert_int_equal(v.n, 2);
}

/* looked up beforehand, as for a build's thousands of pipes, and searched for: the same */
static void ways_back_are_found_alike(void **state)
{
	enum { PIPES = 200, PROGRAMS = 12 };
	struct trace_endpoint *ep = calloc(PIPES, sizeof(*ep));
	struct trace_snapshot s = { .ep = ep, .n = PIPES };
	struct rng rng;
	size_t found = 0;
	int *back;

	rng_seed(&rng, 1);
	for (size_t i = 0; i < PIPES; i++) {
		ep[i].proto = rng_below(&rng, 10) ? TRACE_PIPE : TRACE_UNIX_STREAM;
		ep[i].peer = ep[i].proto == TRACE_PIPE ? -1 : (int)(PIPES - 1 - i);
		ep[i].tx_calls.tgid = (pid_t)rng_below(&rng, PROGRAMS);
		ep[i].rx_calls.tgid = (pid_t)rng_below(&rng, PROGRAMS);
		ep[i].rx.ns[RX_WAIT] = rng_below(&rng, 3);
		ep[i].tx_calls.bytes = i % 2;
	}
	back = find_reverse_endpoints(&s);
	assert_non_null(back);
	for (size_t i = 0; i < PIPES; i++) {
		assert_int_equal(back[i], reverse_endpoint(&s, i));
		found += back[i] >= 0;
	}
	assert_in_range(found, PIPES / 2, PIPES - 1);
	free(back);
	free(ep);
}

/* n sockets of several namespaces, families and addresses; many are bound where others send */
static struct trace_endpoint *udp_sockets(size_t n, struct rng *rng)
{
	struct trace_endpoint *ep = calloc(n, sizeof(*ep));

	for (size_t i = 0; i < n; i++) {
		ep[i].proto = rng_below(rng, 10) ? TRACE_UDP : TRACE_TCP;
		ep[i].family = rng_below(rng, 2) ? AF_INET : AF_INET6;
		ep[i].netns = (uint32_t)rng_below(rng, 2);
		ep[i].local.port = (uint16_t)rng_below(rng, 8);
		ep[i].remote.port = (uint16_t)rng_below(rng, 8);
		ep[i].local.ip[3] = (uint8_t)rng_below(rng, 3);
		ep[i].remote.ip[3] = (uint8_t)rng_below(rng, 3);
		ep[i].peer = -1;
	}
	return ep;
}

/* looked up beforehand, and searched for: the same */
static void bound_sockets_are_found_alike(void **state)
{
	enum { SOCKETS = 300 };
	struct rng rng;
	size_t found = 0;

	rng_seed(&rng, 1);
	for (size_t n = 1; n < SOCKETS; n += 23) {
		struct trace_endpoint *ep = udp_sockets(n, &rng);
		struct trace_snapshot s = { .ep = ep, .n = n };
		int *there = find_bound_there(&s);

		assert_non_null(there);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(there[i], bound_where_it_sends(&s, &ep[i]));
			found += there[i] >= 0;
		}
		free(there);
		free(ep);
	}
	assert_true(found > SOCKETS);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* clients of one program, of many servers: a search among all for each of them took 50 s */
static void thousands_of_udp_sockets_are_judged_at_once(void **state)
{
	enum { SOCKETS = 5000 };
	struct trace_endpoint *ep = calloc(SOCKETS, sizeof(*ep));
	struct trace_snapshot s = { .ep = ep, .n = SOCKETS };
	double before = cpu_seconds();
	struct verdict v;

	for (size_t i = 0; i < SOCKETS; i++) {
		ep[i] = downloader(0);
		ep[i].proto = TRACE_UDP;
		ep[i].peer = -1;
		ep[i].paired = false;
		ep[i].local.port = (uint16_t)(1024 + i);
		ep[i].remote.port = 53;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 9 * (SECOND / 10);
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 10;
		ep[i].remote.ip[3] = (uint8_t)i;
	}
	verdict_make(&s, &v);
	assert_true(cpu_seconds() - before < 5);
	free(ep);
}

/* The client's patience is no time that the server thought. */
static void requests_that_the_client_gave_up_are_counted(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].closed = true;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = 1; /* the server's answer found nobody */
	}
	ep[0].tx_calls.bytes = 16;
	ep[0].rx_calls.bytes = 0;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "it left the request unanswered until the connection closed, after "
			       "900 ms"));
	assert_int_equal(v.waits.requests.n, 0);
	assert_int_equal(v.waits.requests.given_up, 1);
	ep[0].rx_calls.messages = 1;
	ep[0].rx_calls.bytes = 16;
	assert_null(strstr(said_of_both(ep, &v), "unanswered"));
}

/* Nothing of 40 ms in pieces of under 1 % makes a run of two seconds sick. */
static void small_stalls_of_a_long_run_are_healthy(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = ep[0].rx.count[RX_WAIT] = 0;
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes = 1000;
		ep[i].tx.lifetime_ns = SECOND / 20;
		ep[i].tx.ns[TX_IDLE] = SECOND / 20;
		ep[i].tx.ns[TX_CWND] = SECOND / 500;
		ep[i].tx.ns[TX_RWND] = SECOND / 500;
		ep[i].at_ns = i ? 3ull * SECOND : SECOND;
	}
	said_of_both(ep, &v);
	assert_int_equal(v.scattered.ns, 0);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

static void what_was_sent_in_no_time_was_sent(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.tx.lifetime_ns = ep.rx.lifetime_ns = 0;
	assert_string_equal(said_of(&ep, &v), "healthy: stalls add up to 0 ns");
	ep.tx_calls.bytes = 0;
	assert_string_equal(said_of(&ep, &v), "nothing was sent through an endpoint that was seen");
}

/* a receiver of datagrams that read 90 of 100 */
static struct trace_endpoint receiver(void)
{
	struct trace_endpoint ep = downloader(0);

	ep.proto = TRACE_UDP;
	ep.tx_calls.bytes = 0;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = ep.drops_res = TRACE_EXACT;
	ep.rx_calls.messages = 90;
	ep.drops[TRACE_DROP_RCVBUF] = 10;
	return ep;
}

static void lost_datagrams_are_no_health(void **state)
{
	struct trace_endpoint ep = receiver();
	struct verdict v;

	assert_string_equal(said_of(&ep, &v), "curl[12] on udp 0.0.0.0:0 > 0.0.0.0:0: 10 datagrams "
					      "dropped at its full receive buffer "
					      "(10.0 % of those read or dropped)");
	assert_int_equal(v.loss.endpoint, 0);
	assert_int_equal(v.loss.kind, TRACE_DROP_RCVBUF);
	ep.rx_calls.bytes_res = TRACE_BOUNDED; /* how many came is not known */
	assert_null(strstr(said_of(&ep, &v), "%"));
	ep.rx_calls.bytes_res = TRACE_EXACT;
	ep.rx_calls.messages = 0; /* and of a socket that nobody read from, what share was lost */
	assert_null(strstr(said_of(&ep, &v), "%"));
	ep.drops_res = TRACE_UNKNOWN;
	assert_null(strstr(said_of(&ep, &v), "dropped"));
	assert_int_equal(v.loss.endpoint, -1);
}

/* samples read the socket's own count, which does not say why */
static void dropped_for_an_untold_reason_is_lost(void **state)
{
	struct trace_endpoint ep = receiver();
	struct verdict v;

	ep.drops[TRACE_DROP_RCVBUF] = 0;
	ep.drops[TRACE_DROP_OTHER] = 10;
	ep.rx_calls.bytes_res = TRACE_UNKNOWN;
	assert_string_equal(said_of(&ep, &v), "curl[12] on udp 0.0.0.0:0 > 0.0.0.0:0: 10 datagrams "
					      "dropped by its socket");
	assert_int_equal(v.loss.kind, TRACE_DROP_OTHER);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.drops_res = TRACE_BOUNDED;
	said_of(&ep, &v);
	assert_int_equal(v.loss.n, 10);
	ep.drops_res = TRACE_UNKNOWN;
	said_of(&ep, &v);
	assert_int_equal(v.loss.endpoint, -1);
}

/* 600 went to a socket that got 480 of them */
static void sender_and_receiver(struct trace_endpoint ep[2])
{
	for (int i = 0; i < 2; i++) {
		ep[i] = receiver();
		ep[i].drops[TRACE_DROP_RCVBUF] = ep[i].rx_calls.messages = 0;
		ep[i].at_ns = 2ull * SECOND;
		ep[i].local.ip[0] = 10;
		ep[i].local.port = i ? 7000 : 40000;
		ep[i].rx.now = RX_IDLE;
	}
	ep[0].remote = ep[1].local;
	ep[0].at_ns = ep[1].at_ns - SECOND / 2;
	ep[0].tx.lifetime_ns = ep[0].rx.lifetime_ns = SECOND / 4;
	ep[0].tx_calls.messages = 600;
	ep[0].tx_calls.bytes = 3000;
	ep[1].rx_calls.messages = 480;
	ep[1].rx_calls.bytes = 2400;
	strcpy(ep[1].rx_calls.comm, "statsd");
}

static bool is_lost(struct trace_endpoint ep[2])
{
	struct verdict v;

	said_of_both(ep, &v);
	return v.loss.endpoint >= 0;
}

static void what_did_not_arrive_was_lost_on_the_way(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;
	struct card c;

	(void)state;
	sender_and_receiver(ep);
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_LOSS);
	card_of_both(ep, &c);
	assert_string_equal(c.head, "datagrams to statsd[12] are lost");
	assert_string_equal(c.why, "120 of 600 datagrams did not arrive");
	assert_int_equal(c.surety, INFERRED);
	ep[1].drops[TRACE_DROP_RCVBUF] = 30; /* these did */
	card_of_both(ep, &c);
	assert_string_equal(c.why, "90 of 600 datagrams did not arrive");
}

static void where_not_all_was_seen_nothing_is_lost_on_the_way(void **state)
{
	struct trace_endpoint ep[2];

	(void)state;
	sender_and_receiver(ep);
	ep[0].joined_late = true;
	assert_false(is_lost(ep));
	sender_and_receiver(ep);
	ep[1].rx.now = RX_UNREAD; /* they lie there */
	assert_false(is_lost(ep));
	sender_and_receiver(ep);
	ep[1].at_ns = ep[0].at_ns; /* the last ones are on their way, or it had gone */
	assert_false(is_lost(ep));
	sender_and_receiver(ep);
	ep[0].making.moved = true; /* to whom it sent before nobody knows */
	assert_false(is_lost(ep));
	sender_and_receiver(ep);
	ep[1].rx_calls.bytes = 3000; /* several in one read */
	assert_false(is_lost(ep));
	sender_and_receiver(ep);
	ep[1].rx_calls.messages = 100; /* it is not the one with that address */
	assert_false(is_lost(ep));
	sender_and_receiver(ep);
	ep[1].remote.port = 9; /* it takes nothing from there */
	assert_false(is_lost(ep));
	ep[1].making.unconnected = true; /* it answers another */
	assert_true(is_lost(ep));
	sender_and_receiver(ep);
	ep[0].tx_calls.bytes_res = TRACE_BOUNDED;
	assert_false(is_lost(ep));
}

static void one_in_a_million_is_said_beside(void **state)
{
	struct trace_endpoint ep = receiver();
	struct verdict v;

	ep.rx_calls.messages = 10000000;
	ep.tx_calls.bytes = 100;
	assert_non_null(strstr(said_of(&ep, &v), "healthy"));
	assert_int_equal(v.loss.endpoint, 0);
}

static void a_full_queue_drops_what_was_sent(void **state)
{
	struct trace_endpoint ep = receiver();
	struct verdict v;

	strcpy(ep.tx_calls.comm, "sender");
	ep.tx_calls.tgid = 13;
	ep.tx_calls.messages = 1000;
	ep.drops[TRACE_DROP_QDISC] = 20;
	assert_non_null(strstr(said_of(&ep, &v), "sender[13] on udp"));
	assert_non_null(
		strstr(said_of(&ep, &v), "20 datagrams dropped by a queue on their way out"));
}

static void a_stall_comes_before_a_loss(void **state)
{
	struct trace_endpoint ep = receiver();
	char *text = NULL;
	size_t len = 0;
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct verdict v;
	FILE *out = open_memstream(&text, &len);

	ep.tx_calls.messages = 1;
	ep.tx.ns[TX_SNDBUF] = ep.tx.max[TX_SNDBUF] = SECOND / 2;
	ep.tx.count[TX_SNDBUF] = 1;
	assert_non_null(strstr(said_of(&ep, &v), "sndbuf"));
	verdict_screen(&s, &v, &(struct card_extent){},
		       &(struct paint){ .out = out, .width = 200 });
	fclose(out);
	assert_non_null(
		strstr(text, "also   curl[12] on udp 0.0.0.0:0 > 0.0.0.0:0: 10 datagrams dropped"));
	assert_null(strstr(text, "recvmmsg"));
	free(text);
}

enum { CROWD = 100 };

/* endpoints that lived for a millisecond each, and stalled for nearly all of it */
static void short_lives(struct trace_endpoint ep[CROWD])
{
	for (int i = 0; i < CROWD; i++) {
		ep[i] = downloader(0);
		ep[i].tx.lifetime_ns = 1000000;
		ep[i].tx.ns[TX_NAGLE] = 100000;
		ep[i].tx.ns[TX_SNDBUF] = 700000;
	}
}

static void many_small_stalls_are_no_health(void **state)
{
	struct trace_endpoint ep[CROWD];
	struct verdict v;

	short_lives(ep);
	assert_string_equal(
		said_of_all(ep, CROWD, &v),
		"no single stall stands out, but together they make up 80.0 ms, 80.00 % of "
		"the senders' time, "
		"most of it sndbuf (87.5 %)");
	assert_int_equal(v.n, 0);
	assert_int_equal(v.scattered.ns, 80000000);
	for (int i = 0; i < CROWD; i++)
		ep[i].tx_calls.tgid = 20 + i / 75;
	strcpy(ep[0].tx_calls.comm, "many");
	assert_non_null(strstr(said_of_all(ep, CROWD, &v),
			       "most of it sndbuf (87.5 %), 75 % of that in many[20]"));
	assert_int_equal(v.scattered.process_ns, 75 * 700000);
	assert_int_equal(v.wait.endpoint, -1);
	for (int i = 0; i < CROWD; i++)
		ep[i].tx.lifetime_ns = 100000000; /* 0.8 % of it */
	assert_non_null(
		strstr(said_of_all(ep, CROWD, &v), "healthy: stalls add up to 80.0 ms, 0.80 %"));
	short_lives(ep);
	assert_non_null(strstr(said_of_both(ep, &v), "no single stall stands out"));
	assert_non_null(
		strstr(said_of(ep, &v), "healthy")); /* less than what is worth the word of one */
}

/* A client's connection to a server's port 80, of 100 ms, that the server's delayed ACK holds up
 * twice, for `ns` in all. */
static void short_talk(struct trace_endpoint ep[2], int client, pid_t pid, pid_t server,
		       uint64_t ns)
{
	for (int i = 0; i < 2; i++) {
		ep[i] = downloader(0);
		ep[i].paired = true;
		ep[i].peer = client + !i;
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = SECOND / 10;
		strcpy(ep[i].tx_calls.comm, i ? "server" : "client");
		strcpy(ep[i].rx_calls.comm, ep[i].tx_calls.comm);
		ep[i].tx_calls.tgid = ep[i].rx_calls.tgid = i ? server : pid;
	}
	ep[0].remote.port = ep[1].local.port = 80;
	ep[0].local.port = ep[1].remote.port = (uint16_t)(40000 + client);
	ep[0].tx.ns[TX_NAGLE] = ep[0].blame.delack_ns[TX_NAGLE] = ns;
	ep[0].tx.max[TX_NAGLE] = ns / 2;
	ep[0].tx.count[TX_NAGLE] = ep[0].blame.delack_n[TX_NAGLE] = 2;
}

enum { TALKS = 40, STALL = 80000000 };

static void short_talks(struct trace_endpoint ep[2 * TALKS])
{
	for (int i = 0; i < TALKS; i++)
		short_talk(&ep[2 * i], 2 * i, 20, 30, STALL + (uint64_t)i);
}

static void short_connections_are_told_together(void **state)
{
	struct trace_endpoint ep[2 * TALKS];
	struct verdict v;

	(void)state;
	short_talks(ep);
	assert_string_equal(said_of_all(ep, 2 * TALKS, &v),
			    "client[20] on tcp 0.0.0.0:40078 > 0.0.0.0:80 and 39 more: nagle <- "
			    "delayed ACK of server[30]: 80 times in "
			    "40 connections, 3.20 s in all (80.0 % of their time), longest 40.0 "
			    "ms; seen at both ends");
	assert_int_equal(v.n, 1);
	assert_int_equal(v.v[0].endpoint, 2 * TALKS - 2);
	assert_int_equal(v.v[0].ns, STALL + TALKS - 1);
	assert_int_equal(v.v[0].all.connections, TALKS);
}

/* Forked workers, and clients that are started anew each time, have a name in common; of a server
 * it is the local port. */
static void processes_of_one_name_are_told_together(void **state)
{
	struct trace_endpoint ep[2 * TALKS];
	struct verdict v;

	(void)state;
	for (int i = 0; i < TALKS; i++)
		short_talk(&ep[2 * i], 2 * i, 100 + i, 200 + i / 2, STALL);
	assert_non_null(strstr(said_of_all(ep, 2 * TALKS, &v),
			       "several client on tcp 0.0.0.0:40000 > 0.0.0.0:80 and 39 more: "
			       "nagle <- delayed ACK of several server: 80 times"));
	for (int i = 0; i < TALKS; i++) {
		struct trace_endpoint *server = &ep[2 * i + 1];

		server->tx = ep[2 * i].tx;
		server->blame = ep[2 * i].blame;
		memset(ep[2 * i].tx.ns, 0, sizeof(ep[2 * i].tx.ns));
	}
	said_of_all(ep, 2 * TALKS, &v);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.v[0].all.connections, TALKS);
}

static void other_programs_and_ports_stand_alone(void **state)
{
	struct trace_endpoint ep[8];
	struct verdict v;

	(void)state;
	for (int i = 0; i < 4; i++)
		short_talk(&ep[2 * i], 2 * i, 20, 30, STALL);
	ep[2].remote.port = ep[3].local.port = 81;
	ep[4].tx_calls.tgid = ep[4].rx_calls.tgid = 21;
	strcpy(ep[4].tx_calls.comm, "other");
	ep[7].rx_calls.tgid = 31;
	strcpy(ep[7].rx_calls.comm, "proxy");
	said_of_all(ep, 8, &v);
	assert_int_equal(v.n, 4);
	assert_non_null(
		strstr(said_of_all(ep, 8, &v), ": 2 times, 80.0 ms in all (80.0 % of its time)"));
}

/* two servers that were not seen may be two hosts */
static void servers_that_were_not_seen_are_known_by_address(void **state)
{
	struct trace_endpoint ep[6];
	struct verdict v;

	(void)state;
	for (int i = 0; i < 3; i++) {
		short_talk(&ep[2 * i], 2 * i, 20, 30, STALL);
		ep[i] = ep[2 * i];
		ep[i].peer = -1;
		ep[i].remote.ip[3] = (uint8_t)(1 + i / 2);
	}
	said_of_all(ep, 3, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[0].all.connections, 2);
}

/* More than there is room for, each larger than one of theirs: they come first nevertheless, and
 * who is cut off is the smallest. */
static void the_sum_counts(void **state)
{
	struct trace_endpoint ep[2 * TALKS + 4 * FINDINGS_MAX];
	struct verdict v;

	(void)state;
	short_talks(ep);
	for (int i = TALKS; i < TALKS + 2 * FINDINGS_MAX; i++) {
		short_talk(&ep[2 * i], 2 * i, 20, 30, STALL + SECOND / 100);
		ep[2 * i].remote.port = (uint16_t)(1000 + i);
	}
	said_of_all(ep, sizeof(ep) / sizeof(ep[0]), &v);
	assert_int_equal(v.n, FINDINGS_MAX);
	assert_int_equal(v.v[0].all.connections, TALKS);
	assert_int_equal(v.v[FINDINGS_MAX - 1].all.connections, 1);
}

static void those_that_were_not_kept_are_in_the_sum(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1, .counters = { .dropped = 8000,
		.dropped_stall_ns = SECOND / 2, .dropped_lifetime_ns = SECOND / 2 } };
	char text[VERDICT_TEXT];
	struct verdict v;

	ep.tx.ns[TX_NAGLE] = 1000;
	verdict_make(&s, &v);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text,
			       "no single stall stands out, but together they make up 500 ms, "
			       "33.33 % of the senders' time"));
	assert_null(strstr(text, "most of it"));
}

/* ---- classes of wrong verdicts: one test each ---- */

/* a server that is stopped for a second of three, amid answers of a millisecond */
static void busy_service(struct trace_endpoint ep[2])
{
	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 100000;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 2000;
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = ep[i].at_ns = 3ull * SECOND;
		ep[i].tx.ns[TX_IDLE] = SECOND;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 0;
	}
	ep[1].rx.ns[RX_UNREAD] = SECOND + SECOND / 50;
	ep[1].rx.max[RX_UNREAD] = SECOND;
	ep[1].rx.count[RX_UNREAD] = 2000;
}

static void a_freeze_in_a_busy_connection_is_told(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	busy_service(ep);
	ep[0].rx.ns[RX_WAIT] = 2ull * SECOND;
	ep[0].rx.max[RX_WAIT] = SECOND;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_LATE);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] =
		0; /* its client waits by epoll, in no call */
	ep[0].rx.ns[RX_IDLE] = 2ull * SECOND;
	ep[0].rx.max[RX_IDLE] = SECOND;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_LATE);
	ep[0].rx.max[RX_IDLE] = SECOND / 100; /* nobody waited for it: answers came all the time */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx.max[RX_IDLE] = SECOND;
	ep[1].rx.max[RX_UNREAD] = SECOND / 100; /* no while stands out */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

static void an_unseen_sender_meets_a_freeze_too(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	busy_service(ep);
	ep[1].peer = -1;
	ep[1].paired = false;
	said_of(&ep[1], &v);
	assert_int_equal(v.kind, KIND_LATE);
}

/* dd into gzip: 97 % in sndbuf, and gzip computes */
static void pipeline(struct trace_endpoint *ep)
{
	*ep = downloader(0);
	is_pipe(ep, 0, 20, 21, 0);
	strcpy(ep->rx_calls.comm, "gzip");
	ep->queue_max = 16;
	ep->tx.ns[TX_SNDBUF] = 97 * (SECOND / 100);
	ep->tx.ns[TX_IDLE] = 3 * (SECOND / 100);
	ep->tx.max[TX_SNDBUF] = SECOND / 100;
	ep->tx.count[TX_SNDBUF] = 4000;
	ep->rx.ns[RX_UNREAD] = 96 * (SECOND / 100);
	ep->blame.unread_ns[TX_SNDBUF] = 96 * (SECOND / 100);
	ep->blame.unread_n[TX_SNDBUF] = 4000;
	ep->rx_calls.cpu_res = ep->tx_calls.cpu_res = TRACE_BOUNDED;
	ep->rx_calls.bytes_res = ep->tx_calls.bytes_res = TRACE_EXACT;
	ep->rx_calls.messages = 4000;
	ep->rx_calls.bytes = ep->tx_calls.bytes = 4000ull << 15;
}

static void a_reader_that_was_not_allowed_to_run_is_told_so(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep.rx_calls.stopped_ns = SECOND / 2;
	assert_non_null(strstr(said_of(&ep, &v),
			       "<- gzip[21] was stopped (signal, debugger or freezer)"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rx_calls.stopped_ns = SECOND / 3; /* less than half of it */
	assert_null(strstr(said_of(&ep, &v), "was stopped"));
	ep.rx_calls.quota_ns = ep.rx_calls.no_cpu_ns = SECOND / 2;
	assert_non_null(strstr(said_of(&ep, &v),
			       "<- gzip[21] had used up the CPU quota of its cgroup (cpu.max)"));
}

/* its reader has no work, and no time with any: what holds it up is something else */
static void who_has_nothing_to_read_limits_nobody(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx.ns[RX_UNREAD] = ep.rx_calls.cpu_ns = SECOND / 1000;
	ep.blame.unread_ns[TX_SNDBUF] = 0;
	assert_null(strstr(said_of(&ep, &v), "CPU"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

static void a_full_queue_of_this_host_is_the_link(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.tx.ns[TX_DEVICE] = 95 * (SECOND / 100);
	ep.tx.ns[TX_IDLE] = 5 * (SECOND / 100);
	ep.tx_calls.bytes = 2000000;
	ep.path.delivery_bytes_per_s = 2100000;
	ep.path.sent_segments = 1400;
	ep.path.lost_segments = 70;
	ep.rtt_us = 20000;
	ep.min_rtt_us = 100;
	assert_non_null(strstr(said_of(&ep, &v), "healthy, limited by: the link"));
	assert_int_equal(v.v[0].cause, TX_DEVICE);
	ep.path.app_limited = true; /* answers to one question after the other */
	assert_null(strstr(said_of(&ep, &v), "the link"));
	ep.path.app_limited = false;
	ep.tx.ns[TX_DEVICE] = 85 * (SECOND / 100); /* a short queue drops much, and bbr paces */
	ep.tx.ns[TX_PACING] = SECOND / 10;
	ep.path.lost_segments = 300;
	ep.path.delivery_bytes_per_s = 20000000; /* the last burst */
	assert_non_null(strstr(said_of(&ep, &v), "healthy, limited by: the link"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.tx.ns[TX_DEVICE] = 55 * (SECOND / 100);
	ep.tx.ns[TX_PACING] = 4 * (SECOND / 10);
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rtt_us = ep.min_rtt_us; /* no queue stands there */
	assert_null(strstr(said_of(&ep, &v), "the link"));
}

/* tar | pv | ncat, over a full link */
static void what_waits_for_a_full_link_is_behind_its_limit(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct asleep ncat = { .pid = 22, .tid = 22, .end = ASLEEP_END_FULL };
	struct verdict v;

	(void)state;
	ep[0] = downloader(0);
	ep[0].tx_calls.tgid = ep[0].rx_calls.tgid = 22;
	ep[0].tx.ns[TX_DEVICE] = 95 * (SECOND / 100);
	ep[0].tx.ns[TX_IDLE] = 5 * (SECOND / 100);
	ep[0].tx_calls.bytes = 2000000;
	ep[0].path.delivery_bytes_per_s = 2100000;
	ep[0].path.sent_segments = 1400;
	ep[0].rtt_us = 20000;
	ep[0].min_rtt_us = 100;
	for (int i = 1; i < 3; i++) {
		pipeline(&ep[i]);
		is_pipe(&ep[i], i, i == 1 ? 21 : 20, i == 1 ? 22 : 21, 0);
		ep[i].rx.ns[RX_UNREAD] = ep[i].tx.ns[TX_SNDBUF];
		ep[i].blame.unread_ns[TX_SNDBUF] = ep[i].tx.ns[TX_SNDBUF];
		ep[i].rx_calls.cpu_ns = ep[i].tx_calls.cpu_ns = 0;
	}
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	v.doing = &ncat;
	verdict_link_doing(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.v[v.lead].endpoint, 0);
	verdict_make(&s, &v);
	ncat.end = ASLEEP_END_SLEEPS; /* it waits for something else */
	v.doing = &ncat;
	verdict_link_doing(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

/* A firewall drops the first SYN of each. */
static void lost_syns_of_many_connections_are_one_finding(void **state)
{
	struct trace_endpoint ep[5];
	struct trace_samples samples[5] = {};
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = 5 };
	struct verdict v;

	(void)state;
	for (int i = 0; i < 5; i++) {
		ep[i] = downloader(0);
		seen_by_samples(&ep[i]);
		samples[i].n = 10; /* which found `flight`: that it was lost shows later */
		ep[i].tx_calls = ep[i].rx_calls;
		ep[i].tx.ns[TX_RECOVERY] = 95 * (SECOND / 100);
		ep[i].tx.ns[TX_IDLE] = 5 * (SECOND / 100);
		ep[i].closed = true;
		ep[i].retransmits = ep[i].syn_retransmits = 1;
		ep[i].local.port = (uint16_t)(40000 + i);
		ep[i].remote.port = 80;
	}
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_STALL);
	assert_true(v.v[v.lead].unanswered_syn);
	assert_int_equal(v.v[v.lead].all.connections, 5);
	s.n = 2; /* two lost segments may be chance */
	verdict_make(&s, &v);
	assert_int_not_equal(v.kind, KIND_STALL);
}

static struct trace_endpoint paced(void)
{
	struct trace_endpoint ep = downloader(0);

	ep.tx.ns[TX_PACING] = 9 * (SECOND / 10);
	ep.tx.ns[TX_IDLE] = SECOND / 10;
	ep.tx.count[TX_PACING] = 100;
	ep.tx_calls.bytes = 2000000;
	ep.rtt_us = ep.min_rtt_us = 20000;
	ep.path.sent_segments = 1400;
	ep.path.delivery_bytes_per_s = 2000000;
	ep.path.pacing_bytes_per_s = 2200000;
	strcpy(ep.path.congestion_control, "bbr");
	return ep;
}

/* It lets no queue stand before the bottleneck, and measures what that delivers. */
static void a_congestion_control_that_paces_knows_the_link(void **state)
{
	struct trace_endpoint ep = paced();
	struct card c;

	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_HEALTHY);
	assert_non_null(strstr(c.why, "bbr measures that the path carries 16.0 Mbit/s"));
	ep.tx.ns[TX_SNDBUF] = SECOND / 10; /* as the buffer lets it appear */
	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_STALLED);
	ep = paced();
	ep.path.pacing_bytes_per_s = 6000000; /* it still looks for more */
	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_STALLED);
	assert_string_equal(c.why, "pacing: bbr sends at 6.00 MB/s");
	ep = paced();
	ep.min_rtt_us = ep.rtt_us = 40; /* no link, but this host's CPUs */
	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_STALLED);
	ep = paced();
	ep.path.lost_segments = 100;
	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_STALLED);
	ep = paced();
	strcpy(ep.path.congestion_control, "bbr2");
	card_of(&ep, &c);
	assert_non_null(strstr(c.why, "bbr2 measures"));
	strcpy(ep.path.congestion_control, "cubic"); /* its pace follows its window */
	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_STALLED);
	assert_string_equal(c.why, "pacing: cubic sends at 2.20 MB/s");
}

static void a_little_time_without_a_cpu_hides_no_limit(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = ep[0].rx.count[RX_WAIT] = 0;
	ep[1].tx = paced().tx;
	ep[1].path = paced().path;
	ep[1].tx_calls.bytes = 2000000;
	ep[1].rtt_us = ep[1].min_rtt_us = 20000;
	ep[1].tx.ns[TX_RWND] = ep[1].blame.starved_ns[trace_vote(TX_RWND)] = 8 * (SECOND / 100);
	ep[1].tx.ns[TX_IDLE] = 2 * (SECOND / 100);
	said_of_both(ep, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[1].blamed, BLAME_PEER_NO_CPU);
	assert_int_equal(v.kind, KIND_LIMIT);
}

static void a_pace_that_the_program_set_is_said_to_be(void **state)
{
	struct trace_endpoint ep = paced();
	struct card c;

	ep.path.max_pacing_bytes_per_s = ep.path.pacing_bytes_per_s = 2200000;
	card_of(&ep, &c);
	assert_int_equal(c.outcome, OUTCOME_STALLED);
	assert_string_equal(c.why, "pacing: SO_MAX_PACING_RATE limits it to 2.20 MB/s");
	assert_string_equal(c.fix, "raise SO_MAX_PACING_RATE, or do not set it");
	ep.path.max_pacing_bytes_per_s = 100000000; /* it is set, and far from reached */
	ep.path.lost_segments = 100;
	card_of(&ep, &c);
	assert_string_equal(c.why, "pacing: bbr sends at 2.20 MB/s");
}

/* a resolver asks another, by a socket of its own */
static void who_passes_a_question_on_in_vain_is_not_the_last(void **state)
{
	struct trace_endpoint ep[3] = { downloader(0), downloader(0), downloader(0) };
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct card card;
	struct verdict v;

	for (int i = 0; i < 3; i++) {
		ep[i].proto = TRACE_UDP;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = i != 1;
		ep[i].tx_calls.tgid = ep[i].rx_calls.tgid = i ? 7 : 12;
		strcpy(ep[i].rx_calls.comm, i ? "dnsmasq" : "dig");
		strcpy(ep[i].tx_calls.comm, i ? "dnsmasq" : "dig");
	}
	ep[0].remote.port = ep[1].local.port = 53;
	ep[0].rx.ns[RX_WAIT] = 9 * (SECOND / 10);
	ep[2].remote.port = 5353;
	said_of_all(ep, 3, &v);
	card_make(&s, &v, &card);
	assert_int_equal(v.unanswered.passed_on, 2);
	assert_string_equal(card.head, "dig[12] waits for 0.0.0.0:5353, through dnsmasq[7]");
	ep[2].rx_calls.messages = 1; /* that was answered */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.unanswered.passed_on, -1);
}

/* by epoll, of which no call tells */
static void what_lies_unread_at_a_server_is_not_answered(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(0) };
	struct verdict v;

	for (int i = 0; i < 2; i++) {
		ep[i].proto = TRACE_UDP;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
	}
	ep[0].remote.port = ep[1].local.port = 53;
	ep[0].tx_calls.messages = 1;
	ep[1].tx_calls.bytes = 0;
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 9 * (SECOND / 10);
	said_of_both(ep, &v);
	assert_int_equal(v.unanswered.endpoint, 0);
	assert_int_equal(v.unanswered.server, 1);
	assert_int_equal(v.unanswered.ns, 9 * (SECOND / 10));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[0].making.unconnected = true; /* who names the address in each call may send news */
	said_of_both(ep, &v);
	assert_int_equal(v.unanswered.endpoint, -1);
	ep[0].making.unconnected = false;
	ep[0].tx_calls.messages = 3000; /* lines of a log, which nobody answers */
	said_of_both(ep, &v);
	assert_int_equal(v.unanswered.endpoint, -1);
	ep[0].tx_calls.messages = 1;
	ep[1].tx_calls.messages = 1; /* it answered somebody */
	said_of_both(ep, &v);
	assert_int_equal(v.unanswered.endpoint, -1);
}

/* It has a socket for each question, and the last one is open. */
static void the_last_question_of_many_may_be_late(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(0) };
	struct verdict v;

	for (int i = 0; i < 2; i++) {
		ep[i].proto = TRACE_UDP;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].remote.port = 53;
		ep[i].tx_calls.messages = 1;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = SECOND / 4;
	}
	ep[0].closed = true;
	said_of_both(ep, &v);
	assert_true(v.unanswered.endpoint >= 0);
	ep[0].rx_calls.messages = 1;
	said_of_both(ep, &v);
	assert_int_equal(v.unanswered.endpoint, -1);
	ep[1].closed = true; /* it gave up */
	said_of_both(ep, &v);
	assert_int_equal(v.unanswered.endpoint, 1);
}

/* ICMP says at once that nobody is there: whoever asked in epoll was in no receive call */
static void a_datagram_that_was_refused_is_not_answered(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.proto = TRACE_UDP;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = TRACE_EXACT;
	ep.remote.port = 53;
	ep.tx_calls.messages = 1;
	said_of(&ep, &v);
	assert_int_equal(v.unanswered.endpoint, -1);
	ep.rx_calls.refused_n = 1;
	assert_non_null(strstr(said_of(&ep, &v), "ICMP said that no program listens there"));
	assert_int_equal(v.unanswered.endpoint, 0);
	assert_int_equal(v.unanswered.ns, 0); /* for how long it would have waited nobody knows */
	assert_null(strstr(said_of(&ep, &v), "for which it waited"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep.rx_calls.refused_n = 0;
	ep.closed = true; /* nobody said so, and it gave up */
	ep.rx_calls.open_reply_ns = 9 * (SECOND / 10);
	said_of(&ep, &v);
	assert_int_equal(v.unanswered.ns, 9 * (SECOND / 10));
	ep.tx_calls.messages = 100; /* it only tells: a metric, a log */
	said_of(&ep, &v);
	assert_int_equal(v.unanswered.endpoint, -1);
}

/* a reader that was woken late, and waited for its writer for more than twice as long */
static void a_little_time_without_a_cpu_hides_no_long_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx_calls.runq_ns = ep[0].rx_calls.runq_max_ns = SECOND / 2;
	ep[0].rx_calls.wakeups = 1;
	ep[0].rx_calls.runq_res = TRACE_EXACT;
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_STARVED); /* it is most of the wait */
	ep[0].rx_calls.runq_ns = 4 * (SECOND / 10);
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.starved.endpoint, 0);
}

/* A ping-pong at full speed: each of its wake-ups takes a few microseconds. */
static void who_is_woken_often_is_not_short_of_a_cpu(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		seen_by_samples(&ep[i]);
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 1000;
	}
	ep[0].rx.ns[RX_WAIT] = SECOND / 2;
	ep[0].rx.max[RX_WAIT] = 0;
	ep[1].rx_calls.no_cpu_res = ep[1].tx_calls.no_cpu_res = TRACE_BOUNDED;
	ep[1].rx_calls.no_cpu_ns = ep[1].tx_calls.no_cpu_ns = 4 * (SECOND / 10);
	ep[1].rx_calls.cpu_turns = ep[1].tx_calls.cpu_turns = 10; /* 40 ms each */
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_STARVED);
	ep[1].rx_calls.cpu_turns = ep[1].tx_calls.cpu_turns = 40000; /* 10 us each */
	said_of_both(ep, &v);
	assert_int_equal(v.starved.endpoint, -1);
}

/* a server alone: woken for each request, it is in its receive call while it has no CPU */
static void a_server_alone_without_cpu_is_seen_by_samples(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	seen_by_samples(&ep);
	ep.local.port = 80;
	ep.remote.port = 50000;
	ep.rx.ns[RX_WAIT] = 9 * (SECOND / 10);
	ep.rx_calls.cpu_res = ep.rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep.rx_calls.cpu_ns = 2 * (SECOND / 10);
	ep.rx_calls.no_cpu_ns = 6 * (SECOND / 10);
	ep.rx_calls.cpu_turns = 6000; /* 100 us each */
	ep.path.sent_segments = 6000;
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_STARVED);
	ep.rx_calls.no_cpu_ns = SECOND / 10; /* less than it ran */
	said_of(&ep, &v);
	assert_int_equal(v.starved.endpoint, -1);
	ep.rx_calls.no_cpu_ns = 6 * (SECOND / 10);
	ep.path.sent_segments = 0; /* it answers nobody */
	said_of(&ep, &v);
	assert_int_equal(v.starved.endpoint, -1);
}

/* samples count no reads: as many as there were answers */
static void a_server_that_answers_all_the_time_is_not_late_by_samples(void **state)
{
	struct trace_endpoint ep = downloader(4 * (SECOND / 10));
	struct verdict v;

	seen_by_samples(&ep);
	ep.local.port = 80;
	ep.remote.port = 50000;
	ep.rx_calls.bytes = 100;
	ep.path.sent_segments = 20000;
	said_of(&ep, &v);
	assert_int_equal(v.late.endpoint, -1);
	ep.path.sent_segments = 20; /* each lay for 20 ms */
	said_of(&ep, &v);
	assert_int_equal(v.late.endpoint, 0);
}

static void a_busy_udp_server_is_named(void **state)
{
	struct trace_endpoint ep = downloader(95 * (SECOND / 100));
	struct verdict v;

	seen_by_samples(&ep);
	ep.proto = TRACE_UDP;
	ep.rx_calls.cpu_res = TRACE_UNKNOWN;
	ep.rx_calls.busiest_cpu_ns = 99 * (SECOND / 100);
	assert_non_null(strstr(said_of(&ep, &v), "one of its threads ran on a CPU for 99 %"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* The ledger was attached for seconds, and found what limits it: that outweighs the samples. */
static void the_ledger_overrules_the_samples(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_ruling ruling = {
		.serial = 7, .cause = TX_RWND, .share = 0.5, .limit = LIMIT_READER_CPU
	};
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		seen_by_samples(&ep[i]);
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 1000;
		ep[i].rx.ns[RX_WAIT] = 0;
	}
	ep[0].serial = 7;
	ep[0].tx.ns[TX_RWND] = 6 * (SECOND / 10);
	ep[0].tx.ns[TX_IDLE] = 4 * (SECOND / 10);
	ep[1].rx.ns[RX_UNREAD] = 9 * (SECOND / 10);
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	s.rulings = &ruling;
	s.n_rulings = 1;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.kind, KIND_LIMIT);
	assert_int_equal(v.v[v.lead].limit, LIMIT_READER_CPU);
	ruling.share = 0.3; /* it has doubled since then */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

/* It has its answer at once, and reads on until the server closes. */
static void who_reads_to_the_end_waits_for_no_answer(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct card card;
	struct verdict v;

	three_requests(ep);
	ep[0].tx_calls.messages = ep[1].rx_calls.messages = 1;
	ep[0].rx_calls.messages = ep[1].tx_calls.messages = 1;
	ep[0].rx_calls.reply_n = 1;
	ep[0].rx_calls.reply_ns = ep[0].rx_calls.reply_max_ns = SECOND / 1000;
	ep[1].tx_calls.reply_n = 1;
	ep[1].tx_calls.reply_ns = SECOND / 2000;
	ep[1].closed = true;
	said_of_both(ep, &v);
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "curl[12] waits for nginx[7] to send more, or to close");
	assert_non_null(strstr(card.why, "answered within 1.00 ms, and sent nothing more"));
	ep[0].rx_calls.reply_ns = ep[0].rx_calls.reply_max_ns = SECOND / 2; /* it took long */
	ep[1].tx_calls.reply_ns = SECOND / 2;
	said_of_both(ep, &v);
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "curl[12] waits for nginx[7] to answer");
}

/* so many messages each way, of a byte */
static void ask_and_answer(struct trace_endpoint ep[2], uint64_t n)
{
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = n;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = n;
	}
}

/* 8000 answers of 112 us each are no wait, and yet what the client does with its time */
static void quick_answers_are_no_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct verdict v;
	struct card c;

	client_and_server(ep);
	ask_and_answer(ep, 8000);
	ep[0].making.connected = ep[1].making.accepted = true;
	ep[0].rx.max[RX_WAIT] = SECOND / 100;
	ep[1].rx.ns[RX_IDLE] = 9 * (SECOND / 10); /* it makes its answers */
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.quick.endpoint, 0);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.why, "waits for nginx[7] 8000 times, 112 us each"));
	ep[0].rx.max[RX_WAIT] = SECOND / 5; /* a pause among them */
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	ep[0].rx.max[RX_WAIT] = SECOND / 100;
	ask_and_answer(ep, 800); /* 1.1 ms each */
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_WAIT);
}

/* a pipe with a thousand readers, of which each was woken late */
static void the_waits_of_many_threads_are_no_more_than_all_the_time(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.rx_calls.wakeups = 1000;
	ep.rx_calls.runq_ns = 360ull * SECOND;
	ep.rx_calls.runq_max_ns = SECOND / 2;
	ep.rx_calls.runq_res = TRACE_EXACT;
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_STARVED);
	assert_true(v.starved.share <= 1);
}

/* a command of a shell that was woken late, at the start of a long run */
static void a_moment_without_a_cpu_is_no_news(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct verdict v;

	ep.rx_calls.runq_ns = ep.rx_calls.runq_max_ns = 2 * (SECOND / 10);
	ep.rx_calls.wakeups = 1;
	ep.rx_calls.runq_res = TRACE_EXACT;
	ep.at_ns = SECOND;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_STARVED);
	s.at_ns = 3ull * SECOND;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_QUIET);
}

static void a_reader_that_computes_limits_and_holds_nobody_up(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = 95 * (SECOND / 100);
	assert_non_null(strstr(said_of(&ep, &v), "healthy, limited by: the reader's CPU"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.rx_calls.cpu_ns = 55 * (SECOND / 100); /* and may wait for its CPU for less than a */
	ep.rx.count[RX_UNREAD] = 4000;		  /* millisecond each time, which is not counted */
	assert_non_null(strstr(said_of(&ep, &v), "healthy, limited by: the reader's CPU"));
	ep.rx.count[RX_UNREAD] = 40;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rx_calls.cpu_ns = SECOND / 50; /* it sleeps between its reads */
	assert_non_null(strstr(said_of(&ep, &v), "gzip[21] reads often, and does not keep up"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rx_calls.cpu_res = TRACE_UNKNOWN;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rx_calls.messages = 96; /* a few in each stall, so it is not away */
	ep.tx.count[TX_SNDBUF] = 20;
	ep.tx.max[TX_SNDBUF] = SECOND / 20;
	assert_non_null(strstr(said_of(&ep, &v), "reads every 10.0 ms, and does not keep up"));
	ep.tx.max[TX_SNDBUF] = SECOND / 2; /* but then it was */
	assert_non_null(strstr(said_of(&ep, &v), "gzip[21] is not reading"));
	ep.tx.max[TX_SNDBUF] = SECOND / 20;
	ep.tx.count[TX_SNDBUF] = 90; /* a stall ends when it reads */
	assert_non_null(strstr(said_of(&ep, &v), "gzip[21] is not reading"));
}

/* It is busy, and hardly ever in the way: something else sets the pace. */
static void what_holds_up_little_is_no_limit(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = 95 * (SECOND / 100);
	ep.tx.ns[TX_IDLE] += ep.tx.ns[TX_SNDBUF] - SECOND / 10;
	ep.tx.ns[TX_SNDBUF] = SECOND / 10;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.kind, KIND_QUIET);
}

/* pigz: the thread that reads hands the work to others */
static void a_reader_whose_other_threads_compute_limits_too(void **state)
{
	struct trace_endpoint two[2], ep;
	struct trace_snapshot s = { .ep = &ep, .n = 1 }, both = { .ep = two, .n = 2 };
	struct card card;
	struct verdict v;

	pipeline(&ep);
	ep.at_ns = 2ull * SECOND;
	ep.rx_calls.cpu_ns = SECOND / 50;
	ep.rx_calls.born_ns = SECOND;
	ep.rx_calls.process_ran_ns = 3 * (SECOND / 2);
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	card_make(&s, &v, &card);
	assert_string_equal(card.why,
			    "gzip[21] is busy on its CPU (150 % of one) and cannot keep up");
	ep.tx.count[TX_SNDBUF] = 20; /* it is away for 50 ms each time: zstd with large blocks */
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	two[0] = two[1] = ep; /* it has something else to work on */
	two[1].serial++;
	two[1].tx = (struct trace_ledger){ .lifetime_ns = ep.tx.lifetime_ns };
	verdict_make(&both, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.tx.count[TX_SNDBUF] = 4000;
	ep.rx_calls.process_ran_ns = SECOND / 2;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.at_ns = 3600ull * SECOND; /* its threads that ended long ago used two CPUs */
	ep.rx_calls.process_ran_ns = 7000ull * SECOND;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

/* dd into gzip into another that is a little slow */
static void what_a_busy_reader_sends_is_beside_the_point(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	pipeline(&ep[0]);
	pipeline(&ep[1]);
	ep[0].peer = 0;
	ep[1].peer = 1;
	ep[0].rx_calls.cpu_ns = 95 * (SECOND / 100);
	ep[1].tx_calls.tgid = 21;
	ep[1].rx_calls.tgid = 22;
	ep[1].tx.ns[TX_SNDBUF] = 3 * (SECOND / 10);
	said_of_all(ep, 2, &v);
	assert_int_equal(v.kind, KIND_LIMIT);
	ep[1].tx.ns[TX_SNDBUF] = 6 * (SECOND / 10);
	said_of_all(ep, 2, &v);
	assert_int_equal(v.kind, KIND_STALL);
}

/* it computed for the rest of the time, and its stop is what held the writer up longest */
static void a_busy_reader_that_was_stopped_held_its_writer_up(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = 95 * (SECOND / 100);
	ep.rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep.rx_calls.stopped_ns = 5 * (SECOND / 10);
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rx_calls.stopped_ns = SECOND / 10;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* it held the descriptor, and made no call: of its CPU nothing is known */
static void a_reader_stopped_since_before_anybody_looked_is_told_so(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_res = ep.rx_calls.no_cpu_res = TRACE_UNKNOWN;
	ep.rx_calls.open_stop_ns = SECOND;
	assert_non_null(strstr(said_of(&ep, &v), "was stopped (signal, debugger or freezer)"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

/* each read takes all there is, and that is little: the buffer is small */
static void a_small_receive_buffer_is_no_busy_reader(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = 0;
	ep[0].tx.ns[TX_RWND] = 6 * (SECOND / 10);
	ep[0].tx.ns[TX_IDLE] = 4 * (SECOND / 10);
	ep[0].tx.count[TX_RWND] = 20000;
	ep[0].tx_calls.bytes = 20000 * 2500;
	ep[0].blame.unread_ns[TX_RWND] = 6 * (SECOND / 10);
	ep[1].rx.ns[RX_UNREAD] = 8 * (SECOND / 10);
	ep[1].rx_calls.cpu_ns = 8 * (SECOND / 10);
	ep[1].rx_calls.cpu_res = TRACE_BOUNDED;
	ep[1].rx_calls.bytes_res = TRACE_EXACT;
	ep[1].rx_calls.messages = 20000;
	ep[1].rx_calls.bytes = ep[0].tx_calls.bytes;
	said_of_all(ep, 2, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	assert_int_equal(v.v[v.lead].cause, TX_RWND);
	ep[0].tx.count[TX_RWND] = 200;
	said_of_all(ep, 2, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* dd into gzip, and beside them a client that waits for its server */
static void a_stream_at_its_limit_hides_no_wait_of_others(void **state)
{
	struct trace_endpoint ep[3];
	struct verdict v;

	client_and_server(ep);
	pipeline(&ep[2]);
	ep[2].peer = 2;
	ep[2].rx_calls.cpu_ns = 95 * (SECOND / 100);
	said_of_all(ep, 3, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 0);
	ep[2].rx_calls.tgid = ep[1].tx_calls.tgid; /* the server is at work on the stream */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.kind, KIND_LIMIT);
	ep[2].rx_calls.tgid = 21;
	ep[2].at_ns = ep[0].at_ns = ep[1].at_ns = SECOND;
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = ep[0].rx.lifetime_ns =
		SECOND / 25; /* much less than what it is beside */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.kind, KIND_LIMIT);
}

/* a proxy that serves one client after the other, and waits for its own server meanwhile */
static void a_late_reader_that_waits_elsewhere_is_not_the_root(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	second_client(ep);
	client_and_server(&ep[2]);
	ep[2].peer = 3;
	ep[3].peer = 2;
	ep[2].rx.ns[RX_WAIT] = ep[2].rx.max[RX_WAIT] = 1800000000;
	ep[2].rx.lifetime_ns = 1900000000;
	ep[3].tx.ns[TX_IDLE] = ep[3].tx.lifetime_ns = 1900000000;
	ep[1].rx_calls.tgid = 9;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.kind, KIND_LATE);
	ep[2].rx_calls.tgid = 9;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 2);
}

/* What cures the stall of another connection proves nothing of a reader. */
static void a_trial_is_of_the_stall_that_leads(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct card c = { .fix = "do it" };
	struct verdict v;

	ep.tx.ns[TX_NAGLE] = 900000000;
	ep.tx.count[TX_NAGLE] = 22;
	ep.tx_calls.tgid = 12;
	verdict_make(&s, &v);
	assert_int_equal(v.kind, KIND_STALL);
	card_point_to_try(&s, &v, &c);
	assert_string_equal(c.fix, "do it; `ipcstall try -p 12 --fix nodelay` proves it");
	strcpy(c.fix, "do it");
	v.kind = KIND_LATE;
	card_point_to_try(&s, &v, &c);
	assert_string_equal(c.fix, "do it");
}

/* the limit is said once, and what else held the same stream for moments stands in its states */
static void moments_of_a_limited_stream_take_no_sentence(void **state)
{
	struct trace_endpoint ep;
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct card card;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = 95 * (SECOND / 100);
	ep.tx.ns[TX_SNDBUF] -= 7 * (SECOND / 100);
	ep.tx.ns[TX_PACING] = 7 * (SECOND / 100);
	ep.tx.count[TX_PACING] = 100;
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_LIMIT);
	assert_true(v.n > 1);
	card_make(&s, &v, &card);
	assert_int_equal(card.n_also, 0);
}

static void a_reader_that_has_no_cpu_is_not_elsewhere(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = SECOND / 4;
	ep.rx_calls.no_cpu_ns = 7 * (SECOND / 10);
	assert_non_null(strstr(said_of(&ep, &v), "<- gzip[21] is waiting for a CPU"));
	assert_int_equal(v.outcome, OUTCOME_WAITING); /* for the machine */
}

static void two_that_share_a_cpu_take_turns(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = ep.tx_calls.cpu_ns = 48 * (SECOND / 100);
	ep.rx_calls.no_cpu_ns = 48 * (SECOND / 100);
	assert_non_null(strstr(said_of(&ep, &v), "limited by: the CPU that both ends share"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* Its buffer holds one write: whoever is not at work waits for the other. */
static void two_on_two_cpus_take_turns_too(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = ep.tx_calls.cpu_ns = 48 * (SECOND / 100);
	ep.tx.ns[TX_SNDBUF] = ep.rx.ns[RX_WAIT] = 45 * (SECOND / 100);
	ep.tx.count[TX_SNDBUF] = ep.rx.count[RX_WAIT] = 20000;
	ep.tx.max[TX_SNDBUF] = ep.rx.max[RX_WAIT] = SECOND / 1000;
	assert_non_null(strstr(said_of(&ep, &v), "limited by both ends' turns"));
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.rx.count[RX_WAIT] = 20; /* it sleeps now and then */
	assert_null(strstr(said_of(&ep, &v), "turns"));
}

static void reading_in_small_pieces_is_a_cause(void **state)
{
	struct trace_endpoint ep;
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.cpu_ns = 95 * (SECOND / 100);
	ep.rx_calls.messages = ep.rx_calls.bytes = 2000000;
	assert_non_null(strstr(said_of(&ep, &v), "<- gzip[21] reads in small pieces"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	assert_non_null(strstr(verdict_fix(&s, &v), "read in larger pieces"));
	ep.tx_calls.bytes_res = TRACE_EXACT;
	ep.tx_calls.messages = 2000000; /* it takes all there is */
	assert_null(strstr(said_of(&ep, &v), "small pieces"));
	ep.tx_calls.messages = 2000;
	ep.rx_calls.cpu_ns = SECOND / 4; /* also beside others that compute */
	ep.rx_calls.no_cpu_ns = 7 * (SECOND / 10);
	assert_non_null(strstr(said_of(&ep, &v), "<- gzip[21] reads in small pieces"));
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	ep.rx_calls.messages = ep.rx_calls.bytes = 5000; /* it computes between its reads */
	assert_null(strstr(said_of(&ep, &v), "small pieces"));
	ep.rx_calls.messages = ep.rx_calls.bytes = 2000000;
	ep.rx_calls.cpu_ns = SECOND / 40; /* it does something else between its reads */
	ep.rx_calls.no_cpu_ns = 0;
	assert_null(strstr(said_of(&ep, &v), "small pieces"));
}

static void who_began_after_the_stall_is_not_to_blame(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.at_ns = ep.rx.lifetime_ns;
	ep.rx_calls.messages = 10;
	ep.tx.max[TX_SNDBUF] = 97 * (SECOND / 100);
	ep.rx_calls.born_ns = 95 * (SECOND / 100);
	assert_non_null(
		strstr(said_of(&ep, &v), "<- the process that had it before gzip[21] started is "
					 "not reading"));
	ep.rx_calls.born_ns = SECOND / 10;
	assert_non_null(strstr(said_of(&ep, &v), "<- gzip[21] is not reading"));
}

static void a_mutual_wait_that_ended_was_no_deadlock(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	both_asleep(ep);
	assert_non_null(strstr(said_of_both(ep, &v), "a deadlock"));
	for (int i = 0; i < 2; i++) {
		ep[i].at_ns = SECOND;
		ep[i].rx.max[RX_WAIT] = ep[i].rx.ns[RX_WAIT];
		ep[i].tx.since_ns = 1;
	}
	assert_non_null(strstr(said_of_both(ep, &v), "a deadlock"));
	ep[0].tx.since_ns =
		SECOND - SECOND / 100; /* as curl, that waits a second for `100 Continue` */
	assert_null(strstr(said_of_both(ep, &v), "a deadlock"));
	assert_non_null(strstr(said_of_both(ep, &v),
			       "each waited for the other to send, until one of them did"));
	ep[0].closed = ep[1].closed = true;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "each waited for the other to send, until one sent or closed"));
}

/* as by ^C: both ends are closed, and neither had sent since long before */
static void a_deadlock_that_was_ended_is_one(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	both_asleep(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].at_ns = ep[i].tx.since_ns = SECOND;
		ep[i].rx.max[RX_WAIT] = ep[i].rx.ns[RX_WAIT];
		ep[i].closed = true;
		ep[i].tx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.quiet_ns = SECOND;
	}
	assert_non_null(strstr(said_of_both(ep, &v), "a deadlock until one closed"));
	ep[0].closed = ep[1].closed = false; /* a pipe, or a socket whose other end lives on */
	ep[0].rx.now = ep[1].rx.now = RX_WAIT;
	assert_non_null(strstr(said_of_both(ep, &v), "the other to send, a deadlock"));
	assert_null(strstr(said_of_both(ep, &v), "until"));
	ep[1].rx.now = RX_IDLE; /* its program was ended, or waits no longer */
	assert_non_null(strstr(said_of_both(ep, &v), "a deadlock until one gave up"));
	ep[0].closed = ep[1].closed = true;
	ep[1].rx_calls.others = true;
	assert_non_null(strstr(said_of_both(ep, &v), "and neither did until one closed"));
	ep[1].rx_calls.others = false;
	ep[1].tx_calls.quiet_ns = SECOND / 10;
	assert_non_null(strstr(said_of_both(ep, &v), "until one of them did"));
	for (int i = 0; i < 2; i++) /* heartbeats */
		ep[i].tx_calls.quiet_ns = ep[i].rx.max[RX_WAIT] = SECOND / 10;
	said_of_both(ep, &v);
	assert_int_equal(v.mutual.endpoint, -1);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

static void who_has_no_cpu_is_in_no_deadlock(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	both_asleep(ep);
	ep[1].rx_calls.no_cpu_ns =
		ep[1].rx.ns[RX_WAIT] - SECOND / 100; /* awake, and without a CPU */
	assert_null(strstr(said_of_both(ep, &v), "waits for the other to send"));
}

static void a_query_that_nobody_answers_is_no_health(void **state)
{
	struct trace_endpoint ep[2] = { receiver(), receiver() };
	struct verdict v;

	for (int i = 0; i < 2; i++) {
		ep[i].drops[TRACE_DROP_RCVBUF] = 0;
		ep[i].peer = -1;
		memset(ep[i].rx.resolution, TRACE_EXACT, sizeof(ep[i].rx.resolution));
	}
	ep[0].remote.port = ep[1].local.port = 53;
	ep[0].tx_calls.messages = 1;
	ep[0].tx_calls.bytes = 40;
	ep[0].rx_calls.messages = ep[0].rx_calls.bytes = 0;
	ep[0].rx.ns[RX_WORK] = 1000; /* recv() ended at once: another host refused it */
	ep[1].rx_calls.tgid = 77;
	strcpy(ep[1].rx_calls.comm, "named");
	assert_non_null(strstr(said_of_both(ep, &v), "no answer to 1 datagram"));
	assert_non_null(strstr(said_of_both(ep, &v), "named[77] owns the socket"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[0].rx.ns[RX_WORK] = 0; /* it only sends, as to a log */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

static void who_waits_for_himself_comes_after_whom_others_wait_for(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	for (int i = 0; i < 2; i++) {
		ep[i] = downloader(0);
		ep[i].tx_calls.tgid = 30 + i;
	}
	ep[0].tx.ns[TX_CORK] = 9 * (SECOND / 10);
	ep[1].tx.ns[TX_NAGLE] = 4 * (SECOND / 10);
	said_of_both(ep, &v);
	assert_int_equal(v.v[v.lead].cause, TX_NAGLE);
	ep[1].tx.ns[TX_NAGLE] = SECOND / 50;
	said_of_both(ep, &v);
	assert_int_equal(v.v[v.lead].cause, TX_CORK);
}

/* an upload fills the queue of the uplink, and a database answers over it */
static void a_queue_on_the_way_is_not_the_servers_doing(void **state)
{
	struct trace_endpoint ep = asks_alone(1, 1900000000);
	struct card c;

	(void)state;
	ep.remote.port = 5432;
	ep.rtt_us = 1200000;
	ep.min_rtt_us = 11000;
	ep.rx.ns[RX_WAIT] = ep.rx.max[RX_WAIT] = 1900000000;
	ep.rx.lifetime_ns = ep.tx.lifetime_ns = 2ull * SECOND;
	card_of(&ep, &c);
	assert_non_null(strstr(c.head, " waits for the path to "));
	assert_string_equal(c.why,
			    "a round trip takes 1.20 s, and took 11.0 ms at its shortest: it is "
			    "spent in a queue on the way, which other traffic may fill");
	ep.rtt_us = 210000; /* perhaps its ACKs come with late answers */
	card_of(&ep, &c);
	assert_null(strstr(c.head, " the path "));
}

/* a TLS handshake for each request, over 50 ms */
static void an_unseen_end_far_away_is_waited_for_by_the_path(void **state)
{
	struct trace_endpoint ep = asks_alone(3, 60000000);
	struct trace_samples samples = { .n = 100,
					 .rx_seen[RX_WAIT] = 90,
					 .rx_again[RX_WAIT] = 85 };
	struct trace_snapshot s = { .ep = &ep, .samples = &samples, .n = 1 };
	struct verdict v;
	struct card c;

	(void)state;
	seen_by_samples(&ep);
	ep.rx.ns[RX_WAIT] = ep.tx.ns[TX_FLIGHT] = 9 * (SECOND / 10);
	ep.tx.ns[TX_IDLE] = SECOND / 10;
	ep.rtt_us = ep.min_rtt_us = 50000;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.head, " waits for the path to "));
	ep.rtt_us = ep.min_rtt_us = 10000; /* the ACKs may come with the answers */
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_null(strstr(c.head, " the path "));
}

static void a_full_link_is_named(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.tx.ns[TX_CWND] = 99 * (SECOND / 100);
	ep.tx_calls.bytes = 2500000;
	ep.path = (struct trace_path){ .delivery_bytes_per_s = 2500000,
				       .sent_segments = 2000,
				       .lost_segments = 4 };
	ep.rtt_us = 60000;
	ep.min_rtt_us = 20000;
	assert_non_null(strstr(said_of(&ep, &v), "healthy, limited by: the link"));
	ep.path.lost_segments = 200; /* loss, not the link, is what keeps the window small */
	assert_null(strstr(said_of(&ep, &v), "the link"));
	ep.path.lost_segments = 4;
	ep.rtt_us = 21000; /* nothing queues */
	assert_null(strstr(said_of(&ep, &v), "the link"));
	ep.rtt_us = 200; /* nor does it where a round trip takes microseconds, more or fewer */
	ep.min_rtt_us = 60;
	assert_null(strstr(said_of(&ep, &v), "the link"));
}

static void a_pipe_of_milliseconds_is_no_headline(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	pipeline(&ep[0]);
	ep[0].at_ns = 5ull * SECOND;
	ep[0].tx.lifetime_ns = ep[0].rx.lifetime_ns = 5000000;
	ep[0].tx.ns[TX_SNDBUF] = 4000000;
	ep[1] = downloader(0);
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = ep[1].tx.ns[TX_IDLE] = ep[1].at_ns =
		10ull * SECOND;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = ep[1].tx.ns[TX_IDLE] =
		5000000; /* where all there was lived as long */
	ep[1].at_ns = 5ull * SECOND;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

static void shares_end_at_all_of_it(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	ep.proto = TRACE_PIPE;
	ep.rx_calls.wakeups = 10000;
	ep.rx_calls.runq_res = TRACE_EXACT;
	ep.rx_calls.runq_ns = 360ull * SECOND;
	ep.rx_calls.runq_max_ns = SECOND / 2;
	said_of(&ep, &v);
	assert_int_equal(v.kind, KIND_STARVED);
	assert_true(v.share <= 1);
}

static void nothing_at_all_is_said(void **state)
{
	struct verdict v;

	assert_non_null(strstr(said_of_all(NULL, 0, &v), "nothing was sent"));
	assert_int_equal(v.outcome, OUTCOME_UNKNOWN);
}

static void who_traced_every_program_is_not_told_to(void **state)
{
	struct trace_snapshot s = {};
	struct verdict v;
	struct card c;

	(void)state;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.next, "or trace every program: sudo ipcstall attach -a"));
	s.everything = true;
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.next, "or trace for longer: sudo ipcstall attach -a"));
}

/* More room does not help against a reader that is elsewhere; no pipe has a send buffer. */
static void the_reader_comes_before_the_buffer(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = 0;
	ep[0].tx.ns[TX_SNDBUF] = ep[0].tx.max[TX_SNDBUF] = SECOND / 2;
	ep[0].tx.count[TX_SNDBUF] = 1;
	card_of_both(ep, &c);
	assert_non_null(strstr(c.fix, "raise SO_SNDBUF or tcp_wmem: the reader is fast enough"));
	ep[0].blame.unread_ns[TX_SNDBUF] = SECOND / 2;
	ep[0].blame.unread_n[TX_SNDBUF] = 1;
	card_of_both(ep, &c);
	assert_true(c.fix == strstr(c.fix, "read sooner or in larger pieces"));
	assert_null(strstr(c.fix, "PIPE"));
}


/* the first piece comes at once, and one more every 100 ms */
static void an_answer_in_pieces_is_no_thinking(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	ep[0].tx_calls.messages = ep[1].rx_calls.messages = 1;
	ep[0].rx_calls.messages = ep[1].tx_calls.messages = 9;
	ep[1].rx.ns[RX_IDLE] = 9 * (SECOND / 10);
	ep[1].tx_calls.reply_n = 1;
	ep[1].tx_calls.reply_ns = SECOND / 1000;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "it sent 9 times for one request, every 100 ms on average"));
	ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	assert_non_null(strstr(said_of_both(ep, &v), "it thinks 900 ms a request"));
}

/* a server that reads at once, thinks 300 ms and answers: 3 requests */
static void a_server_that_thinks_is_told_how_long(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	ep[0].rx.ns[RX_WAIT] = 91 * (SECOND / 100);
	ep[1].rx.ns[RX_UNREAD] = SECOND / 100;
	ep[1].rx.ns[RX_IDLE] = 95 * (SECOND / 100);
	assert_non_null(strstr(said_of_both(ep, &v),
			       "for nginx[7] to send; it thinks 300 ms a request, 3 requests"));
	assert_int_equal(v.waits.requests.unread_ns, SECOND / 100);
	assert_int_equal(v.waits.requests.think_ns, 9 * (SECOND / 10));
	assert_false(v.waits.requests.bounded);
	ep[1].rx.ns[RX_IDLE] = 6 * (SECOND / 10); /* the path was slower than its quickest answer */
	said_of_both(ep, &v);
	assert_int_equal(v.waits.requests.think_ns, 6 * (SECOND / 10));
	assert_int_equal(v.waits.requests.way_ns, 3 * (SECOND / 10));
	ep[1].tx_calls.reply_n = 3; /* its own time for each is known: the rest is the client's */
	ep[1].tx_calls.reply_ns = SECOND / 2;
	said_of_both(ep, &v);
	assert_int_equal(v.waits.requests.think_ns, SECOND / 2);
	assert_int_equal(v.waits.requests.way_ns, 4 * (SECOND / 10));
	ep[1].tx_calls.messages = 6; /* answers in two pieces: of the second nothing is known */
	said_of_both(ep, &v);
	assert_int_equal(v.waits.requests.think_ns, 6 * (SECOND / 10));
	ep[1].tx_calls.messages = 3;
	ep[0].peer = -1; /* its other end is elsewhere: a round trip is not thought */
	ep[0].paired = false;
	ep[0].min_rtt_us = 10000;
	assert_non_null(strstr(said_of(ep, &v),
			       "it reads and answers a request in 293 ms at most, 3 requests"));
	assert_true(v.waits.requests.bounded);
	ep[0].tx_calls.bytes_res = TRACE_BOUNDED;
	assert_null(strstr(said_of(ep, &v), "a request"));
}

/* three of four are answered in no time */
static void one_long_request_hides_in_no_average(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;
	struct card c;

	(void)state;
	three_requests(ep);
	ep[0].rx.ns[RX_WAIT] = 91 * (SECOND / 100);
	ep[0].rx.max[RX_WAIT] = 9 * (SECOND / 10);
	ep[1].rx.ns[RX_IDLE] = 95 * (SECOND / 100);
	assert_non_null(strstr(said_of_both(ep, &v), "; it thinks 900 ms over one of 3 requests"));
	assert_int_equal(v.waits.requests.think_max_ns, 9 * (SECOND / 10));
	ep[1].tx_calls.reply_n = 3; /* each took the server as long: the others had come sooner */
	ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	ep[1].tx_calls.reply_max_ns = 3 * (SECOND / 10);
	assert_non_null(strstr(said_of_both(ep, &v), "; it thinks 300 ms a request, 3 requests"));
	ep[1].tx_calls.reply_max_ns = 7 * (SECOND / 10);
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = SECOND / 10;
	card_of_both(ep, &c);
	assert_string_equal(
		c.why, "nginx[7] thinks 700 ms over one of 3 requests; unread there 100 ms in all");
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 8 * (SECOND / 10);
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "nginx[7] leaves one of 3 requests unread for 800 ms"));
	ep[0].peer = -1;
	ep[0].paired = false;
	assert_non_null(strstr(said_of(ep, &v),
			       "it reads and answers one of 3 requests in 900 ms at most"));
	ep[0].rx.max[RX_WAIT] = SECOND / 20; /* it polls again every 50 ms */
	ep[0].rx.count[RX_WAIT] = 19;
	ep[0].rx_calls.reply_n = 3;
	ep[0].rx_calls.reply_ns = 91 * (SECOND / 100);
	ep[0].rx_calls.reply_max_ns = 9 * (SECOND / 10);
	assert_non_null(strstr(said_of(ep, &v),
			       "it reads and answers one of 3 requests in 900 ms at most"));
}

/* A client alone that sends `n` messages and gets as many, and waits for 0.9 s in all. */
static struct trace_endpoint asks_alone(uint64_t n, uint64_t longest_ns)
{
	struct trace_endpoint ep[2];

	three_requests(ep);
	ep[0].rx.ns[RX_WAIT] = 9 * (SECOND / 10);
	ep[0].rx.max[RX_WAIT] = longest_ns;
	ep[0].rx.count[RX_WAIT] = (uint32_t)n;
	ep[0].peer = -1;
	ep[0].paired = false;
	ep[0].tx_calls.messages = ep[0].rx_calls.messages = n;
	return ep[0];
}

/* of 30 messages 27 are answered in some microseconds, as pings and windows of HTTP/2 are */
static void slow_requests_hide_in_no_average(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint ep = asks_alone(30, 32 * (SECOND / 100));
	struct verdict v;

	(void)state;
	ep.detail = &detail;
	detail.rx_hist[RX_WAIT][19] = 3;
	detail.rx_hist[RX_WAIT][5] = 27;
	assert_non_null(strstr(said_of(&ep, &v),
			       "it reads and answers 3 of 30 requests in 300 ms each at most"));
	detail.rx_hist[RX_WAIT][18] = 27; /* they are not much shorter */
	assert_non_null(strstr(said_of(&ep, &v),
			       "it reads and answers a request in 30.0 ms at most, 30 requests"));
	detail.rx_hist[RX_WAIT][18] =
		0; /* of two more a part was seen, at each end of the session */
	ep.rx.max[RX_WAIT] = 22 * (SECOND / 100);
	assert_null(strstr(said_of(&ep, &v), "3 of 30 requests"));
	ep.joined_late = true;
	assert_non_null(strstr(said_of(&ep, &v),
			       "it reads and answers 3 of 30 requests in 220 ms each at most"));
}

/* the first had been sent, and the last has no answer yet: 400 ms each */
static void a_request_that_was_cut_shortens_no_average(void **state)
{
	struct trace_endpoint ep = asks_alone(4, 4 * (SECOND / 10));
	struct verdict v;

	(void)state;
	assert_non_null(strstr(said_of(&ep, &v), "a request in 225 ms at most, 4 requests"));
	ep.joined_late = true;
	assert_non_null(strstr(said_of(&ep, &v), "a request in up to 400 ms, 4 requests"));
	ep.tx_calls.messages = ep.rx_calls.messages = 8; /* one is unlike the others */
	assert_non_null(strstr(said_of(&ep, &v), "a request in 112 ms at most, 8 requests"));
}

/* also where samples, which count no messages, tell of it; two lines of 80 columns suffice */
static void who_computes_is_told_from_who_sleeps(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	three_requests(ep);
	ep[0].rx.ns[RX_WAIT] = 91 * (SECOND / 100);
	ep[1].rx.ns[RX_IDLE] = 95 * (SECOND / 100);
	ep[1].tx_calls.cpu_res = TRACE_BOUNDED;
	ep[1].tx_calls.cpu_ns = 7 * (SECOND / 10);
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "thinks 303 ms a request, 3 requests"));
	assert_non_null(strstr(c.why, "; on its CPU 70 %"));
	assert_true(strlen(c.why) <= 2 * 71 - strlen(" [seen]"));
	ep[0].tx_calls.bytes_res = ep[1].tx_calls.bytes_res = TRACE_UNKNOWN;
	card_of_both(ep, &c);
	assert_string_equal(c.why,
			    "nothing was held back: nginx[7] works; on its CPU 70 %");
	ep[1].tx_calls.cpu_ns = SECOND / 10;
	card_of_both(ep, &c);
	assert_null(strstr(c.why, "CPU"));
}

/* nobody is to blame, and yet an ACK comes from somebody */
static void the_other_end_is_named_where_it_is_seen(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	client_and_server(ep);
	ep[0].tx.ns[TX_NAGLE] = SECOND / 2;
	ep[0].tx.ns[TX_IDLE] -= SECOND / 2;
	ep[1].rx_calls.tgid = 7;
	strcpy(ep[1].rx_calls.comm, "nginx");
	card_of_both(ep, &c);
	assert_string_equal(c.whom, "nginx[7]");
	assert_non_null(strstr(c.head, "for an ACK from nginx[7]"));
}

/* how soon a client asks again is up to him; but what it sends of one question in many pieces is
 * awaited; and a server may greet whoever connects, which is no question */
static void a_server_waits_for_no_question(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	ep[0].rx.ns[RX_WAIT] = 91 * (SECOND / 100);
	ep[1].rx.ns[RX_IDLE] = 95 * (SECOND / 100);
	ep[0].making.accept_ns = 1;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx_calls.messages = ep[1].tx_calls.messages = 7;
	assert_non_null(strstr(said_of_both(ep, &v), "for nginx[7] to send"));
	ep[0].rx_calls.messages = ep[1].tx_calls.messages = 3;
	ep[0].rx_calls.reply_n = 3;
	ep[0].rx_calls.first_reply_ns = SECOND / 2;
	ep[0].rx_calls.messages = 6; /* each is read in two pieces */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* a server that looks for questions by a timer, and one behind a long path: no thinker either */
static void what_takes_most_of_a_request_is_told(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	ep[0].rx.ns[RX_WAIT] = 9 * (SECOND / 10);
	ep[1].rx.ns[RX_UNREAD] = 6 * (SECOND / 10);
	ep[1].rx.ns[RX_IDLE] = 2 * (SECOND / 10);
	assert_non_null(strstr(said_of_both(ep, &v),
			       "; it leaves each request unread for 200 ms, 3 requests"));
	ep[1].rx.ns[RX_UNREAD] = 3 * (SECOND / 10);
	ep[1].rx.ns[RX_IDLE] = 0;
	ep[0].tx.ns[TX_FLIGHT] = ep[1].tx.ns[TX_FLIGHT] = 3 * (SECOND / 10);
	assert_non_null(strstr(said_of_both(ep, &v),
			       "; it answers over a path that takes 200 ms a request, 3 requests"));
	for (int i = 0; i < 2; i++) {
		ep[i].family = AF_UNIX; /* which has no path: the requests took long to write */
		ep[i].proto = TRACE_UNIX_STREAM;
	}
	assert_null(strstr(said_of_both(ep, &v), "; it answers"));
	assert_int_equal(v.kind, KIND_WAIT);
	for (int i = 0; i < 2; i++) {
		ep[i].family = AF_INET;
		ep[i].proto = TRACE_TCP;
	}
	ep[0].tx_calls.bytes_res = TRACE_UNKNOWN; /* samples count no requests */
	ep[1].rx.ns[RX_UNREAD] = 6 * (SECOND / 10);
	assert_non_null(
		strstr(said_of_both(ep, &v), "; it has unread data for 600 ms of that time"));
}

/* each waits 50 ms for the other: whoever asks waits, and the path is why */
static void turns_over_a_long_path_are_a_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 19;
		ep[i].min_rtt_us = ep[i].rtt_us = 50000;
		ep[i].rx.ns[RX_WAIT] = 95 * (SECOND / 100);
		ep[i].tx.ns[TX_FLIGHT] = 95 * (SECOND / 100);
		ep[i].tx.ns[TX_IDLE] = SECOND / 20;
	}
	ep[1].making.accept_ns = 1;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "; it answers over a path that takes 50.0 ms a request"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.wait.endpoint, 0);
	ep[0].min_rtt_us = ep[1].min_rtt_us = 50; /* on one host nobody asks for the path */
	ep[0].tx_calls.messages = ep[0].rx_calls.messages = 19000;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* a shell's $(...) in a run of two seconds */
static void a_brief_wait_does_not_lead(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	is_pipe(&ep[0], 0, 21, 20, 33 * (SECOND / 1000));
	ep[0].rx.lifetime_ns = ep[0].tx.lifetime_ns = 34 * (SECOND / 1000);
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = 2ull * SECOND;
	ep[0].at_ns = ep[1].at_ns = 3ull * SECOND;
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, -1);
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = SECOND / 4; /* of so little it is a part */
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0);
}

/* an HTTP client that reads on until the server closes */
static void who_has_its_answer_waits_for_more(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	three_requests(ep);
	ep[1].tx_calls.messages = ep[1].tx_calls.reply_n = 3;
	ep[1].tx_calls.reply_ns = SECOND / 100000;
	ep[1].rx.ns[RX_IDLE] = SECOND;
	assert_null(strstr(said_of_both(ep, &v), "path"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.waits.requests.n, 0);
}

static void nobody_asks_the_writer_of_a_pipe(void **state)
{
	struct trace_endpoint ep;
	struct verdict v;

	pipeline(&ep);
	ep.rx_calls.messages = ep.tx_calls.messages = 20;
	memset(ep.tx.ns, 0, sizeof(ep.tx.ns));
	memset(ep.rx.ns, 0, sizeof(ep.rx.ns));
	memset(&ep.blame, 0, sizeof(ep.blame));
	ep.tx.ns[TX_IDLE] = ep.rx.ns[RX_WAIT] = SECOND;
	assert_null(strstr(said_of(&ep, &v), "a request"));
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.waits.requests.n, 0);
}

/* The same by epoll, of which no call tells: the client is in none, and so is the server. */
static void a_reply_that_is_awaited_in_epoll_is_a_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = 6;
		ep[i].rx_calls.messages = 3;
		ep[i].rx_calls.bytes = 100;
		ep[i].rx.ns[RX_WAIT] = 0;
	}
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx_calls.reply_n = 3; /* it asked first, and has thought between its questions */
	ep[0].rx_calls.reply_ns = 92 * (SECOND / 100);
	ep[0].rx_calls.reply_max_ns = 4 * (SECOND / 10);
	ep[0].rx_calls.first_reply_ns = ep[1].tx_calls.first_reply_ns = SECOND / 3;
	ep[0].tx_calls.reply_n = ep[1].rx_calls.reply_n = 3; /* its last word says goodbye */
	ep[0].tx_calls.first_reply_ns = ep[1].rx_calls.first_reply_ns = SECOND / 2;
	ep[1].rx_calls.reply_ns = 95 * (SECOND / 100); /* until it was asked again */
	ep[1].tx_calls.reply_n = 3;
	ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	ep[1].rx.ns[RX_UNREAD] = SECOND / 100;
	assert_non_null(strstr(said_of_both(ep, &v),
			       "for nginx[7] to send; it thinks 300 ms a request, 3 requests"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.wait.endpoint, 0);
	assert_int_equal(v.waits.ns, 92 * (SECOND / 100));
	assert_int_equal(v.waits.requests.unread_ns, SECOND / 100);
	assert_int_equal(v.waits.requests.way_ns, SECOND / 100);
	assert_false(v.waits.requests.bounded);
	ep[0].rx_calls.cpu_res = TRACE_BOUNDED; /* it did not wait: it was at work */
	ep[0].rx_calls.cpu_ns = SECOND / 2;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx_calls.cpu_res = TRACE_UNKNOWN;
	ep[0].making.accept_ns = 1; /* it was connected to: the other one asks */
	ep[1].rx_calls.reply_n = ep[1].rx_calls.reply_ns = 0;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* A helper on a socket pair says that it is ready, and then answers whoever started it, each by
 * epoll. */
static void a_helper_that_greets_answers(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].proto = TRACE_UNIX_STREAM;
		ep[i].at_ns = 20ull * SECOND;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = 3 + (uint64_t)i;
		ep[i].rx_calls.messages = 4 - (uint64_t)i;
		ep[i].rx.ns[RX_WAIT] = 0;
	}
	ep[0].rx_calls.reply_n = ep[1].rx_calls.reply_n = 3;
	ep[0].rx_calls.reply_ns = 9 * (SECOND / 10);
	ep[0].rx_calls.reply_max_ns = 3 * (SECOND / 10);
	ep[0].rx_calls.first_reply_ns = ep[1].tx_calls.first_reply_ns = SECOND / 2;
	ep[0].tx_calls.first_reply_ns = ep[1].rx_calls.first_reply_ns = SECOND / 3;
	ep[1].tx_calls.reply_n = 3;
	ep[1].tx_calls.reply_ns = 9 * (SECOND / 10);
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx_calls.born_ns = SECOND; /* it made the pair, and started the other one */
	ep[1].rx_calls.born_ns = ep[1].at_ns;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.wait.endpoint, 0);
	assert_int_equal(v.waits.ns, 9 * (SECOND / 10));
	ep[0].rx_calls.reply_n = 2; /* the child had the first word, and its parent the last */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* ... or it has a socket pair for its input and another for its output, as Node makes them. */
static void each_of_two_pairs_may_go_one_way(void **state)
{
	enum { ASKS, IS_ASKED, ANSWERS_BY, HEARS, ENDS };
	struct trace_endpoint ep[ENDS];
	struct verdict v;

	for (int i = 0; i < ENDS; i++) {
		bool helper = i == IS_ASKED || i == ANSWERS_BY;
		bool sends = i == ASKS || i == ANSWERS_BY;

		ep[i] = downloader(0);
		ep[i].proto = TRACE_UNIX_STREAM;
		ep[i].paired = true;
		ep[i].peer = i ^ 1;
		ep[i].tx.ns[TX_IDLE] = ep[i].rx.ns[RX_IDLE] = SECOND;
		ep[i].tx_calls.tgid = ep[i].rx_calls.tgid = helper ? 7 : 12;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.bytes = ep[i].tx_calls.messages = sends ? 3 : 0;
		ep[i].rx_calls.bytes = ep[i].rx_calls.messages = sends ? 0 : 3;
	}
	ep[HEARS].rx_calls.reply_n = ep[ANSWERS_BY].tx_calls.reply_n = 3;
	ep[HEARS].rx_calls.reply_ns = 92 * (SECOND / 100);
	ep[HEARS].rx_calls.reply_max_ns = 4 * (SECOND / 10);
	ep[HEARS].rx_calls.first_reply_ns = ep[ANSWERS_BY].tx_calls.first_reply_ns = SECOND / 3;
	ep[ASKS].tx_calls.first_reply_ns = ep[IS_ASKED].rx_calls.first_reply_ns = SECOND / 2;
	ep[ANSWERS_BY].tx_calls.reply_ns = 9 * (SECOND / 10);
	said_of_all(ep, ENDS, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, HEARS);
	assert_int_equal(v.waits.requests.n, 3);
	assert_int_equal(v.waits.requests.think_ns, 9 * (SECOND / 10));
	ep[HEARS].rx_calls.first_reply_ns = ep[ANSWERS_BY].tx_calls.first_reply_ns = SECOND / 2;
	ep[ASKS].tx_calls.first_reply_ns = ep[IS_ASKED].rx_calls.first_reply_ns = SECOND / 3;
	said_of_all(ep, ENDS, &v); /* it answers, and the other one takes its time to ask */
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	for (int i = 0; i < ENDS; i++) { /* it was traced from the middle of a request on */
		bool helper = i == IS_ASKED || i == ANSWERS_BY;

		ep[i].joined_late = true;
		ep[i].at_ns = 20ull * SECOND;
		ep[i].rx_calls.born_ns = helper ? 2 * SECOND : SECOND;
		ep[i].tx_calls.born_ns = ep[i].rx_calls.born_ns;
	}
	ep[ANSWERS_BY].rx_calls.born_ns = ep[ASKS].rx_calls.born_ns = 0; /* they never read there */
	ep[HEARS].rx_calls.first_reply_ns = SECOND / 2;
	ep[ASKS].tx_calls.first_reply_ns = SECOND / 3;
	said_of_all(ep, ENDS, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, HEARS);
}

/* What the first question takes until the helper has started is the lesser part of the wait. */
static void what_lay_unread_is_part_of_the_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 3;
	}
	ep[1].rx_calls.tgid = 7;
	ep[1].rx.ns[RX_IDLE] = 6 * (SECOND / 10);
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 3 * (SECOND / 10);
	ep[1].rx.count[RX_UNREAD] = 1;
	said_of_both(ep, &v);
	assert_int_equal(v.late.endpoint, 1);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.waits.requests.unread_ns, 3 * (SECOND / 10));
	ep[1].rx.ns[RX_UNREAD] = ep[1].rx.max[RX_UNREAD] = 6 * (SECOND / 10);
	said_of_both(ep, &v); /* most of it: the requests tell that too */
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.waits.requests.unread_ns, 6 * (SECOND / 10));
	for (int i = 0; i < 2; i++)
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_UNKNOWN;
	said_of_both(ep, &v); /* nobody counted them */
	assert_int_equal(v.kind, KIND_LATE);
}

/* that goes on, and has had no answer at all: a question in two pieces; of more pieces nobody knows
 * that they ask */
static void a_question_without_a_reply_is_a_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].rx.ns[RX_WAIT] = 0;
	}
	ep[0].tx_calls.messages = 2;
	ep[0].rx_calls.open_reply_ns = 9 * (SECOND / 10);
	ep[1].tx_calls.messages = ep[1].tx_calls.bytes = 0;
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, 0);
	assert_int_equal(v.wait.ns, 9 * (SECOND / 10));
	ep[0].proto = ep[1].proto = TRACE_UNIX_STREAM; /* news from parent to child */
	said_of_both(ep, &v);
	assert_int_equal(v.wait.endpoint, -1);
	ep[0].proto = ep[1].proto = TRACE_TCP;
	ep[0].tx_calls.messages = 3;
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* over a long path, a connection for each request: two of 100 ms */
static void connections_that_are_slow_to_be_made_are_named(void **state)
{
	struct trace_endpoint ep[2] = { downloader(0), downloader(0) };
	struct verdict v;

	for (int i = 0; i < 2; i++) {
		ep[i].remote.port = 80;
		ep[i].making.connect_ns = SECOND / 10;
		ep[i].rtt_us = 100000;
		ep[i].rx.lifetime_ns = ep[i].tx.lifetime_ns = 3 * (SECOND / 10);
		ep[i].tx.ns[TX_IDLE] = 3 * (SECOND / 10);
	}
	assert_non_null(strstr(said_of_both(ep, &v),
			       "connecting took 200 ms, 2 times, longest 100 ms"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.connect.lifetime_ns, 6 * (SECOND / 10));
	ep[1].syn_retransmits = 1; /* that is told of as recovery */
	said_of_both(ep, &v);
	assert_int_equal(v.connect.n, 1);
	ep[0].rtt_us = 0; /* given up before it was answered */
	said_of_both(ep, &v);
	assert_int_equal(v.connect.endpoint, -1);
	ep[0].rtt_us = 100000;
	ep[0].making.connect_ns = SECOND / 1000; /* no longer than anywhere */
	said_of_both(ep, &v);
	assert_int_equal(v.connect.endpoint, -1);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* a client that tries again until its server listens, after 2.9 s */
static void connections_that_are_refused_again_and_again_are_a_wait(void **state)
{
	struct trace_endpoint ep[3];
	struct verdict v;

	for (int i = 0; i < 3; i++) {
		ep[i] = downloader(0);
		ep[i].remote.port = 80;
		ep[i].making.connect_ns = 100000;
		ep[i].rx.lifetime_ns = ep[i].tx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = SECOND / 100;
		ep[i].at_ns = SECOND + (uint64_t)i * 29 * (SECOND / 20);
		ep[i].tx_calls.refused_n = i < 2;
	}
	assert_non_null(strstr(said_of_all(ep, 3, &v),
			       "connect() was refused 2 times in 2.90 s: no program listened "
			       "there"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	ep[0].tx_calls.refused_n = 1; /* once before the server came, and once after it went */
	ep[1].tx_calls.refused_n = 0;
	ep[1].at_ns = ep[0].at_ns + SECOND / 100;
	ep[2].tx_calls.refused_n = 1;
	said_of_all(ep, 3, &v);
	assert_int_equal(v.connect.endpoint, -1);
	ep[1].tx_calls.refused_n = 1;
	ep[1].at_ns = SECOND + 29 * (uint64_t)(SECOND / 20);
	ep[2].tx_calls.refused_n = 0;
	ep[0].remote.port = 81; /* one address after the other */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* a client that is refused, and ends: it sent nothing, and waited for nothing */
static void a_program_that_is_refused_at_once_is_told_so(void **state)
{
	struct trace_endpoint ep = { .proto = TRACE_TCP, .family = 2, .peer = -1 };
	struct verdict v;

	strcpy(ep.tx_calls.comm, "curl");
	ep.tx_calls.tgid = 12;
	ep.tx_calls.refused_n = 1;
	ep.remote.port = 80;
	ep.at_ns = ep.rx.lifetime_ns = ep.tx.lifetime_ns = ep.tx.ns[TX_IDLE] = SECOND / 100;
	assert_non_null(strstr(said_of(&ep, &v), "connect() was refused 1 time: no program "
						 "listened there"));
	assert_int_equal(v.kind, KIND_CONNECT);
	ep.tx_calls.refused_n = 0;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_UNKNOWN);
}

/* A proxy whose server is down tries again and again, and its client waits as long. */
static void who_waits_for_a_refused_program_is_told_of_that(void **state)
{
	struct trace_endpoint ep[4];
	struct verdict v;

	(void)state;
	waits_at(ep, 0, 12, 7);
	for (int i = 2; i < 4; i++) {
		ep[i] = downloader(0);
		ep[i].rx_calls.tgid = ep[i].tx_calls.tgid = 7;
		ep[i].remote.port = 81;
		ep[i].making.connect_ns = 100000;
		ep[i].rx.lifetime_ns = ep[i].tx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = SECOND / 100;
		ep[i].at_ns = SECOND + (uint64_t)(i - 2) * 85 * (SECOND / 100);
		ep[i].tx_calls.refused_n = 1;
	}
	ep[0].at_ns = ep[1].at_ns = 2 * (uint64_t)SECOND;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.kind, KIND_CONNECT);
	ep[2].rx_calls.tgid = ep[2].tx_calls.tgid = 8; /* another program */
	ep[3].rx_calls.tgid = ep[3].tx_calls.tgid = 8;
	said_of_all(ep, 4, &v);
	assert_int_equal(v.kind, KIND_WAIT);
}

/* a server that closes each connection with the request unread; its client tries again after 1 s */
static void connections_that_are_reset_again_and_again_are_a_wait(void **state)
{
	struct trace_endpoint ep[3];
	struct verdict v;

	for (int i = 0; i < 3; i++) {
		ep[i] = downloader(0);
		ep[i].remote.port = 80;
		ep[i].making.connect_ns = 100000;
		ep[i].rx.lifetime_ns = ep[i].tx.lifetime_ns = ep[i].tx.ns[TX_IDLE] = SECOND / 100;
		ep[i].at_ns = SECOND + (uint64_t)i * 101 * (SECOND / 100);
		ep[i].tx_calls.bytes = ep[i].tx_calls.messages = 1;
		ep[i].rx_calls.bytes = ep[i].rx_calls.messages = 0;
		ep[i].making.reset = true;
	}
	assert_non_null(strstr(said_of_all(ep, 3, &v),
			       "3 connections were reset by 0.0.0.0:80 before any answer, and 2.00 "
			       "s passed before it tried again"));
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	for (int i = 0; i < 3; i++)
		ep[i].rx_calls.bytes = 1; /* each had an answer first: that costs no time */
	assert_null(strstr(said_of_all(ep, 3, &v), "reset"));
	assert_int_equal(v.connect.n, 3);
	assert_int_equal(v.connect.ns, 0);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].peer = 1; /* a program that closes both ends of its own */
	ep[1].peer = 0;
	said_of_all(ep, 3, &v);
	assert_int_equal(v.connect.n, 1);
	ep[0].peer = ep[1].peer = -1;
	for (int i = 0; i < 3; i++)
		ep[i].tx_calls.bytes = ep[i].rx_calls.bytes = 0; /* looks whether it is there */
	said_of_all(ep, 3, &v);
	assert_int_equal(v.connect.endpoint, -1);
}

/* a client that sleeps 50 ms between two looks for its answer, 20 times */
static void who_polls_for_its_answers_makes_itself_wait(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct card card;
	struct verdict v;

	three_requests(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = 20;
		ep[i].rx.ns[RX_WAIT] = ep[i].rx.max[RX_WAIT] = 0;
	}
	ep[1].rx_calls.tgid = 7;
	ep[1].making.accept_ns = ep[0].making.connect_ns = 1;
	ep[0].rx_calls.cpu_res = TRACE_BOUNDED;
	ep[0].rx.ns[RX_UNREAD] = 97 * (SECOND / 100);
	ep[0].rx.max[RX_UNREAD] = SECOND / 20;
	ep[0].rx.count[RX_UNREAD] = 20;
	ep[1].rx.ns[RX_WAIT] = 97 * (SECOND / 100);
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_LATE);
	assert_int_equal(v.late.endpoint, 0);
	card_make(&s, &v, &card);
	assert_string_equal(card.head, "curl[12] reads the answers of nginx[7] late");
	ep[0].tx_calls.no_cpu_res = ep[0].rx_calls.no_cpu_res = TRACE_EXACT;
	ep[0].tx_calls.stopped_ns = SECOND / 2; /* a stop, which shows where it is awaited */
	said_of_both(ep, &v);
	assert_false(v.late_answers);
	ep[0].tx_calls.stopped_ns = 0;
	ep[0].rx.max[RX_UNREAD] = SECOND / 2; /* once it was away */
	said_of_both(ep, &v);
	assert_false(v.late_answers);
	ep[0].rx.max[RX_UNREAD] = SECOND / 20;
	ep[0].rx_calls.cpu_ns = SECOND / 2; /* it computes meanwhile */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].rx_calls.cpu_ns = 0; /* a heartbeat, every second */
	for (int i = 0; i < 2; i++) {
		ep[i].rx.lifetime_ns = ep[i].tx.lifetime_ns = ep[i].tx.ns[TX_IDLE] =
			20ull * SECOND;
		ep[i].rx.ns[i ? RX_WAIT : RX_UNREAD] = 19ull * SECOND;
	}
	said_of_both(ep, &v);
	assert_int_equal(v.late.endpoint, -1);
}

/* two clients of one server, of one thread each */
static void serial_server(struct trace_endpoint ep[4])
{
	client_and_server(ep);
	client_and_server(ep + 2);
	for (int i = 0; i < 4; i++) {
		ep[i].peer = i ^ 1;
		ep[i].at_ns = 2ull * SECOND;
		ep[i].local.port = i % 2 ? 80 : 40000;
		ep[i].rx_calls.tgid = ep[i].rx_calls.tid = i % 2 ? 7 : 12 + i;
		strcpy(ep[i].rx_calls.comm, i % 2 ? "serial" : "curl");
		ep[i].tx_calls = ep[i].rx_calls;
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
	}
}

/* the second is in the listener's queue for 0.8 s, in which the server works for the first */
static void a_server_that_is_busy_with_another_does_not_accept(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	serial_server(ep);
	ep[1].making.accept_ns = 1000;
	ep[1].tx_calls.reply_ns = 8 * (SECOND / 10);
	ep[1].tx_calls.reply_n = 1;
	ep[3].making.accept_ns = 8 * (SECOND / 10);
	ep[3].making.accept_unread_ns = ep[3].rx.ns[RX_UNREAD] = ep[3].rx.max[RX_UNREAD] =
		8 * (SECOND / 10);
	ep[3].rx.count[RX_UNREAD] = 1;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[14] waits for serial[7] to accept the connection");
	assert_string_equal(c.why, "serial[7] was busy with another client: curl[12], 800 ms");
	ep[1].tx_calls.reply_ns = SECOND / 10; /* its connection is open, and that is all */
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.why, "accept() was not called, or failed"));
	for (int i = 0; i < 4; i++) { /* a Unix socket has no port */
		ep[i].proto = TRACE_UNIX_STREAM;
		ep[i].family = 1;
		ep[i].local.port = 0;
	}
	ep[1].tx_calls.reply_ns = 8 * (SECOND / 10);
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[14] waits for serial[7] to accept the connection");
	assert_string_equal(c.why, "serial[7] was busy with another client: curl[12], 800 ms");
}

/* the output of three helpers, read one after another */
static void one_thread_waits_once_at_a_time(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct verdict v;

	(void)state;
	for (int i = 0; i < 3; i++) {
		ep[i] = downloader(0);
		is_pipe(&ep[i], i, 30 + i, 20, 95 * (SECOND / 100));
		strcpy(ep[i].tx_calls.comm, "helper");
		ep[i].rx_calls.tid = 20;
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 10;
		ep[i].rx.max[RX_WAIT] = ep[i].rx.ns[RX_WAIT];
		ep[i].tx.ns[TX_IDLE] = SECOND;
		ep[i].at_ns = 2ull * SECOND;
	}
	verdict_make(&s, &v);
	assert_int_equal(v.waits.connections, 3);
	assert_int_equal(v.waits.ns, SECOND);
	ep[1].rx_calls.tid = 21; /* three threads */
	verdict_make(&s, &v);
	assert_int_equal(v.waits.ns, 3 * (95ull * SECOND / 100));
}

/* iperf3 | tail */
static void whoever_reads_a_benchmarks_report_is_no_news(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct verdict v;

	(void)state;
	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = 0;
	ep[0].tx_calls.messages = ep[0].tx_calls.bytes = 5000;
	ep[2] = downloader(0);
	is_pipe(&ep[2], 2, ep[0].tx_calls.tgid, 21, 95 * (SECOND / 100));
	ep[2].rx.max[RX_WAIT] = ep[2].rx.ns[RX_WAIT];
	ep[2].rx.count[RX_WAIT] = 1;
	ep[2].tx.ns[TX_IDLE] = SECOND;
	ep[2].tx_calls.messages = ep[2].rx_calls.messages = 1;
	ep[2].tx_calls.bytes = ep[2].rx_calls.bytes = 700;
	ep[2].tx_calls.bytes_res = ep[2].rx_calls.bytes_res = TRACE_EXACT;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[0].tx_calls.messages = 3; /* it hardly did anything, and its reader waits for that */
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 2);
}

/* hypercorn's master at a pipe of its worker */
static void whoever_hears_of_a_server_waits_for_nobody(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 3 };
	struct verdict v;

	(void)state;
	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = 0;
	ep[1].making.accepted = true;
	ep[0].tx_calls.bytes = ep[1].tx_calls.bytes = ep[1].rx_calls.bytes = 500;
	ep[2] = downloader(0);
	is_pipe(&ep[2], 2, ep[1].tx_calls.tgid, 21, 95 * (SECOND / 100));
	ep[2].rx.max[RX_WAIT] = ep[2].rx.ns[RX_WAIT];
	ep[2].rx.count[RX_WAIT] = 1;
	ep[2].tx.ns[TX_IDLE] = SECOND;
	ep[2].tx_calls.messages = ep[2].rx_calls.messages = 0;
	ep[2].tx_calls.bytes_res = ep[2].rx_calls.bytes_res = TRACE_EXACT;
	verdict_make(&s, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[3] = ep[2]; /* it asks by another pipe */
	is_pipe(&ep[3], 3, 21, ep[1].tx_calls.tgid, 0);
	ep[3].tx_calls.messages = ep[3].rx_calls.messages = 1;
	ep[3].tx_calls.bytes = ep[3].rx_calls.bytes = 10;
	s.n = 4;
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 2);
	s.n = 3;
	ep[1].tx_calls.bytes = 0; /* and it serves nobody */
	verdict_make(&s, &v);
	assert_int_equal(v.wait.endpoint, 2);
}

/* Of a session of the writer the reader's calls are not seen. */
static void a_pipes_writer_alone_is_judged_by_its_own_calls(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct verdict v;

	is_pipe(&ep, 0, 20, 21, 0);
	ep.rx_calls.outsider = true;
	ep.unseen[1] = TRACE_UNSEEN_CALLS;
	ep.tx.ns[TX_IDLE] = SECOND;
	ep.tx_calls.bytes = 100;
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.rx_calls.outsider = false; /* io_uring, say */
	said_of(&ep, &v);
	assert_int_equal(v.outcome, OUTCOME_UNKNOWN);
}

static void a_wait_for_a_path_leads_over_the_pace_of_that_path(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = 6 * (SECOND / 10);
	ep[1].tx.ns[TX_PACING] = 15 * (SECOND / 100);
	ep[1].tx.ns[TX_IDLE] = 85 * (SECOND / 100);
	ep[1].tx_calls.bytes = SECOND;
	strcpy(ep[1].path.congestion_control, "bbr");
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_WAIT);
	ep[1].path.max_pacing_bytes_per_s = ep[1].path.pacing_bytes_per_s = 1000; /* somebody's */
	said_of_both(ep, &v);
	assert_int_equal(v.kind, KIND_STALL);
}

/* a client that has `n` answers, and a server that waits for nothing */
static void answers_counted(struct trace_endpoint ep[2], uint64_t n)
{
	client_and_server(ep);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.bytes_res = ep[i].rx_calls.bytes_res = TRACE_EXACT;
		ep[i].tx_calls.messages = ep[i].rx_calls.messages = n;
	}
	ep[0].making.connected = ep[1].making.accepted = true;
	ep[1].rx.ns[RX_IDLE] = SECOND;
	ep[1].tx_calls.reply_n = ep[0].rx_calls.reply_n = n;
}

/* the first had been asked before anybody looked */
static void an_average_is_of_whole_requests(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	answers_counted(ep, 3);
	ep[1].tx_calls.reply_ns = ep[0].rx_calls.reply_ns = 75 * (SECOND / 100);
	ep[1].tx_calls.open_reply_ns = SECOND / 10;
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "thinks 250 ms a request"));
}

/* 200 ms each: of the first request only the last 15 ms were seen, of the sixth the first 185 */
static void the_rest_of_a_request_shortens_no_average(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	answers_counted(ep, 5);
	ep[0].joined_late = ep[1].joined_late = true;
	ep[1].tx_calls.reply_ns = ep[0].rx_calls.reply_ns = 815 * (SECOND / 1000);
	ep[1].tx_calls.reply_max_ns = ep[0].rx_calls.reply_max_ns = SECOND / 5;
	ep[1].tx_calls.open_reply_ns = ep[0].rx_calls.open_reply_ns = 185 * (SECOND / 1000);
	ep[0].rx.ns[RX_WAIT] = SECOND;
	ep[0].rx.max[RX_WAIT] = SECOND / 5;
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "thinks 200 ms a request, 5 requests"));
	ep[1].tx_calls.open_reply_ns = ep[0].rx_calls.open_reply_ns = 0; /* and no sixth */
	ep[0].rx.ns[RX_WAIT] = 815 * (SECOND / 1000);
	card_of_both(ep, &c);
	assert_null(strstr(c.why, "thinks 163 ms a request"));
	ep[1].tx_calls.open_reply_ns = ep[0].rx_calls.open_reply_ns = 185 * (SECOND / 1000);
	ep[0].rx.ns[RX_WAIT] = SECOND;
	ep[1].tx_calls.reply_n = 4; /* the first was no request that was seen */
	ep[1].tx_calls.reply_ns = 4 * (SECOND / 5);
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "thinks 200 ms a request, 5 requests"));
}

/* one thread, which works 0.7 s for the first, while what the second sent lies unread */
static void a_server_that_is_busy_with_another_does_not_read(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s = { .ep = ep, .n = 4 };
	struct verdict v;
	struct card c;

	(void)state;
	serial_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[2].rx.ns[RX_WAIT] = 0;
	ep[1].making.accepted = ep[3].making.accepted = true;
	ep[1].making.accept_ns = ep[3].making.accept_ns = 1000;
	ep[1].tx_calls.messages = ep[1].rx_calls.messages = 1;
	ep[1].tx_calls.reply_ns = 7 * (SECOND / 10);
	ep[1].tx_calls.reply_n = 1;
	ep[3].rx.ns[RX_UNREAD] = ep[3].rx.max[RX_UNREAD] = 7 * (SECOND / 10);
	ep[3].rx.count[RX_UNREAD] = 1;
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_string_equal(c.head, "curl[14] waits for serial[7] to read");
	assert_string_equal(c.why, "serial[7] was busy with another client: curl[12], 700 ms");
	ep[1].rx_calls.tid = ep[1].tx_calls.tid = 8; /* another thread */
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.why, "has unread data"));
}

/* a listener of this host that threw SYNs away, since its queue was full */
static void a_full_queue_is_told_whose_it_is(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1 };

	ep.remote.port = 80;
	assert_null(full_listener(&s, &ep));
	s.listeners.n = 1;
	s.listeners.v[0] = (struct trace_listener){ .family = 2, .local.port = 80, .peak = 2,
						    .backlog = 1, .dropped = 3, .tgid = 7 };
	assert_ptr_equal(full_listener(&s, &ep), &s.listeners.v[0]);
	s.listeners.v[0].dropped = 0;
	assert_null(full_listener(&s, &ep));
}

static void a_full_queue_is_told_beside_what_leads(void **state)
{
	struct trace_endpoint ep = downloader(0);
	struct trace_snapshot s = { .ep = &ep, .n = 1 };
	struct verdict v;
	struct card c;

	(void)state;
	s.listeners.n = 1;
	s.listeners.v[0] = (struct trace_listener){ .family = 2, .local.port = 81, .peak = 2,
						    .backlog = 1, .dropped = 3, .tgid = 7 };
	verdict_make(&s, &v);
	card_make(&s, &v, &c);
	assert_int_equal(c.n_also, 1);
	assert_non_null(strstr(c.also[0], "the accept queue of [7] at 0.0.0.0:81 was full: 3 "
					  "requests or connections were dropped"));
	s.listeners.v[0].peak = 1;
	card_make(&s, &v, &c);
	assert_int_equal(c.n_also, 0);
}

/* ... and the last ACK of another's handshake: what it sends is lost until it is taken */
static void a_full_queue_drops_what_follows_the_handshake(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s = { .ep = ep, .n = 2 };
	struct verdict v;
	struct card c;

	(void)state;
	client_and_server(ep);
	ep[0].remote.port = 80;
	ep[0].rtt_us = 100;
	ep[0].retransmits = 5;
	ep[0].syn_retransmits = 1;
	ep[0].at_ns = ep[1].at_ns = 2 * (uint64_t)SECOND;
	ep[0].tx.ns[TX_RECOVERY] = ep[0].tx.max[TX_RECOVERY] = 9 * (SECOND / 10);
	ep[0].tx.count[TX_RECOVERY] = 1;
	ep[1].tx.lifetime_ns = ep[1].rx.lifetime_ns = SECOND / 10;
	verdict_make(&s, &v);
	assert_false(v.v[v.lead].unanswered_syn);
	s.listeners.n = 1;
	s.listeners.v[0] = (struct trace_listener){ .family = 2, .local.port = 80, .peak = 2,
						    .backlog = 1, .dropped = 3, .tgid = 7 };
	verdict_make(&s, &v);
	assert_true(v.v[v.lead].unanswered_syn);
	card_make(&s, &v, &c);
	assert_non_null(strstr(c.why, "the accept queue of [7] was full"));
	ep[1].at_ns = SECOND + SECOND / 10; /* it was there from the beginning */
	verdict_make(&s, &v);
	assert_false(v.v[v.lead].unanswered_syn);
}

/* The window was shut for a tenth of the time in which data lay unread. */
static void data_lies_unread_for_longer_than_its_sender_stalls(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	client_and_server(ep);
	ep[0].rx.ns[RX_WAIT] = ep[0].rx.max[RX_WAIT] = 0;
	ep[1].rx_calls.tgid = ep[1].tx_calls.tgid;
	ep[0].tx.ns[TX_RWND] = ep[0].tx.max[TX_RWND] = SECOND / 11;
	ep[0].tx.count[TX_RWND] = 1;
	ep[0].blame.unread_ns[TX_RWND] = SECOND / 11;
	ep[0].blame.unread_n[TX_RWND] = 1;
	ep[1].rx.ns[RX_UNREAD] = 9 * (SECOND / 10);
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "is not reading; data lay unread there for 900 ms"));
	ep[1].rx.ns[RX_UNREAD] = SECOND / 10;
	card_of_both(ep, &c);
	assert_null(strstr(c.why, "unread"));
}

/* A compiler that writes once, at its end: its own calls took no time. */
static void who_computes_before_it_first_writes_is_busy(void **state)
{
	struct trace_endpoint ep[2];
	struct card c;

	(void)state;
	client_and_server(ep);
	ep[0].at_ns = ep[1].at_ns = 10 * (uint64_t)SECOND;
	ep[1].tx_calls.cpu_res = TRACE_EXACT;
	ep[1].tx_calls.born_ns = 9 * (uint64_t)SECOND;
	ep[1].tx_calls.process_ran_ns = 8 * (SECOND / 10);
	card_of_both(ep, &c);
	assert_non_null(strstr(c.why, "; on its CPU 80 %"));
	ep[1].tx_calls.born_ns = 8 * (uint64_t)SECOND; /* it may all have been before */
	card_of_both(ep, &c);
	assert_null(strstr(c.why, "CPU"));
}

static void what_no_hook_sees_is_not_called_healthy(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	for (int i = 0; i < 2; i++) {
		ep[i] = downloader(0);
		ep[i].tx.ns[TX_IDLE] = SECOND;
	}
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep[1].unseen[0] = TRACE_UNSEEN_MPTCP;
	assert_non_null(
		strstr(said_of_both(ep, &v), "1 of 2 connections could not be observed: MPTCP"));
	assert_int_equal(v.outcome, OUTCOME_UNKNOWN);
	ep[0].tx.ns[TX_SNDBUF] = SECOND / 2; /* what was seen to stall is told all the same */
	said_of_both(ep, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_no_hook_sees_is_not_called_healthy),
	cmocka_unit_test(a_server_that_thinks_is_told_how_long),
	cmocka_unit_test(slow_requests_hide_in_no_average),
	cmocka_unit_test(a_request_that_was_cut_shortens_no_average),
	cmocka_unit_test(one_long_request_hides_in_no_average),
	cmocka_unit_test(who_computes_is_told_from_who_sleeps),
	cmocka_unit_test(the_other_end_is_named_where_it_is_seen),
	cmocka_unit_test(a_server_waits_for_no_question),
	cmocka_unit_test(what_takes_most_of_a_request_is_told),
	cmocka_unit_test(turns_over_a_long_path_are_a_wait),
	cmocka_unit_test(a_brief_wait_does_not_lead),
	cmocka_unit_test(who_has_its_answer_waits_for_more),
	cmocka_unit_test(nobody_asks_the_writer_of_a_pipe),
	cmocka_unit_test(a_reply_that_is_awaited_in_epoll_is_a_wait),
	cmocka_unit_test(a_helper_that_greets_answers),
	cmocka_unit_test(each_of_two_pairs_may_go_one_way),
	cmocka_unit_test(what_lay_unread_is_part_of_the_wait),
	cmocka_unit_test(a_question_without_a_reply_is_a_wait),
	cmocka_unit_test(the_last_question_of_many_may_be_late),
	cmocka_unit_test(a_datagram_that_was_refused_is_not_answered),
	cmocka_unit_test(connections_that_are_slow_to_be_made_are_named),
	cmocka_unit_test(a_full_queue_is_told_whose_it_is),
	cmocka_unit_test(a_full_queue_is_told_beside_what_leads),
	cmocka_unit_test(a_server_that_is_busy_with_another_does_not_accept),
	cmocka_unit_test(a_server_that_is_busy_with_another_does_not_read),
	cmocka_unit_test(whoever_reads_a_benchmarks_report_is_no_news),
	cmocka_unit_test(whoever_hears_of_a_server_waits_for_nobody),
	cmocka_unit_test(two_that_wait_for_first_words_wait_for_each_other),
	cmocka_unit_test(one_thread_waits_once_at_a_time),
	cmocka_unit_test(a_pipes_writer_alone_is_judged_by_its_own_calls),
	cmocka_unit_test(a_wait_for_a_path_leads_over_the_pace_of_that_path),
	cmocka_unit_test(an_average_is_of_whole_requests),
	cmocka_unit_test(the_rest_of_a_request_shortens_no_average),
	cmocka_unit_test(a_freeze_in_a_busy_connection_is_told),
	cmocka_unit_test(an_unseen_sender_meets_a_freeze_too),
	cmocka_unit_test(a_reader_that_computes_limits_and_holds_nobody_up),
	cmocka_unit_test(a_stream_at_its_limit_hides_no_wait_of_others),
	cmocka_unit_test(a_reader_whose_other_threads_compute_limits_too),
	cmocka_unit_test(who_a_broker_passes_requests_to_is_awaited),
	cmocka_unit_test(a_little_of_a_window_within_the_host_is_no_stall),
	cmocka_unit_test(a_download_tells_its_rate),
	cmocka_unit_test(a_missing_segment_is_told),
	cmocka_unit_test(long_answers_seen_by_samples_are_no_feed),
	cmocka_unit_test(a_small_window_at_a_long_path_holds_who_receives),
	cmocka_unit_test(what_a_server_that_polls_is_sent_are_no_requests),
	cmocka_unit_test(who_only_receives_datagrams_waits_for_nobody),
	cmocka_unit_test(an_unseen_reader_that_is_back_at_once_limits),
	cmocka_unit_test(datagrams_among_others_that_had_an_answer_are_lost),
	cmocka_unit_test(what_a_busy_reader_sends_is_beside_the_point),
	cmocka_unit_test(a_busy_reader_that_was_stopped_held_its_writer_up),
	cmocka_unit_test(a_reader_stopped_since_before_anybody_looked_is_told_so),
	cmocka_unit_test(a_small_receive_buffer_is_no_busy_reader),
	cmocka_unit_test(a_late_reader_that_waits_elsewhere_is_not_the_root),
	cmocka_unit_test(a_proxys_short_connections_are_one_link),
	cmocka_unit_test(clients_that_wait_at_once_wait_no_longer_than_one),
	cmocka_unit_test(a_pause_among_quick_requests_is_told),
	cmocka_unit_test(a_client_that_seldom_asks_waits_too),
	cmocka_unit_test(samples_tell_pauses_from_short_waits),
	cmocka_unit_test(a_flush_that_is_forgotten_is_a_deadlock),
	cmocka_unit_test(one_of_several_helpers_is_awaited_in_epoll),
	cmocka_unit_test(whose_output_a_parent_polls_is_awaited),
	cmocka_unit_test(who_answers_on_a_socket_pair_waits_for_no_question),
	cmocka_unit_test(an_answer_in_pieces_is_no_thinking),
	cmocka_unit_test(connections_that_are_refused_again_and_again_are_a_wait),
	cmocka_unit_test(connections_that_are_reset_again_and_again_are_a_wait),
	cmocka_unit_test(who_is_woken_often_is_not_short_of_a_cpu),
	cmocka_unit_test(quick_answers_are_no_wait),
	cmocka_unit_test(what_holds_up_little_is_no_limit),
	cmocka_unit_test(who_polls_for_its_answers_makes_itself_wait),
	cmocka_unit_test(who_splices_waits_for_what_the_other_end_takes),
	cmocka_unit_test(the_front_of_a_chain_is_named),
	cmocka_unit_test(an_answer_ends_no_deadlock),
	cmocka_unit_test(half_a_question_makes_both_wait),
	cmocka_unit_test(an_idle_server_waits_for_nobody_by_samples_either),
	cmocka_unit_test(an_idle_worker_at_a_socket_pair_waits_for_nobody_by_samples),
	cmocka_unit_test(samples_tell_who_has_no_answer),
	cmocka_unit_test(samples_tell_a_first_request),
	cmocka_unit_test(a_socket_tells_who_connected),
	cmocka_unit_test(who_asked_last_through_pipes_waits_for_the_helper),
	cmocka_unit_test(what_waits_in_a_proxy_before_it_is_passed_on),
	cmocka_unit_test(a_server_alone_without_cpu_is_seen_by_samples),
	cmocka_unit_test(a_server_that_answers_all_the_time_is_not_late_by_samples),
	cmocka_unit_test(a_busy_udp_server_is_named),
	cmocka_unit_test(who_passes_a_question_on_in_vain_is_not_the_last),
	cmocka_unit_test(the_ledger_overrules_the_samples),
	cmocka_unit_test(who_reads_to_the_end_waits_for_no_answer),
	cmocka_unit_test(who_waits_for_the_end_of_many_waits_for_no_data),
	cmocka_unit_test(connections_between_samples_do_as_the_others),
	cmocka_unit_test(what_stands_for_others_is_an_estimate),
	cmocka_unit_test(one_stands_for_one_other),
	cmocka_unit_test(a_full_queue_of_datagrams_refuses_more),
	cmocka_unit_test(what_was_stopped_leads_by_samples_too),
	cmocka_unit_test(who_was_stopped_does_not_accept_for_that),
	cmocka_unit_test(the_samples_between_which_it_wrote_tell_who_asked_last),
	cmocka_unit_test(who_hears_something_waits_for_each_other_no_more),
	cmocka_unit_test(threads_of_one_program_wait_for_each_other),
	cmocka_unit_test(moments_of_a_limited_stream_take_no_sentence),
	cmocka_unit_test(a_reader_that_has_no_cpu_is_not_elsewhere),
	cmocka_unit_test(two_that_share_a_cpu_take_turns),
	cmocka_unit_test(reading_in_small_pieces_is_a_cause),
	cmocka_unit_test(who_began_after_the_stall_is_not_to_blame),
	cmocka_unit_test(a_mutual_wait_that_ended_was_no_deadlock),
	cmocka_unit_test(a_deadlock_that_was_ended_is_one),
	cmocka_unit_test(who_has_no_cpu_is_in_no_deadlock),
	cmocka_unit_test(a_query_that_nobody_answers_is_no_health),
	cmocka_unit_test(who_waits_for_himself_comes_after_whom_others_wait_for),
	cmocka_unit_test(who_was_given_it_late_is_not_late),
	cmocka_unit_test(who_was_given_the_question_late_does_not_think),
	cmocka_unit_test(a_full_link_is_named),
	cmocka_unit_test(an_unseen_end_far_away_is_waited_for_by_the_path),
	cmocka_unit_test(a_queue_on_the_way_is_not_the_servers_doing),
	cmocka_unit_test(a_pipe_of_milliseconds_is_no_headline),
	cmocka_unit_test(shares_end_at_all_of_it),
	cmocka_unit_test(nothing_at_all_is_said),
	cmocka_unit_test(who_traced_every_program_is_not_told_to),
	cmocka_unit_test(the_reader_comes_before_the_buffer),
	cmocka_unit_test(a_late_reader_is_no_health),
	cmocka_unit_test(a_sender_that_waits_for_our_acks_is_told_of),
	cmocka_unit_test(some_messages_come_just_then_by_themselves),
	cmocka_unit_test(a_beat_is_no_wait),
	cmocka_unit_test(one_long_hold_among_short_ones_is_the_timers),
	cmocka_unit_test(a_lost_syn_is_told_from_a_lossy_path),
	cmocka_unit_test(what_was_late_was_not_lost),
	cmocka_unit_test(of_two_that_tell_of_an_unseen_sender_the_longer_leads),
	cmocka_unit_test(a_sender_that_was_seen_speaks_for_itself),
	cmocka_unit_test(what_a_client_finds_as_it_asks_again_is_not_late),
	cmocka_unit_test(a_request_that_waits_its_turn_is_no_health),
	cmocka_unit_test(who_waits_for_no_answer_is_not_kept_waiting),
	cmocka_unit_test(a_server_that_answers_at_once_is_not_late),
	cmocka_unit_test(a_server_that_hung_hours_ago_is_late),
	cmocka_unit_test(the_reader_of_a_fast_stream_is_not_late),
	cmocka_unit_test(what_comes_evenly_is_said_to),
	cmocka_unit_test(who_alone_may_write_waits_for_itself),
	cmocka_unit_test(a_few_milliseconds_are_not_late),
	cmocka_unit_test(a_client_that_polls_a_hung_server_waits),
	cmocka_unit_test(a_message_that_lies_is_no_health),
	cmocka_unit_test(what_does_not_leave_is_no_health),
	cmocka_unit_test(what_does_not_leave_is_told_before_what_was_dropped),
	cmocka_unit_test(who_comes_back_at_once_is_not_late),
	cmocka_unit_test(who_had_no_cpu_is_named),
	cmocka_unit_test(who_had_no_cpu_out_of_calls_is_named),
	cmocka_unit_test(every_reader_is_a_little_late),
	cmocka_unit_test(a_writer_that_nobody_saw_is_not_healthy),
	cmocka_unit_test(a_blame_for_a_part_says_so),
	cmocka_unit_test(of_several_the_one_that_waited),
	cmocka_unit_test(several_wait_and_one_waits),
	cmocka_unit_test(who_has_the_socket_is_who_waits),
	cmocka_unit_test(whoever_connected_waits_for_the_server_that_greets),
	cmocka_unit_test(a_server_whose_reader_is_back_is_still_awaited),
	cmocka_unit_test(whoever_waits_for_a_worker_is_the_news),
	cmocka_unit_test(a_chain_ends_before_it_comes_back),
	cmocka_unit_test(links_of_a_chain_may_have_one_name),
	cmocka_unit_test(who_waits_for_a_broker_waits_for_the_publisher),
	cmocka_unit_test(clients_of_one_server_wait_for_no_other),
	cmocka_unit_test(who_publishes_to_itself_waits_for_nobody),
	cmocka_unit_test(a_wait_beside_its_like_may_be_shorter),
	cmocka_unit_test(a_busy_server_that_waits_for_orders_is_healthy),
	cmocka_unit_test(a_program_that_is_refused_at_once_is_told_so),
	cmocka_unit_test(two_on_two_cpus_take_turns_too),
	cmocka_unit_test(a_young_connection_is_in_slow_start),
	cmocka_unit_test(who_asks_over_a_long_path_waits_for_the_path),
	cmocka_unit_test(a_broker_answers_when_it_is_brought_something),
	cmocka_unit_test(two_that_call_each_other_wait_for_each_other),
	cmocka_unit_test(a_fast_stream_from_afar_is_no_wait),
	cmocka_unit_test(who_waits_for_a_refused_program_is_told_of_that),
	cmocka_unit_test(a_full_queue_drops_what_follows_the_handshake),
	cmocka_unit_test(who_computes_before_it_first_writes_is_busy),
	cmocka_unit_test(data_lies_unread_for_longer_than_its_sender_stalls),
	cmocka_unit_test(the_start_of_short_pipelines_is_no_stall),
	cmocka_unit_test(waits_of_many_short_programs_are_one),
	cmocka_unit_test(who_has_ended_is_not_awaited),
	cmocka_unit_test(who_has_ended_does_not_read),
	cmocka_unit_test(a_stream_may_be_limited_by_its_senders_cpu),
	cmocka_unit_test(a_thread_at_an_idle_client_holds_up_no_other),
	cmocka_unit_test(a_healthy_wait_has_an_other_end),
	cmocka_unit_test(a_wait_that_dwarfs_a_stall_is_told_too),
	cmocka_unit_test(waits_of_short_connections_are_told_together),
	cmocka_unit_test(each_waits_for_the_other),
	cmocka_unit_test(who_waits_by_turns_is_no_deadlock),
	cmocka_unit_test(who_feeds_waits_for_another),
	cmocka_unit_test(pipes_of_which_each_waits),
	cmocka_unit_test(readers_that_wait_in_a_circle_are_a_deadlock),
	cmocka_unit_test(a_ring_that_passes_something_on_is_no_deadlock),
	cmocka_unit_test(a_deadlock_comes_before_a_slow_answer),
	cmocka_unit_test(pipes_by_turns),
	cmocka_unit_test(who_was_held_up_is_not_awaited),
	cmocka_unit_test(what_was_not_acknowledged_is_no_delay_of_the_path),
	cmocka_unit_test(a_long_path_is_told_of),
	cmocka_unit_test(whose_bytes_pass_through_is_awaited),
	cmocka_unit_test(a_question_does_not_pass_through),
	cmocka_unit_test(helpers_lead_where_they_are_most_of_the_run),
	cmocka_unit_test(what_both_send_unasked_are_no_requests),
	cmocka_unit_test(a_programs_own_helper_is_no_news),
	cmocka_unit_test(the_last_of_a_chain_is_named),
	cmocka_unit_test(an_idle_server_waits_for_nobody),
	cmocka_unit_test(who_has_not_answered_yet_is_named),
	cmocka_unit_test(a_wait_behind_a_stall_is_its_consequence),
	cmocka_unit_test(a_wait_for_another_host_says_so),
	cmocka_unit_test(a_datagram_that_is_not_answered_is_told_of),
	cmocka_unit_test(a_server_of_datagrams_awaits_no_answer),
	cmocka_unit_test(datagrams_that_a_timer_repeats_are_counted),
	cmocka_unit_test(pacing_yields_to_another_stall_of_the_connection),
	cmocka_unit_test(a_readers_absence_is_one_finding),
	cmocka_unit_test(a_trial_is_of_the_stall_that_leads),
	cmocka_unit_test(a_reader_that_never_rests_is_busy),
	cmocka_unit_test(a_process_without_cpu_reads_late_everywhere),
	cmocka_unit_test(what_one_sample_found_is_no_finding),
	cmocka_unit_test(ways_back_are_found_alike),
	cmocka_unit_test(bound_sockets_are_found_alike),
	cmocka_unit_test(thousands_of_udp_sockets_are_judged_at_once),
	cmocka_unit_test(requests_that_the_client_gave_up_are_counted),
	cmocka_unit_test(small_stalls_of_a_long_run_are_healthy),
	cmocka_unit_test(what_was_sent_in_no_time_was_sent),
	cmocka_unit_test(lost_datagrams_are_no_health),
	cmocka_unit_test(dropped_for_an_untold_reason_is_lost),
	cmocka_unit_test(what_did_not_arrive_was_lost_on_the_way),
	cmocka_unit_test(where_not_all_was_seen_nothing_is_lost_on_the_way),
	cmocka_unit_test(one_in_a_million_is_said_beside),
	cmocka_unit_test(a_full_queue_drops_what_was_sent),
	cmocka_unit_test(a_stall_comes_before_a_loss),
	cmocka_unit_test(many_small_stalls_are_no_health),
	cmocka_unit_test(short_connections_are_told_together),
	cmocka_unit_test(processes_of_one_name_are_told_together),
	cmocka_unit_test(other_programs_and_ports_stand_alone),
	cmocka_unit_test(servers_that_were_not_seen_are_known_by_address),
	cmocka_unit_test(the_sum_counts),
	cmocka_unit_test(those_that_were_not_kept_are_in_the_sum),
	cmocka_unit_test(a_reader_that_was_not_allowed_to_run_is_told_so),
	cmocka_unit_test(who_has_nothing_to_read_limits_nobody),
	cmocka_unit_test(a_full_queue_of_this_host_is_the_link),
	cmocka_unit_test(what_waits_for_a_full_link_is_behind_its_limit),
	cmocka_unit_test(lost_syns_of_many_connections_are_one_finding),
	cmocka_unit_test(a_congestion_control_that_paces_knows_the_link),
	cmocka_unit_test(a_little_time_without_a_cpu_hides_no_limit),
	cmocka_unit_test(a_pace_that_the_program_set_is_said_to_be),
	cmocka_unit_test(what_lies_unread_at_a_server_is_not_answered),
	cmocka_unit_test(a_little_time_without_a_cpu_hides_no_long_wait),
	cmocka_unit_test(the_waits_of_many_threads_are_no_more_than_all_the_time),
	cmocka_unit_test(a_moment_without_a_cpu_is_no_news),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
