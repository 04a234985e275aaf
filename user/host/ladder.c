// SPDX-License-Identifier: GPL-2.0-only
#include "host/ladder.h"

#include <string.h>
#include <sys/mman.h>

const struct rung ladder_rungs[] = {
	{ "l1", "L1 cache reference", rung_l1 },
	{ "branch_miss", "branch misprediction", rung_branch_miss },
	{ "l2", "L2 cache reference", rung_l2 },
	{ "mutex", "mutex lock and unlock, uncontended", rung_mutex },
	{ "memory", "main memory reference", rung_memory },
	{ "compress_snappy", "compress 1 KB with snappy", rung_snappy },
	{ "compress_zlib", "compress 1 KB with zlib, level 1", rung_deflate },
	{ "send_1k", "send 1 KB over loopback TCP, one way", rung_send_1k },
	{ "rtt", "round trip of 1 B over loopback TCP", rung_rtt },
	{ "memory_1m", "read 1 MB sequentially from memory", rung_memory_1m },
	{ "disk_4k", "read 4 KB at random from disk", rung_disk_4k },
	{ "disk_1m", "read 1 MB sequentially from disk", rung_disk_1m },
	{ NULL, NULL, NULL },
};

static void pin_here(struct ladder *l)
{
	cpu_set_t one;

	l->cpu = sched_getcpu();
	CPU_ZERO(&one);
	if (l->cpu >= 0)
		CPU_SET(l->cpu, &one);
	if (l->cpu < 0 || sched_getaffinity(0, sizeof(l->allowed), &l->allowed) ||
	    sched_setaffinity(0, sizeof(one), &one))
		l->cpu = -1;
}

void ladder_init(struct ladder *l, const char *dir, uint64_t seed)
{
	memset(l, 0, sizeof(*l));
	machine_read(&l->machine);
	l->dir = dir;
	l->seed = seed;
	pin_here(l);
}

void ladder_free(struct ladder *l)
{
	if (l->memory)
		munmap(l->memory, l->memory_size);
	l->memory = NULL;
	if (l->cpu >= 0)
		sched_setaffinity(0, sizeof(l->allowed), &l->allowed);
}
