// SPDX-License-Identifier: GPL-2.0-only
/* Messages over a workload that acknowledges and retransmits by itself. One loop serves both tests:
 * it keeps the window full. Latency is the time from sending a message's first packet until all its
 * packets are acknowledged. The other end receives as in the plain tests. It then stays to
 * acknowledge again until no packet is in flight: the last acknowledgement may be lost too. */
#include <poll.h>
#include <stdlib.h>

#include "base/array.h"
#include "bench/run.h"
#include "workloads/rudp.h"

struct message {
	uint64_t start;
	uint32_t left; /* packets not acknowledged */
};

struct outbox {
	struct message *ring;
	uint64_t slots, begun, samples;
	int64_t first;	 /* number of the phase's first packet; -1: none yet */
	uint64_t pieces; /* packets per message */
};

static enum io settle(struct run *r, struct outbox *o, bool block)
{
	int64_t seq = 0;
	enum io rc = rudp_await(&r->conn, block, &seq);
	struct message *m;

	if (rc != IO_OK)
		return rc;
	m = &o->ring[(uint64_t)(seq - o->first) / o->pieces % o->slots];
	if (--m->left == 0 && r->test == TEST_LATENCY)
		r->samples[ROLE_CLIENT][o->samples++] = tick_now(&r->clock) - m->start;
	return IO_OK;
}

/* Take the acknowledgements that have arrived before sending the next packet, so that none waits
 * for its time stamp. */
static enum io settle_present(struct run *r, struct outbox *o)
{
	enum io rc = IO_OK;

	while (rc == IO_OK && !rudp_settled(&r->conn))
		rc = settle(r, o, false);
	return rc == IO_LOST ? IO_OK : rc;
}

static enum io send_packet(struct run *r, struct outbox *o, struct message *m, const char *p,
			   size_t len)
{
	enum io rc = IO_OK;
	int64_t seq = 0;

	while (rc == IO_OK && !rudp_can_send(&r->conn))
		rc = settle(r, o, true);
	if (!m->start)
		m->start = tick_now(&r->clock);
	if (rc == IO_OK)
		rc = rudp_push(&r->conn, p, len, &seq);
	if (o->first < 0)
		o->first = seq;
	return rc;
}

static enum io send_message(struct run *r, struct outbox *o)
{
	struct message *m = &o->ring[o->begun++ % o->slots];
	size_t piece = r->conn.piece;
	enum io rc = IO_OK;

	*m = (struct message){ .left = (uint32_t)o->pieces };
	for (size_t at = 0; at < r->size && rc == IO_OK; at += piece) {
		rc = send_packet(r, o, m, r->buf + at, r->size - at < piece ? r->size - at : piece);
		if (rc == IO_OK && r->test == TEST_LATENCY && r->plan->o.window > 1)
			rc = settle_present(r, o);
	}
	return rc;
}

static enum io send_all(struct run *r, const struct phase *p, struct outbox *o, uint64_t from)
{
	uint64_t deadline = from + ns_to_ticks(&r->clock, p->duration_ns);
	enum io rc = IO_OK;
	bool last = false;

	while (rc == IO_OK && !last) {
		last = stop_here(r, p, o->begun, tick_now(&r->clock), deadline);
		if (last)
			__atomic_store_n(&r->sh->total, (o->begun + 1) * r->size, __ATOMIC_RELEASE);
		rc = send_message(r, o);
	}
	while (rc == IO_OK && !rudp_settled(&r->conn))
		rc = settle(r, o, true);
	return rc;
}

static void count_since(struct run *r, const struct reliable_counts *a)
{
	struct reliable_counts b;

	rudp_counts(&r->conn, &b);
	r->tally->reliable = (struct reliable_counts){
		b.packets - a->packets,		b.transmissions - a->transmissions,
		b.retransmits - a->retransmits, b.stale_acks - a->stale_acks,
		b.arrivals - a->arrivals,	b.dropped - a->dropped,
		b.duplicates - a->duplicates,	b.early - a->early,
		b.aliens - a->aliens,
	};
}

static int reliable_client(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t slots = (uint64_t)r->plan->o.window + 2, from = tick_now(&r->clock);
	struct outbox o = { .ring = array_new(slots, 0, sizeof(*o.ring)),
			    .slots = slots,
			    .first = -1,
			    .pieces = (r->size + r->conn.piece - 1) / r->conn.piece };
	struct reliable_counts before;
	enum io rc;

	if (!o.ring)
		return err_resource(e, "rudp: out of memory; give a smaller --window");
	rudp_counts(&r->conn, &before);
	rc = send_all(r, p, &o, from);
	free(o.ring);
	if (rc != IO_OK)
		return worker_fail(r, rc, "sending", e);
	r->tally->to = tick_now(&r->clock);
	run_done(r);
	count_since(r, &before);
	r->tally->from = from;
	r->tally->messages = o.begun;
	r->tally->bytes = o.begun * r->size;
	r->tally->n = p->record ? o.samples : 0;
	return 0;
}

/* The phase is over for this end, but may not be for the other: keep acknowledging. */
static int stay(struct run *r, struct err *e)
{
	struct pollfd p = { r->conn.rfd, POLLIN, 0 };

	while (!client_done(r)) {
		ssize_t n = poll(&p, 1, 1) > 0 ? r->w->recv_some(&r->conn, r->buf, r->buf_size)
					       : IO_LOST;

		if (n < 0 && n != IO_LOST)
			return worker_fail(r, (enum io)n, "acknowledging again", e);
	}
	return 0;
}

static int reliable_server(struct run *r, const struct phase *p, struct err *e)
{
	const struct test_ops *plain = r->test == TEST_THROUGHPUT ? &test_bulk : &test_pingpong;
	struct reliable_counts before;

	rudp_counts(&r->conn, &before);
	if (plain->server(r, p, e) || stay(r, e))
		return -1;
	count_since(r, &before);
	return 0;
}

const struct test_ops test_reliable = { reliable_client, reliable_server };
