// SPDX-License-Identifier: GPL-2.0-only
#include "remote/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/confine.h"
#include "bench/local_end.h"
#include "bench/shared_mem.h"
#include "remote/admit.h"
#include "remote/counts.h"
#include "remote/remote.h"
#include "remote/wire.h"

#define HELLO_NS   3000000000ULL  /* to introduce itself */
#define SEND_NS	   10000000000ULL /* to take an answer */
#define FIRST_NS   5000000000ULL  /* from being let in to the first question */
#define BETWEEN_NS 20000000000ULL /* between two questions, while the client only computes */
enum { KICK_MS = 2 };
#define MEMORY_MOST ((size_t)256 << 20) /* of one test on this host */

struct served {
	int fd;
	struct bench_options options;
	struct bench_plan plan;
	struct local_end *half; /* of the current point */
	char bind[INET6_ADDRSTRLEN];
	struct address peer;
};

static int reply(struct served *s, json_t *o, struct err *e)
{
	json_object_set_new(o, "ok", json_true());
	return wire_send(s->fd, o, now_ns() + SEND_NS, e);
}

void session_busy(int fd)
{
	static const char why[] =
		"{\"hello\":\"" WIRE_NAME "\",\"ok\":false,\"code\":5,\"why\":\"busy: too many "
		"clients are waiting; try again\"}";
	uint32_t length = htonl(sizeof(why) - 1);
	struct iovec parts[] = { { &length, sizeof(length) }, { (void *)why, sizeof(why) - 1 } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };

	sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
}

static void refuse(int fd, const struct err *why)
{
	struct err ignored = {};

	wire_send(fd,
		  json_pack("{s:s, s:b, s:i, s:s}", "hello", WIRE_NAME, "ok", 0, "code",
			    (int)why->code, "why", why->text),
		  now_ns() + SEND_NS, &ignored);
}

static int unexpected(const char *what, struct err *e)
{
	return err_version(e, "unexpected '%s'; use the same version at both ends", what);
}

/* The data comes to the address at which the client reached this host. A link-local address would
 * need the interface too, so listen at any address then. */
static int addresses(struct served *s, struct err *e)
{
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);
	const struct sockaddr_in6 *in6 = (void *)&own;
	const void *a;

	s->peer.len = sizeof(s->peer.ss);
	if (getsockname(s->fd, (void *)&own, &len) ||
	    getpeername(s->fd, (void *)&s->peer.ss, &s->peer.len))
		return err_sys(e, EXIT_PEER, NULL, "control connection");
	a = own.ss_family == AF_INET6 ? (const void *)&in6->sin6_addr
				      : (const void *)&((struct sockaddr_in *)&own)->sin_addr;
	if (own.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		strcpy(s->bind, "::");
	else
		inet_ntop(own.ss_family, a, s->bind, sizeof(s->bind));
	s->plan.o.v6 = own.ss_family == AF_INET6;
	return 0;
}

/* Give the worker one order, and read its report. A client that sends something meanwhile has left,
 * or is not ipcstall. */
static int obey_one(struct served *s, enum order what, struct err *e)
{
	struct order_msg o = { .order = what };
	struct pollfd p[2] = { { local_end_fd(s->half), POLLIN, 0 }, { s->fd, POLLIN, 0 } };
	int n;

	if (local_end_order(s->half, &o, e))
		return -1;
	do
		n = poll(p, 2,
			 (int)(s->plan.o.timeout / 1000000 < INT32_MAX ? s->plan.o.timeout / 1000000
								       : INT32_MAX));
	while (n < 0 && errno == EINTR);
	if (n > 0 && p[0].revents)
		return local_end_report(s->half, e);
	if (n > 0)
		return err_peer(e, "the client left, or did not wait for its answer");
	return err_peer(e, "the server's worker is silent; run again");
}

static int find_test(const json_t *q, enum test *t, struct err *e)
{
	for (int i = 0; i < TESTS; i++) {
		*t = (enum test)i;
		if (!strcmp(wire_string(q, "test"), test_name(*t)))
			return 0;
	}
	return err_version(e, "unknown test; use the same version at both ends");
}

