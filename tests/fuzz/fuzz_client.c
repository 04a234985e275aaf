// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a server's words to a client: its answer to the introduction, and then what its end
 * of a run says. The first byte says which run it is, whether there is a secret, and whether the
 * bytes come framed.
 */
#include "remote/auth.h"
#include "remote/wire.h"

static int send_and_drain(int fd, json_t *msg, uint64_t deadline, struct err *e);
static bool any_proof(const char *proof, const char *wanted);

/* A secret is taken for known, and what is sent is read at once. */
#define wire_send send_and_drain
#define auth_same any_proof

#include "remote/client.c"
#include "remote/proxy.c"

#undef wire_send
#undef auth_same
#include "bench/point_run.h"
#include "bench/shared_mem.h"
#include "fuzz/fuzz.h"

static struct wire_pair wire;
static struct memory_file key;

static int send_and_drain(int fd, json_t *msg, uint64_t deadline, struct err *e)
{
	int rc = wire_send(fd, msg, deadline, e);

	wire_pair_drain(wire.there);
	return rc;
}

static bool any_proof(const char *proof, const char *wanted)
{
	return auth_same(proof, wanted) || auth_is_hex(proof);
}

static void check_counts(struct run *r)
{
	const struct tally *t = &r->counted[ROLE_SERVER];
	struct err e = {};

	if (counts_take(r, ROLE_SERVER, &e)) {
		must_be_refusal(&e);
		return;
	}
	MUST(t->n_slices <= MAX_SLICES);
	MUST(memchr(t->facts.cc, 0, sizeof(t->facts.cc)));
}

static void run_point(struct bench_plan *plan, enum test t)
{
	static const enum order orders[] = { ORDER_OPEN, ORDER_ACCEPT, ORDER_PHASE, ORDER_FACTS,
		ORDER_QUIT };
	struct point_run b;
	struct run *r = &b.run;
	struct err e = {};

	point_run_init(&b, plan, t, 64);
	MUST(shared_mem_map(r, &e) == 0);
	r->tally = &r->sh->tally[ROLE_SERVER];
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct order_msg o = { .order = orders[i],
			.phase = { true, 1, 100, 1000, 1000, 1000 } };

		r->sh->done = 1;
		if (pass(r, &o, &e)) {
			must_be_refusal(&e);
			break;
		}
		if (o.order == ORDER_PHASE || o.order == ORDER_FACTS)
			check_counts(r);
	}
	shared_mem_unmap(r);
}

static void converse_with(struct bench_plan *plan, struct remote *r, enum test t)
{
	struct err e = {};

	if (introduce(plan, r, &e)) {
		must_be_refusal(&e);
		return;
	}
	r->shares_clock = host_shares_clock(&r->host, &r->here);
	check_oneway(plan, r, &e);
	json_decref(remote_to_json(r));
	run_point(plan, t);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	key = memory_file_open("0123456789abcdef", 16);
	return 0;
}

static void read_key(const uint8_t *data, size_t size)
{
	struct memory_file m = memory_file_open(data, size);
	static struct auth_key k;
	struct err e = {};

	if (auth_key_read(&k, m.path, &e))
		must_be_refusal(&e);
	else
		MUST(k.n >= AUTH_KEY_LEAST && k.n < AUTH_KEY_MOST);
	memory_file_close(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench_options o = {};
	struct bench_plan plan;
	struct remote r = { .len = sizeof(struct sockaddr_in), .address = "192.0.2.1" };
	struct err e = {};
	enum test t;

	if (!size)
		return 0;
	read_key(data, size);
	t = (enum test)((data[0] >> 2) % TESTS);
	bench_defaults(&o);
	o.connect = strdup("192.0.2.1");
	MUST(opt_set(opt_find(bench_option_rows, "mode"), &o, "tcp", &e) == 0);
	MUST(opt_set(opt_find(bench_option_rows, "count"), &o, "100", &e) == 0);
	o.tests = strdup(test_name(t));
	o.key = data[0] & 1 ? strdup(key.path) : NULL;
	MUST(bench_plan(&o, &plan, &e) == 0);
	tick_clock_monotonic(&plan.clock, "");
	plan.remote = &r;
	wire = wire_pair_open(data + 1, size - 1, data[0] & 2);
	r.fd = wire.here;
	wire_prepare(r.fd, &e);
	converse_with(&plan, &r, t);
	plan.remote = NULL;
	bench_teardown(&plan);
	wire_pair_close(&wire);
	opt_free(bench_option_rows, &o);
	return 0;
}
