/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a run: what its two ends share, and the message buffer. */
#ifndef IPCSTALL_BENCH_SHARED_MEM_H
#define IPCSTALL_BENCH_SHARED_MEM_H

#include "bench/run.h"

/* Call before the fork. shared_mem_unmap() unmaps it, also after a failure. */
int shared_mem_map(struct run *r, struct err *e);
void shared_mem_unmap(struct run *r);
void shared_mem_clear(struct run *r);
size_t shared_mem_bytes(const struct bench_plan *plan, enum test t, size_t size);

#endif
