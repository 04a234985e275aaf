// SPDX-License-Identifier: GPL-2.0-only
/* Question and answer: latency (the answer is as long as the question), one-way time in closed loop
 * (both ends stamp), and throughput with an acknowledgement of one byte for each message. One stamp
 * a round trip at each end that needs it. */
#include <sched.h>
#include <stdlib.h>

#include "bench/run.h"
#include "base/array.h"

enum { SPIN_BEFORE_NS = 100000, SLEEP_FROM_NS = 150000 };

static size_t answer_size(const struct run *r)
{
	return r->test == TEST_THROUGHPUT ? 1 : r->size;
}

/* Wait for the scheduled start. The last part is a busy wait: timers are late by tens of us. */
uint64_t wait_intended(const struct run *r, uint64_t when)
{
	uint64_t now = tick_now(&r->clock);

	if (now < when && ticks_to_ns(&r->clock, when - now) > SLEEP_FROM_NS)
		sleep_until_ns(now_ns() + ticks_to_ns(&r->clock, when - now) - SPIN_BEFORE_NS);
	while ((now = tick_now(&r->clock)) < when) {
		if (r->plan->placement == PLACE_SAME)
			sched_yield();
	}
	return now;
}

static int finish(struct run *r, uint64_t from, uint64_t to, uint64_t sent, uint64_t done)
{
	run_done(r);
	r->tally->from = from;
	r->tally->to = to;
	r->tally->messages = sent;
	r->tally->lost = sent - done;
	r->tally->bytes = done * r->size;
	return 0;
}

/* The plain loop: only two calls, a stamp, a store and the test whether to stop. */
static int client_closed(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t *samples = r->samples[ROLE_CLIENT], from = tick_now(&r->clock), prev = from, n = 0;
	uint64_t deadline = from + ns_to_ticks(&r->clock, p->duration_ns);
	enum io (*recv_msg)(struct conn *, void *, size_t) = r->w->recv_msg;
	size_t size = r->size, answer = answer_size(r);
	bool last = false;
	uint64_t i;

	for (i = 0; !last; i++) {
		enum io rc;
		uint64_t now;

		last = stop_here(r, p, i, prev, deadline);
		rc = run_send(r, size);
		if (rc == IO_OK)
			rc = recv_msg(&r->conn, r->buf, answer);
		now = tick_now(&r->clock);
		if (rc != IO_OK && rc != IO_LOST)
			return worker_fail(r, rc, "round trip", e);
		samples[i] = (now - prev) | (rc == IO_LOST ? SAMPLE_LOST : 0);
		n += rc == IO_OK;
		prev = now;
	}
	r->tally->n = p->record ? i : 0;
	return finish(r, from, prev, i, n);
}

/* On a schedule each message owns the time until the next one's start. Without that of the last
 * message, the rate would count one message too many. */
static uint64_t end_of_schedule(const struct run *r, uint64_t from, uint64_t n, uint64_t now)
{
	uint64_t end = from + (uint64_t)(schedule_gap(r) * (double)n);

	return r->test == TEST_THROUGHPUT && end > now ? end : now;
}

/* The same loop with a scheduled start for each message: the sample counts from there, however late
 * the message started. Latency is half of the round trip but all of the wait before it, so the wait
 * is added twice. */
static int client_at_rate(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t *samples = r->samples[ROLE_CLIENT], from = tick_now(&r->clock), now = from, n = 0;
	uint64_t deadline = from + ns_to_ticks(&r->clock, p->duration_ns);
	double gap = schedule_gap(r);
	bool last = false;
	uint64_t i;

	for (i = 0; !last; i++) {
		uint64_t intended = from + (uint64_t)(gap * (double)i),
			 late = now > intended ? now - intended : 0;
		enum io rc;

		last = stop_here(r, p, i, intended, deadline);
		if (late)
			r->tally->late += i > 0;
		else
			wait_intended(r, intended);
		rc = run_send(r, r->size);
		if (rc == IO_OK)
			rc = r->w->recv_msg(&r->conn, r->buf, answer_size(r));
		now = tick_now(&r->clock);
		if (rc != IO_OK && rc != IO_LOST)
			return worker_fail(r, rc, "round trip", e);
		samples[i] = (now - intended + (is_round_trip(r) ? late : 0)) |
			     (rc == IO_LOST ? SAMPLE_LOST : 0);
		n += rc == IO_OK;
	}
	r->tally->n = p->record ? i : 0;
	return finish(r, from, end_of_schedule(r, from, i, now), i, n);
}

