// SPDX-License-Identifier: GPL-2.0-only
/* The exporter without a kernel and without a network: sums that never fall, few series, exact
 * text, what is no request. */
#include <arpa/inet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "export/groups.h"
#include "export/http.h"
#include "export/metrics.h"
#include "tracer/closed_sums.h"

#define S 1000000000ull

static bool path_of(uint64_t id, char *buf, size_t size)
{
	snprintf(buf, size, "/system.slice/s%d.service/deeper", (int)id);
	return id < 1000;
}

static struct trace_endpoint endpoint(uint64_t serial, const char *comm, uint64_t cgroup)
{
	struct trace_endpoint ep = { .serial = serial, .proto = TRACE_TCP, .peer = -1,
		.born_ns = 5 * S, .at_ns = 10 * S };

	ep.tx_calls.tgid = ep.rx_calls.tgid = 7;
	ep.tx_calls.cgroup_id = ep.rx_calls.cgroup_id = cgroup;
	snprintf(ep.tx_calls.comm, sizeof(ep.tx_calls.comm), "%s", comm);
	snprintf(ep.rx_calls.comm, sizeof(ep.rx_calls.comm), "%s", comm);
	ep.tx.resolution[TX_NAGLE] = TRACE_BOUNDED;
	ep.tx_calls.bytes_res = ep.tx_calls.blocked_res = ep.tx_calls.runq_res = TRACE_EXACT;
	ep.rx_calls.bytes_res = ep.rx_calls.blocked_res = ep.rx_calls.runq_res = TRACE_EXACT;
	return ep;
}

static void add(struct groups *g, uint64_t at, const struct trace_endpoint *v, size_t n)
{
	struct trace_snapshot s = { .at_ns = at, .n = n, .ep = malloc((n + 1) * sizeof(*v)) };

	if (n)
		memcpy(s.ep, v, n * sizeof(*v));
	assert_int_equal(groups_add(g, &s), 0);
	trace_snapshot_free(&s);
}

static void sums_never_fall(void **state)
{
	struct trace_endpoint v[2] = { endpoint(1, "web", 1), endpoint(2, "web", 1) };
	struct groups g;

	assert_int_equal(groups_init(&g, 10, 2, path_of), 0);
	v[0].tx.ns[TX_NAGLE] = S;
	v[0].tx_calls.bytes = 100;
	v[1].tx.ns[TX_NAGLE] = 2 * S;
	add(&g, 10 * S, v, 2);
	assert_int_equal(g.n, 1);
	assert_string_equal(g.v[0].process, "web");
	assert_string_equal(g.v[0].cgroup, "/system.slice/s1.service");
	assert_int_equal(g.v[0].tx_ns[TX_NAGLE], 3 * S);
	assert_int_equal(g.v[0].endpoints, 2);
	v[0].tx_calls.open_sleep_ns = 9 * S; /* is counted once, when it has ended */
	v[0].tx.ns[TX_NAGLE] += S;
	v[0].closed = true; /* its last words are counted */
	add(&g, 11 * S, v, 2);
	assert_int_equal(g.v[0].tx_ns[TX_NAGLE], 4 * S);
	assert_int_equal(g.v[0].endpoints, 1);
	add(&g, 12 * S, v + 1, 1); /* and stay when it is gone */
	assert_int_equal(g.v[0].tx_ns[TX_NAGLE], 4 * S);
	v[1].tx.ns[TX_NAGLE] -= S; /* a correction */
	add(&g, 13 * S, v + 1, 1);
	assert_int_equal(g.v[0].tx_ns[TX_NAGLE], 4 * S);
	add(&g, 14 * S, NULL, 0);
	assert_int_equal(g.v[0].tx_ns[TX_NAGLE], 4 * S);
	assert_int_equal(g.v[0].sent_bytes.sum, 100);
	assert_int_equal(g.v[0].blocked_ns.sum, 0);
	assert_int_equal(g.v[0].endpoints, 0);
	groups_free(&g);
}

