/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen kept alive: looks, keys and the terminal, until the user has seen enough. */
#ifndef IPCSTALL_TOP_LOOP_H
#define IPCSTALL_TOP_LOOP_H

#include <pthread.h>

#include "top/opened.h"
#include "top/screen.h"

/* The steps of the endpoint in the details; they come from the session's own thread. */
struct recent {
	pthread_mutex_t lock;
	struct timeline kept;
};

void recent_step(struct recent *r, const struct trace_transition *tr);

struct top_loop {
	struct trace *t;
	struct recent *recent;
	/* NULL: of `t`. Else the steps of this endpoint are wanted, or (NULL) of none; false: they
	 * cannot be had. */
	bool (*steps_of)(void *steps, const struct trace_digest *e,
			 const struct trace_digest *peer);
	/* the ledgers of those whose steps are wanted, and the endpoint's serial in them; -1: they
	 * cannot be had, and those of `t` are taken */
	int (*ledgers)(void *steps, struct trace_snapshot *s, uint64_t *serial);
	void *steps;
	struct screen screen;	  /* as the options say */
	double cpu_limit;	  /* of the refreshes, as a share of one CPU; 0: none */
	uint64_t iterations;	  /* 0: until the user quits */
	bool (*ended)(void *ctx); /* interrupted, or nobody is left to look at */
	void *ctx;
	/* the terminal is given back meanwhile */
	void (*try_fix)(const struct trace_digest *of);
};

int top_loop_run(struct top_loop *l, struct err *e);

#endif
