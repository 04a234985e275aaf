// SPDX-License-Identifier: GPL-2.0-only
/* One end alone: the other is on another host. */
#include "bench/local_end.h"

#include <stdlib.h>

#include "bench/point_run.h"
#include "bench/shared_mem.h"

struct local_end {
	struct point_run b;
};

struct run *local_end_run(struct local_end *h)
{
	return &h->b.run;
}

pid_t local_end_pid(const struct local_end *h)
{
	return h->b.worker[ROLE_SERVER].pid;
}

int local_end_fd(const struct local_end *h)
{
	return h->b.worker[ROLE_SERVER].reports;
}

int local_end_order(struct local_end *h, const struct order_msg *o, struct err *e)
{
	return point_run_order(&h->b, ROLE_SERVER, o, e);
}

int local_end_report(struct local_end *h, struct err *e)
{
	return point_run_report(&h->b, ROLE_SERVER, e);
}

void local_end_reset(struct local_end *h)
{
	phase_reset(h->b.run.sh);
	shared_mem_clear(&h->b.run);
}

void local_end_stop(struct local_end *h, bool failed)
{
	point_run_end(&h->b, failed);
	free(h);
}

struct local_end *local_end_start(const struct bench_plan *plan, enum test t, int64_t size,
				  const char *bind, struct err *e)
{
	struct local_end *h = calloc(1, sizeof(*h));

	if (!h) {
		err_resource(e, "a run: out of memory");
		return NULL;
	}
	point_run_init(&h->b, plan, t, size);
	h->b.run.wo.bind = bind;
	if (point_run_open(&h->b, e) == 0 && point_run_spawn(&h->b, ROLE_SERVER, e) == 0)
		return h;
	local_end_stop(h, true);
	return NULL;
}
