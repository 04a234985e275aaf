/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process does from some time on, in samples. */
#ifndef IPCSTALL_SESSION_WATCHED_H
#define IPCSTALL_SESSION_WATCHED_H

#include "host/asleep.h"
#include "session/zoom.h"
#include "tracer/process_cpu.h"
#include "verdict/waiting_processes.h"

struct watched {
	const struct zoom_stop *stop;
	struct zoom *zoom;   /* its session shows which thread works on a request */
	struct asleep doing; /* pid 0: nobody is watched */
	struct asleep worker; /* the thread that works on a request */
	struct cpu_book before;
};

/* who.pid 0: nobody is watched */
void watched_begin(struct watched *w, struct culprit who, struct zoom *zoom,
		   const struct zoom_stop *stop);
/* Takes a sample. A `struct zoom_stop` has it as its `asked`, with the watched as `ctx`. */
bool watched_look(void *ctx);
void watched_end(struct watched *w);

#endif
