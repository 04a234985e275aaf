// SPDX-License-Identifier: GPL-2.0-only
#include "session/zoom.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/session.h"

int zoom_prepare(struct zoom *z, const struct trace_options *filter, double budget, struct err *e)
{
	struct trace_options o = *filter;

	o.budget = 0;
	o.backend = TRACE_AUTO;
	o.filter = TRACE_FILTER_TREE; /* others take their place before it is started */
	o.tgids[0] = getpid();
	o.n_tgids = 1;
	o.existing = true;
	o.small_ring = true;
	*z = (struct zoom){ .budget = budget, .began_ns = now_ns() };
	z->t = trace_prepare(&o, e);
	return z->t ? 0 : -1;
}

bool zoom_allowed(const struct zoom *z, uint64_t ns)
{
	double first = (double)ZOOM_MOST_NS / z->budget;

	return (double)(z->spent_ns + ns) <= z->budget * ((double)(now_ns() - z->began_ns) + first);
}

uint64_t zoom_time(uint64_t now, uint64_t deadline, uint64_t preparing_ns)
{
	uint64_t left = deadline > now ? deadline - now : 0;

	left = left > preparing_ns ? left - preparing_ns : 0;
	if (left < ZOOM_LEAST_NS)
		return 0;
	return left < ZOOM_MOST_NS ? left : ZOOM_MOST_NS;
}

#define ASKED_EVERY_NS 20000000ull

static void wait_until(uint64_t end, const struct zoom_stop *stop)
{
	for (uint64_t now = now_ns(); now < end && !stop->asked(stop->ctx); now = now_ns()) {
		uint64_t left = end - now;

		if (left > ASKED_EVERY_NS)
			left = ASKED_EVERY_NS;
		nanosleep(&(struct timespec){ .tv_nsec = (long)left }, NULL);
	}
}

int zoom_at(struct zoom *z, const pid_t *pids, size_t n, uint64_t deadline,
	    const struct zoom_stop *stop, struct trace_snapshot *out, struct err *e)
{
	uint64_t began = now_ns(), most;
	int rc;

	if (trace_retarget(z->t, pids, n, e) || trace_start(z->t, e)) {
		trace_stop(z->t);
		return -1;
	}
	z->start_ns = now_ns() - began;
	most = began + z->start_ns + ZOOM_MOST_NS;
	wait_until(deadline < most ? deadline : most, stop);
	rc = trace_snapshot(z->t, out, e);
	trace_stop(z->t);
	z->spent_ns += now_ns() - began;
	z->times++;
	return rc;
}

void zoom_free(struct zoom *z)
{
	trace_finish(z->t);
	z->t = NULL;
}
