/* SPDX-License-Identifier: GPL-2.0-only */
/* A circle of readers on different connections, each of which waits for the next to send: none goes
 * on. */
#ifndef IPCSTALL_VERDICT_READER_CIRCLE_H
#define IPCSTALL_VERDICT_READER_CIRCLE_H

#include "verdict/verdict.h"

struct reader_circle {
	size_t n;	  /* how many; 0: the reader is in no circle */
	int next;	  /* where the process that this reader waits for waits in turn */
	bool nobody_else; /* no other thread was seen that may send to one of them */
	bool closed;	  /* one of the endpoints was closed */
};

/* the circle that the reader at endpoint i is in */
struct reader_circle reader_circle_at(const struct trace_snapshot *s, size_t i);

#endif
