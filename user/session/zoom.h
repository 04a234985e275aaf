/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the ledger for seconds where samples suspect a stall. Its programs are loaded once, and
 * attached to the processes at both ends within a budget of the time.
 */
#ifndef IPCSTALL_SESSION_ZOOM_H
#define IPCSTALL_SESSION_ZOOM_H

#include "base/err.h"
#include "tracer/trace.h"

#define ZOOM_MOST_NS  2000000000ull
#define ZOOM_LEAST_NS 200000000ull /* a shorter trace proves little */

/* Ends a zoom before its time is over: `asked` is called every 20 ms. */
struct zoom_stop {
	bool (*asked)(void *ctx);
	void *ctx;
};

struct zoom {
	struct trace *t;
	double budget; /* of the time */
	uint64_t began_ns, spent_ns, times;
	uint64_t start_ns; /* how long attaching took last time */
};

/* Loads the ledger's programs; nothing runs yet. Protocols and ports are those of `filter`. */
int zoom_prepare(struct zoom *z, const struct trace_options *filter, double budget, struct err *e);
/* Does the budget allow a zoom of `ns`? The first may come at once. */
bool zoom_allowed(const struct zoom *z, uint64_t ns);
/* How long a zoom that begins `preparing_ns` from now can trace until `deadline`; 0: too short
 * to prove anything. */
uint64_t zoom_time(uint64_t now, uint64_t deadline, uint64_t preparing_ns);
/* Traces these processes for ZOOM_MOST_NS, or until `deadline`, or until `stop` asks. The caller
 * frees *out. */
int zoom_at(struct zoom *z, const pid_t *pids, size_t n, uint64_t deadline,
	    const struct zoom_stop *stop, struct trace_snapshot *out, struct err *e);
void zoom_free(struct zoom *z);

#endif
