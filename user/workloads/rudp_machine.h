/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reliable delivery over datagrams, as two state machines without sockets, clocks or memory of
 * their own.
 *
 * A packet carries a 64-bit number, counted from 0. An acknowledgement carries the number of the
 * one packet that arrived (selective: it says nothing of others). A packet that is not acknowledged
 * within the timeout is sent again, and keeps its own timer. The window is the distance between the
 * oldest packet not acknowledged and the newest: 1 is stop-and-wait. The receiver hands packets on
 * in order, each once, and acknowledges duplicates again, since the first acknowledgement may be
 * lost.
 *
 * If each arrival is dropped with probability p, a packet is sent k times with probability p^(k-1)
 * (1-p): on average it waits rto * p / (1 - p) longer than a packet that is never dropped.
 */
#ifndef IPCSTALL_WORKLOADS_RUDP_MACHINE_H
#define IPCSTALL_WORKLOADS_RUDP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/rng.h"

#define RUDP_WINDOW_MAX 4096
#define RUDP_NEVER	UINT64_MAX

struct rudp_slot {
	uint64_t due; /* when it is sent again */
	uint32_t tries;
	bool acked;
	int32_t before, after; /* in the queue by time due; -1: none */
};

/* All packets have the same timeout, so they fall due in the order in which they were last sent: a
 * queue without a search. */
struct rudp_sender {
	int64_t base, next; /* the oldest not acknowledged; the next new one */
	uint32_t window;
	uint64_t rto;
	int32_t first, last;	 /* of the queue; -1: empty */
	struct rudp_slot *slots; /* [window] */
	uint64_t transmissions, retransmits, acks, stale_acks;
};

void rudp_sender_init(struct rudp_sender *s, struct rudp_slot *slots, uint32_t window,
		      uint64_t rto);

static inline bool rudp_room(const struct rudp_sender *s)
{
	return s->next - s->base < s->window;
}

static inline bool rudp_all_acked(const struct rudp_sender *s)
{
	return s->base == s->next;
}

static inline uint32_t rudp_slot_of(int64_t seq, uint32_t window)
{
	return (uint32_t)(seq % window);
}

/* A new packet is sent now; the caller has checked that there is room. Returns its number. */
int64_t rudp_send(struct rudp_sender *s, uint64_t now);
/* When the next timer ends; RUDP_NEVER: no packet is in flight. */
uint64_t rudp_due(const struct rudp_sender *s);
/* Returns the packet to send again now, and restarts its timer; -1: none is due yet. */
int64_t rudp_retry(struct rudp_sender *s, uint64_t now);
uint32_t rudp_tries(const struct rudp_sender *s, int64_t seq);
/* True if this acknowledges a packet; false if it was acknowledged before or never sent. */
bool rudp_acked(struct rudp_sender *s, int64_t seq);

enum rudp_arrival {
	RUDP_FRESH,	/* keep it and acknowledge */
	RUDP_DUPLICATE, /* acknowledge again */
	RUDP_DROPPED,	/* by chance: as if it had never come */
	RUDP_ALIEN,	/* beyond the window, or not a number: not acknowledged */
};

struct rudp_receiver {
	int64_t next; /* the oldest not handed on */
	uint32_t window;
	bool *got; /* [window] */
	double drop;
	struct rng rng;
	uint64_t arrivals, dropped, duplicates, early,
		aliens; /* early: arrived before a packet that was sent before it */
};

void rudp_receiver_init(struct rudp_receiver *r, bool *got, uint32_t window, double drop,
			uint64_t seed);
enum rudp_arrival rudp_arrive(struct rudp_receiver *r, int64_t seq);

/* Has the next packet in order arrived? */
static inline bool rudp_ready(const struct rudp_receiver *r)
{
	return r->got[rudp_slot_of(r->next, r->window)];
}

/* Hand on that packet. */
int64_t rudp_take(struct rudp_receiver *r);

#endif
