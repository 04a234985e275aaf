/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process did meanwhile that others wait for, in words. */
#ifndef IPCSTALL_RENDER_DOING_TEXT_H
#define IPCSTALL_RENDER_DOING_TEXT_H

#include "host/asleep.h"

enum doing {
	DOING_UNKNOWN, /* nobody looked, or it was found here and there */
	DOING_STOPPED,	 /* by a signal or a debugger */
	DOING_THROTTLED, /* the CPU quota of its cgroup was used up */
	DOING_STARVED,	 /* one of its threads is ready to run, and has no CPU */
	DOING_COMPUTES,	 /* one of its threads has a CPU */
	DOING_SLEEPS,	 /* in one system call */
};

/* `a` NULL: nobody looked */
enum doing doing_of(const struct asleep *a);
/* "sleeps in flock(), for a lock on a file"; false, and empty: DOING_UNKNOWN */
bool doing_phrase(const struct asleep *a, char *buf, size_t len);
/* what to change; `reads`: its sender waits for it. Empty: nobody can tell */
void doing_fix(const struct asleep *a, bool reads, char *buf, size_t len);
/* where to look next; empty: nowhere */
void doing_next(const struct asleep *a, char *buf, size_t len);

#endif
