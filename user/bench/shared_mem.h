/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a run: what its two ends share, and the message. */
#ifndef IPCSTALL_BENCH_SHARED_MEM_H
#define IPCSTALL_BENCH_SHARED_MEM_H

#include "bench/run.h"

/* Before the fork; what was mapped is unmapped by room_unmap(), after a failure too. */
int room_map(struct run *r, struct err *e);
void room_unmap(struct run *r);
void room_clear(struct run *r);

#endif
