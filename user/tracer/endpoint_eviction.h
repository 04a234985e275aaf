/* SPDX-License-Identifier: GPL-2.0-only */
/* Which endpoints are dropped when the endpoint table is full. */
#ifndef IPCSTALL_TRACER_ENDPOINT_EVICTION_H
#define IPCSTALL_TRACER_ENDPOINT_EVICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVICT_IDLE_NS 1000000000ull /* endpoints that were idle for less are kept */

/* An endpoint that has a slot. */
struct place {
	uint64_t key, serial;
	uint32_t tgid;	  /* the process that last used it; 0: none was seen */
	uint64_t idle_ns; /* how long no data and no call has been under way; 0: one is */
	uint64_t stall_ns, bytes;
	/* found here */
	size_t of_process; /* how many slots its process has */
	bool goes;
};

/* Marks the endpoints to drop in v, and changes its order. Returns their number. asks: the process
 * whose endpoint found no slot. */
size_t eviction_choose(struct place *v, size_t n, uint32_t asks);

#endif
