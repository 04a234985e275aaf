/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose turn it is on each TCP connection of this host: who received data, and has sent none since.
 */
#ifndef IPCSTALL_TRACER_TCP_TURNS_H
#define IPCSTALL_TRACER_TCP_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tcp_turn {
	uint64_t inode;
	uint16_t port; /* its own */
	bool listens;
	bool is_known;	   /* what follows; else it listens, or the kernel does not say */
	unsigned int gets, puts;   /* bytes in a segment that comes, or is sent, on average */
	unsigned int sends, comes; /* segments with data */
	bool ends;		   /* the other end sends no more */
	/* So long ago it sent data last, and data came last. These are ticks: if both are the same,
	 * nobody knows the order. */
	unsigned int sent_ms, came_ms;
};

#define TCP_TURN_TICK_MS     10	   /* the longest tick there is */
#define TCP_TURN_LONG_AGO_MS 10000 /* what was sent so long ago may have asked for nothing */

struct tcp_turns {
	struct tcp_turn *v; /* by inode */
	size_t n, room;
	uint64_t listens[1024]; /* a bit for each port */
};

/* Both, if the order is not known. */
static inline bool tcp_turn_sent_last(const struct tcp_turn *t)
{
	return t->is_known && t->sent_ms <= t->came_ms;
}

static inline bool tcp_turn_owes(const struct tcp_turn *t)
{
	return t->is_known && t->came_ms <= t->sent_ms;
}

/* The connections and listeners of one network namespace (sock_diag_enter()), as they are now. */
void tcp_turns_read(struct tcp_turns *t);
const struct tcp_turn *tcp_turns_find(const struct tcp_turns *t, uint64_t inode);
/* Its owner made that connection, and sent last. What accept() returns has its listener's port. */
bool tcp_turns_asks(const struct tcp_turns *t, const struct tcp_turn *turn);
/* The other end may still send, and answers about as often as it is asked, or is asked for the
 * first time. Log lines, say, are never answered. */
bool tcp_turn_is_answered(const struct tcp_turn *x);
/* ... and has not answered what was sent last. Where neither dates nor numbers tell the order, it
 * has. */
bool tcp_turn_awaits_answer(const struct tcp_turn *x);
/* Its owner answers about as often as it is asked, or is asked for the first time. */
bool tcp_turn_answers(const struct tcp_turn *x);
/* What came last was a request, by the same rules. */
bool tcp_turn_owes_answer(const struct tcp_turn *x);
/* Its owner made that connection, and awaits an answer. */
bool tcp_turns_awaits_answer(const struct tcp_turns *t, const struct tcp_turn *turn);
void tcp_turns_free(struct tcp_turns *t);

#endif
