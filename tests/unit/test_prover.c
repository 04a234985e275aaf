// SPDX-License-Identifier: GPL-2.0-only
/* Which of two is shown: what samples found, or the proof of the ledger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/prover.h"

#define SECOND 1000000000ull

/* what samples say of one endpoint, and what the ledger proved of it */
struct both {
	struct trace_endpoint sampled, proven;
	struct trace_samples samples;
	struct trace_snapshot s;
	struct verdict v;
	struct prover p;
};

static void set_up(struct both *b, enum outcome sampled, enum outcome proven)
{
	struct proof *proof = &b->p.proofs[0];

	*b = (struct both){ .p.n = 1 };
	b->sampled = (struct trace_endpoint){ .proto = TRACE_TCP, .inode = 5, .peer = -1 };
	b->sampled.rx.lifetime_ns = b->sampled.tx.lifetime_ns = SECOND;
	b->proven = b->sampled;
	b->proven.serial = 9; /* another session's */
	b->proven.tx_calls.bytes_res = b->proven.rx_calls.bytes_res = TRACE_EXACT;
	b->proven.tx_calls.messages = b->proven.rx_calls.messages = 100;
	b->samples = (struct trace_samples){ .n = 100 };
	b->s = (struct trace_snapshot){ .ep = &b->sampled, .samples = &b->samples, .n = 1 };
	b->v.outcome = sampled;
	proof->of = OUTCOME_WAITING;
	proof->s = (struct trace_snapshot){ .ep = &b->proven, .n = 1 };
	proof->v.outcome = proven;
	proof->v.kind = KIND_QUIET;
	proof->v.busy_sender.endpoint = -1;
}

static void is_the_proofs(struct both *b, bool expected)
{
	const struct proof *answer = prover_answer(&b->p, &b->s, &b->v);

	assert_ptr_equal(answer, expected ? &b->p.proofs[0] : NULL);
}

/* a server under load: at a fifth of the samples something waits to be read, for microseconds */
static void unread_data_that_the_ledger_did_not_see_is_no_wait(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_WAITING, OUTCOME_HEALTHY);
	b.v.kind = KIND_LATE;
	b.samples.rx_seen[RX_UNREAD] = 20;
	b.samples.rx_again[RX_UNREAD] = 4;
	is_the_proofs(&b, true);
	b.samples.rx_again[RX_UNREAD] = 15; /* seldom, and for long: it was attached between */
	is_the_proofs(&b, false);
	b.samples.rx_again[RX_UNREAD] = 4;
	b.proven.tx_calls.messages = 0; /* nothing went out: no conversation was seen */
	is_the_proofs(&b, false);
}

static void answers_that_the_ledger_saw_in_time_are_not_late(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_WAITING, OUTCOME_HEALTHY);
	b.v.kind = KIND_ANSWERS;
	is_the_proofs(&b, true);
	b.proven.inode = 6; /* of another connection it says nothing */
	is_the_proofs(&b, false);
}

/* a resolver whose first name server is dead */
static void questions_that_nobody_answers_are_the_proofs_to_tell(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_HEALTHY, OUTCOME_WAITING);
	b.v.kind = KIND_QUIET;
	b.p.proofs[0].of = OUTCOME_HEALTHY;
	b.p.proofs[0].ns = 2 * SECOND;
	b.p.proofs[0].v.kind = KIND_UNANSWERED;
	b.p.proofs[0].v.unanswered = (struct unanswered){ .server = -1, .n = 4, .ns = SECOND };
	is_the_proofs(&b, true);
	b.p.proofs[0].v.unanswered.ns = SECOND / 100;
	is_the_proofs(&b, false);
	b.p.proofs[0].v.unanswered.ns = SECOND;
	b.v.outcome = OUTCOME_WAITING; /* samples found one of its sockets */
	b.v.kind = KIND_WAIT;
	b.sampled.proto = TRACE_UDP;
	b.sampled.inode = 77;
	b.sampled.remote.port = b.proven.remote.port = 53;
	is_the_proofs(&b, true);
	b.proven.remote.port = 54;
	is_the_proofs(&b, false);
	b.v.kind = KIND_STALL;
	b.v.outcome = OUTCOME_STALLED; /* that is more */
	is_the_proofs(&b, false);
}

