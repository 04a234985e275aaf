// SPDX-License-Identifier: GPL-2.0-only
/* A waits for B, who waits for C: the root is named, and what is no chain has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "verdict/stall_chain.h"
#include "verdict/waiting_processes.h"
#include "render/ledger_text.h"

enum { SECOND = 1000000000, A = 11, B = 12, C = 13, D = 14 };

/* a pipe whose writer is kept waiting for ns by a reader who does not read */
static void pipe_between(struct trace_endpoint *ep, pid_t writer, pid_t reader, uint64_t ns)
{
	*ep = (struct trace_endpoint){
		.proto = TRACE_PIPE, .peer = -1, .paired = true, .inode = (uint64_t)writer
	};
	ep->tx_calls.tgid = writer;
	ep->rx_calls.tgid = reader;
	ep->tx_calls.tid = writer;
	ep->rx_calls.tid = reader;
	ep->rx.resolution[RX_UNREAD] = TRACE_EXACT;
	ep->tx_calls.blocked_ns = ns;
	ep->tx_calls.blocked_res = TRACE_EXACT;
	ep->at_ns = 100 * (uint64_t)SECOND;
	snprintf(ep->tx_calls.comm, sizeof(ep->tx_calls.comm), "p%d", writer);
	snprintf(ep->rx_calls.comm, sizeof(ep->rx_calls.comm), "p%d", reader);
	ep->tx_calls.bytes = ep->rx_calls.bytes = 1;
	ep->tx.lifetime_ns = SECOND;
	ep->tx.ns[TX_SNDBUF] = ep->tx.max[TX_SNDBUF] = ns;
	ep->tx.count[TX_SNDBUF] = ep->blame.unread_n[TX_SNDBUF] = 1;
	ep->blame.unread_ns[TX_SNDBUF] = ns;
}

static void judge(struct trace_snapshot *s, struct trace_endpoint *ep, size_t n, struct verdict *v)
{
	*s = (struct trace_snapshot){ .ep = ep, .n = n };
	verdict_make(s, v);
}

static void three_in_a_row(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	judge(&s, ep, 2, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[0].root, 1);
	assert_int_equal(v.v[1].root, -1);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "p11[11] on pipe:[11]: sndbuf <- p12[12] is not reading"));
	assert_non_null(strstr(
		text, "; root cause: p12[12] on pipe:[12]: sndbuf <- p13[13] is not reading"));
}

/* Few samples found each of them. */
static void three_in_a_row_are_suspected(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_samples samples[2] = { { .n = 20, .tx_seen[TX_SNDBUF] = 18 },
					    { .n = 20, .tx_seen[TX_SNDBUF] = 16 } };
	struct trace_snapshot s = { .ep = ep, .samples = samples, .n = 2 };
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	verdict_make(&s, &v);
	assert_int_equal(v.v[0].surety, SUSPECTED);
	assert_int_equal(v.v[0].root, 1);
	ep[0].rx.resolution[RX_UNREAD] = TRACE_UNKNOWN;
	verdict_make(&s, &v);
	assert_int_equal(v.v[0].surety, SUSPECTED);
	assert_int_equal(v.v[0].root, -1);
}

/* As a loader that reads a pipe and a server's answers: samples count no bytes in a pipe. */
static void a_reader_whose_only_output_is_held_up_is_not_to_blame(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 500000000);
	pipe_between(&ep[1], B, C, 900000000);
	pipe_between(&ep[2], B, D, 0);
	for (int i = 0; i < 3; i++)
		ep[i].tx_calls.blocked_res = ep[i].rx_calls.bytes_res = TRACE_UNKNOWN;
	ep[0].tx_calls.bytes_res = TRACE_UNKNOWN;
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[1].endpoint, 0);
	assert_int_equal(v.v[1].root, 0);
	ep[2].tx.ns[TX_SNDBUF] = 100000000; /* it may wait there instead */
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[1].root, -1);
	ep[2].tx.ns[TX_SNDBUF] = 0;
	ep[2].rx.ns[RX_UNREAD] = 100000000;
	ep[2].rx_calls.tgid = B; /* it may not read at all */
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[1].root, -1);
	ep[2].rx.ns[RX_UNREAD] = 0;
	ep[1].tx.ns[TX_SNDBUF] = ep[1].blame.unread_ns[TX_SNDBUF] = 850000000; /* 0.35 s surely */
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[1].root, -1);
}

