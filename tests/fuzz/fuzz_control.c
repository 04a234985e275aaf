// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a client's words to a server, from its introduction on. The first byte says whether
 * the server has a secret and whether the bytes come framed; after a byte 0 stands what the
 * server's own worker claims to have counted.
 */
#include <signal.h>

#include "base/confine.h"
#include "bench/bench.h"
#include "remote/auth.h"
#include "remote/wire.h"

static int no_setup(struct bench_plan *plan, const struct far_end_ops *far_end, struct err *e);
static int send_and_drain(int fd, json_t *msg, uint64_t deadline, struct err *e);
static bool any_proof(const char *proof, const char *wanted);
static int not_here(unsigned int may, struct err *e);

/* What a session calls, in its place here: no process is made and no clock calibrated, the answers
 * are read at once, and a secret is taken for known. */
#define bench_setup	no_setup
#define wire_send	send_and_drain
#define auth_same	any_proof
#define confine		not_here

#include "remote/serve.c"

#undef bench_setup
#undef wire_send
#undef auth_same
#undef confine
#include "bench/point_run.h"
#include "fuzz/fuzz.h"

static struct wire_pair wire;
static const uint8_t *counted;
static size_t n_counted;
static int always_ready;

static int no_setup(struct bench_plan *plan, const struct far_end_ops *far_end, struct err *e)
{
	tick_clock_monotonic(&plan->clock, "");
	return 0;
}

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

static int not_here(unsigned int may, struct err *e)
{
	return 0;
}

/* --- the server's own end of the run, without its process --- */
struct local_end {
	struct run run;
};

struct local_end *local_end_start(const struct bench_plan *plan, enum test t, int64_t size,
				  const char *bind, struct err *e)
{
	struct local_end *h = calloc(1, sizeof(*h));
	struct point_run b;

	point_run_init(&b, plan, t, size);
	h->run = b.run;
	if (shared_mem_map(&h->run, e) == 0)
		return h;
	shared_mem_unmap(&h->run);
	free(h);
	return NULL;
}

struct run *local_end_run(struct local_end *h)
{
	return &h->run;
}

pid_t local_end_pid(const struct local_end *h)
{
	return getpid();
}

int local_end_fd(const struct local_end *h)
{
	return always_ready;
}

int local_end_order(struct local_end *h, const struct order_msg *o, struct err *e)
{
	return 0;
}

int local_end_report(struct local_end *h, struct err *e)
{
	struct tally *t = &h->run.sh->tally[ROLE_SERVER];
	size_t n = n_counted < sizeof(*t) ? n_counted : sizeof(*t);

	memcpy(t, counted, n);
	counted += n;
	n_counted -= n;
	return 0;
}

void local_end_reset(struct local_end *h)
{
}

void local_end_stop(struct local_end *h, bool failed)
{
	shared_mem_unmap(&h->run);
	free(h);
}

/* --- */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd[2];

	MUST(pipe(fd) == 0);
	close(fd[1]);
	always_ready = fd[0];
	signal(SIGALRM, SIG_IGN);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct auth_key key = { .v = "0123456789abcdef" };
	struct desk desk = {};
	struct err e = {};
	const uint8_t *claims;
	bool entered;

	if (!size)
		return 0;
	claims = memchr(data + 1, 0, size - 1);
	counted = claims ? claims + 1 : data + size;
	n_counted = (size_t)(data + size - counted);
	key.n = data[0] & 1 ? 16 : 0;
	wire = wire_pair_open(data + 1, (size_t)((claims ? claims : data + size) - data - 1),
			      data[0] & 2);
	if (session_serve(wire.here, &desk, &key, &entered, &e))
		must_be_refusal(&e);
	MUST(!desk.owner);
	wire_pair_close(&wire);
	return 0;
}