/* Samples see no destination where sendto() has it. */
static void where_datagrams_go_is_the_proofs_to_tell(void **state)
{
	static struct both b;

	(void)state;
	set_up(&b, OUTCOME_WAITING, OUTCOME_WAITING);
	b.v.kind = b.p.proofs[0].v.kind = KIND_WAIT;
	b.sampled.proto = b.proven.proto = TRACE_UDP;
	b.sampled.inode = 77; /* another socket of that program */
	b.proven.remote.port = 161;
	is_the_proofs(&b, true);
	strcpy(b.proven.rx_calls.comm, "another");
	is_the_proofs(&b, false);
	*b.proven.rx_calls.comm = '\0';
	b.sampled.remote.port = 162; /* it is connected */
	is_the_proofs(&b, false);
}

/* Pings of a chat: there were too few samples for a finding when the ledger was attached. */
static void an_answer_awaited_before_the_proof_was_suspected_too(void **state)
{
	static struct both b;
	double unanswered[1] = { 0.7 };

	set_up(&b, OUTCOME_WAITING, OUTCOME_HEALTHY);
	b.v.kind = KIND_ANSWERS;
	b.p.proofs[0].of = OUTCOME_HEALTHY;
	is_the_proofs(&b, false); /* it may have begun since */
	b.p.proofs[0].unanswered = unanswered;
	b.sampled.tx_calls.reply_ns = 8 * SECOND / 10;
	is_the_proofs(&b, true);
	b.sampled.tx_calls.reply_ns = SECOND; /* it hangs since */
	is_the_proofs(&b, false);
	b.sampled.tx_calls.reply_ns = unanswered[0] = 0.2;
	is_the_proofs(&b, false);
}

static void a_wait_that_has_grown_since_is_not_refuted(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_WAITING, OUTCOME_HEALTHY);
	b.v.kind = KIND_ANSWERS;
	b.p.proofs[0].share = 0.55;
	b.v.share = 0.7;
	is_the_proofs(&b, true);
	b.v.share = 0.95;
	is_the_proofs(&b, false);
}

/* Of one client that waits for several servers the proof of one says nothing of the others. */
static void a_proof_of_another_server_is_not_shown(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_WAITING, OUTCOME_WAITING);
	b.v.kind = b.p.proofs[0].v.kind = KIND_WAIT;
	b.sampled.rx_calls.tgid = b.proven.rx_calls.tgid = 3;
	b.sampled.making.other_pid = b.proven.making.other_pid = 7;
	is_the_proofs(&b, true);
	b.proven.making.other_pid = 8;
	b.proven.inode = 6;
	is_the_proofs(&b, false);
	b.sampled.making.other_pid = b.proven.making.other_pid = 0; /* on another host */
	is_the_proofs(&b, false);
	b.proven.inode = b.sampled.inode;
	is_the_proofs(&b, true);
}

static void a_wait_of_half_the_time_is_the_ledgers_to_tell(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_HEALTHY, OUTCOME_WAITING);
	b.p.proofs[0].v.kind = KIND_WAIT;
	b.v.kind = KIND_QUIET;
	b.sampled.rx.ns[RX_WAIT] = 45 * (SECOND / 100);
	is_the_proofs(&b, true);
	b.sampled.rx.ns[RX_WAIT] = 30 * (SECOND / 100); /* that was then */
	is_the_proofs(&b, false);
}