/* git clone: what pack-objects writes ends at index-pack, which computes all the time */
static void a_pipeline_is_as_fast_as_its_last_reader_computes(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	ep[1].rx.lifetime_ns = SECOND;
	ep[1].rx.ns[RX_UNREAD] = 900000000;
	ep[1].rx.count[RX_UNREAD] = 1;
	ep[1].rx_calls.cpu_ns = 850000000;
	ep[1].rx_calls.cpu_res = TRACE_BOUNDED;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].root, 1);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.kind, KIND_LIMIT);
	assert_int_equal(v.lead, 1);
	ep[1].rx_calls.cpu_ns = 100000000; /* it sleeps instead */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	assert_int_equal(v.lead, 0);
}

/* B reads from C meanwhile, as paste does: nothing but C's data ends either wait. */
static void a_reader_that_waits_for_another_is_not_to_blame(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], C, B, 0);
	ep[0].rx.lifetime_ns = ep[1].rx.lifetime_ns = SECOND;
	ep[1].tx.ns[TX_IDLE] = SECOND;
	ep[1].rx.resolution[RX_WAIT] = TRACE_EXACT;
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 800000000;
	ep[1].rx.count[RX_WAIT] = 1;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, 1);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.wait.endpoint, 1);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "p12[12] on pipe:[13] waited"));
	finding_sentence(&s, &v.v[0], text, sizeof(text));
	assert_non_null(strstr(text, "sndbuf <- p12[12] waits for p13[13] to send"));
	/* surely at once for less than half of the stall */
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 500000000;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, -1);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
	/* it waits for the one that it keeps waiting */
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 800000000;
	ep[1].tx_calls.tgid = A;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, -1);
	assert_int_equal(v.outcome, OUTCOME_STALLED);
}

/* A loader of rows: its database is on another host. */
static void a_reader_waits_for_a_server_that_is_not_traced(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	char text[VERDICT_TEXT];
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, B, 0);
	ep[1].proto = TRACE_TCP;
	ep[1].family = AF_INET;
	ep[1].peer = -1;
	ep[1].making.connected = true;
	ep[1].remote = (struct trace_addr){ .ip = { 127, 0, 0, 1 }, .port = 5432 };
	ep[0].rx.lifetime_ns = ep[1].rx.lifetime_ns = SECOND;
	ep[1].rx.resolution[RX_WAIT] = TRACE_EXACT;
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 800000000;
	ep[1].rx.count[RX_WAIT] = 1;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, 1);
	finding_sentence(&s, &v.v[0], text, sizeof(text));
	assert_non_null(strstr(text, "waits for 127.0.0.1:5432 to send"));
	assert_int_equal(v.kind, KIND_WAIT);
	ep[1].making.other_pid = C;
	assert_int_equal(verdict_culprit(&s, &v).pid, C);
	assert_false(verdict_culprit(&s, &v).to_read);
	ep[1].making.connected = false; /* somebody else's question may come there */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, -1);
	ep[1].making.connected = true;
	ep[1].tx.ns[TX_DEVICE] = 600000000; /* as ssh does, which waits until it can send more */
	ep[1].tx.ns[TX_IDLE] = 400000000;
	ep[1].tx.resolution[TX_IDLE] = TRACE_EXACT;
	ep[1].tx.lifetime_ns = SECOND;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, -1);
	ep[1].tx.ns[TX_FLIGHT] = 600000000; /* the answer brings the ACK */
	ep[1].tx.ns[TX_DEVICE] = 0;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].reader_waits, 1);
}

/* Whoever asked its peer may find out what that one does. */
static void whom_the_reader_waits_for_is_the_culprit(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], C, B, 0);
	ep[0].rx.lifetime_ns = ep[1].rx.lifetime_ns = SECOND;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.kind, KIND_STALL);
	assert_int_equal(verdict_culprit(&s, &v).pid, B);
	assert_true(verdict_culprit(&s, &v).to_read);
	ep[1].rx.resolution[RX_WAIT] = TRACE_EXACT;
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 800000000;
	ep[1].rx.count[RX_WAIT] = 1;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.kind, KIND_STALL);
	assert_int_equal(verdict_culprit(&s, &v).pid, C);
	assert_false(verdict_culprit(&s, &v).to_read);
}

