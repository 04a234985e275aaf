// SPDX-License-Identifier: GPL-2.0-only
#include "session/watched.h"

#include <string.h>

#include "session/doing.h"

static struct asleep thread_of(struct culprit who)
{
	struct asleep a = { .pid = who.pid, .awaited = who.awaited };

	memcpy(a.waiters, who.waiters, sizeof(a.waiters));
	if (a.pid)
		a.tid = who.tid ? who.tid : asleep_only_thread(a.pid);
	return a;
}

void watched_begin(struct watched *w, struct culprit who, struct zoom *zoom,
		   const struct zoom_stop *stop)
{
	*w = (struct watched){ .stop = stop, .zoom = zoom, .doing = thread_of(who) };
	w->worker.pid = who.pid;
	if (who.pid)
		cpu_book_make(&w->before, &(struct cpu_book){}, &who.pid, 1);
}

void watched_end(struct watched *w)
{
	struct cpu_book after = {};

	asleep_sort(&w->doing);
	doing_prefer_worker(&w->doing, &w->worker);
	if (w->doing.pid) {
		cpu_book_make(&after, &w->before, &w->doing.pid, 1);
		doing_cpu(&w->doing, &w->before, &after);
	}
	cpu_book_free(&after);
	cpu_book_free(&w->before);
}

bool watched_look(void *ctx)
{
	struct watched *w = ctx;

	if (w->doing.pid && w->zoom && w->zoom->t)
		doing_sample_worker(&w->worker, w->zoom->t);
	if (w->doing.tid)
		asleep_sample(&w->doing);
	return w->stop && w->stop->asked(w->stop->ctx);
}
