/* SPDX-License-Identifier: GPL-2.0-only */
/* What the awaited process did during the wait, in words. */
#ifndef IPCSTALL_RENDER_DOING_TEXT_H
#define IPCSTALL_RENDER_DOING_TEXT_H

#include "host/asleep.h"

enum doing {
	DOING_UNKNOWN, /* it was not sampled, or most samples do not agree */
	DOING_STOPPED,	 /* by a signal or a debugger */
	DOING_THROTTLED, /* the CPU quota of its cgroup was used up */
	DOING_STARVED,	 /* one of its threads is on a run queue most of the time */
	DOING_COMPUTES,	 /* one of its threads is on a CPU most of the time */
	DOING_SLEEPS,	 /* in one system call in most samples */
};

#define DOING_TEXT 256

/* `a` NULL: the process was not sampled */
enum doing doing_of(const struct asleep *a);
/* "sleeps in flock(), for a lock on a file", "sleeps in write() to tee[9], which sleeps in fsync(),
 * for a disk". Returns false and an empty text for DOING_UNKNOWN. */
bool doing_phrase(const struct asleep *a, char *buf, size_t len);
/* what to change; `reads`: its sender waits for it to read; empty: no fix is known */
void doing_fix(const struct asleep *a, bool reads, char *buf, size_t len);
/* where to look next; empty: no advice */
void doing_next(const struct asleep *a, char *buf, size_t len);

#endif
