/* SPDX-License-Identifier: GPL-2.0-only */
/* Remote calls by gRPC and Thrift. Their libraries' licence forbids linking them here, so each end
 * is a program of its own (user/workloads/rpc, built by `make rpc`), which takes the place of the
 * worker's process. */
#ifndef IPCSTALL_WORKLOADS_RPC_H
#define IPCSTALL_WORKLOADS_RPC_H

#include <limits.h>

#include "workloads/workload.h"

/* Find the program; -1 with the reason if it is missing. */
int rpc_program(const struct workload *w, bool unoptimised, char path[PATH_MAX], struct err *e);

/* Fill in what the ends are to run. */
void rpc_job_fill(struct worker_job *job, const struct workload *w,
		  const struct workload_options *o, enum test t);

/* The descriptors that the program takes over. */
struct rpc_fds {
	int orders, reports, shared, samples;
	size_t shared_bytes, samples_bytes;
};

/* Execute the program, which starts as if it had read ORDER_OPEN. Returns only on failure. */
int rpc_become(const struct workload *w, const struct workload_options *o, enum role role,
	       const struct rpc_fds *fds, struct err *e);

extern const char *const rpc_payloads[];   /* by enum rpc_payload; NULL-terminated */
extern const char *const rpc_nagle_ends[]; /* by enum rpc_nagle_end; NULL-terminated */
extern const char *const rpc_transports[]; /* by enum rpc_transport; NULL-terminated */

/* The payload's fixed size; 0: --size sets it. */
size_t rpc_payload_size(enum rpc_payload p);

#endif
