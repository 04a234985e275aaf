/* SPDX-License-Identifier: GPL-2.0-only */
/* Which endpoints make room for others. */
#ifndef IPCSTALL_TRACER_ROOM_H
#define IPCSTALL_TRACER_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOM_IDLE_NS 1000000000ull /* whoever was idle for less stays */

/* An endpoint that has room. */
struct place {
	uint64_t key, serial;
	uint32_t tgid;	  /* who last used it; 0: nobody was seen to */
	uint64_t idle_ns; /* since nothing is under way and nobody is in a call; 0: something is */
	uint64_t stall_ns, bytes;
	/* found here */
	size_t of_process; /* so many places its process has */
	bool goes;
};

/* Those that let go are marked in v, which changes its order; how many. asks: the process whose
 * endpoint found no room. */
size_t room_choose(struct place *v, size_t n, uint32_t asks);

#endif
