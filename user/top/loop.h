/* SPDX-License-Identifier: GPL-2.0-only */
/* The main loop of the live screen: refreshes, keys and the terminal, until the user quits. */
#ifndef IPCSTALL_TOP_LOOP_H
#define IPCSTALL_TOP_LOOP_H

#include <pthread.h>

#include "top/opened.h"
#include "top/screen.h"

/* The recent steps of the endpoint in the details. The session's own thread adds them. */
struct recent {
	pthread_mutex_t lock;
	struct timeline kept;
};

void recent_step(struct recent *r, const struct trace_transition *tr);

struct top_loop {
	struct trace *t;
	struct recent *recent;
	/* Selects the endpoint whose steps are reported; e NULL: none. false: it failed. The
	 * callback is NULL if `t` itself reports the steps. */
	bool (*steps_of)(void *steps, const struct trace_digest *e,
			 const struct trace_digest *peer);
	/* the ledgers of the selected endpoint, and its serial in them; -1: not available, and the
	 * ledgers of `t` are used */
	int (*ledgers)(void *steps, struct trace_snapshot *s, uint64_t *serial);
	void *steps;
	struct screen screen;	  /* as the options say */
	double cpu_limit;	  /* for the refreshes, as a share of one CPU; 0: none */
	uint64_t iterations;	  /* 0: until the user quits */
	bool (*ended)(void *ctx); /* interrupted, timed out, or all traced processes have ended */
	void *ctx;
	/* the terminal is given back while it runs */
	void (*try_fix)(const struct trace_digest *of);
};

int top_loop_run(struct top_loop *l, struct err *e);

#endif
