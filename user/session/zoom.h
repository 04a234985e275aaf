/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger, for seconds, where looks suspect a stall: its programs are loaded once, and attached
 * for the processes at both ends within a budget of the time.
 */
#ifndef IPCSTALL_SESSION_ZOOM_H
#define IPCSTALL_SESSION_ZOOM_H

#include "base/err.h"
#include "tracer/trace.h"

#define ZOOM_MOST_NS  2000000000ull
#define ZOOM_LEAST_NS 200000000ull /* a shorter look of the ledger proves little */

/* Ends a zoom before its time is over: `asked` is called every 20 ms. */
struct zoom_stop {
	bool (*asked)(void *ctx);
	void *ctx;
};

struct zoom {
	struct trace *t;
	double budget; /* of the time */
	uint64_t began_ns, spent_ns, times;
	uint64_t start_ns; /* so long attaching took the last time */
};

/* Loads the ledger's programs; nothing runs yet. Which conversations are looked at: as in `filter`.
 */
int zoom_prepare(struct zoom *z, const struct trace_options *filter, double budget, struct err *e);
/* Is there so much of the budget left? The first may come at once. */
bool zoom_allowed(const struct zoom *z, uint64_t ns);
/* How long the ledger can look until `deadline`, of what begins `preparing_ns` from now; 0: too
 * short to prove anything. */
uint64_t zoom_time(uint64_t now, uint64_t deadline, uint64_t preparing_ns);
/* The ledger of these processes for ZOOM_MOST_NS, or until `deadline`, or until `stop` says so;
 * *out is to be freed. */
int zoom_at(struct zoom *z, const pid_t *pids, size_t n, uint64_t deadline,
	    const struct zoom_stop *stop, struct trace_snapshot *out, struct err *e);
void zoom_free(struct zoom *z);

#endif
