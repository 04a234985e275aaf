/* SPDX-License-Identifier: GPL-2.0-only */
/* The user's command, held at a gate before its first instruction until a tracer knows its pid. */
#ifndef IPCSTALL_BASE_CHILD_H
#define IPCSTALL_BASE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/identity.h"

struct child {
	pid_t pid;
	int gate;	/* one byte written here lets it run */
	int exec_error; /* holds an errno if exec failed (negative: it could not become the other
			   user), end of file if exec succeeded */
	int status;	/* as waitpid() gives it, once reaped */
	bool reaped;
	bool adopts; /* orphans of its processes become our children */
};

/* Fails at once, before anything else is touched, if argv[0] is evidently no program that can be
 * run. as: the user that it becomes when the gate opens. */
int child_spawn(struct child *c, char *const argv[], const struct identity *as, struct err *e);

/* Open the gate; returns an error if exec fails: EXIT_NO_PERM, EXIT_BAD_USAGE (a missing
 * interpreter). */
int child_go(struct child *c, const char *name, struct err *e);

/* Wait until it ends, at most until deadline_ns (CLOCK_MONOTONIC; 0: no limit). 1: ended, 0: not
 * yet, -1: a signal came. */
int child_wait(struct child *c, uint64_t deadline_ns);

/* If it still runs, end it and all that it has started: SIGTERM, then SIGKILL to what is left after
 * grace_ms; and reap it. */
void child_end(struct child *c, int grace_ms);

/* The exit code to pass on: its own, or 128 + the signal that killed it. */
int child_exit_code(const struct child *c);

#endif
