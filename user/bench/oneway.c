// SPDX-License-Identifier: GPL-2.0-only
/* One-way time in open loop: the sender keeps its schedule whatever the receiver does. A sample is
 * the receiver's stamp minus the scheduled start. The sender stores the starts in memory that both
 * ends share, so nothing travels but the message. */
#include "bench/run.h"

static int oneway_client(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t *intended = r->samples[ROLE_CLIENT], from = tick_now(&r->clock);
	uint64_t deadline = from + ns_to_ticks(&r->clock, p->duration_ns), n = 0;
	double gap = schedule_gap(r);
	bool last = false;

	while (!last) {
		enum io rc;

		intended[n] = from + (uint64_t)(gap * (double)n);
		last = stop_here(r, p, n, intended[n], deadline);
		if (tick_now(&r->clock) > intended[n])
			r->tally->late += n > 0;
		else
			wait_intended(r, intended[n]);
		rc = run_send(r, r->size);
		if (rc != IO_OK)
			return worker_fail(r, rc, "sending", e);
		n++;
	}
	run_done(r);
	r->tally->from = from;
	r->tally->to = tick_now(&r->clock);
	r->tally->messages = r->tally->n = n;
	return 0;
}

/* The number of the message that arrived: on a stream the count, on datagrams the header's. */
static uint64_t which(const struct run *r, uint64_t count, uint32_t base)
{
	return r->w->flags & WL_DATAGRAM && r->size >= sizeof(uint32_t)
		       ? (uint64_t)(r->conn.seq - base) - 1
		       : count;
}

static int oneway_server(struct run *r, const struct phase *p, struct err *e)
{
	uint64_t *arrived = r->samples[ROLE_SERVER], n = 0;
	uint32_t base = r->conn.seq;

	for (;;) {
		enum io rc;
		uint64_t at;

		reader_pause(r);
		rc = r->w->recv_msg(&r->conn, r->buf, r->size);
		if (rc == IO_LOST && (!client_done(r) || (!(r->w->flags & WL_LOSSY) &&
							  (n == 0 || !server_stops(r, n - 1)))))
			continue;
		if (rc == IO_LOST)
			break;
		if (rc != IO_OK)
			return worker_fail(r, rc, "receiving", e);
		at = which(r, n, base);
		if (at < r->max_samples)
			arrived[at] = tick_now(&r->clock);
		n++;
		if (server_stops(r, at))
			break;
	}
	r->tally->messages = r->tally->n = n;
	r->tally->bytes = n * r->size;
	r->tally->to = tick_now(&r->clock);
	return 0;
}

const struct test_ops test_oneway_rate = { oneway_client, oneway_server };
