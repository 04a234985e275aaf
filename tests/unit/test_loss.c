// SPDX-License-Identifier: GPL-2.0-only
/* Which loss of datagrams is told of, and how many of them did not arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verdict/other_findings.h"

enum { SECOND = 1000000000 };

/* seen from its beginning on */
static struct trace_endpoint at_port(uint16_t port)
{
	struct trace_endpoint ep = { .proto = TRACE_UDP,
				     .family = 2,
				     .peer = -1,
				     .at_ns = 2ull * SECOND,
				     .local = { .ip = { 10 }, .port = port } };

	ep.tx.lifetime_ns = ep.rx.lifetime_ns = SECOND;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = ep.drops_res = TRACE_EXACT;
	ep.rx.now = RX_IDLE;
	return ep;
}

/* so many of five bytes went to one that got so many of them */
static void send_and_receive(struct trace_endpoint ep[2], uint64_t sent, uint64_t got)
{
	ep[0] = at_port(40000);
	ep[1] = at_port(7000);
	ep[0].remote = ep[1].local;
	ep[0].at_ns -= SECOND / 2;
	ep[0].tx.lifetime_ns = ep[0].rx.lifetime_ns = SECOND / 4;
	ep[0].tx_calls.messages = sent;
	ep[0].tx_calls.bytes = 5 * sent;
	ep[1].rx_calls.messages = got;
	ep[1].rx_calls.bytes = 5 * got;
}

static struct datagram_loss lost(struct trace_endpoint *ep, size_t n)
{
	struct trace_snapshot s = { .ep = ep, .n = n };

	return find_loss(&s);
}

/* the receiver is not traced, and counts what it has no room for */
static void what_the_other_end_drops_is_told(void **state)
{
	struct trace_endpoint ep = at_port(40000);
	struct datagram_loss l;

	(void)state;
	ep.tx_calls.messages = 1000;
	assert_int_equal(lost(&ep, 1).endpoint, -1);
	ep.making.other_drops_ns = SECOND / 5;
	ep.making.other_drops = 150;
	l = lost(&ep, 1);
	assert_int_equal(l.endpoint, 0);
	assert_int_equal(l.n, 150);
	assert_int_equal(l.over_ns, SECOND / 5);
	assert_int_equal((int)(100 * l.share + 0.5), 75); /* of 200 in that time */
	assert_false(l.stray);
	ep.tx_calls.messages = 1000000;
	assert_true(lost(&ep, 1).stray);
}

/* few of very many, though more than there */
static void a_stray_loss_hides_no_other(void **state)
{
	struct trace_endpoint ep[5];
	struct datagram_loss l;

	(void)state;
	send_and_receive(ep, 1000000, 999500);
	ep[2] = at_port(7001);
	ep[2].drops[TRACE_DROP_RCVBUF] = 400;
	ep[2].rx_calls.messages = 600;
	l = lost(ep, 3);
	assert_int_equal(l.endpoint, 2);
	assert_false(l.stray);
	send_and_receive(ep + 3, 1000, 700); /* of two that are not stray the larger */
	ep[4].local.port = 7002;
	ep[3].remote = ep[4].local;
	assert_int_equal(lost(ep, 5).endpoint, 2);
	ep[2].drops[TRACE_DROP_RCVBUF] = 200;
	assert_int_equal(lost(ep, 5).endpoint, 4);
	assert_int_equal(lost(ep, 2).endpoint, 1); /* none but that */
	assert_true(lost(ep, 2).stray);
}

static uint64_t lost_between(struct trace_endpoint ep[2])
{
	struct trace_snapshot s = { .ep = ep, .n = 2 };

	return find_lost_between(&s).n;
}

/* What a sender dropped of what came to it was sent by others; what a receiver's queue dropped of
 * its answers came to nobody. */
static void drops_count_where_they_belong(void **state)
{
	struct trace_endpoint ep[2];

	(void)state;
	send_and_receive(ep, 1000, 800);
	ep[0].drops[TRACE_DROP_RCVBUF] = 100;
	ep[1].drops[TRACE_DROP_QDISC] = 100;
	assert_int_equal(lost_between(ep), 200);
	ep[0].drops[TRACE_DROP_QDISC] = 50; /* these never left */
	assert_int_equal(lost_between(ep), 150);
	ep[1].drops[TRACE_DROP_RCVBUF] = ep[1].drops[TRACE_DROP_CHECKSUM] = 50; /* these came */
	assert_int_equal(lost_between(ep), 50);
}

/* Where one read may take several, as many bytes as left the queue, or as were read or dropped, are
 * not missing. */
static void dropped_bytes_are_not_missing(void **state)
{
	struct trace_endpoint ep[2];

	(void)state;
	send_and_receive(ep, 1000, 700);
	ep[0].drops[TRACE_DROP_QDISC] = 200;
	ep[1].rx_calls.bytes = 5 * 800;
	assert_int_equal(lost_between(ep), 0);
	send_and_receive(ep, 1000, 600);
	ep[1].drops[TRACE_DROP_RCVBUF] = 300;
	ep[1].rx_calls.bytes = 5 * 667; /* so 900 have as many as were sent */
	assert_int_equal(lost_between(ep), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stray_loss_hides_no_other),
		cmocka_unit_test(what_the_other_end_drops_is_told),
		cmocka_unit_test(drops_count_where_they_belong),
		cmocka_unit_test(dropped_bytes_are_not_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