/* tar into socat, of which the session has tar alone */
static void what_keeps_the_reader_from_reading_is_the_proofs_to_tell(void **state)
{
	static struct both b;
	struct verdict *proven = &b.p.proofs[0].v;

	set_up(&b, OUTCOME_STALLED, OUTCOME_STALLED);
	b.v.kind = proven->kind = KIND_STALL;
	b.v.n = proven->n = 1;
	b.v.v[0] = (struct finding){ .cause = TX_SNDBUF, .root = -1 };
	proven->v[0] = (struct finding){ .cause = TX_SNDBUF, .root = 1 };
	is_the_proofs(&b, true);
	proven->v[0].root = -1;
	is_the_proofs(&b, false);
	proven->v[0].root = 1;
	proven->v[0].cause = TX_NAGLE;
	is_the_proofs(&b, false);
}

/* what the ledger saw of a segment that was held back */
static struct verdict *proven_stall(struct both *b)
{
	struct verdict *proven = &b->p.proofs[0].v;

	b->p.proofs[0].of = OUTCOME_STALLED;
	proven->kind = KIND_STALL;
	proven->n = 1;
	proven->v[0] = (struct finding){ .cause = TX_NAGLE, .root = -1, .share = 0.9 };
	proven->v[0].all = (struct totals){ .ns = 9, .lifetime_ns = 10 };
	proven->share = 0.9;
	return proven;
}

/* Its client was found to wait, and the ledger saw by what its segment was held back. */
static void a_stall_explains_the_wait_of_the_other_end(void **state)
{
	static struct both b;
	struct verdict *proven;

	set_up(&b, OUTCOME_WAITING, OUTCOME_STALLED);
	proven = proven_stall(&b);
	b.v.kind = KIND_WAIT;
	is_the_proofs(&b, true);
	proven->share = 0.2; /* most of the wait is something else */
	is_the_proofs(&b, false);
	proven->share = 0.9;
	proven->kind = KIND_WITHHELD; /* the ACK that its client waits for */
	b.v.kind = KIND_ANSWERS;
	is_the_proofs(&b, true);
	b.proven.inode = 6;
	is_the_proofs(&b, false);
}

/* what the ledger saw where samples saw nothing */
/* what the ledger saw all the time at another endpoint than that which samples found */
static struct verdict *proven_at_second(struct both *b, struct trace_endpoint ends[2],
					enum finding_kind kind)
{
	struct proof *proof = &b->p.proofs[0];

	ends[0] = ends[1] = b->proven;
	ends[1].inode++;
	proof->s = (struct trace_snapshot){ .ep = ends, .n = 2 };
	proof->v.kind = kind;
	proof->v.share = 1;
	proof->v.n = 1;
	proof->v.v[0] =
		(struct finding){ .endpoint = 1, .all = { .ns = SECOND, .lifetime_ns = SECOND } };
	return &proof->v;
}

/* Of a download over a full link samples see a reader that waits. */
static void a_stream_that_its_link_limits_is_the_proofs_to_tell(void **state)
{
	static struct trace_endpoint ends[2];
	static struct both b;
	struct verdict *proven;

	set_up(&b, OUTCOME_WAITING, OUTCOME_HEALTHY);
	b.v.kind = KIND_WAIT;
	proven = proven_at_second(&b, ends, KIND_LIMIT);
	proven->v[0].limit = LIMIT_LINK;
	ends[0].peer = 1;
	ends[1].peer = 0;
	ends[0].tx_calls.messages = 0;
	is_the_proofs(&b, true);
	proven->v[0].all.ns = SECOND / 4;
	is_the_proofs(&b, false);
	proven->v[0].all.ns = SECOND;
	ends[1].peer = -1; /* to another reader */
	is_the_proofs(&b, false);
}

/* Who waits for a proxy waits for the server to which that connects in vain. */
static void who_gets_no_connection_keeps_others_waiting(void **state)
{
	static struct trace_endpoint ends[2];
	static struct both b;
	struct verdict *proven;

	set_up(&b, OUTCOME_WAITING, OUTCOME_STALLED);
	b.v.kind = KIND_WAIT;
	b.sampled.making.other_pid = 7;
	proven = proven_at_second(&b, ends, KIND_STALL);
	proven->v[0].unanswered_syn = true;
	ends[1].tx_calls.tgid = 7;
	is_the_proofs(&b, true);
	ends[1].tx_calls.tgid = 8; /* another program's connection */
	is_the_proofs(&b, false);
	ends[1].tx_calls.tgid = 7;
	proven->v[0].unanswered_syn = false;
	is_the_proofs(&b, false);
}

