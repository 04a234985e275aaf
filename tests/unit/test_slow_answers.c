// SPDX-License-Identifier: GPL-2.0-only
/* A server whose clients were not seen: its own end tells how long they waited for answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "render/card.h"
#include "render/ledger_text.h"

enum { SECOND = 1000000000, SERVER = 7 };

/* one connection of a second, at which `n` requests took `ns` each to be answered */
static struct trace_endpoint connection(uint16_t client, uint64_t n, uint64_t ns)
{
	struct trace_endpoint ep = { .proto = TRACE_TCP,
				     .family = AF_INET,
				     .peer = -1,
				     .at_ns = 2ull * SECOND,
				     .local.port = 80,
				     .remote.port = client };
	struct trace_call_stats *calls[] = { &ep.tx_calls, &ep.rx_calls };

	memset(ep.tx.resolution, TRACE_EXACT, sizeof(ep.tx.resolution));
	memset(ep.rx.resolution, TRACE_EXACT, sizeof(ep.rx.resolution));
	ep.tx.lifetime_ns = ep.rx.lifetime_ns = SECOND;
	ep.tx.ns[TX_IDLE] = ep.rx.ns[RX_IDLE] = SECOND;
	for (int i = 0; i < 2; i++) {
		calls[i]->tgid = calls[i]->tid = SERVER;
		strcpy(calls[i]->comm, "webd");
		calls[i]->bytes_res = TRACE_EXACT;
		calls[i]->messages = n;
		calls[i]->bytes = 100 * n;
	}
	ep.tx_calls.reply_n = n;
	ep.tx_calls.reply_ns = n * ns;
	ep.tx_calls.reply_max_ns = ns;
	return ep;
}

static void seen_by_samples(struct trace_endpoint *ep)
{
	memset(ep->tx.resolution, TRACE_BY_SAMPLES, sizeof(ep->tx.resolution));
	memset(ep->rx.resolution, TRACE_BY_SAMPLES, sizeof(ep->rx.resolution));
}

static void judge(struct trace_endpoint *ep, struct trace_samples *samples, size_t n,
		  struct verdict *v, struct card *c)
{
	struct trace_snapshot s = { .ep = ep, .n = n, .samples = samples };

	verdict_make(&s, v);
	card_make(&s, v, c);
}

/* Every twentieth answer takes a quarter of a second, for two fifths of the time. */
static void some_answers_take_long(void **state)
{
	struct trace_endpoint ep = connection(50000, 40, 10000000);
	struct verdict v;
	struct card c;

	ep.tx_calls.reply_max_ns = 200000000;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_non_null(strstr(c.why, "longest 200 ms"));
	ep.tx_calls.reply_max_ns = 50000000; /* all take about as long */
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* The session cuts the first request, and the last one, which is no longer than any before. */
static void the_average_is_of_whole_answers(void **state)
{
	struct trace_endpoint ep = connection(50000, 4, 225000000);
	struct verdict v;
	struct card c;

	ep.joined_late = true;
	ep.rx_calls.messages = 5;
	ep.tx_calls.reply_max_ns = 250000000;
	ep.tx_calls.open_reply_ns = 100000000;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_non_null(strstr(c.why, "thinks 250 ms a request, 4 requests"));
	ep.tx_calls.open_reply_ns = 0; /* the first may have been cut */
	judge(&ep, NULL, 1, &v, &c);
	assert_non_null(strstr(c.why, "thinks up to 250 ms a request, 4 requests"));
}

/* By samples the ledger is asked whether a server that owes answers at times pauses. */
static void a_server_that_owes_answers_may_pause(void **state)
{
	struct trace_endpoint ep = connection(50000, 40, 5000000);
	struct trace_samples samples = { .n = 50 };
	struct verdict v;
	struct card c;

	seen_by_samples(&ep);
	samples.fact[TRACE_FACT_UNPROMPTED] = 50;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	assert_int_equal(v.may_pause, SERVER);
	ep.tx_calls.reply_ns = SECOND / 20;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.may_pause, 0);
}

/* It may not run: nothing holds its answers but that. */
static void a_server_without_a_cpu_is_told_so(void **state)
{
	struct trace_endpoint ep = connection(40001, 3, 3 * (SECOND / 10));
	struct verdict v;
	struct card c;

	(void)state;
	ep.tx_calls.no_cpu_res = ep.rx_calls.no_cpu_res = TRACE_BOUNDED;
	ep.tx_calls.no_cpu_ns = ep.rx_calls.no_cpu_ns = 8 * (SECOND / 10);
	judge(&ep, NULL, 1, &v, &c);
	assert_string_equal(c.why, "webd[7] was waiting for a CPU for 800 ms of that time");
	ep.tx_calls.stopped_ns = ep.rx_calls.stopped_ns = 8 * (SECOND / 10);
	judge(&ep, NULL, 1, &v, &c);
	assert_non_null(strstr(c.why, "webd[7] was stopped"));
}

