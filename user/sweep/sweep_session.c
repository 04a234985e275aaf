// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "sweep/sweep.h"

/* One session serves so many cells: loading takes the verifier a second or more, which is longer
 * than most points. It follows each cell's processes by a table, and that one grows. */
enum { SESSION_CELLS = 32 };

/* --ab attaches and detaches in the course of a point. */
static bool serves(const struct sweep *s, const struct bench_plan *plan)
{
	return s->tr.t && !plan->o.ab && s->session.cells < SESSION_CELLS &&
	       s->session.of == plan->w && s->session.backend == plan->o.backend;
}

static int begin_session(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	traced_end(&s->tr);
	s->session.of = plan->w;
	s->session.backend = plan->o.backend;
	s->session.cells = 0;
	return traced_begin(&s->tr, plan, (enum trace_backend)plan->o.backend, e);
}

/* A sweep runs on where nothing can be traced, as a benchmark does, and says so. */
int sweep_trace_cell(struct sweep *s, const struct bench_plan *plan, struct err *e)
{
	if (!plan->o.trace)
		return 0;
	if (!serves(s, plan) && begin_session(s, plan, e))
		return -1;
	s->session.cells++;
	if (s->tr.t)
		return 0;
	if ((plan->o.ab && traced_needed(&s->tr, "ab", e)) ||
	    (s->insists && traced_needed(&s->tr, "trace", e)))
		return -1;
	if (!s->said)
		fprintf(stderr, "ipcstall: sweep: without ledgers: %s\n", s->tr.why);
	s->said = true;
	return 0;
}