/* head | sshd, whose other end ssh has a reader that sleeps: its channel's window stays shut */
static void whom_the_reader_waits_for_cannot_go_on_either(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], C, B, 0);
	pipe_between(&ep[2], C, D, 850000000);
	ep[0].rx.lifetime_ns = ep[1].rx.lifetime_ns = ep[2].rx.lifetime_ns = SECOND;
	ep[1].tx.ns[TX_IDLE] = SECOND;
	ep[1].rx.resolution[RX_WAIT] = TRACE_EXACT;
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 800000000;
	ep[1].rx.count[RX_WAIT] = 1;
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[0].endpoint, 0);
	assert_int_equal(v.v[v.v[0].root].endpoint, 2);
	ep[2].tx.ns[TX_SNDBUF] = ep[2].blame.unread_ns[TX_SNDBUF] = 300000000; /* for too short */
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[0].root, -1);
}

/* tar | gzip -1 | gzip -d | tail: the first computes, and all that come after it wait */
static void a_wait_behind_a_busy_program_is_that_program(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 0);
	pipe_between(&ep[2], C, D, 0);
	for (int i = 0; i < 3; i++) {
		ep[i].rx.lifetime_ns = SECOND;
		ep[i].rx.resolution[RX_WAIT] = TRACE_EXACT;
		ep[i].tx.ns[TX_IDLE] = i ? SECOND : 0;
		ep[i].rx_calls.bytes = ep[i].tx_calls.bytes = 1 << 20;
	}
	ep[0].rx.ns[RX_UNREAD] = 900000000;
	ep[0].rx.count[RX_UNREAD] = 1;
	ep[0].rx_calls.cpu_ns = 900000000;
	ep[0].rx_calls.cpu_res = TRACE_BOUNDED;
	ep[2].rx.ns[RX_WAIT] = ep[2].rx.max[RX_WAIT] = 950000000;
	ep[2].rx.count[RX_WAIT] = 1;
	judge(&s, ep, 3, &v);
	assert_int_equal(v.kind, KIND_LIMIT);
	ep[1].rx_calls.tgid = ep[1].rx_calls.tid = 99; /* another pipeline */
	judge(&s, ep, 3, &v);
	assert_int_equal(v.kind, KIND_WAIT);
}

/* `relay | relay | relay`, by pipes or through a port of each host: of one name, and no workers */
static void a_chain_of_one_name_is_not_told_together(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s;
	struct verdict v;

	(void)state;
	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	pipe_between(&ep[2], A, B, 0);
	pipe_between(&ep[3], B, C, 0);
	for (int i = 0; i < 4; i++) {
		strcpy(ep[i].tx_calls.comm, "relay");
		strcpy(ep[i].rx_calls.comm, "relay");
	}
	judge(&s, ep, 2, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[0].root, 1);
	for (int i = 0; i < 2; i++) {
		ep[i].proto = TRACE_TCP;
		ep[i].family = 2;
		ep[i].peer = i + 2;
		ep[i].remote.port = 80;
	}
	judge(&s, ep, 4, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[0].root, 1);
}

static void four_in_a_row_have_the_last_as_root(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], C, D, 700000000);
	pipe_between(&ep[1], A, B, 900000000);
	pipe_between(&ep[2], B, C, 800000000);
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[v.v[0].root].endpoint, 0);
	assert_int_equal(v.v[v.v[1].root].endpoint, 0);
	assert_int_equal(v.v[2].root, -1);
}

static void a_short_wait_is_no_root(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 400000000);
	judge(&s, ep, 2, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[0].root, -1);
}

static void judge_two(struct trace_endpoint ep[2], struct verdict *v)
{
	struct trace_snapshot s;

	judge(&s, ep, 2, v);
	assert_int_equal(v->n, 2);
}

/* B's own wait of 0.8 s may have been over before A's began: together they fit into the 2 s in
 * which both were there */
static void one_after_the_other_is_no_chain(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	ep[1].at_ns -= SECOND;
	judge_two(ep, &v);
	assert_int_equal(v.v[0].root, -1);
	assert_int_equal(v.v[1].root, -1);
}

static void another_thread_is_no_link(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	ep[1].tx_calls.tid = B + 100;
	judge_two(ep, &v);
	assert_int_equal(v.v[0].root, -1);
}

static void who_does_not_sleep_could_read(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	ep[1].tx_calls.blocked_ns = 1000;
	pipe_between(&ep[2], D, B, 0); /* something else to do */
	judge(&s, ep, 3, &v);
	assert_int_equal(v.v[0].root, -1);
}

/* socat, say, which asks by select() whether there is room */
static void who_only_passes_on_is_kept_by_a_full_pipe(void **state)
{
	struct trace_endpoint ep[2];
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	ep[1].tx_calls.blocked_ns = 1000;
	judge_two(ep, &v);
	assert_int_equal(v.v[0].root, 1);
	ep[1].rx.resolution[RX_IDLE] = TRACE_BY_SAMPLES; /* nobody counted what went through */
	judge_two(ep, &v);
	assert_int_equal(v.v[0].root, -1);
}

