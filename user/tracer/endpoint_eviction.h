/* SPDX-License-Identifier: GPL-2.0-only */
/* Which endpoints are dropped when the endpoint table is full. */
#ifndef IPCSTALL_TRACER_ENDPOINT_EVICTION_H
#define IPCSTALL_TRACER_ENDPOINT_EVICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVICT_IDLE_NS 1000000000ull /* whoever was idle for less stays */

/* An endpoint that has a slot. */
struct place {
	uint64_t key, serial;
	uint32_t tgid;	  /* who last used it; 0: nobody was seen to */
	uint64_t idle_ns; /* since nothing is under way and nobody is in a call; 0: something is */
	uint64_t stall_ns, bytes;
	/* found here */
	size_t of_process; /* so many slots its process has */
	bool goes;
};

/* Those to drop are marked in v, which changes its order; returns their number. asks: the process
 * whose endpoint found no slot. */
size_t eviction_choose(struct place *v, size_t n, uint32_t asks);

#endif
