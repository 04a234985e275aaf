// SPDX-License-Identifier: GPL-2.0-only
/* One end alone: the other is on another host. */
#include "bench/local_end.h"

#include <stdlib.h>

#include "bench/point_run.h"
#include "bench/shared_mem.h"

/* --- one end alone: the other is on another host (half.h) --- */
struct half {
	struct bout b;
};

struct run *half_run(struct half *h)
{
	return &h->b.run;
}

pid_t half_pid(const struct half *h)
{
	return h->b.worker[ROLE_SERVER].pid;
}

int half_fd(const struct half *h)
{
	return h->b.worker[ROLE_SERVER].reports;
}

int half_order(struct half *h, const struct order_msg *o, struct err *e)
{
	return bout_order(&h->b, ROLE_SERVER, o, e);
}

int half_report(struct half *h, struct err *e)
{
	return bout_report(&h->b, ROLE_SERVER, e);
}

void half_reset(struct half *h)
{
	phase_reset(h->b.run.sh);
	room_clear(&h->b.run);
}

void half_stop(struct half *h, bool failed)
{
	bout_end(&h->b, failed);
	free(h);
}

struct half *half_start(const struct bench_plan *plan, enum test t, int64_t size, const char *bind, struct err *e)
{
	struct half *h = calloc(1, sizeof(*h));

	if (!h) {
		err_set(e, EXIT_NO_RESOURCE, "a run: out of memory");
		return NULL;
	}
	bout_init(&h->b, plan, t, size);
	h->b.run.wo.bind = bind;
	if (bout_open(&h->b, e) == 0 && bout_spawn(&h->b, ROLE_SERVER, e) == 0)
		return h;
	half_stop(h, true);
	return NULL;
}