static void one_end_alone_is_no_link(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	ep[0].rx.resolution[RX_UNREAD] = TRACE_UNKNOWN; /* its reads were not seen */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].surety, INFERRED);
	assert_int_equal(v.v[0].root, -1);
}

static void a_ring_has_no_root(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	pipe_between(&ep[2], C, A, 700000000);
	judge(&s, ep, 3, &v);
	for (size_t i = 0; i < v.n; i++)
		assert_int_equal(v.v[i].root, -1);
}

/* ---- two that wait for each other ---- */

static void both_write_and_neither_reads(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, A, 800000000);
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, 1);
	assert_int_equal(v.v[1].deadlock, 0);
	assert_false(v.v[0].deadlock_reads);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "; each waits for the other, a deadlock: p12[12] waits for "
				     "p11[11] to read pipe:[12]"));
	ep[1].blame.unread_ns[TX_SNDBUF] = ep[1].tx.ns[TX_SNDBUF] =
		500000000; /* they need not have been at once */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, -1);
}

/* B reads the output of A, who is held up by what B does not read */
static void reading_here_and_writing_there(struct trace_endpoint ep[2])
{
	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], A, B, 0);
	ep[0].rx_calls.tid = ep[1].tx_calls.tid =
		0; /* B never read the one, and A has not written to the other yet */
	ep[1].rx.ns[RX_WAIT] = 950000000;
	ep[1].rx.resolution[RX_WAIT] = TRACE_EXACT;
}

static void it_reads_what_the_other_would_write_next(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	reading_here_and_writing_there(ep);
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, 1);
	assert_true(v.v[0].deadlock_reads);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "p12[12] waits for p11[11] to write to pipe:[11]"));
	assert_non_null(strstr(finding_fix(&s, &v.v[0]), "communicate()"));
}

/* A reader that is asleep by turns in a read of what it keeps waiting. */
static void who_reads_there_is_in_no_deadlock(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	reading_here_and_writing_there(ep);
	ep[0].rx_calls.tid = B;
	ep[0].rx.ns[RX_WAIT] = ep[1].rx.ns[RX_WAIT];
	ep[0].rx.resolution[RX_WAIT] = TRACE_EXACT;
	judge(&s, ep, 1, &v);
	assert_int_equal(v.v[0].deadlock, -1);
}

static void others_may_help_it(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	reading_here_and_writing_there(ep);
	ep[1].tx_calls.others = true; /* write there too */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, -1);
	reading_here_and_writing_there(ep);
	ep[1].tx_calls.tgid = C;
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, -1);
	reading_here_and_writing_there(ep);
	ep[1].tx_calls.tid = 4711; /* A's other thread, which nothing holds up */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, -1);
	reading_here_and_writing_there(ep);
	ep[1].rx.ns[RX_WAIT] = 400000000; /* for a part of it only */
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].deadlock, -1);
}

/* ---- a proxy: B never sleeps in a send, and passes on to C what it reads of A ---- */

enum { MEGABYTE = 1 << 20 };

/* both ends of a TCP connection: what the first sends for 0.9 of a second is more than the second,
 * or its window, takes */
static void connection(struct trace_endpoint *ep, int at, pid_t sender, pid_t reader,
		       uint64_t bytes)
{
	for (int i = 0; i < 2; i++) {
		pid_t owner = i ? reader : sender;

		pipe_between(&ep[at + i], owner, owner, 0);
		ep[at + i].proto = TRACE_TCP;
		ep[at + i].family = 2;
		ep[at + i].local.port = (uint16_t)(at + i);
		ep[at + i].peer = at + !i;
		ep[at + i].tx_calls.bytes_res = ep[at + i].rx_calls.bytes_res = TRACE_EXACT;
		ep[at + i].tx_calls.bytes = ep[at + i].rx_calls.bytes = 80;
	}
	ep[at].tx_calls.bytes = ep[at + 1].rx_calls.bytes = bytes;
	ep[at].tx.ns[TX_RWND] = ep[at].tx.max[TX_RWND] = ep[at].blame.unread_ns[TX_RWND] =
		900000000;
	ep[at].tx.count[TX_RWND] = ep[at].blame.unread_n[TX_RWND] = 100;
}

