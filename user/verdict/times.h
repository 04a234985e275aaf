/* SPDX-License-Identifier: GPL-2.0-only */
/* Times, and amounts, compared. */
#ifndef IPCSTALL_VERDICT_TIMES_H
#define IPCSTALL_VERDICT_TIMES_H

#include "tracer/trace.h"

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of bytes: as many as the other, but for what lies in its buffers and what a record's or a
 * message's head adds. */
static inline bool about_as_much(uint64_t a, uint64_t b)
{
	return 16 * (larger(a, b) - smaller(a, b)) <= larger(a, b);
}

/* Below that a path's rate, and its round trips, are those of its CPUs. */
#define FAR_US 1000

static inline bool is_far(const struct trace_endpoint *ep)
{
	return ep->min_rtt_us >= FAR_US;
}

/* A round trip as it is, where that is longer than it was at best: a queue stands on the way. The
 * other end may withhold each ACK for so long, and who answers late sends it with the answer; so no
 * more than so many times the shortest counts. */
#define WITHHELD_MOST_US 44000
#define QUEUED_TIMES	 3

static inline uint64_t round_trip_ns(const struct trace_endpoint *ep)
{
	uint32_t best = ep->min_rtt_us, now = ep->rtt_us;

	if (now <= WITHHELD_MOST_US || now > QUEUED_TIMES * best)
		return 1000ull * best;
	return 1000 * larger(best, now - WITHHELD_MOST_US);
}

/* when what is told of it began: its birth, or that of the phase */
static inline uint64_t began(const struct trace_endpoint *ep)
{
	return ep->at_ns - ep->tx.lifetime_ns;
}

#endif
