// SPDX-License-Identifier: GPL-2.0-only
/* Bulk throughput: messages without pause, one acknowledgement at the end. The figure is the
 * receiver's bytes over its time, cut into time slices; the sender's, up to the acknowledgement, is
 * kept beside it. The clock is read once per batch of messages, so that a time stamp costs nothing.
 * A batch is kept under BATCH_NS, so that a stalled message still ends the run. */
#include "bench/run.h"

enum { BATCH_NS = 50000, BATCH_MAX = 256 };

struct batch {
	uint64_t size, left, since;
};

/* True if the batch is over; *now is then the current tick. */
static inline bool batch_over(struct batch *b, const struct tick_clock *c, uint64_t limit,
			      uint64_t *now)
{
	uint64_t took;

	if (--b->left)
		return false;
	*now = tick_now(c);
	took = *now - b->since;
	if (took < limit / 2 && b->size < BATCH_MAX)
		b->size *= 2;
	else if (took > limit && b->size > 1)
		b->size /= 2;
	b->since = *now;
	b->left = b->size;
	return true;
}

static bool sent_enough(const struct phase *p, uint64_t n, uint64_t now, uint64_t deadline)
{
	return n >= p->max_count || (now >= deadline && n >= p->min_count);
}

static int wait_ack(struct run *r, struct err *e)
{
	enum io rc;

	if (r->w->flags &
	    WL_LOSSY) /* an acknowledgement could be lost too: the shared page carries it */
		return 0;
	rc = r->w->recv_msg(&r->conn, r->buf, 1);
	return rc == IO_OK ? 0 : worker_fail(r, rc, "waiting for the final ack", e);
}

static int bulk_client(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t from = tick_now(&r->clock), now = from, n = 0,
		 limit = ns_to_ticks(&r->clock, BATCH_NS);
	uint64_t deadline = from + ns_to_ticks(&r->clock, p->duration_ns);
	struct batch b = { 1, 1, from };
	uint64_t most = r->engine->batch ? r->engine->batch(r->size) : 1;
	bool last = false;

	while (!last) {
		uint64_t k = p->max_count - n < most ? p->max_count - n : most;
		enum io rc;

		if (n + k >= p->max_count || now >= deadline)
			last = sent_enough(p, n + k, now, deadline);
		if (last)
			__atomic_store_n(&r->sh->total, (n + k) * r->size, __ATOMIC_RELEASE);
		rc = r->engine->send_batch ? r->engine->send_batch(&r->conn, r->buf, r->size, k)
					   : run_send(r, r->size);
		if (rc != IO_OK)
			return worker_fail(r, rc, "sending", e);
		n += k;
		batch_over(&b, &r->clock, limit, &now);
	}
	if (r->w->flush)
		r->w->flush(&r->conn);
	run_done(r);
	if (wait_ack(r, e))
		return -1;
	r->tally->from = from;
	r->tally->to = tick_now(&r->clock);
	r->tally->messages = n;
	r->tally->bytes = n * r->size;
	return 0;
}

struct receiver {
	struct batch batch;
	uint64_t bytes, calls, from, now;
	uint64_t slice_ticks, slice_from, slice_bytes;
};

static void end_slice(struct run *r, struct receiver *v)
{
	struct tally *t = r->tally;

	if (t->n_slices == MAX_SLICES || v->now <= v->slice_from)
		return;
	r->sh->slices[t->n_slices++] =
		(struct slice){ v->now - v->slice_from, v->bytes - v->slice_bytes };
	v->slice_from = v->now;
	v->slice_bytes = v->bytes;
}

/* A remainder that is too short for a slice, or finds no room, is added to the last slice: the rate
 * covers all slices together. */
static void end_last_slice(struct run *r, struct receiver *v)
{
	struct tally *t = r->tally;
	struct slice *last;

	if (v->now - v->slice_from > v->slice_ticks / 2 || !t->n_slices)
		end_slice(r, v);
	if (v->now <= v->slice_from || !t->n_slices)
		return;
	last = &r->sh->slices[t->n_slices - 1];
	last->ticks += v->now - v->slice_from;
	last->bytes += v->bytes - v->slice_bytes;
}

/* The first bytes start the receiver's time, and are in no slice: how long they took is unknown. */
static void first_bytes(struct run *r, struct receiver *v)
{
	v->from = v->now = v->slice_from = v->batch.since = tick_now(&r->clock);
	r->tally->unclocked = v->slice_bytes = v->bytes;
}

/* The most that one receive may take: a message, unless the workload sets limits. */
static size_t read_size(const struct run *r)
{
	size_t cap = r->size < r->w->read_least ? r->w->read_least : r->size;

	if (r->w->read_most && cap > r->w->read_most)
		cap = r->w->read_most;
	return cap < r->buf_size ? cap : r->buf_size;
}

static bool received_all(const struct run *r, const struct receiver *v)
{
	return v->bytes >= __atomic_load_n(&r->sh->total, __ATOMIC_ACQUIRE);
}

static enum io receive(struct run *r, struct receiver *v, uint64_t limit)
{
	ssize_t (*recv_some)(struct conn *, void *, size_t) =
		r->engine->recv_some ? r->engine->recv_some : r->w->recv_some;
	size_t cap = read_size(r);

	for (;;) {
		ssize_t n;

		reader_pause(r);
		n = recv_some(&r->conn, r->buf, cap);

		/* IO_LOST on a reliable transport: another host's total came after its last byte.
		 * The last stamp is close to that byte. */
		if (n == IO_LOST && client_done(r) &&
		    (r->w->flags & WL_LOSSY || received_all(r, v)))
			return IO_OK;
		if (n < 0 && n != IO_LOST)
			return (enum io)n;
		if (n < 0)
			continue;
		v->bytes += n;
		if (!v->calls++)
			first_bytes(r, v);
		if (received_all(r, v)) {
			v->now = r->w->flags & WL_LOSSY ? v->now : tick_now(&r->clock);
			return IO_OK;
		}
		if (batch_over(&v->batch, &r->clock, limit, &v->now) &&
		    v->now - v->slice_from >= v->slice_ticks)
			end_slice(r, v);
	}
}

static int bulk_server(struct run *r, const struct phase *p, struct err *e)
{
	struct receiver v = { .batch = { 1, 1, 0 }, .slice_ticks = ns_to_ticks(&r->clock,
		p->slice_ns) };
	enum io rc = receive(r, &v, ns_to_ticks(&r->clock, BATCH_NS));

	if (rc == IO_OK && !(r->w->flags & WL_LOSSY))
		rc = r->w->send_msg(&r->conn, r->buf, 1, false);
	if (rc != IO_OK)
		return worker_fail(r, rc, "receiving", e);
	end_last_slice(r, &v);
	r->tally->from = v.from;
	r->tally->to = v.now;
	r->tally->bytes = v.bytes;
	r->tally->messages = v.bytes / r->size;
	r->tally->n = v.calls;
	return 0;
}

const struct test_ops test_bulk = { bulk_client, bulk_server };
