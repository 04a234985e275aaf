/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparisons of times and amounts. */
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

/* Equal within a sixteenth: of two byte counts one may lack what lies in buffers, or have the
 * headers of records or messages in addition. */
static inline bool about_as_much(uint64_t a, uint64_t b)
{
	return 16 * (larger(a, b) - smaller(a, b)) <= larger(a, b);
}

/* bytes a second: so much a stream on this host carries if nothing but the CPUs limits it */
#define FULL_SPEED 150e6

/* On a shorter path the CPUs set the rate and the round trips, not the path. */
#define FAR_US 1000

static inline bool is_far(const struct trace_endpoint *ep)
{
	return ep->min_rtt_us >= FAR_US;
}

/* Between two programs of one host a round trip is shorter. */
#define ON_THIS_HOST_US 100

static inline bool stays_on_host(const struct trace_endpoint *ep)
{
	return ep->proto == TRACE_TCP && ep->min_rtt_us && ep->min_rtt_us < ON_THIS_HOST_US;
}

/* The present round trip, if a queue on the way makes it longer than the best one. It may include
 * an ACK withheld for up to WITHHELD_MOST_US, or one sent with a late answer: therefore one above
 * QUEUED_TIMES the best does not count. */
#define WITHHELD_MOST_US 44000
#define QUEUED_TIMES	 3

static inline uint64_t round_trip_ns(const struct trace_endpoint *ep)
{
	uint32_t best = ep->min_rtt_us, now = ep->rtt_us;

	if (now <= WITHHELD_MOST_US || now > QUEUED_TIMES * best)
		return 1000ull * best;
	return 1000 * larger(best, now - WITHHELD_MOST_US);
}

/* When the endpoint's figures begin: at its birth, or with the phase. */
static inline uint64_t began(const struct trace_endpoint *ep)
{
	return ep->at_ns - ep->tx.lifetime_ns;
}

#endif