/* An endpoint that another program takes over: what it did before stays with the first. */
static void handed_over(void **state)
{
	struct trace_endpoint v = endpoint(1, "parent", 1);
	struct groups g;

	assert_int_equal(groups_init(&g, 10, 2, path_of), 0);
	v.tx_calls.bytes = 1000;
	add(&g, 10 * S, &v, 1);
	snprintf(v.tx_calls.comm, sizeof(v.tx_calls.comm), "child");
	v.tx_calls.bytes = 1500;
	add(&g, 11 * S, &v, 1);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.v[0].sent_bytes.sum, 1000);
	assert_string_equal(g.v[1].process, "child");
	assert_int_equal(g.v[1].sent_bytes.sum, 500);
	groups_free(&g);
}

static void few_series(void **state)
{
	struct trace_endpoint v[50];
	struct groups g;
	char name[16];
	uint64_t sum = 0;

	assert_int_equal(groups_init(&g, 10, 2, path_of), 0);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		v[i] = endpoint((uint64_t)i + 1, name, 1);
		v[i].tx_calls.bytes = 1;
	}
	add(&g, 10 * S, v, 50);
	assert_int_equal(g.n, 10);
	assert_int_equal(g.folded, 40);
	assert_int_equal(g.other[TRACE_TCP].sent_bytes.sum, 40);
	add(&g, 11 * S, v, 50);
	assert_int_equal(g.folded, 40); /* the same ones are counted once */
	for (int i = 0; i < 50; i++)
		v[i].at_ns = 11 * S + 700 * S; /* but the first ten ended long ago */
	add(&g, 12 * S + 700 * S, v + 10, 40);
	assert_int_equal(g.retired, 0); /* at the last reading they were still there */
	add(&g, 13 * S + 700 * S, v + 10, 40);
	assert_int_equal(g.retired, 10);
	for (size_t i = 0; i < g.n; i++)
		sum += g.v[i].endpoints;
	assert_int_equal(sum + g.other[TRACE_TCP].endpoints, 40);
	assert_int_equal(sum, 10);
	groups_free(&g);
}

/* However far apart the readings are, a program that has endpoints makes room for no other. */
static void the_living_stay(void **state)
{
	struct trace_endpoint v[4];
	struct groups g;
	char name[16];

	assert_int_equal(groups_init(&g, 3, 2, path_of), 0);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		v[i] = endpoint((uint64_t)i + 1, name, 1);
	}
	add(&g, 10 * S, v + 1, 3);
	for (int i = 0; i < 4; i++)
		v[i].at_ns = 100 * S;
	add(&g, 100 * S, v, 4); /* the new one comes first */
	assert_int_equal(g.retired, 0);
	assert_int_equal(g.other[TRACE_TCP].endpoints, 1);
	groups_free(&g);
}

static char *text_of(struct groups *g, bool openmetrics)
{
	struct exporter_state e = { .version = "1", .git = "a\"b\\c\nd", .backend = "rawtp",
		.cpu_ns = 1500000001, .scrapes = 3 };
	struct exposition x = { .openmetrics = openmetrics };
	char *text;

	metrics_write(&x, g, &e);
	assert_false(x.failed);
	text = strndup(x.text, x.n);
	expo_free(&x);
	return text;
}

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%.3000s", line, text);
}

/* the sums of endpoints no longer kept, as a session gives them with a snapshot */
static void add_with_rest(struct groups *g, uint64_t at, const struct trace_endpoint *v, size_t n,
			  const struct trace_endpoint *tcp, uint64_t dropped)
{
	struct trace_snapshot s = { .at_ns = at, .n = n, .ep = calloc(n + 1, sizeof(*v)),
		.counters.dropped = dropped };
	struct trace_detail *own;

	s.rest = closed_sums_new();
	own = s.rest[TRACE_TCP].detail;
	s.rest[TRACE_TCP] = *tcp;
	s.rest[TRACE_TCP].detail = own;
	for (size_t i = 0; i < n; i++)
		s.ep[i] = v[i];
	assert_int_equal(groups_add(g, &s), 0);
}

