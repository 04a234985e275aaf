/* SPDX-License-Identifier: GPL-2.0-only */
/* Readers at connections of their own, each of which waits for the next to send: none goes on. */
#ifndef IPCSTALL_VERDICT_READER_CIRCLE_H
#define IPCSTALL_VERDICT_READER_CIRCLE_H

#include "verdict/verdict.h"

struct reader_circle {
	size_t n;	  /* how many; 0: the reader is in no circle */
	int next;	  /* the endpoint at which the one that it waits for waits */
	bool nobody_else; /* was seen that may send to one of them */
	bool closed;	  /* it ended so */
};

/* the circle that the reader at endpoint i is in */
struct reader_circle reader_circle_at(const struct trace_snapshot *s, size_t i);

#endif
