/* SPDX-License-Identifier: GPL-2.0-only */
/* From a point, live or as it stands in a result or a sweep, to what the judge wants of it. NAN is
 * unknown. */
#ifndef IPCSTALL_DIAGNOSE_OBSERVE_H
#define IPCSTALL_DIAGNOSE_OBSERVE_H

#include <jansson.h>

#include "diagnose/diagnosis.h"

/* A point as both sources tell it. */
struct seen_point {
	int64_t size;
	double cost_ns, messages, sent, lost, elapsed_ns;
	double competing; /* CPU that went to others, share of the CPUs used */
	bool one_cpu;
	struct seen_end {
		int pid;
		double cpu_ns, run_delay_ns;
	} end[ROLES];
	double busy_us, rwnd_limited_us; /* the client's tcp_info */
	bool traced;
	bool same_run; /* the ledger is of the run that the figures are of */
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
	double runq[ROLES]; /* shares, of the endpoints so far */
};

/* First the point, then its endpoints, one by one. */
void observe_begin(struct observation *o, const struct seen_point *p, struct diag_round *out);
void observe_endpoint(struct observation *o, const struct seen_endpoint *ep);
/* Returns 0; -1: no time per message in it. */
int observe_end(struct observation *o);

struct point;
int observe_point(const struct point *p, struct diag_round *out);
/* point: as json_of_point() makes it. */
int observe_saved(const json_t *point, struct diag_round *out);

#endif