static void a_client_that_was_not_seen_waits_for_its_server(void **state)
{
	struct trace_endpoint ep = connection(40001, 3, 3 * (SECOND / 10));
	struct verdict v;
	struct card c;

	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_WAITING);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_string_equal(c.who, "0.0.0.0:40001");
	assert_string_equal(c.whom, "webd[7]");
	assert_string_equal(c.why, "webd[7] thinks 300 ms a request, 3 requests");
	assert_int_equal(c.surety, INFERRED);
	ep.tx_calls.reply_ns = 3 * (SECOND / 10) - 1; /* less than half of the time */
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.tx_calls.reply_ns = 3 * (SECOND / 10); /* a tenth of a second each */
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	ep = connection(40001, 3, 3 * (SECOND / 10));
	ep.local.port = 40001; /* a client, whose own time between answer and question that is */
	ep.remote.port = 80;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
}

/* The client's own end, if it was seen, shows the wait; and what the server waits for is why. */
static void what_the_server_waits_for_comes_first(void **state)
{
	struct trace_endpoint ep[2] = { connection(40001, 3, 3 * (SECOND / 10)),
		connection(5432, 3, 0) };
	struct verdict v;
	struct card c;

	ep[1].local.port = 40002;
	ep[1].remote.port = 5432;
	ep[1].rx.ns[RX_WAIT] = ep[1].rx.max[RX_WAIT] = 9 * (SECOND / 10);
	ep[1].rx.count[RX_WAIT] = 3;
	judge(ep, NULL, 2, &v, &c);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.wait.endpoint, 1);
	assert_int_equal(v.answers.endpoint, 0);
	ep[0].paired = true;
	judge(ep, NULL, 2, &v, &c);
	assert_int_equal(v.answers.endpoint, -1);
}

enum { POOL = 8 };

/* It waits at none of its connections to another server for half of their time, and at all of them
 * together for as long as its clients wait for it. */
static void what_a_pool_waits_for_comes_first(void **state)
{
	struct trace_endpoint ep[4 + POOL];
	struct verdict v;
	struct card c;

	for (int i = 0; i < 4; i++)
		ep[i] = connection((uint16_t)(40001 + i), 8, SECOND / 10);
	for (int i = 4; i < 4 + POOL; i++) {
		ep[i] = connection(5432, 4, 0);
		ep[i].local.port = (uint16_t)(41000 + i);
		ep[i].rx_calls.reply_n = 4;
		ep[i].rx_calls.reply_ns = 4 * (SECOND / 10);
		ep[i].rx_calls.reply_max_ns = SECOND / 10;
	}
	judge(ep, NULL, 4 + POOL, &v, &c);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(v.waits.connections, POOL);
	assert_string_equal(c.who, "webd[7]");
	for (int i = 4; i < 4 + POOL; i++) /* less than what its clients wait for */
		ep[i].rx_calls.reply_ns = SECOND / 10;
	judge(ep, NULL, 4 + POOL, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
}

static void clients_of_one_server_are_added(void **state)
{
	struct trace_endpoint ep[3] = { connection(40001, 3, 3 * (SECOND / 10)),
		connection(40002, 2, 4 * (SECOND / 10)), connection(40003, 1, SECOND / 10) };
	struct verdict v;
	struct card c;

	ep[1].tx_calls.tgid = ep[1].rx_calls.tgid = 8; /* a process for each */
	ep[2].local.port = 81;			       /* another service, which is quick */
	judge(ep, NULL, 3, &v, &c);
	assert_int_equal(v.answers.connections, 2);
	assert_true(v.answers.several);
	assert_int_equal(v.answers.ns, 17ull * (SECOND / 10));
	assert_int_equal(v.answers.requests.n, 5);
	assert_string_equal(c.who, "2 clients");
	assert_string_equal(c.head, "2 clients wait for several webd to answer");
}

/* A request that hangs counts; what is read and never answered, as a log's lines, is none. */
static void a_request_without_an_answer_yet_counts(void **state)
{
	struct trace_endpoint ep = connection(40001, 2, SECOND / 100);
	struct verdict v;
	struct card c;

	ep.rx_calls.messages = 3;
	ep.tx_calls.open_reply_ns = 9 * (SECOND / 10);
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_true(v.answers.goes_on);
	assert_string_equal(c.why, "webd[7] thinks 900 ms over one of 3 requests");
	ep.rx_calls.messages = 30;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.tx_calls.reply_n = ep.tx_calls.reply_ns = ep.tx_calls.messages = 0;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.answers.endpoint, -1);
	ep.rx_calls.messages = 1; /* the first request */
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
}

