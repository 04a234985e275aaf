/* SPDX-License-Identifier: GPL-2.0-only */
/* What each endpoint did between two readings: the rows of `ipcstall top`. Pure: it uses no
 * terminal and no kernel. The difference of two readings is exact. A new endpoint counts from
 * its first sight, a closed one up to its end. */
#ifndef IPCSTALL_TOP_ROWS_H
#define IPCSTALL_TOP_ROWS_H

#include "verdict/blame.h"
#include "tracer/digest.h"

enum { ROW_NO_CAUSE = 255 };

/* Which figures of an interval are unknown, and 0, because calls went unseen. TCP's bytes stay
 * known, as the kernel counts them, but for the interval in which calls begin to go unseen. */
enum row_gap { GAP_NONE, GAP_MESSAGES, GAP_BYTES };

struct row {
	uint32_t now, before; /* index in this reading and in the last; ROW_NEW: not in the last */
	uint64_t ns;	      /* the part of the interval in which the endpoint existed */
	uint64_t stall_ns, cause_ns; /* all stalls of its tx ledger; those of the main cause */
	uint64_t tx_bytes, rx_bytes, tx_messages, rx_messages;
	uint64_t drops; /* datagrams dropped at the endpoint or on their way; 0 also if that is not
			   known */
	uint8_t cause;	/* enum tx_state of the largest stall; ROW_NO_CAUSE: none */
	uint8_t blamed, surety; /* enum blamed, enum surety: for `cause` */
	uint8_t tx_gap, rx_gap; /* enum row_gap */
	bool may_move;		/* its bytes are unknown, and samples do not rule out traffic */
};

/* `lacks`: some traffic went unseen, so that n is a lower bound */
struct row_sum {
	uint64_t n;
	bool lacks;
};

#define ROW_NEW UINT32_MAX

struct row_key {
	uint64_t serial;
	uint32_t index;
};

enum row_sort { SORT_STALL, SORT_RATE, SORT_MESSAGES, SORT_RTT, SORT_PROGRAM, SORT_AGE, SORT_KEYS };

struct rows {
	struct trace_digests now, before;
	struct row *v;	 /* one for each sight of `now`, in the order of `now.v` */
	uint32_t *order; /* the rows that are shown, sorted: indexes into v */
	size_t room, shown;
	struct row_key *keys, *last_keys; /* of now and before, sorted by serial */
	uint64_t interval_ns;		  /* from the last reading to this; 0 at the first */
	struct {
		size_t endpoints, active;
		struct row_sum tx_bytes, rx_bytes, messages;
		uint64_t stall_ns, sender_ns;
		struct trace_counters counters; /* for the interval */
	} sum;
};

/* Moves `fresh` to p->now. `fresh` gets the memory of the reading before the last in exchange. */
int rows_take(struct rows *p, struct trace_digests *fresh);
void rows_free(struct rows *p);

/* Chooses and sorts the rows that are shown. filter: words separated by blanks, each of which a row
 * must hold (see row_text()); NULL or "" shows all. */
void rows_order(struct rows *p, enum row_sort by, bool reverse, bool active_only,
		const char *filter);

/* compares serials, for qsort() and bsearch() */
int row_key_order(const void *a, const void *b);
/* Whether the endpoint moved or lost data, or stalled, in the interval. */
bool row_active(const struct row *r);

const struct trace_digest *row_digest(const struct rows *p, const struct row *r);
/* The other end in this reading; NULL: it is remote or not traced. */
const struct trace_digest *row_peer(const struct rows *p, const struct row *r);
/* Index in v by serial; ROW_NEW: gone. */
uint32_t row_find(const struct rows *p, uint64_t serial);

/* The time in each state within the interval. */
void row_states(const struct rows *p, const struct row *r, uint64_t tx[TX_N], uint64_t rx[RX_N]);

double row_share(const struct rows *p,
		 const struct row *r); /* the part of the interval that was stall */
double row_per_second(const struct rows *p, uint64_t n); /* a rate over the interval */

extern const char *const row_sort_names[]; /* for the option; ends with NULL */

#endif