static int listening_port(const struct served *s)
{
	const struct address *a = &local_end_run(s->half)->sh->server;

	return ntohs(a->ss.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&a->ss)->sin6_port
						 : ((const struct sockaddr_in *)&a->ss)->sin_port);
}

static int fits(const struct served *s, enum test t, int64_t size, struct err *e)
{
	size_t bytes = shared_mem_bytes(&s->plan, t, (size_t)size);

	if (bytes <= MEMORY_MOST)
		return 0;
	return err_resource(e,
			    "this test would take %zu MiB of the server's memory, and a client may "
			    "have %zu; give a smaller --size, --count, --duration or --window",
			    bytes >> 20, MEMORY_MOST >> 20);
}

static int do_open(struct served *s, const json_t *q, struct err *e)
{
	int64_t size;
	enum test t;

	if (s->half)
		return unexpected("open", e);
	if (find_test(q, &t, e) || wire_int(q, "size", 1, 1 << 30, &size, e) ||
	    bench_plan_check_point(&s->plan, t, size, e) || fits(s, t, size, e))
		return -1;
	s->half = local_end_start(&s->plan, t, size, s->bind, e);
	if (!s->half || obey_one(s, ORDER_OPEN, e))
		return -1;
	return reply(s, json_pack("{s:i}", "port", listening_port(s)), e);
}

static int do_accept(struct served *s, const json_t *q, struct err *e)
{
	struct address *client = &local_end_run(s->half)->sh->client;
	int64_t port;

	if (wire_int(q, "port", 0, 65535, &port, e))
		return -1;
	*client = s->peer;
	if (client->ss.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&client->ss)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)&client->ss)->sin_port = htons((uint16_t)port);
	return obey_one(s, ORDER_ACCEPT, e) ? -1 : reply(s, json_object(), e);
}

static int take_done(struct served *s, struct err *e)
{
	json_t *q = wire_recv(s->fd, WIRE_MAX, now_ns() + SEND_NS, e);
	struct shared *sh = local_end_run(s->half)->sh;
	int64_t last, total;
	int rc = -1;

	if (q && strcmp(wire_string(q, "do"), "done"))
		unexpected(wire_string(q, "do"), e);
	else if (q && !wire_int(q, "last", -1, INT64_MAX, &last, e) &&
		 !wire_int(q, "total", -1, INT64_MAX, &total, e))
		rc = 0;
	json_decref(q);
	if (rc)
		return -1;
	sh->last = (uint64_t)last;
	sh->total = (uint64_t)total;
	__atomic_store_n(&sh->done, 1, __ATOMIC_RELEASE);
	return 0;
}

/* May the worker's wait be cut short once the other end has finished? Not if bytes may still be in
 * flight and nothing says how many. */
static bool may_kick(const struct served *s)
{
	const struct run *r = local_end_run(s->half);

	return !(r->w->flags & WL_LOSSY) && r->test != TEST_ONEWAY;
}

/* Wait until the client has said that the phase is over and the worker has reported. */
static int until_over(struct served *s, uint64_t deadline, struct err *e)
{
	struct pollfd p[2] = { { s->fd, POLLIN, 0 }, { local_end_fd(s->half), POLLIN, 0 } };

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		bool kick = p[0].fd < 0 && may_kick(s);
		int n = poll(p, 2, kick ? KICK_MS : 1000);

		if (now_ns() > deadline)
			return err_peer(e,
					"the phase did not end in time; give a longer --timeout");
		if (n == 0 && kick)
			kill(local_end_pid(s->half),
			     SIGALRM); /* an early tick of the worker's slow timer */
		if (n <= 0)
			continue;
		if (p[0].revents && take_done(s, e))
			return -1;
		if (p[1].revents && local_end_report(s->half, e))
			return -1;
		p[0].fd = p[0].revents ? -1 : p[0].fd;
		p[1].fd = p[1].revents ? -1 : p[1].fd;
	}
	return 0;
}