static struct verdict *proven_where_quiet(struct both *b)
{
	set_up(b, OUTCOME_HEALTHY, OUTCOME_STALLED);
	b->v.kind = KIND_QUIET;
	return proven_stall(b);
}

/* delayed ACKs that hold up a client which was not traced */
static void what_samples_did_not_see_is_the_proofs_to_tell(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_HEALTHY, OUTCOME_STALLED);
	b.v.kind = KIND_QUIET;
	b.p.proofs[0].of = OUTCOME_HEALTHY;
	b.p.proofs[0].v.kind = KIND_WITHHELD;
	b.p.proofs[0].v.share = 0.9;
	is_the_proofs(&b, true);
	b.p.proofs[0].v.share = 0.05;
	is_the_proofs(&b, false);
}

/* of connections that last for milliseconds */
static void a_stall_of_milliseconds_is_no_news(void **state)
{
	static struct both b;
	struct verdict *proven;

	proven = proven_where_quiet(&b);
	b.p.proofs[0].of = OUTCOME_HEALTHY;
	proven->share = 0.14;
	proven->observed_ns = 2 * SECOND;
	proven->stall_ns = SECOND / 10;
	is_the_proofs(&b, true);
	proven->stall_ns = SECOND / 100;
	is_the_proofs(&b, false);
}

/* An X server that was stopped: its client's send buffer was full once, and it waits ever since. */
static void a_wait_all_the_time_is_more_than_a_little_stall(void **state)
{
	static struct both b;

	set_up(&b, OUTCOME_STALLED, OUTCOME_WAITING);
	b.v.kind = KIND_STALL;
	b.v.n = 1;
	b.v.v[0] = (struct finding){
		.cause = TX_SNDBUF, .blamed = BLAME_PEER_READER, .share = 0.16, .root = -1
	};
	b.v.v[0].all = (struct totals){ .ns = SECOND / 6, .lifetime_ns = SECOND };
	b.sampled.proto = b.proven.proto = TRACE_UNIX_STREAM;
	b.sampled.making.other_pid = b.proven.making.other_pid = 7;
	b.p.proofs[0].v.kind = KIND_WAIT;
	b.p.proofs[0].v.share = 0.99;
	is_the_proofs(&b, true);
	b.proven.making.other_pid = 8; /* for another process */
	is_the_proofs(&b, false);
	b.proven.making.other_pid = 7;
	b.p.proofs[0].v.share = 0.5;
	is_the_proofs(&b, false);
}

/* one of thousands, of each of which there are two samples */
static void a_stall_that_few_samples_found_is_the_proofs_to_tell(void **state)
{
	static struct both b;
	struct verdict *proven;

	proven = proven_where_quiet(&b);
	b.sampled.tx.ns[TX_NAGLE] = SECOND / 2;
	is_the_proofs(&b, true);
	b.sampled.tx.ns[TX_NAGLE] = SECOND / 20; /* it was over soon */
	is_the_proofs(&b, false);
	b.sampled.tx.ns[TX_NAGLE] = SECOND / 2;
	proven->v[0].limit = LIMIT_LINK;
	is_the_proofs(&b, false);
}

