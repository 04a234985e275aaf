// SPDX-License-Identifier: GPL-2.0-only
/* One end of the conversation: a process that obeys orders one by one, and reports after each. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench/run.h"

enum { TICK_US = 40000 };

static volatile uint32_t ticks;

static void on_tick(int sig)
{
	ticks++;
}

/* A timer that interrupts a wait for a lost message. No SA_RESTART, so that the call returns. */
static void start_ticks(struct run *r)
{
	struct sigaction sa = { .sa_handler = on_tick };
	struct itimerval every = { { 0, TICK_US }, { 0, TICK_US } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	r->conn.tick = &ticks;
}

static int go_to_place(struct run *r, struct err *e)
{
	if (place_worker(r->plan, r->role, e))
		return -1;
	return r->plan->has_link ? link_enter(&r->plan->link,
					      r->role == ROLE_CLIENT ? LINK_CLIENT : LINK_SERVER, e)
				 : 0;
}

static int do_open(struct run *r, struct err *e)
{
	if (go_to_place(r, e))
		return -1;
	if (r->w->flags & WL_RPC)
		return rpc_become(r->w, &r->wo, r->role, &r->fds, e);
	memset(r->buf, 1 + r->role, r->buf_size);
	if (!r->w->open_pair && r->role == ROLE_SERVER &&
	    r->w->listen(&r->conn, &r->wo, &r->sh->server, e))
		return -1;
	if (!r->w->open_pair && r->role == ROLE_CLIENT && r->test != TEST_CONNECT &&
	    r->w->connect(&r->conn, &r->wo, &r->sh->server, &r->sh->client, e))
		return -1;
	return 0;
}

static int do_accept(struct run *r, struct err *e)
{
	if (r->role == ROLE_SERVER && r->w->accept && r->test != TEST_CONNECT &&
	    r->w->accept(&r->conn, &r->wo, &r->sh->client, e))
		return -1;
	r->conn.leader = r->role == ROLE_CLIENT;
	r->conn.lossy = r->w->flags & WL_LOSSY;
	r->conn.spin = r->wo.spin;
	r->conn.quickack = r->wo.quickack;
	if (r->w->flags & (WL_LOSSY | WL_RELIABLE) || r->plan->o.serving)
		start_ticks(r);
	return r->engine->setup ? r->engine->setup(&r->conn, &r->wo, e) : 0;
}

static int64_t us(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static void usage_since(struct worker_usage *u, const struct rusage *a)
{
	struct rusage b;

	getrusage(RUSAGE_SELF, &b);
	u->voluntary = b.ru_nvcsw - a->ru_nvcsw;
	u->involuntary = b.ru_nivcsw - a->ru_nivcsw;
	u->user_us = us(b.ru_utime) - us(a->ru_utime);
	u->system_us = us(b.ru_stime) - us(a->ru_stime);
	u->cpu_last = sched_getcpu();
	u->pid = getpid();
}

/* Wait until the other host's clock runs: messages that arrive earlier would not be counted, or
 * would count as arrived at once. */
static void await_start(const struct run *r)
{
	struct timespec pause = { 0, 20000 };

	while (r->plan->remote && r->role == ROLE_CLIENT &&
	       !__atomic_load_n(&r->sh->started, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
}

static int do_phase(struct run *r, const struct phase *p, struct err *e)
{
	const struct test_ops *t = test_ops_of(r->plan, r->test);
	struct rusage before;
	int rc;

	memset(r->tally, 0, sizeof(*r->tally));
	await_start(r);
	r->tally->usage.cpu_first = sched_getcpu();
	getrusage(RUSAGE_SELF, &before);
	rc = r->role == ROLE_CLIENT ? t->client(r, p, e) : t->server(r, p, e);
	usage_since(&r->tally->usage, &before);
	return rc;
}

static int do_facts(struct run *r, struct err *e)
{
	r->tally->facts = (struct socket_facts)SOCKET_FACTS_UNKNOWN;
	if (r->conn.rfd < 0)
		return 0;
	r->w->facts(&r->conn, &r->tally->facts);
	if (r->w->flags & WL_DATAGRAM) {
		r->tally->facts.send_errors = (int64_t)r->conn.send_errors;
		r->tally->facts.strays = (int64_t)r->conn.strays;
	}
	return 0;
}

static int obey(struct run *r, const struct order_msg *o, struct err *e)
{
	switch (o->order) {
	case ORDER_OPEN: return do_open(r, e);
	case ORDER_ACCEPT: return do_accept(r, e);
	case ORDER_PHASE: return do_phase(r, &o->phase, e);
	case ORDER_FACTS: return do_facts(r, e);
	case ORDER_QUIT: break;
	}
	return 0;
}

/* _exit(), because exit() would also write the output that the parent had buffered at the fork. */
void worker_main(struct run *r, int orders, int reports)
{
	struct order_msg o;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the coordinator decides */
	signal(SIGTERM, SIG_DFL);
	r->tally = &r->sh->tally[r->role];
	r->fds.orders = orders;
	r->fds.reports = reports;
	while (order_read(orders, &o) && o.order != ORDER_QUIT) {
		struct report_msg m = {};

		m.ok = obey(r, &o, &m.err) == 0;
		if (write(reports, &m, sizeof(m)) != sizeof(m) || !m.ok)
			_exit(1);
	}
	_exit(0);
}
