// SPDX-License-Identifier: GPL-2.0-only
/* Sets up what a point's two ends need before they are forked, and cleans up after them. */
#include "bench/point_run.h"

#include <sys/socket.h>
#include <unistd.h>

#include "bench/shared_mem.h"

static void workload_options_of(const struct bench_plan *plan, enum test t, size_t size,
				struct workload_options *wo)
{
	const struct bench_options *o = &plan->o;

	*wo = (struct workload_options){
		.pair_type = plan->w->pair_type,
		.v6 = o->v6,
		.nodelay = bench_nodelay(plan, t),
		.cork = o->cork,
		.quickack = o->quickack,
		.spin = plan->placement == PLACE_SPIN,
		.engine = (enum engine)o->engine,
		.sndbuf = o->sndbuf,
		.rcvbuf = o->rcvbuf,
		.pipe_size = o->pipe_size,
		.mss = o->mss,
		.delack_max_ns = o->delack_max,
		.cc = o->cc,
		.port = (uint16_t)o->port,
		.message = size,
		.rto_ns = o->rto,
		.window = o->window,
		.drop = o->drop / 100,
		.seed = (uint64_t)o->seed,
		.pacing = o->pacing,
		.unprivileged = o->serving,
		.payload = (enum rpc_payload)o->payload,
		.transport = (enum rpc_transport)o->transport,
		.nagle_end = (enum rpc_nagle_end)o->nagle_end,
		.unoptimised = o->unoptimised,
	};
}

static void job_fill(struct run *r)
{
	rpc_job_fill(&r->sh->job, r->w, &r->wo, r->test);
	r->sh->job.tsc = r->clock.tsc;
	r->sh->job.clock_mult = r->clock.mult;
	r->sh->job.remote = r->plan->remote != NULL;
	r->sh->job.max_samples = r->max_samples;
}

int point_run_open(struct point_run *b, struct err *e)
{
	struct run *r = &b->run;

	if (r->plan->has_link) {
		r->wo.bind =
			link_addr(&r->plan->link, LINK_SERVER, r->wo.v6 ? AF_INET6 : AF_INET, e);
		if (!r->wo.bind)
			return -1;
	}
	if (shared_mem_map(&b->run, e))
		return -1;
	if (r->w->flags & WL_RPC)
		job_fill(r);
	b->awake_fd = stay_awake(r->plan->placement, e);
	if (b->awake_fd == -2)
		return -1;
	return r->w->open_pair ? r->w->open_pair(b->ends, &r->wo, e) : 0;
}

void point_run_init(struct point_run *b, const struct bench_plan *plan, enum test t, int64_t size)
{
	*b = (struct point_run){ .run = { .plan = plan,
					  .w = plan->w,
					  .test = t,
					  .size = (size_t)size,
					  .clock = plan->clock,
					  .engine = &engines[plan->o.engine] },
				 .worker = { { 0, -1, -1 }, { 0, -1, -1 } },
				 .ends = { CONN_NONE, CONN_NONE },
				 .awake_fd = -1 };
	workload_options_of(plan, t, (size_t)size, &b->run.wo);
}

void point_run_end(struct point_run *b, bool failed)
{
	point_run_reap(b, failed);
	if (b->awake_fd >= 0)
		close(b->awake_fd);
	b->awake_fd = -1;
	shared_mem_unmap(&b->run);
}