static int send_samples(struct served *s, struct err *e)
{
	const struct run *r = local_end_run(s->half);
	uint64_t n = r->counted[ROLE_SERVER].n;

	if (!r->samples[ROLE_SERVER])
		return 0;
	n = r->plan->o.rate > 0 || n > r->max_samples
		    ? r->max_samples
		    : n; /* on a schedule each sample has its own index */
	for (uint64_t at = 0; at < n; at += REMOTE_SAMPLES_CHUNK) {
		json_t *list = json_array();

		for (uint64_t i = at; i < n && i < at + REMOTE_SAMPLES_CHUNK; i++)
			json_array_append_new(list,
					      json_integer((json_int_t)r->samples[ROLE_SERVER][i]));
		if (reply(s, json_pack("{s:o}", "samples", list), e))
			return -1;
	}
	return n < r->max_samples ? reply(s, json_pack("{s:[]}", "samples"), e) : 0;
}

static int read_phase(const json_t *q, struct phase *p, struct err *e)
{
	int64_t min, max, ns, slice, budget;

	if (wire_int(q, "min", 0, INT64_MAX, &min, e) ||
	    wire_int(q, "max", 1, INT64_MAX, &max, e) ||
	    wire_int(q, "ns", 0, PHASE_MOST_NS, &ns, e) ||
	    wire_int(q, "slice", 0, PHASE_MOST_NS, &slice, e) ||
	    wire_int(q, "budget", 0, INT64_MAX, &budget, e))
		return -1;
	*p = (struct phase){ json_is_true(json_object_get(q, "record")),
			     (uint64_t)min,
			     (uint64_t)max,
			     (uint64_t)ns,
			     (uint64_t)slice,
			     (uint64_t)(budget < PHASE_MOST_NS ? budget : PHASE_MOST_NS) };
	return 0;
}

static int do_phase(struct served *s, const json_t *q, struct err *e)
{
	struct order_msg o = { .order = ORDER_PHASE };
	struct run *r = local_end_run(s->half);

	if (read_phase(q, &o.phase, e))
		return -1;
	local_end_reset(s->half);
	if (local_end_order(s->half, &o, e) || reply(s, json_object(), e) ||
	    until_over(s, now_ns() + o.phase.budget_ns + SEND_NS, e))
		return -1;
	if (counts_take(r, ROLE_SERVER, e) ||
	    reply(s, json_pack("{s:o}", "tally", tally_to_json(r, &r->counted[ROLE_SERVER])), e))
		return -1;
	return send_samples(s, e);
}

static int do_facts(struct served *s, const json_t *q, struct err *e)
{
	struct run *r = local_end_run(s->half);

	if (obey_one(s, ORDER_FACTS, e) || counts_take(r, ROLE_SERVER, e))
		return -1;
	return reply(s, json_pack("{s:o}", "facts", facts_to_json(&r->counted[ROLE_SERVER].facts)),
		     e);
}

static int do_close(struct served *s, const json_t *q, struct err *e)
{
	local_end_stop(s->half, false);
	s->half = NULL;
	return reply(s, json_object(), e);
}

static const struct {
	const char *what;
	bool needs_point;
	int (*fn)(struct served *s, const json_t *q, struct err *e);
} verbs[] = {
	{ "open", false, do_open }, { "accept", true, do_accept }, { "phase", true, do_phase },
	{ "facts", true, do_facts }, { "close", true, do_close },
};

static int answer(struct served *s, const json_t *q, struct err *e)
{
	const char *what = wire_string(q, "do");

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(what, verbs[i].what))
			continue;
		return verbs[i].needs_point && !s->half ? unexpected(what, e)
							: verbs[i].fn(s, q, e);
	}
	return err_version(e, "unknown request; use the same version at both ends");
}

