/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's ladder of latencies, from a cache hit to the disk: what a message's time is made
 * of. A rung is one function and one row. It fills samples in ns per operation, or says in one
 * sentence why it cannot. */
#ifndef IPCSTALL_HOST_LADDER_H
#define IPCSTALL_HOST_LADDER_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "host/machine.h"

#define LADDER_SAMPLES 200
#define LADDER_WHY     160

struct ladder {
	struct machine machine;
	int cpu;	   /* where everything runs, the child too; -1: not pinned */
	cpu_set_t allowed; /* before ladder_init() pinned the caller; ladder_free() restores it */
	const char *dir;   /* where the disk rungs make their file */
	uint64_t seed;
	char *memory; /* far larger than the last-level cache; made on first use */
	size_t memory_size;
	double ns[LADDER_SAMPLES];
	char why[LADDER_WHY]; /* why the last rung failed, or how it was measured */
};

struct rung {
	const char *name, *label;
	int (*run)(struct ladder *l); /* number of samples in l->ns; -1: unknown, l->why says why */
};

extern const struct rung ladder_rungs[]; /* ends with a NULL name */

/* Pins the calling thread to the CPU it is on, until ladder_free(). */
void ladder_init(struct ladder *l, const char *dir, uint64_t seed);
void ladder_free(struct ladder *l);

/* For the rungs: note why one cannot be measured; returns -1. */
int ladder_fail(struct ladder *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ladder_note(struct ladder *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int rung_l1(struct ladder *l);
int rung_branch_miss(struct ladder *l);
int rung_l2(struct ladder *l);
int rung_mutex(struct ladder *l);
int rung_memory(struct ladder *l);
int rung_memory_1m(struct ladder *l);
int rung_deflate(struct ladder *l);
int rung_snappy(struct ladder *l);
int rung_send_1k(struct ladder *l);
int rung_rtt(struct ladder *l);
int rung_disk_4k(struct ladder *l);
int rung_disk_1m(struct ladder *l);

#endif