/* Nothing went since the session began, but the socket's dates say that a request came before. */
static void a_request_from_before_the_session_is_suspected(void **state)
{
	struct trace_endpoint ep = connection(40001, 0, 0);
	struct trace_samples samples = { .n = 100 };
	struct verdict v;
	struct card c;

	seen_by_samples(&ep);
	ep.joined_late = true;
	ep.tx_calls.reply_ns = SECOND;
	ep.tx_calls.bytes_res = ep.rx_calls.bytes_res = TRACE_BOUNDED;
	samples.fact[TRACE_FACT_OWES_ANSWER] = samples.fact[TRACE_FACT_UNPROMPTED] = 100;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_int_equal(c.surety, SUSPECTED);
	assert_string_equal(c.why, "webd[7] has sent nothing since the last request came");
	samples.fact[TRACE_FACT_UNPROMPTED] = 0; /* a window, or the reply to a ping */
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.answers.endpoint, -1);
	ep.tx_calls.bytes = ep.rx_calls.bytes = 100; /* and it answers while they look */
	ep.path.sent_segments = 5;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_int_equal(c.surety, INFERRED);
}

/* The client's end of the same: it is in epoll, and nothing came since it asked. */
static void a_client_that_asked_before_the_session_waits(void **state)
{
	struct trace_endpoint ep = connection(80, 0, 0);
	struct verdict v;
	struct card c;

	ep.local.port = 40001;
	ep.joined_late = true;
	ep.rx_calls.open_reply_ns = SECOND;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_WAIT);
	assert_int_equal(c.surety, SUSPECTED);
	assert_string_equal(c.why,
			    "webd[7] had sent a request before tracing began, and nothing has come "
			    "since");
	ep.rx_calls.open_reply_ns = 0;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_not_equal(v.outcome, OUTCOME_WAITING);
}

/* A ping each 0.4 s, and its pong at once: the messages of a server that thinks, but few. */
static void a_ping_is_no_answer(void **state)
{
	struct trace_endpoint ep = connection(40001, 2, 4 * (SECOND / 10));
	struct trace_samples samples = { .n = 100 };
	struct verdict v;
	struct card c;

	ep.rx_calls.reply_n = 2;
	judge(&ep, NULL, 1, &v, &c); /* no ping has 100 bytes */
	assert_int_equal(v.kind, KIND_ANSWERS);
	ep.rx_calls.bytes = ep.tx_calls.bytes = 2 * 30;
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.answers.endpoint, -1);
	ep.rx_calls.reply_n = 1; /* the first came by itself */
	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	seen_by_samples(&ep);
	ep.path.sent_segments = 2;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.answers.endpoint, -1);
	samples.fact[TRACE_FACT_UNPROMPTED] = 60;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
}

/* It answers in 50 us, and clients that ask again at once wait for it most of the time. */
static void a_server_under_load_is_not_slow(void **state)
{
	struct trace_endpoint ep = connection(40001, 18000, 50000);
	struct trace_samples samples = { .n = 100 };
	struct verdict v;
	struct card c;

	judge(&ep, NULL, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	seen_by_samples(&ep);
	ep.path.sent_segments = 18000;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.outcome, OUTCOME_HEALTHY);
	ep.path.sent_segments = 18;
	judge(&ep, &samples, 1, &v, &c);
	assert_int_equal(v.kind, KIND_ANSWERS);
	assert_string_equal(c.why,
			    "a request takes 47.4 ms or more on average: 90 % of the samples found "
			    "one that had no answer yet");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_answers_take_long),
		cmocka_unit_test(the_average_is_of_whole_answers),
		cmocka_unit_test(a_server_that_owes_answers_may_pause),
		cmocka_unit_test(a_server_without_a_cpu_is_told_so),
		cmocka_unit_test(a_client_that_was_not_seen_waits_for_its_server),
		cmocka_unit_test(what_the_server_waits_for_comes_first),
		cmocka_unit_test(what_a_pool_waits_for_comes_first),
		cmocka_unit_test(clients_of_one_server_are_added),
		cmocka_unit_test(a_server_under_load_is_not_slow),
		cmocka_unit_test(a_ping_is_no_answer),
		cmocka_unit_test(a_request_without_an_answer_yet_counts),
		cmocka_unit_test(a_request_from_before_the_session_is_suspected),
		cmocka_unit_test(a_client_that_asked_before_the_session_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