/* True if the client closed the connection: the end of a run, or of the client. */
static bool left(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static int converse(struct served *s, struct err *e)
{
	struct pollfd p = { s->fd, POLLIN, 0 };
	uint64_t patience = FIRST_NS;

	for (;; patience = BETWEEN_NS) {
		json_t *q;
		int rc;

		if (poll(&p, 1, (int)(patience / 1000000)) == 0) {
			err_peer(e, "the client was silent for %llu s",
				 (unsigned long long)(patience / 1000000000));
			refuse(s->fd, e);
			return -1;
		}
		if (left(s->fd))
			return s->half ? err_peer(e, "the client left during the run") : 0;
		q = wire_recv(s->fd, WIRE_MAX, now_ns() + SEND_NS, e);
		rc = q ? answer(s, q, e) : -1;
		json_decref(q);
		if (rc) {
			refuse(s->fd, e);
			return -1;
		}
	}
}

/* The client proves first: a client that does not know the secret learns nothing made with it.
 * `proof`: the server's, for the answer. */
static int prove(struct served *s, const json_t *hello, const struct auth_key *key,
		 char proof[AUTH_HEX], struct err *e)
{
	char challenge[AUTH_HEX], wanted[AUTH_HEX];
	uint64_t deadline = now_ns() + HELLO_NS;
	json_t *a;
	bool same;

	if (!auth_is_hex(wire_string(hello, "nonce")))
		return err_perm(e, "this server requires a secret; give --key with the same FILE "
				   "that it uses");
	if (auth_nonce(challenge, e) ||
	    wire_send(s->fd,
		      json_pack("{s:s, s:b, s:i, s:s}", "hello", WIRE_NAME, "ok", 1, "protocol",
				WIRE_PROTOCOL, "challenge", challenge),
		      deadline, e))
		return -1;
	a = wire_recv(s->fd, WIRE_HELLO_MAX, deadline, e);
	if (!a || auth_proof(key, "client", hello, challenge, wanted, e)) {
		json_decref(a);
		return -1;
	}
	same = auth_same(wire_string(a, "proof"), wanted);
	json_decref(a);
	if (!same)
		return err_perm(
			e, "the client's secret differs; give the same --key FILE at both ends");
	return auth_proof(key, "server", hello, challenge, proof, e);
}

static int take_desk(struct desk *desk, struct err *e)
{
	pid_t owner = 0;

	if (!__atomic_compare_exchange_n(&desk->owner, &owner, getpid(), false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return err_resource(e, "busy: it is running a test for another client; try again "
				       "when that is over");
	__atomic_add_fetch(&desk->served, 1, __ATOMIC_ACQ_REL);
	return 0;
}

static int let_in(struct served *s, const json_t *hello, struct desk *desk,
		  const struct auth_key *key, struct err *e)
{
	char proof[AUTH_HEX] = "";
	struct host_id here;

	if (key->n && prove(s, hello, key, proof, e))
		return -1;
	if (admit(hello, &s->options, &s->plan, e) || addresses(s, e) || take_desk(desk, e) ||
	    confine(s->plan.w->flags & WL_RPC ? MAY_EXEC : MAY_NOTHING, e) ||
	    bench_setup(&s->plan, NULL, e))
		return -1;
	host_read(&here, s->plan.clock.name);
	return reply(s,
		     json_pack("{s:s, s:i, s:o, s:s}", "hello", WIRE_NAME, "protocol",
			       WIRE_PROTOCOL, "host", host_to_json(&here), "proof", proof),
		     e);
}

static void release(struct desk *desk)
{
	pid_t me = getpid();

	__atomic_compare_exchange_n(&desk->owner, &me, 0, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
}

int session_serve(int fd, struct desk *desk, const struct auth_key *key, bool *entered,
		  struct err *e)
{
	struct served s = { .fd = fd };
	json_t *hello;
	int rc = -1;

	*entered = false;
	bench_defaults(&s.options);
	hello = wire_prepare(fd, e) ? NULL : wire_recv(fd, WIRE_HELLO_MAX, now_ns() + HELLO_NS, e);
	if (hello && let_in(&s, hello, desk, key, e) == 0) {
		*entered = true;
		rc = converse(&s, e);
	} else {
		refuse(fd, e);
	}
	json_decref(hello);
	if (s.half)
		local_end_stop(s.half, true);
	bench_teardown(&s.plan);
	opt_free(bench_option_rows, &s.options);
	release(desk);
	return rc;
}