static void who_sent_through_a_socket_could_read_from_it(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	connection(ep, 0, A, B, MEGABYTE);
	ep[1].rx_calls.tgid = ep[1].rx_calls.tid = 0;
	judge(&s, ep, 2, &v);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "rwnd <- p12[12] is not reading"));
}

static void proxy(struct trace_endpoint ep[4])
{
	connection(ep, 0, A, B, 40 * MEGABYTE);
	connection(ep, 2, B, C, 40 * MEGABYTE - 44000);
	ep[0].tx.ns[TX_RWND] = ep[0].blame.unread_ns[TX_RWND] = 950000000;
}

static void judge_proxy(struct trace_endpoint *ep, size_t n, struct trace_snapshot *s,
			struct verdict *v)
{
	judge(s, ep, n, v);
	assert_int_equal(v->v[0].endpoint, 0);
}

static void a_proxy_that_does_not_sleep_is_a_link(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	proxy(ep);
	judge_proxy(ep, 4, &s, &v);
	assert_int_equal(v.v[0].root, 1);
	assert_int_equal(v.v[1].root, -1);
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "rwnd <- p12[12] is not reading"));
	assert_non_null(strstr(text, "; root cause (inferred from the bytes passed on): p12[12] on "
				     "tcp 0.0.0.0:2 > 0.0.0.0:0: rwnd <- p13[13] is not reading"));
}

/* They need not be seen to be at one time: all that it reads goes out there. */
static void a_proxy_that_cannot_send_for_as_long_is_a_link(void **state)
{
	struct trace_endpoint ep[4];
	struct trace_snapshot s;
	struct verdict v;

	proxy(ep);
	for (int i = 0; i < 4; i++)
		ep[i].tx.lifetime_ns = ep[i].rx.lifetime_ns = 2000000000;
	judge_proxy(ep, 4, &s, &v);
	assert_int_equal(v.v[0].root, 1);
}

static void nobody_else_may_be_the_root(struct trace_endpoint *ep, size_t n)
{
	struct trace_snapshot s;
	struct verdict v;

	judge_proxy(ep, n, &s, &v);
	assert_int_equal(v.v[0].root, -1);
}

/* of its many clients one is slow, and it leaves another connection unread for a reason of its own
 */
static void a_server_with_a_slow_client_is_no_proxy(void **state)
{
	struct trace_endpoint ep[6];

	proxy(ep);
	ep[2].tx_calls.bytes = ep[3].rx_calls.bytes = 30 * MEGABYTE;
	nobody_else_may_be_the_root(ep, 4);
	proxy(ep);
	ep[2].tx_calls.bytes_res = TRACE_UNKNOWN;
	nobody_else_may_be_the_root(ep, 4);
	proxy(ep);
	ep[2].tx.ns[TX_RWND] = ep[2].blame.unread_ns[TX_RWND] =
		500000000; /* some of the 0.95 s, it is not known how much */
	nobody_else_may_be_the_root(ep, 4);
}

/* what it reads may be sent on to either, and the one that is not held up is as likely */
static void one_of_several_is_not_guessed(void **state)
{
	struct trace_endpoint ep[6];

	proxy(ep);
	connection(ep, 4, B, D, 40 * MEGABYTE - 100000);
	nobody_else_may_be_the_root(ep, 6);
	ep[4].tx.ns[TX_RWND] = ep[4].blame.unread_ns[TX_RWND] = 0;
	nobody_else_may_be_the_root(ep, 6);
	proxy(ep);
	connection(ep, 4, D, B, 40 * MEGABYTE); /* and of two that it reads either */
	ep[4].tx.ns[TX_RWND] = ep[4].blame.unread_ns[TX_RWND] = 0;
	nobody_else_may_be_the_root(ep, 6);
}

static void what_another_process_sends_is_no_link(void **state)
{
	struct trace_endpoint ep[4];

	proxy(ep);
	ep[2].tx_calls.tgid = ep[2].rx_calls.tgid = D;
	nobody_else_may_be_the_root(ep, 4);
}

static struct stall waits(pid_t who, pid_t by, uint64_t from, uint64_t to)
{
	return (struct stall){ .s = { .tgid = who,
				      .peer_tgid = by,
				      .from_ns = from,
				      .to_ns = to,
				      .state = TX_SNDBUF,
				      .peer_unread_ns = to - from } };
}

