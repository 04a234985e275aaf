// SPDX-License-Identifier: GPL-2.0-only
/* Replaces the server's worker: sends orders as messages, and stores the answers as the worker's
 * counts. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "remote/counts.h"
#include "remote/remote.h"
#include "remote/wire.h"

enum { LISTEN_MS = 100 };

static uint64_t deadline_of(const struct run *r)
{
	return now_ns() + (uint64_t)r->plan->o.timeout;
}

/* Returns the next answer. NULL with the error if it is a refusal, or if none came. */
static json_t *answer(const struct run *r, uint64_t deadline, struct err *e)
{
	json_t *a = wire_recv(r->plan->remote->fd, WIRE_MAX, deadline, e);
	struct err none = {};
	int64_t code = EXIT_PEER;
	char why[500];

	if (!a || json_is_true(json_object_get(a, "ok")))
		return a;
	wire_text(a, "why", why, sizeof(why));
	if (wire_int(a, "code", 1, 130, &code, &none))
		code = EXIT_PEER;
	err_set(e, (enum exit_code)code, "server %s: %s", r->plan->remote->address,
		why[0] ? why : "failed without a reason");
	json_decref(a);
	return NULL;
}

static json_t *ask(const struct run *r, json_t *question, struct err *e)
{
	if (wire_send(r->plan->remote->fd, question, deadline_of(r), e))
		return NULL;
	return answer(r, deadline_of(r), e);
}

static int set_port(struct address *a, const struct remote *to, int64_t port)
{
	a->ss = to->ss;
	a->len = to->len;
	if (a->ss.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&a->ss)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)&a->ss)->sin_port = htons((uint16_t)port);
	return 0;
}

static int port_of(const struct address *a)
{
	if (!a->len)
		return 0;
	return ntohs(a->ss.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&a->ss)->sin6_port
						 : ((const struct sockaddr_in *)&a->ss)->sin_port);
}

static int pass_open(struct run *r, struct err *e)
{
	json_t *a = ask(r,
			json_pack("{s:s, s:s, s:I}", "do", "open", "test", test_name(r->test),
				  "size", (json_int_t)r->size),
			e);
	int64_t port;
	int rc = !a || wire_int(a, "port", 1, 65535, &port, e)
			 ? -1
			 : set_port(&r->sh->server, r->plan->remote, port);

	json_decref(a);
	return rc;
}

static int pass_accept(struct run *r, struct err *e)
{
	json_t *a =
		ask(r, json_pack("{s:s, s:i}", "do", "accept", "port", port_of(&r->sh->client)), e);

	json_decref(a);
	return a ? 0 : -1;
}

/* Wait until this host's end has finished, or until the other host sends something, which it does
 * only if it failed. */
static int until_done(struct run *r, struct err *e)
{
	struct pollfd p = { r->plan->remote->fd, POLLIN, 0 };
	struct timespec while_listening = { 0, LISTEN_MS * 1000000L };

	while (!client_done(r)) {
		if (poll(&p, 1, 0) > 0) {
			json_t *a = answer(r, deadline_of(r), e);

			json_decref(a);
			return a ? err_version(e,
					       "server %s: unexpected answer; use the same version "
					       "at both ends",
					       r->plan->remote->address)
				 : -1;
		}
		syscall(SYS_futex, &r->sh->done, FUTEX_WAIT, 0, &while_listening, NULL, 0);
	}
	return 0;
}

static int take_samples(struct run *r, struct err *e)
{
	uint64_t have = 0;

	while (r->samples[ROLE_SERVER] && have < r->max_samples) {
		json_t *a = answer(r, deadline_of(r), e), *list = json_object_get(a, "samples");
		size_t n = json_array_size(list);

		if (!a)
			return -1;
		for (size_t i = 0; i < n && have < r->max_samples; i++)
			r->samples[ROLE_SERVER][have++] =
				(uint64_t)json_integer_value(json_array_get(list, i));
		json_decref(a);
		if (!n)
			break;
	}
	return 0;
}

static int pass_phase(struct run *r, const struct phase *p, struct err *e)
{
	json_t *a = ask(r,
			json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "do", "phase", "record",
				  p->record, "min", (json_int_t)p->min_count, "max",
				  (json_int_t)(p->max_count > INT64_MAX ? INT64_MAX : p->max_count),
				  "ns", (json_int_t)p->duration_ns, "slice",
				  (json_int_t)p->slice_ns, "budget", (json_int_t)p->budget_ns),
			e);
	int rc;

	json_decref(a);
	if (!a)
		return -1;
	__atomic_store_n(&r->sh->started, 1, __ATOMIC_RELEASE);
	if (until_done(r, e))
		return -1;
	a = ask(r,
		json_pack("{s:s, s:I, s:I}", "do", "done", "last", (json_int_t)r->sh->last, "total",
			  (json_int_t)r->sh->total),
		e);
	rc = a ? tally_from_json(r, r->tally, json_object_get(a, "tally"), e) : -1;
	json_decref(a);
	return rc ? rc : take_samples(r, e);
}

static int pass_facts(struct run *r, struct err *e)
{
	json_t *a = ask(r, json_pack("{s:s}", "do", "facts"), e);
	int rc = a ? facts_from_json(&r->tally->facts, json_object_get(a, "facts"), e) : -1;

	json_decref(a);
	return rc;
}

static int pass(struct run *r, const struct order_msg *o, struct err *e)
{
	switch (o->order) {
	case ORDER_OPEN: return pass_open(r, e);
	case ORDER_ACCEPT: return pass_accept(r, e);
	case ORDER_PHASE: return pass_phase(r, &o->phase, e);
	case ORDER_FACTS: return pass_facts(r, e);
	case ORDER_QUIT: break;
	}
	return 0;
}

void remote_worker_main(struct run *r, int orders, int reports)
{
	struct order_msg o;
	struct err ignored = {};
	json_t *a;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN); /* the runner decides */
	r->tally = &r->sh->tally[ROLE_SERVER];
	while (order_read(orders, &o) && o.order != ORDER_QUIT) {
		struct report_msg m = {};

		m.ok = pass(r, &o, &m.err) == 0;
		if (write(reports, &m, sizeof(m)) != sizeof(m) || !m.ok)
			_exit(1);
	}
	a = ask(r, json_pack("{s:s}", "do", "close"), &ignored);
	json_decref(a);
	_exit(0);
}