static void what_the_ledger_saw_is_not_suspected_any_more(void **state)
{
	static struct both b;
	struct finding *proven = &b.p.proofs[0].v.v[0], *f = &b.v.v[0];

	set_up(&b, OUTCOME_STALLED, OUTCOME_STALLED);
	b.v.kind = KIND_STALL;
	b.v.n = b.p.proofs[0].v.n = 1;
	*f = (struct finding){ .cause = TX_NAGLE,
			       .blamed = BLAME_PEER_DELACK,
			       .surety = SUSPECTED };
	*proven = *f;
	proven->surety = SEEN_BOTH_ENDS;
	proven->blamed = BLAME_NOBODY;
	prover_confirm(&b.p, &b.s, &b.v);
	assert_int_equal(f->surety, SUSPECTED);
	proven->blamed = BLAME_PEER_DELACK;
	prover_confirm(&b.p, &b.s, &b.v);
	assert_int_equal(f->surety, SEEN_BOTH_ENDS);
}

/* a window of samples has less of the limit than the ledger's, and than the whole session */
static void a_limit_counts_up_to_what_the_ledger_found(void **state)
{
	static struct both b;
	struct proof *proof = &b.p.proofs[0];
	unsigned int seen = 0;

	set_up(&b, OUTCOME_STALLED, OUTCOME_HEALTHY);
	proof->v.n = 1;
	proof->v.v[0] = (struct finding){ .cause = TX_SNDBUF, .limit = LIMIT_READER_CPU };
	b.sampled.serial = 3;
	b.sampled.tx.ns[TX_SNDBUF] = 4 * (SECOND / 10);
	b.proven.tx.ns[TX_SNDBUF] = 9 * (SECOND / 10);
	prover_rule(&b.p, &b.sampled, proof);
	assert_true(b.p.n_rulings > 0);
	for (size_t i = 0; i < b.p.n_rulings; i++) {
		const struct trace_ruling *r = &b.p.rulings[i];
		bool sndbuf = r->cause == TX_SNDBUF;

		assert_int_equal(r->serial, 3);
		assert_int_equal(r->limit, LIMIT_READER_CPU);
		assert_true(sndbuf ? r->share > 0.89 && r->share < 0.91 : r->share < 0.2);
		seen += sndbuf;
	}
	assert_int_equal(seen, 1);
	proof->v.outcome = OUTCOME_WAITING; /* for something else */
	prover_rule(&b.p, &b.sampled, proof);
	assert_true(b.p.n_rulings > 0);
	proof->v.outcome = OUTCOME_STALLED; /* it found no limit alone */
	proof->v.v[0].limit = LIMIT_NONE;
	prover_rule(&b.p, &b.sampled, proof);
	assert_int_equal(b.p.n_rulings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unread_data_that_the_ledger_did_not_see_is_no_wait),
		cmocka_unit_test(answers_that_the_ledger_saw_in_time_are_not_late),
		cmocka_unit_test(an_answer_awaited_before_the_proof_was_suspected_too),
		cmocka_unit_test(a_wait_that_has_grown_since_is_not_refuted),
		cmocka_unit_test(a_proof_of_another_server_is_not_shown),
		cmocka_unit_test(a_wait_of_half_the_time_is_the_ledgers_to_tell),
		cmocka_unit_test(a_stall_explains_the_wait_of_the_other_end),
		cmocka_unit_test(a_stream_that_its_link_limits_is_the_proofs_to_tell),
		cmocka_unit_test(who_gets_no_connection_keeps_others_waiting),
		cmocka_unit_test(a_stall_that_few_samples_found_is_the_proofs_to_tell),
		cmocka_unit_test(a_limit_counts_up_to_what_the_ledger_found),
		cmocka_unit_test(questions_that_nobody_answers_are_the_proofs_to_tell),
		cmocka_unit_test(where_datagrams_go_is_the_proofs_to_tell),
		cmocka_unit_test(what_samples_did_not_see_is_the_proofs_to_tell),
		cmocka_unit_test(a_stall_of_milliseconds_is_no_news),
		cmocka_unit_test(a_wait_all_the_time_is_more_than_a_little_stall),
		cmocka_unit_test(what_the_ledger_saw_is_not_suspected_any_more),
		cmocka_unit_test(what_keeps_the_reader_from_reading_is_the_proofs_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
