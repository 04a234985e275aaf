/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The interface between one end of a point and its coordinator: orders and reports through pipes,
 * counts and samples in shared memory. An end may be a program of its own (user/workloads/rpc),
 * under another licence and in C++: it includes this file and facts.h only. */
#ifndef IPCSTALL_WORKLOADS_WORKER_ABI_H
#define IPCSTALL_WORKLOADS_WORKER_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "workloads/facts.h"

enum test { TEST_LATENCY, TEST_THROUGHPUT, TEST_ONEWAY, TEST_CONNECT, TESTS };
enum role { ROLE_CLIENT, ROLE_SERVER, ROLES };
enum order { ORDER_OPEN, ORDER_ACCEPT, ORDER_PHASE, ORDER_FACTS, ORDER_QUIT };

struct address {
	struct sockaddr_storage ss;
	socklen_t len; /* 0: none */
};

struct phase {
	bool record;
	uint64_t min_count, max_count;
	uint64_t duration_ns;
	uint64_t slice_ns;  /* length of a throughput trial */
	uint64_t budget_ns; /* the longest that the phase may take */
};

struct order_msg {
	enum order order;
	struct phase phase;
};

struct worker_usage {
	pid_t pid;
	int cpu_first, cpu_last;	/* where the measured phase began and ended */
	int64_t voluntary, involuntary; /* context switches in it */
	int64_t user_us, system_us;
};

/* What one end counted in the phase. Each end writes its own. */
struct tally {
	uint64_t n; /* latency: samples; throughput: calls */
	uint64_t messages, bytes, lost, late;
	uint64_t unclocked; /* bytes of the first receive, at which the receiver's time begins */
	uint64_t from, to;  /* ticks */
	size_t n_slices;
	struct worker_usage usage;
	struct socket_facts facts;
	struct reliable_counts reliable;
	struct rpc_facts rpc;
} __attribute__((aligned(128)));

enum { MAX_SLICES = 4096 };

struct slice {
	uint64_t ticks, bytes; /* since the previous slice */
};

/* --- for an end that is a program of its own --- */

enum {
	WORKER_ABI = 1,
	WORKER_OTHER_ABI = 8,	 /* its exit status if it was built for another ABI */
	WORKER_NOT_LOADED = 127, /* the loader's exit status: a library is missing */
};

enum rpc_payload { RPC_STRING, RPC_INT, RPC_DOUBLE, RPC_STRUCT };
enum rpc_nagle_end { NAGLE_BOTH, NAGLE_CLIENT, NAGLE_SERVER };
enum rpc_transport { RPC_BUFFERED, RPC_FRAMED, RPC_UNBUFFERED };

/* What the program is to run; written before the ends start. A size of 0 leaves the kernel's
 * default. */
struct worker_job {
	enum test test;
	enum rpc_payload payload;
	enum rpc_transport transport;
	bool unix_socket, v6, unprivileged, tsc;
	bool nodelay[ROLES];
	bool remote;	     /* the other end is on another host */
	uint64_t clock_mult; /* ns = ticks * mult >> clock_shift, over a 128-bit product */
	uint32_t clock_shift;
	uint16_t port; /* 0: any free one */
	uint64_t size, max_samples;
	int64_t sndbuf, rcvbuf, mss, delack_max_ns, pacing;
	char cc[24], bind[64]; /* empty cc: the kernel's choice; empty bind: loopback */
};

/* `err` has the layout of `struct err` (base/err.h). */
struct worker_report {
	bool ok;
	struct {
		int code;
		char text[768];
	} err;
};

/* Mapped before the fork. `last` and `total` are written once, by the leading end before its last
 * message, and read by the other end after each: the cache line stays shared, so the read costs
 * next to nothing. */
struct shared {
	uint64_t last __attribute__((aligned(128))); /* number of the last message of the phase */
	uint64_t total;	  /* bytes of the phase; UINT64_MAX until known */
	uint32_t done;	  /* the leading end has finished the phase */
	uint32_t started; /* the other host has begun the phase */
	struct address server, client __attribute__((aligned(128)));
	struct tally tally[ROLES];
	struct worker_job job;
	struct slice slices[MAX_SLICES] __attribute__((aligned(128))); /* last: ends at the guard
									  page */
};

#endif
