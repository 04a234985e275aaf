// SPDX-License-Identifier: GPL-2.0-only
#include "diagnose/observe.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

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

static double cost_of(const json_t *p)
{
	bool bulk = !strcmp(json_string_value(json_object_get(p, "test")) ?: "",
			    test_name(TEST_THROUGHPUT));

	return cost_of_message(bulk ? TEST_THROUGHPUT : TEST_LATENCY,
			       number(json_object_get(p, "latency"), "mean"), number(p, "messages"),
			       number(p, "sent"), number(p, "elapsed_ns"));
}

/* How long an end was ready to run and had no CPU; on one CPU the other end has it part of that
 * time, and is at work. NaN: unknown. */
static double kept_off(const json_t *p, enum role role, double elapsed, const struct diag_round *r)
{
	double own = number(at(p, "process", role_names[role]), "run_delay_ns") / elapsed -
		     (r->one_cpu ? r->cpu[!role] : 0);

	return own < 0 ? 0 : own;
}

static void observe_machine(const json_t *p, double elapsed, struct diag_round *r)
{
	const json_t *noise = json_object_get(p, "noise");
	double window = number(noise, "window_ns");

	for (int i = 0; i < ROLES; i++) {
		const json_t *u = at(p, "process", role_names[i]);

		r->cpu[i] = (number(u, "user_us") + number(u, "system_us")) * 1e3 / elapsed;
		r->who[i].pid = (int)json_integer_value(json_object_get(u, "pid"));
	}
	for (int i = 0; i < ROLES; i++)
		r->delay[i] = kept_off(p, (enum role)i, elapsed, r);
	r->competing = number(noise, "competing_ns") / window / number(noise, "cpus");
}

/* The end that sends through this endpoint. A pipe has one ledger for both: its writer's pid tells.
 */
static enum role sender_of(const json_t *p, const json_t *ep)
{
	const char *role = json_string_value(json_object_get(ep, "role"));
	double server = number(at(p, "process", "server"), "pid");

	if (role && strcmp(role, "pipe"))
		return strcmp(role, "server") ? ROLE_CLIENT : ROLE_SERVER;
	return number(at(ep, "beside", "tx"), "pid") == server ? ROLE_SERVER : ROLE_CLIENT;
}

static void observe_state(const json_t *state, double whole, struct diag_wait *w)
{
	w->share += number(state, "ns") / whole;
	w->count += number(state, "count");
	w->max_ns = fmax(w->max_ns, number(state, "max_ns"));
}

static void observe_blame(const json_t *list, double whole, struct diag_wait waits[TX_N])
{
	size_t i;
	const json_t *b;

	json_array_foreach (list, i, b) {
		const char *state = json_string_value(json_object_get(b, "state")),
			   *by = json_string_value(json_object_get(b, "by"));

		for (unsigned int c = 0; state && by && c < TX_N; c++) {
			if (strcmp(state, trace_tx_names[c]))
				continue;
			if (!strcmp(by, blame_names[BLAME_PEER_DELACK]))
				waits[c].delack += number(b, "ns") / whole;
			else if (!strcmp(by, blame_names[BLAME_PEER_READER]))
				waits[c].unread += number(b, "ns") / whole;
		}
	}
}

static void name_party(const json_t *ep, struct diag_party *who)
{
	const json_t *comm = json_object_get(ep, "comm");
	int pid = (int)json_integer_value(json_object_get(ep, "pid"));

	if (pid)
		who->pid = pid;
	if (json_is_string(comm)) {
		snprintf(who->comm, sizeof(who->comm), "%.15s", json_string_value(comm));
		text_clean(who->comm, sizeof(who->comm));
	}
}

static void observe_drops(const json_t *ep, double sent, struct diag_round *r)
{
	const json_t *d = at(ep, "beside", "drops");
	double by[2] = { number(d, "rcvbuf"), number(d, "qdisc") };

	for (int i = 0; i < 2; i++)
		if (!isnan(by[i]) && sent > 0)
			r->drops[i] = (isnan(r->drops[i]) ? 0 : r->drops[i]) + by[i] / sent;
}

/* How long this endpoint's reader, woken, was not yet on a CPU, where that is all that is known. A
 * pipe's reader is the other end's process. */