static void the_stall_behind_a_stall(void **state)
{
	struct stalls l = { .max = 100 };
	struct stall_order o;
	struct stall v[] = { waits(A, B, 1000, 2000), waits(B, C, 100, 1100),
			     waits(B, C, 1200, 1900), waits(B, C, 1950, 3000),
			     waits(A, B, 5000, 6000) };

	for (size_t i = 0; i < 5; i++)
		stalls_add(&l, &v[i]);
	assert_int_equal(stall_order_make(&o, &l), 0);
	assert_ptr_equal(stall_behind(&o, stalls_at(&l, 0)), stalls_at(&l, 2));
	assert_null(stall_behind(&o, stalls_at(&l, 2)));
	assert_null(stall_behind(&o, stalls_at(&l, 4)));
	stall_order_free(&o);
	stalls_free(&l);
}

/* no sample counts a sleep, but a pipe that it finds full has a writer asleep */
static void a_chain_seen_by_samples_has_its_root(void **state)
{
	struct trace_endpoint ep[2];
	struct trace_snapshot s;
	struct verdict v;

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 800000000);
	for (int i = 0; i < 2; i++) {
		ep[i].tx_calls.blocked_ns = 0;
		ep[i].tx_calls.blocked_res = TRACE_UNKNOWN;
	}
	memset(ep[0].tx.resolution, TRACE_BY_SAMPLES, sizeof(ep[0].tx.resolution));
	memset(ep[1].tx.resolution, TRACE_BY_SAMPLES, sizeof(ep[1].tx.resolution));
	judge(&s, ep, 2, &v);
	assert_int_equal(v.v[0].root, 1);
}

static void a_circle_of_three_has_no_root(void **state)
{
	struct trace_endpoint ep[3];
	struct trace_snapshot s;
	struct verdict v;
	char text[VERDICT_TEXT];

	pipe_between(&ep[0], A, B, 900000000);
	pipe_between(&ep[1], B, C, 890000000);
	pipe_between(&ep[2], C, A, 880000000);
	judge(&s, ep, 3, &v);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(v.v[i].root, -1);
		assert_int_equal(v.v[i].circle, 3);
	}
	verdict_sentence(&s, &v, text, sizeof(text));
	assert_non_null(strstr(text, "it is one of 3 that wait in a circle, each for the next"));
	pipe_between(&ep[2], D, A, 880000000); /* it begins with another */
	judge(&s, ep, 3, &v);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(v.v[i].circle, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_circle_of_three_has_no_root),
		cmocka_unit_test(a_chain_seen_by_samples_has_its_root),
		cmocka_unit_test(a_reader_that_waits_for_another_is_not_to_blame),
		cmocka_unit_test(three_in_a_row),
		cmocka_unit_test(three_in_a_row_are_suspected),
		cmocka_unit_test(a_reader_whose_only_output_is_held_up_is_not_to_blame),
		cmocka_unit_test(a_pipeline_is_as_fast_as_its_last_reader_computes),
		cmocka_unit_test(a_chain_of_one_name_is_not_told_together),
		cmocka_unit_test(four_in_a_row_have_the_last_as_root),
		cmocka_unit_test(a_short_wait_is_no_root),
		cmocka_unit_test(one_after_the_other_is_no_chain),
		cmocka_unit_test(another_thread_is_no_link),
		cmocka_unit_test(who_does_not_sleep_could_read),
		cmocka_unit_test(who_only_passes_on_is_kept_by_a_full_pipe),
		cmocka_unit_test(one_end_alone_is_no_link),
		cmocka_unit_test(a_ring_has_no_root),
		cmocka_unit_test(both_write_and_neither_reads),
		cmocka_unit_test(it_reads_what_the_other_would_write_next),
		cmocka_unit_test(who_reads_there_is_in_no_deadlock),
		cmocka_unit_test(others_may_help_it),
		cmocka_unit_test(who_sent_through_a_socket_could_read_from_it),
		cmocka_unit_test(a_proxy_that_does_not_sleep_is_a_link),
		cmocka_unit_test(a_proxy_that_cannot_send_for_as_long_is_a_link),
		cmocka_unit_test(a_server_with_a_slow_client_is_no_proxy),
		cmocka_unit_test(one_of_several_is_not_guessed),
		cmocka_unit_test(what_another_process_sends_is_no_link),
		cmocka_unit_test(a_reader_waits_for_a_server_that_is_not_traced),
		cmocka_unit_test(whom_the_reader_waits_for_is_the_culprit),
		cmocka_unit_test(whom_the_reader_waits_for_cannot_go_on_either),
		cmocka_unit_test(a_wait_behind_a_busy_program_is_that_program),
		cmocka_unit_test(the_stall_behind_a_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
