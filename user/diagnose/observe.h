/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts a point, live or saved in a result or a sweep, to a round for the judge. NAN is unknown.
 */
#ifndef IPCSTALL_DIAGNOSE_OBSERVE_H
#define IPCSTALL_DIAGNOSE_OBSERVE_H

#include <jansson.h>

#include "diagnose/diagnosis.h"

/* The facts of a point that both sources have. */
struct seen_point {
	int64_t size;
	double cost_ns, messages, sent, lost, elapsed_ns;
	double competing; /* CPU time of other processes, share of the CPUs used */
	bool one_cpu;
	struct seen_end {
		int pid;
		double cpu_ns, run_delay_ns;
	} end[ROLES];
	double busy_us, rwnd_limited_us; /* from the client's tcp_info */
	bool traced;
	bool same_run; /* the ledger and the figures are of the same run */
};

struct seen_endpoint {
	enum role sender; /* the end that sends through it */
	bool pipe, peer_seen;
	int pid;
	char comm[16];
	double lifetime_ns;
	struct seen_state {
		double ns, count, max_ns, delack_ns, unread_ns;
	} tx[TX_N];
	double rcvbuf, qdisc; /* drops */
	double tx_runq_ns, rx_runq_ns;
};

struct observation {
	struct seen_point p;
	struct diag_round *out;
	double runq[ROLES]; /* shares, summed over the endpoints so far */
};

/* Call observe_begin() with the point, then observe_endpoint() for each of its endpoints. */
void observe_begin(struct observation *o, const struct seen_point *p, struct diag_round *out);
void observe_endpoint(struct observation *o, const struct seen_endpoint *ep);
/* Returns 0; -1: the point has no time per message. */
int observe_end(struct observation *o);

struct point;
int observe_point(const struct point *p, struct diag_round *out);
/* point: made by json_of_point(). */
int observe_saved(const json_t *point, struct diag_round *out);

#endif