static void what_ended_without_a_row_counts(void **state)
{
	struct trace_endpoint v[2] = { endpoint(1, "web", 1), endpoint(2, "web", 1) },
			      rest = endpoint(0, "", 0);
	struct groups g;
	char *text;

	assert_int_equal(groups_init(&g, 10, 2, path_of), 0);
	v[0].tx_calls.bytes = v[1].tx_calls.bytes = 100;
	v[0].tx.ns[TX_NAGLE] = S;
	v[0].tx.lifetime_ns = 2 * S;
	add(&g, 10 * S, v, 2);
	rest.tx_calls.bytes = 150 + 7; /* the first one, which had sent 50 more, and another that
					  came and went between the two */
	rest.tx.ns[TX_NAGLE] = 3 * S;
	rest.tx.lifetime_ns = 5 * S;
	rest.rx_calls.tgid = rest.tx_calls.tgid = 0;
	add_with_rest(&g, 11 * S, v + 1, 1, &rest, 2);
	assert_int_equal(g.v[0].sent_bytes.sum, 200);
	assert_int_equal(g.other[TRACE_TCP].sent_bytes.sum, 57);
	assert_int_equal(g.other[TRACE_TCP].tx_ns[TX_NAGLE], 2 * S);
	assert_int_equal(g.stalls[TRACE_TCP][TX_NAGLE].ns, 3 * S);
	add_with_rest(&g, 12 * S, v + 1, 1, &rest, 2); /* nothing came */
	assert_int_equal(g.other[TRACE_TCP].sent_bytes.sum, 57);
	rest.tx_calls.bytes += 1000;
	rest.tx.lifetime_ns += S;
	add_with_rest(&g, 13 * S, v + 1, 1, &rest, 3);
	assert_int_equal(g.other[TRACE_TCP].sent_bytes.sum, 1057);
	text = text_of(&g, true);
	has(text, "ipcstall_dropped_endpoints_total 3\n");
	has(text, "ipcstall_bytes_total{process=\"other\",cgroup=\"other\",proto=\"tcp\",direction="
		  "\"sent\"} 1057\n");
	free(text);
	groups_free(&g);
}

/* Back after a long time, a writer's group does not make room for the group of its own reader. */
static void both_halves_keep_their_groups(void **state)
{
	struct trace_endpoint v[2];
	struct groups g;

	assert_int_equal(groups_init(&g, 2, 2, path_of), 0);
	v[0] = endpoint(1, "old", 1);
	v[1] = endpoint(2, "older", 1);
	v[0].closed = v[1].closed = true;
	add(&g, 10 * S, v, 2);
	assert_int_equal(g.n, 2);
	v[0] = endpoint(3, "old", 1);
	snprintf(v[0].rx_calls.comm, sizeof(v[0].rx_calls.comm), "new");
	v[0].at_ns = 800 * S;
	v[0].born_ns = 799 * S;
	v[0].tx_calls.bytes = 3;
	v[0].rx_calls.bytes = 4;
	add(&g, 800 * S, v, 1);
	assert_string_equal(g.v[0].process, "old");
	assert_string_equal(g.v[1].process, "new");
	assert_int_equal(g.v[0].sent_bytes.sum, 3);
	assert_int_equal(g.v[1].received_bytes.sum, 4);
	groups_free(&g);
}

static void unknown_names(void **state)
{
	struct trace_endpoint v = endpoint(1, "x", 5000);
	struct groups g;

	assert_int_equal(groups_init(&g, 10, 0, path_of), 0);
	add(&g, 10 * S, &v, 1);
	assert_string_equal(g.v[0].cgroup, "");
	groups_free(&g);
	assert_int_equal(groups_init(&g, 10, 9, path_of), 0);
	v.tx_calls.tgid = v.rx_calls.tgid = 0;
	add(&g, 10 * S, &v, 1);
	assert_string_equal(g.v[0].process, "unknown");
	assert_string_equal(g.v[0].cgroup, "unknown");
	groups_free(&g);
}

