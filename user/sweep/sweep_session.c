// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "sweep/sweep.h"

/* The most cells that share one session. Loading the programs takes the verifier a second or more,
 * longer than most points; but a session's table of followed processes grows with each cell. */
enum { SESSION_CELLS = 32 };

/* Not with --ab, which attaches and detaches the programs during a point. */
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

/* If nothing can be traced, a sweep says so and runs on, as a benchmark does. */
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
		fprintf(stderr, "ipcstall: sweep: without ledgers: %s\n", s->tr.failed.text);
	s->said = true;
	return 0;
}
