// SPDX-License-Identifier: GPL-2.0-only
/* The memory of a run, mapped before its ends are forked, so that both have it. */
#include "bench/shared_mem.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guarded.h"

enum {
	SAMPLES_LEAST = 1 << 14,
	SAMPLES_MOST = 1 << 24,
	PACKET_MOST = 1 << 16,
	RECEIVE_BUFFER = 256 << 10, /* bulk: what one recv may take */
};

#define LESS "give a smaller --size, --count or --duration"

static void *map_shared(size_t bytes, struct err *e)
{
	return guarded_map(bytes, LESS, e);
}

/* Memory that a program replacing the worker must have too: passed to it by descriptor. */
static void *map_for_program(const struct run *r, size_t bytes, int *fd, struct err *e)
{
	return r->w->flags & WL_RPC ? guarded_map_file(bytes, LESS, fd, e) : map_shared(bytes, e);
}

/* A round trip takes at least a microsecond, which limits the number of samples. */
static size_t sample_room(const struct bench_plan *plan, enum test t, size_t size)
{
	uint64_t n = (uint64_t)plan->o.duration / 1000;

	if (t == TEST_THROUGHPUT && plan->o.ack == ACK_FINAL)
		return SAMPLES_LEAST;
	if (plan->o.rate > 0)
		n = (uint64_t)(plan->o.rate * (double)plan->o.duration / 1e9) + 1;
	if (plan->o.count)
		n = (uint64_t)plan->o.count;
	if (plan->o.bytes)
		n = ((uint64_t)plan->o.bytes + size - 1) / size;
	return n < SAMPLES_LEAST ? SAMPLES_LEAST : n > SAMPLES_MOST ? SAMPLES_MOST : n;
}

static size_t rtt_room(const struct run *r)
{
	return (r->max_samples + 1) * sizeof(*r->rtt[0]);
}

static int map_rtt(struct run *r, struct err *e)
{
	if (r->test != TEST_CONNECT || !(r->w->flags & WL_TCP))
		return 0;
	for (int i = 0; i < ROLES; i++)
		if (!(r->rtt[i] = map_shared(rtt_room(r), e)))
			return -1;
	return 0;
}

/* Clear what the other end fills in its own order, so that nothing of the last phase remains. */
void shared_mem_clear(struct run *r)
{
	if (r->samples[ROLE_SERVER])
		memset(r->samples[ROLE_SERVER], 0, (r->max_samples + 1) * sizeof(uint64_t));
	for (int i = 0; i < ROLES; i++)
		if (r->rtt[i])
			memset(r->rtt[i], 0, rtt_room(r));
}

/* The memory that this test needs here, with the packets that rudp keeps. */
size_t shared_mem_bytes(const struct bench_plan *plan, enum test t, size_t size)
{
	size_t samples = (sample_room(plan, t, size) + 1) * sizeof(uint64_t) *
			 (t == TEST_ONEWAY ? ROLES : 1);
	size_t kept = plan->w->flags & WL_RELIABLE
			      ? (size_t)plan->o.window * (size < PACKET_MOST ? size : PACKET_MOST)
			      : 0;

	return sizeof(struct shared) + samples + kept +
	       (size > RECEIVE_BUFFER ? size : RECEIVE_BUFFER);
}

int shared_mem_map(struct run *r, struct err *e)
{
	size_t samples;

	r->max_samples = sample_room(r->plan, r->test, r->size);
	samples = (r->max_samples + 1) * sizeof(uint64_t);
	r->buf_size = r->size > RECEIVE_BUFFER ? r->size : RECEIVE_BUFFER;
	r->fds = (struct rpc_fds){ -1, -1, -1, -1, sizeof(*r->sh), samples };
	r->sh = map_for_program(r, sizeof(*r->sh), &r->fds.shared, e);
	r->samples[ROLE_CLIENT] =
		r->sh ? map_for_program(r, samples, &r->fds.samples, e) : NULL;
	r->samples[ROLE_SERVER] =
		r->samples[ROLE_CLIENT] && r->test == TEST_ONEWAY ? map_shared(samples, e) : NULL;
	if (!r->samples[ROLE_CLIENT] || (r->test == TEST_ONEWAY && !r->samples[ROLE_SERVER]) ||
	    map_rtt(r, e))
		return -1;
	/* private: each end gets a copy of its own when it first writes there (do_open) */
	r->buf =
		mmap(NULL, r->buf_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->buf == MAP_FAILED) {
		r->buf = NULL;
		return err_sys(e, EXIT_NO_RESOURCE, "give a smaller --size",
			       "memory for a message of %zu bytes", r->size);
	}
	return 0;
}

void shared_mem_unmap(struct run *r)
{
	guarded_unmap(r->sh, sizeof(*r->sh));
	for (int i = 0; i < ROLES; i++) {
		guarded_unmap(r->samples[i], (r->max_samples + 1) * sizeof(uint64_t));
		guarded_unmap(r->rtt[i], rtt_room(r));
	}
	if (r->buf)
		munmap(r->buf, r->buf_size);
	if (r->fds.shared >= 0 && r->w->flags & WL_RPC)
		close(r->fds.shared);
	if (r->fds.samples >= 0 && r->w->flags & WL_RPC)
		close(r->fds.samples);
}