/* Several questions in flight. Answers come in order, so a ring of start times is enough. */
struct window {
	uint64_t size, *start, asked, answered;
	uint64_t fill; /* number of answers before the timed part begins */
	uint64_t from, to, deadline, now, counted;
};

static void window_time_begins(struct window *w, const struct run *r, const struct phase *p)
{
	w->from = w->to = w->now;
	w->deadline = w->from + ns_to_ticks(&r->clock, p->duration_ns);
}

/* An answer releases a question, so every K-th answer belongs to one chain of round trips without a
 * gap. If the timed part begins and ends at answers of one chain, the path is as full at its end as
 * at its beginning, and no burst of answers is cut in two. Filling the path before and draining it
 * afterwards is in no rate. */
static bool window_turned(const struct phase *p, const struct window *w)
{
	if (!w->counted || w->counted >= p->max_count)
		return w->counted > 0;
	return w->counted >= p->min_count && w->counted % w->size == 0 && w->now >= w->deadline;
}

/* Is the next question the last one? The other end must know before the question is sent. */
static bool window_closes(struct run *r, const struct phase *p, const struct window *w)
{
	if (!w->fill)
		return stop_here(r, p, w->asked, w->now, w->deadline);
	if (!window_turned(p, w))
		return false;
	__atomic_store_n(&r->sh->last, w->asked, __ATOMIC_RELEASE);
	return true;
}

static enum io window_ask(struct run *r, struct window *w)
{
	w->start[w->asked++ % w->size] = w->now;
	return run_send(r, r->size);
}

static enum io window_take(struct run *r, const struct phase *p, struct window *w, bool closing)
{
	enum io rc = r->w->recv_msg(&r->conn, r->buf, answer_size(r));
	uint64_t start = w->start[w->answered % w->size];

	w->now = tick_now(&r->clock);
	if (w->answered++ >= w->fill && !(closing && w->fill)) {
		r->samples[ROLE_CLIENT][w->counted++] = w->now - start;
		w->to = w->now;
	} else if (w->answered == w->fill) {
		window_time_begins(w, r, p);
	}
	return rc;
}

/* A phase that is not recorded has no figure, so none of its answers are left out. */
static int client_window(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t k = (uint64_t)r->plan->o.outstanding;
	struct window w = { .size = k, .start = array_new(k, 0, sizeof(*w.start)), .fill = p->record
		? k : 0, .now = tick_now(&r->clock) };
	enum io rc = w.start ? IO_OK : IO_ERROR;
	bool closing = false;

	window_time_begins(&w, r, p);
	while (rc == IO_OK && (!closing || w.answered < w.asked)) {
		if (!closing && w.asked - w.answered < k) {
			closing = window_closes(r, p, &w);
			rc = window_ask(r, &w);
		} else {
			rc = window_take(r, p, &w, closing);
		}
	}
	free(w.start);
	if (rc != IO_OK)
		return worker_fail(r, rc, "round trip", e);
	r->tally->n = p->record ? w.counted : 0;
	return finish(r, w.from, w.to, w.counted, w.counted);
}

static int pingpong_client(struct run *r, const struct phase *p, struct err *e)
{
	if (r->plan->o.outstanding > 1)
		return client_window(r, p, e);
	return r->plan->o.rate > 0 ? client_at_rate(r, p, e) : client_closed(r, p, e);
}

static int pingpong_server(struct run *r, const struct phase *p, struct err *e)
{
	bool stamps = r->test == TEST_ONEWAY, whole = answer_size(r) == r->size;
	uint64_t *samples = r->samples[ROLE_SERVER], n = 0;

	for (uint64_t i = 0;; i++) {
		enum io rc;

		reader_pause(r);
		rc = r->w->recv_msg(&r->conn, r->buf, r->size);
		if (rc == IO_OK && stamps && n == r->max_samples)
			return err_peer(e,
					"server: the client sent more messages than the %zu that "
					"there can be in a phase; run again",
					r->max_samples);
		if (rc == IO_OK && stamps)
			samples[n++] = tick_now(&r->clock);
		if (rc == IO_OK)
			rc = whole ? run_send(r, r->size)
				   : r->w->send_msg(&r->conn, r->buf, 1, false);
		if (rc == IO_LOST && !client_done(r)) {
			i--;
			continue;
		}
		if (rc == IO_LOST || (rc == IO_OK && server_stops(r, i)))
			break;
		if (rc != IO_OK)
			return worker_fail(r, rc, "answering", e);
	}
	r->tally->n = n;
	return 0;
}

const struct test_ops test_pingpong = { pingpong_client, pingpong_server };
