// SPDX-License-Identifier: GPL-2.0-only
/* Reads a point from a saved result or sweep. */
#include <math.h>
#include <string.h>

#include "diagnose/observe.h"
#include "verdict/blame.h"

static const char *const role_names[ROLES] = { "client", "server" };

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static const json_t *at(const json_t *o, const char *a, const char *b)
{
	return json_object_get(json_object_get(o, a), b);
}

static bool says(const json_t *o, const char *key, const char *value)
{
	return !strcmp(json_string_value(json_object_get(o, key)) ?: "", value);
}

static struct seen_point seen_of(const json_t *p)
{
	const json_t *noise = json_object_get(p, "noise"), *ledger = json_object_get(p, "ledger"),
		     *info = json_object_get(at(p, "socket", "client"), "tcp_info");
	enum test test = says(p, "test", test_name(TEST_THROUGHPUT)) ? TEST_THROUGHPUT
								      : TEST_LATENCY;
	struct seen_point out = {
		.size = json_integer_value(json_object_get(p, "size")),
		.cost_ns = cost_of_message(test, number(json_object_get(p, "latency"), "mean"),
					   number(p, "messages"), number(p, "sent"),
					   number(p, "elapsed_ns")),
		.messages = number(p, "messages"),
		.sent = number(p, "sent"),
		.lost = number(p, "lost"),
		.elapsed_ns = number(p, "elapsed_ns"),
		.competing = number(noise, "competing_ns") / number(noise, "window_ns") /
			     number(noise, "cpus"),
		.one_cpu = says(p, "placement", "same"),
		.busy_us = number(info, "busy_us"),
		.rwnd_limited_us = number(info, "rwnd_limited_us"),
		.traced = json_is_object(ledger),
		.same_run = isnan(number(ledger, "cost_ratio")),
	};

	for (int i = 0; i < ROLES; i++) {
		const json_t *u = at(p, "process", role_names[i]);

		out.end[i] = (struct seen_end){
			.pid = (int)json_integer_value(json_object_get(u, "pid")),
			.cpu_ns = (number(u, "user_us") + number(u, "system_us")) * 1e3,
			.run_delay_ns = number(u, "run_delay_ns"),
		};
	}
	return out;
}

/* The sending end. A pipe has one ledger for both ends, so the writer's pid tells. */
static enum role sender_of(const json_t *p, const json_t *ep, bool pipe)
{
	double server = number(at(p, "process", "server"), "pid");

	if (!pipe && json_is_string(json_object_get(ep, "role")))
		return says(ep, "role", "server") ? ROLE_SERVER : ROLE_CLIENT;
	return number(at(ep, "beside", "tx"), "pid") == server ? ROLE_SERVER : ROLE_CLIENT;
}

static void see_blame(const json_t *list, struct seen_state tx[TX_N])
{
	size_t i;
	const json_t *b;

	json_array_foreach (list, i, b)
		for (unsigned int c = 0; c < TX_N; c++) {
			if (!says(b, "state", trace_tx_names[c]))
				continue;
			if (says(b, "by", blame_names[BLAME_PEER_DELACK]))
				tx[c].delack_ns += number(b, "ns");
			else if (says(b, "by", blame_names[BLAME_PEER_READER]))
				tx[c].unread_ns += number(b, "ns");
		}
}

static void see_endpoint(const json_t *p, const json_t *ep, struct seen_endpoint *out)
{
	const json_t *tx = json_object_get(ep, "tx"), *beside = json_object_get(ep, "beside");
	bool pipe = says(ep, "role", "pipe");

	*out = (struct seen_endpoint){
		.sender = sender_of(p, ep, pipe),
		.pipe = pipe,
		.peer_seen = json_integer_value(json_object_get(ep, "peer")) >= 0,
		.pid = (int)json_integer_value(json_object_get(ep, "pid")),
		.lifetime_ns = number(tx, "lifetime_ns"),
		.rcvbuf = number(json_object_get(beside, "drops"), "rcvbuf"),
		.qdisc = number(json_object_get(beside, "drops"), "qdisc"),
		.tx_runq_ns = number(json_object_get(beside, "tx"), "runq_ns"),
		.rx_runq_ns = number(json_object_get(beside, "rx"), "runq_ns"),
	};
	snprintf(out->comm, sizeof(out->comm), "%.15s",
		 json_string_value(json_object_get(ep, "comm")) ?: "");
	for (unsigned int c = 0; c < TX_N; c++) {
		const json_t *state = at(tx, "states", trace_tx_names[c]);

		out->tx[c].ns = number(state, "ns");
		out->tx[c].count = number(state, "count");
		out->tx[c].max_ns = number(state, "max_ns");
	}
	see_blame(json_object_get(ep, "blame"), out->tx);
}

int observe_saved(const json_t *p, struct diag_round *out)
{
	struct seen_point seen = seen_of(p);
	struct observation o;
	const json_t *ep;
	size_t i;

	observe_begin(&o, &seen, out);
	json_array_foreach (at(p, "ledger", "endpoints"), i, ep) {
		struct seen_endpoint e;

		see_endpoint(p, ep, &e);
		observe_endpoint(&o, &e);
	}
	return observe_end(&o);
}
