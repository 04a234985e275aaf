/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside the runner: what the coordinating process and the two workers share. */
#ifndef IPCSTALL_BENCH_RUN_H
#define IPCSTALL_BENCH_RUN_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/bench.h"
#include "workloads/engine.h"
#include "workloads/rpc.h"
#include "workloads/worker_abi.h"

#define PHASE_MOST_NS INT64_C(86400000000000) /* longest phase, and longest part of one */

struct report_msg {
	bool ok;
	struct err err;
};

/* Flag in a client's sample: nothing arrived in that time. */
#define SAMPLE_LOST (1ull << 63)

struct run {
	const struct bench_plan *plan;
	const struct workload *w;
	struct workload_options wo;
	enum test test;
	size_t size;
	enum role role;
	bool nodelay;
	struct shared *sh;
	uint64_t *samples[ROLES]; /* shared; ticks */
	uint32_t *rtt[ROLES]; /* connect over TCP: each TCP's handshake RTT, us + 1; 0: unknown */
	size_t max_samples;
	struct rpc_fds fds; /* WL_RPC: what the program takes over */
	char *buf;
	size_t buf_size;
	struct conn conn;
	const struct engine_ops *engine;
	struct tick_clock clock;
	struct tally *tally;	     /* this end's */
	struct tally counted[ROLES]; /* the coordinator's copies, checked: counts_take() */
};

/* counted.c: copy and check an end's counts after its report; -1: a count is impossible. */
int counts_take(struct run *r, enum role role, struct err *e);

/* A test: what each end does in one phase. */
struct test_ops {
	int (*client)(struct run *r, const struct phase *p, struct err *e);
	int (*server)(struct run *r, const struct phase *p, struct err *e);
};
extern const struct test_ops test_pingpong, test_bulk, test_oneway_rate, test_connect,
	test_reliable;
const struct test_ops *test_ops_of(const struct bench_plan *plan, enum test t);

/* Run a point with the plan's own knobs: bench_run_point() without what --tuned adds. */
int bench_run_as_planned(const struct bench_plan *plan, enum test t, int64_t size,
			 const struct bench_hooks *hooks, struct point *p, struct err *e);

/* The worker process, from fork to exit. */
void worker_main(struct run *r, int orders, int reports) __attribute__((noreturn));
/* The next order; false: the coordinator is gone. */
bool order_read(int fd, struct order_msg *o);
int worker_fail(const struct run *r, enum io rc, const char *what, struct err *e);

enum io pattern_send(struct run *r, size_t size);

/* Send one message, cut as the pattern says. */
static inline enum io run_send(struct run *r, size_t size)
{
	if (r->plan->pattern.kind == PATTERN_SINGLE)
		return r->w->send_msg(&r->conn, r->buf, size, false);
	return pattern_send(r, size);
}

static inline bool stop_here(struct run *r, const struct phase *p, uint64_t i, uint64_t now,
			     uint64_t deadline)
{
	if (i + 1 < p->max_count && (now < deadline || i + 1 < p->min_count))
		return false;
	__atomic_store_n(&r->sh->last, i, __ATOMIC_RELEASE);
	return true;
}

/* True if the latency is half of each sample. With a reliable workload it is the whole sample, the
 * time to the acknowledgement. */
static inline bool is_round_trip(const struct run *r)
{
	return r->test == TEST_LATENCY && !(r->w->flags & WL_RELIABLE);
}

/* ticks between the scheduled starts of two messages */
static inline double schedule_gap(const struct run *r)
{
	return (double)ns_to_ticks(&r->clock, 1000000000) / r->plan->o.rate;
}

static inline bool server_stops(const struct run *r, uint64_t i)
{
	return i >= __atomic_load_n(&r->sh->last, __ATOMIC_ACQUIRE);
}

static inline bool client_done(const struct run *r)
{
	return __atomic_load_n(&r->sh->done, __ATOMIC_ACQUIRE);
}

/* Wait until the tick `when`; returns the tick at which the wait ended. */
uint64_t wait_intended(const struct run *r, uint64_t when);

/* Simulates an application that is busy elsewhere before it reads. */
static inline void reader_pause(const struct run *r)
{
	if (r->plan->o.reader_pause)
		sleep_until_ns(now_ns() + (uint64_t)r->plan->o.reader_pause);
}

/* The leading end has finished its side of the phase. With another host, wake the process that
 * tells it so. */
static inline void run_done(struct run *r)
{
	__atomic_store_n(&r->sh->done, 1, __ATOMIC_RELEASE);
	if (r->plan->remote)
		syscall(SYS_futex, &r->sh->done, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* placement.c */
int place_worker(const struct bench_plan *plan, enum role role, struct err *e);
int stay_awake(
	enum placement p,
	struct err *e); /* a descriptor to close after the run, -1: none needed, -2: failed */

/* summary.c: compute the point from the workers' tallies. */
int summarise_point(const struct run *r, struct point *p, struct err *e);

#endif