static void the_text(void **state)
{
	struct trace_detail detail = {};
	struct trace_endpoint v = endpoint(1, "we\"b", 1);
	struct groups g;
	char *text;

	v.detail = &detail;
	assert_int_equal(groups_init(&g, 10, 8, path_of), 0);
	v.tx.ns[TX_NAGLE] = 123456789012345678ull; /* more than a double holds */
	detail.tx_hist[TX_NAGLE][0] = 2;
	detail.tx_hist[TX_NAGLE][16] = 5;
	detail.tx_hist[TX_NAGLE][23] = 1;
	add(&g, 10 * S, &v, 1);
	text = text_of(&g, true);
	has(text, "# TYPE ipcstall_stall_seconds counter\n");
	has(text, "ipcstall_stall_seconds_total{process=\"we\\\"b\",cgroup=\"/system.slice/"
		  "s1.service/deeper\",proto=\"tcp\",cause=\"nagle\"} "
		  "123456789.012345678\n");
	has(text, "ipcstall_stall_duration_seconds_bucket{proto=\"tcp\",cause=\"nagle\",le=\"1e-"
		  "06\"} 2\n");
	has(text, "ipcstall_stall_duration_seconds_bucket{proto=\"tcp\",cause=\"nagle\",le=\"0."
		  "032768\"} 2\n");
	has(text, "ipcstall_stall_duration_seconds_bucket{proto=\"tcp\",cause=\"nagle\",le=\"0."
		  "065536\"} 7\n");
	has(text, "ipcstall_stall_duration_seconds_bucket{proto=\"tcp\",cause=\"nagle\",le=\"+"
		  "Inf\"} 8\n");
	has(text, "ipcstall_stall_duration_seconds_count{proto=\"tcp\",cause=\"nagle\"} 8\n");
	has(text, "# TYPE ipcstall_build "
		  "info\nipcstall_build_info{version=\"1\",revision=\"a\\\"b\\\\c\\nd\",backend="
		  "\"rawtp\"} 1\n");
	has(text, "process_cpu_seconds_total 1.500000001\n");
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	assert_null(
		strstr(text, "deeper\",proto=\"tcp\",cause=\"rwnd\"} ")); /* its resolution is
									     unknown: it is not 0 */
	free(text);
	text = text_of(&g, false);
	has(text, "# TYPE ipcstall_stall_seconds_total counter\n");
	has(text, "# TYPE ipcstall_build_info gauge\n");
	assert_null(strstr(text, "# EOF"));
	free(text);
	groups_free(&g);
}

/* Whose other end is seen has its stall in a ledger of its own; what came five times in six is no
 * accident. */
static void senders_elsewhere_that_waited(void **state)
{
	struct trace_endpoint v[3] = { endpoint(1, "srv", 1), endpoint(2, "srv", 1),
		endpoint(3, "srv", 1) };
	struct groups g;
	char *text;

	assert_int_equal(groups_init(&g, 10, 8, path_of), 0);
	add(&g, 9 * S, v, 3);
	text = text_of(&g, true);
	assert_null(
		strstr(text, "ipcstall_withheld_ack_seconds_total{")); /* the timer's fires are not
									  seen: it is not 0 */
	free(text);
	for (int i = 0; i < 3; i++) {
		v[i].delack_res = TRACE_BOUNDED;
		v[i].delack_fires = 6;
		v[i].answers = (struct trace_answers){ .n = 5,
						       .ns = 200000000,
						       .since_fired = { 500, 50100 },
						       .since_owed = { 200500, 8050000000 } };
	}
	v[1].paired = true;
	v[2].delack_fires = 60;
	add(&g, 10 * S, v, 3);
	v[0].answers.ns += 40000000;
	v[0].answers.n++;
	v[0].delack_fires++;
	add(&g, 11 * S, v, 3);
	text = text_of(&g, true);
	has(text, "ipcstall_withheld_ack_seconds_total{process=\"srv\",cgroup=\"/system.slice/"
		  "s1.service/deeper\",proto=\"tcp\"} 0.240000000\n");
	free(text);
	groups_free(&g);
}

#define OF_SPLICER "{process=\"splicer\",cgroup=\"/system.slice/s1.service/deeper\",proto=\"tcp\","