static void observe_delay(const json_t *ep, enum role sender, double whole, struct diag_round *r,
			  double seen[ROLES])
{
	double runq = number(at(ep, "beside", "rx"), "runq_ns");
	bool pipe = !strcmp(json_string_value(json_object_get(ep, "role")) ?: "", "pipe");
	enum role reader = pipe ? (enum role) !sender : sender;

	if (isnan(runq))
		return;
	seen[reader] = (isnan(seen[reader]) ? 0 : seen[reader]) + runq / whole;
	r->delay[reader] =
		isnan(r->delay[reader]) ? seen[reader] : fmax(seen[reader], r->delay[reader]);
}

/* How long its writer, woken in a call, was not yet on a CPU: that is part of the state it woke
 * from. */
static void observe_woken(const json_t *ep, enum role sender, double whole, struct diag_round *r)
{
	double runq = number(at(ep, "beside", "tx"), "runq_ns");

	if (!isnan(runq))
		r->woken[sender] += runq / whole;
}

static bool stalled(const json_t *states)
{
	for (unsigned int c = 0; c < TX_N; c++)
		if (tx_is_stall(c) && number(json_object_get(states, trace_tx_names[c]), "ns") > 0)
			return true;
	return false;
}

static void observe_endpoint(const json_t *p, const json_t *ep, double whole, struct diag_round *r,
			     double delay[ROLES])
{
	const json_t *states = at(ep, "tx", "states");
	enum role role = sender_of(p, ep);
	double length = fmax(whole, number(json_object_get(ep, "tx"), "lifetime_ns"));

	for (unsigned int c = 0; c < TX_N; c++)
		observe_state(json_object_get(states, trace_tx_names[c]), length,
			      &r->wait[role][c]);
	observe_blame(json_object_get(ep, "blame"), length, r->wait[role]);
	observe_drops(ep, r->sent, r);
	observe_delay(ep, role, length, r, delay);
	observe_woken(ep, role, length, r);
	if (json_integer_value(json_object_get(ep, "peer")) < 0 && stalled(states))
		r->both_seen = false;
	if (strcmp(json_string_value(json_object_get(ep, "role")) ?: "", "pipe"))
		name_party(ep, &r->who[role]);
}

/*
 * A point that was traced in a second run has figures of its own and a ledger of another run:
 * shares are then of a lifetime. So they are where that is longer than the figures' time, which has
 * neither the filling nor the emptying of a window.
 */
static void observe_ledger(const json_t *p, double elapsed, struct diag_round *r)
{
	const json_t *ledger = json_object_get(p, "ledger"), *ep;
	double delay[ROLES] = { NAN, NAN };
	bool same_run = isnan(number(ledger, "cost_ratio"));
	size_t i;

	if (!json_is_object(ledger))
		return;
	r->traced = r->both_seen = true;
	json_array_foreach (json_object_get(ledger, "endpoints"), i, ep)
		observe_endpoint(p, ep, same_run ? elapsed : 0, r, delay);
	r->device = r->wait[ROLE_CLIENT][TX_DEVICE].share;
}

/* tcp_chrono: how long, of the time with data outstanding, the peer's window was the limit; of the
 * whole connection, in jiffies. */
static void observe_tcp_info(const json_t *p, struct diag_round *r)
{
	const json_t *info = json_object_get(at(p, "socket", "client"), "tcp_info");
	double busy = number(info, "busy_us"), rwnd = number(info, "rwnd_limited_us");

	if (r->traced || !(busy > 0) || isnan(rwnd))
		return;
	r->info = true;
	r->wait[ROLE_CLIENT][TX_RWND] =
		(struct diag_wait){ .share = rwnd / busy, .count = NAN, .max_ns = NAN };
}

int observe_point(const json_t *p, struct diag_round *r)
{
	double elapsed = number(p, "elapsed_ns");

	memset(r, 0, sizeof(*r));
	r->size = json_integer_value(json_object_get(p, "size"));
	r->cost_ns = cost_of(p);
	r->messages = number(p, "messages");
	r->each_ns = r->messages > 0 ? elapsed / r->messages : NAN;
	r->sent = number(p, "sent");
	r->lost = number(p, "lost");
	r->device = r->drops[0] = r->drops[1] = r->drops[2] = NAN;
	for (int i = 0; i < ROLES; i++)
		snprintf(r->who[i].comm, sizeof(r->who[i].comm), "ipcstall");
	r->one_cpu = !strcmp(json_string_value(json_object_get(p, "placement")) ?: "", "same");
	observe_machine(p, elapsed, r);
	observe_ledger(p, elapsed, r);
	observe_tcp_info(p, r);
	return r->cost_ns > 0 ? 0 : -1;
}
