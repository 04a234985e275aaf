// SPDX-License-Identifier: GPL-2.0-only
#include "session/watched.h"

#include <string.h>

#include "session/doing.h"

/* With fewer samples, all of them may be of one request. */
#define AT_WORK_ENOUGH 10

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
	w->at_work = w->doing;
	if (who.pid)
		cpu_book_make(&w->before, &(struct cpu_book){}, &who.pid, 1);
}

void watched_end(struct watched *w)
{
	struct cpu_book after = {};

	if (w->at_work.at_work && w->at_work.samples >= AT_WORK_ENOUGH)
		w->doing = w->at_work;
	asleep_sort(&w->doing);
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
		doing_sample_at_work(&w->at_work, w->zoom->t);
	if (w->doing.tid)
		asleep_sample(&w->doing);
	return w->stop && w->stop->asked(w->stop->ctx);
}