/* a sum that lacks some is no figure */
static void unseen_calls_are_not_counted(void **state)
{
	struct trace_endpoint v = endpoint(1, "splicer", 1);
	struct groups g;
	char *text;

	assert_int_equal(groups_init(&g, 10, 8, path_of), 0);
	v.tx_calls.bytes = v.rx_calls.bytes = 4096;
	v.rx_calls.bytes_res = TRACE_BOUNDED;
	v.rx_calls.blocked_res = v.rx_calls.runq_res = TRACE_UNKNOWN;
	add(&g, 10 * S, &v, 1);
	text = text_of(&g, true);
	has(text, "ipcstall_bytes_total" OF_SPLICER "direction=\"received\"} 4096\n");
	has(text, "ipcstall_messages_total" OF_SPLICER "direction=\"sent\"} 0\n");
	assert_null(strstr(text, "ipcstall_messages_total" OF_SPLICER "direction=\"received\""));
	assert_null(strstr(text, "ipcstall_runqueue_seconds_total{process=\"splicer\""));
	free(text);
	groups_free(&g);
}

static void requests(void **state)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {
		{ "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200 },
		{ "GET /metrics HTTP/1.0\r\n\r\n", 200 },
		{ "HEAD /metrics?a=b HTTP/1.1\nhost: x\n\n", 200 },
		{ "GET /metrics HTTP/1.1\r\nHost: x\r\n", 0 },
		{ "GET /metrics HTTP/1.1\r\n", 0 },
		{ "GET", 0 },
		{ "", 0 },
		{ "GET /metrics HTTP/1.1\r\n\r\n", 400 },
		{ "POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405 },
		{ "BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n", 405 },
		{ "GET /metrics HTTP/2.0\r\nHost: x\r\n\r\n", 505 },
		{ "GET /metrics HTTP/1.7\r\nHost: x\r\n\r\n", 505 },
		{ "GET /metrics\r\n\r\n", 400 },
		{ "GET metrics HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
		{ "GET  /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
		{ "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
		{ "G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nno colon\r\nHost: x\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n: empty\r\nHost: x\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\r\nA\001: b\r\n\r\n", 400 },
		{ "\r\n\r\n", 400 },
		{ "\026\003\001\002\r\n\r\n", 400 }, /* TLS */
	};
	struct http_request q;
	char big[HTTP_HEAD_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (http_parse(rows[i].text, strlen(rows[i].text), &q) != rows[i].status)
			fail_msg("'%s' is not %d", rows[i].text, rows[i].status);
	http_parse(rows[2].text, strlen(rows[2].text), &q);
	assert_true(q.head);
	assert_string_equal(q.path, "/metrics");
	memset(big, 'a', sizeof(big));
	assert_int_equal(http_parse(big, sizeof(big), &q), 431);
	memcpy(big, "GET /", 5);
	memcpy(big + 1000, " HTTP/1.0\r\n\r\n", 13);
	assert_int_equal(http_parse(big, 1013, &q), 400); /* a path that is too long */
	http_parse("GET / HTTP/1.0\r\nAccept: text/plain, "
		   "application/OpenMetrics-text;version=1.0.0;q=0.5\r\n\r\n",
		   86, &q);
	assert_true(q.openmetrics);
}

/* Every beginning of a request, and every byte of it changed: never a crash, never a yes to half a
 * request. */
static void requests_in_pieces(void **state)
{
	static const char whole[] = "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
	struct http_request q;

	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		assert_int_equal(http_parse(whole, n, &q), 0);
	for (size_t i = 0; i < sizeof(whole) - 1; i++)
		for (int c = 0; c < 256; c++) {
			char *changed = strdup(whole);

			changed[i] = (char)c;
			http_parse(changed, sizeof(whole) - 1, &q);
			assert_true(memchr(q.path, 0, sizeof(q.path)) != NULL);
			free(changed);
		}
}

static void labels_never_overflow(void **state)
{
	char labels[64], long_value[300];

	memset(long_value, '"', sizeof(long_value));
	long_value[sizeof(long_value) - 1] = '\0';
	for (size_t size = 16; size <= sizeof(labels); size++) {
		labels[0] = '\0';
		label_add(labels, size, "name", long_value);
		assert_true(strlen(labels) < size);
		assert_int_equal(labels[strlen(labels) - 1], '"');
	}
}

/* ---- row 9 of docs/SECURITY.md ---- */

static void handle_ok(void *ctx, const struct http_request *q, struct http_reply *r)
{
	*r = (struct http_reply){ .status = 200, .type = "text/plain", .body = "figures", .n = 7 };
}

static struct http_server *server_on(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct http_server *s;
	struct err e = {};
	char where[32];

	assert_int_equal(bind(fd, (void *)&a, sizeof(a)), 0); /* a free port */
	assert_int_equal(getsockname(fd, (void *)&a, &len), 0);
	close(fd);
	*port = ntohs(a.sin_port);
	snprintf(where, sizeof(where), "127.0.0.1:%u", *port);
	s = http_listen(where, &e);
	assert_non_null(s);
	return s;
}

static int client_of(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (void *)&a, sizeof(a)), 0);
	return fd;
}

static void serve_for(struct http_server *s, int ms)
{
	http_serve(s, now_ns() + (uint64_t)ms * 1000000, handle_ok, NULL);
}

static void row9_slow_clients_make_room_for_the_scraper(void **state)
{
	static const char ask[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	int slow[HTTP_CLIENTS + 20], scraper;
	char got[512] = "";
	uint16_t port;
	struct http_server *s = server_on(&port);

	for (int i = 0; i < HTTP_CLIENTS + 20; i++) {
		slow[i] = client_of(port);
		if (i % 16 == 15)
			serve_for(s, 30);
	}
	serve_for(s, HTTP_PLACE_MS + 50);
	scraper = client_of(port);
	assert_int_equal(send(scraper, ask, sizeof(ask) - 1, 0), sizeof(ask) - 1);
	serve_for(s, 100);
	assert_true(recv(scraper, got, sizeof(got) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(got, "200 OK"));
	close(scraper);
	for (int i = 0; i < HTTP_CLIENTS + 20; i++)
		close(slow[i]);
	http_close(s);
}

static uint64_t cpu_ns_used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
}

static void row9_out_of_descriptors_it_rests(void **state)
{
	struct rlimit usual, few;
	uint16_t port;
	struct http_server *s = server_on(&port);
	int waiting = client_of(port);
	uint64_t before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	few = (struct rlimit){
		(rlim_t)waiting + 1, usual.rlim_max
	}; /* all below are taken, but for what accept() would have */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	before = cpu_ns_used();
	serve_for(s, 1000);
	before = cpu_ns_used() - before;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	assert_true(before < S / 5);
	serve_for(s, HTTP_REST_MS + 100);
	close(waiting);
	http_close(s);
}

static void row9_names_that_never_stalled_go_first(void **state)
{
	struct trace_endpoint v[11];
	struct groups g;
	char name[16];

	assert_int_equal(groups_init(&g, 10, 2, path_of), 0);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		v[i] = endpoint((uint64_t)i + 1, name, 1);
		v[i].closed = true;
		v[i].tx.ns[TX_NAGLE] = i == 0 ? S : 0;
	}
	add(&g, 10 * S, v, 10);
	v[10] = endpoint(11, "honest", 1);
	v[10].at_ns = 32 * S;
	add(&g, 32 * S, v + 10, 1);
	assert_int_equal(g.retired, 1);
	assert_int_equal(g.other[TRACE_TCP].endpoints, 0);
	assert_string_equal(g.v[0].process, "p0"); /* it stalled, and stays */
	groups_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_never_fall),
		cmocka_unit_test(handed_over),
		cmocka_unit_test(few_series),
		cmocka_unit_test(the_living_stay),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(what_ended_without_a_row_counts),
		cmocka_unit_test(the_text),
		cmocka_unit_test(senders_elsewhere_that_waited),
		cmocka_unit_test(unseen_calls_are_not_counted),
		cmocka_unit_test(requests),
		cmocka_unit_test(requests_in_pieces),
		cmocka_unit_test(labels_never_overflow),
		cmocka_unit_test(both_halves_keep_their_groups),
		cmocka_unit_test(row9_slow_clients_make_room_for_the_scraper),
		cmocka_unit_test(row9_out_of_descriptors_it_rests),
		cmocka_unit_test(row9_names_that_never_stalled_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
