/* SPDX-License-Identifier: GPL-2.0-only */
/* The result of a point, as plain data: independent of how it was measured and how it is shown. An
 * unknown value is NAN in a double, FACT_UNKNOWN in a number (workloads/facts.h), false in a
 * has_... flag; never 0. */
#ifndef IPCSTALL_BENCH_POINT_H
#define IPCSTALL_BENCH_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stats/hdr.h"
#include "host/noise.h"
#include "stats/stats.h"
#include "workloads/worker_abi.h"

struct reliable_result {
	bool present;
	struct reliable_counts n;
	double loss; /* share of transmissions that never reached the reader: lost or dropped */
	uint64_t over_rto, over_second; /* latency: messages that took longer than this */
};

struct latency_result {
	bool present;
	struct summary s;      /* ns */
	struct hdr *histogram; /* owned; NULL: none */
	/* oneway: each direction by itself */
	bool has_directions;
	struct summary there, back;
	/* connect over TCP: the handshake's parts as TCP measured them, at client and server */
	bool has_syn, has_synack;
	struct summary syn, synack;
};

struct throughput_result {
	bool present;
	double bytes_per_s; /* bytes after the first receive, divided by the time since then */
	struct interval ci; /* of the trials' mean, weighted by their durations */
	double *trials;	    /* owned: bytes per second in each slice of the run */
	double *trial_ns;   /* owned: the duration of each slice */
	size_t n_trials;
	double acked_bytes_per_s; /* over the sender's time, from its first byte to the final ack */
};

/* A remote call beside a plain message of the same size over the same path: half a round trip, and
 * bulk throughput. */
struct rpc_result {
	bool present;
	const char *payload, *transport, *plain_mode; /* transport NULL: the library has only one */
	struct rpc_facts facts;
	double plain_ns, plain_bytes_per_s; /* NAN: not measured */
};

/* What --tuned may set; 0 and NULL: left to the kernel. */
struct knobs {
	const char *cc;
	int64_t sndbuf, rcvbuf, pipe_size;
};

enum { TUNED_TRIED = 16 };

/* How a point's knobs were found. score: a trial's bytes per second, or its median in ns; NAN: the
 * trial failed. The first trial uses the kernel's own choice. */
struct tuned {
	bool present;
	struct knobs chosen;
	struct tried {
		struct knobs knobs;
		double score;
	} tried[TUNED_TRIED];
	size_t n_tried;
};

enum { POINT_WARNINGS = 12, WARNING_TEXT = 240 };

struct point {
	const char *mode, *placement, *ack;
	enum test test;
	int64_t size;
	int cpus[ROLES];
	bool nodelay;
	uint64_t warmup, warmup_ns;    /* messages not recorded, and their time */
	uint64_t started_ns, ended_ns; /* CLOCK_MONOTONIC of the measured phase */
	uint64_t elapsed_ns;
	uint64_t messages, bytes; /* delivered */
	uint64_t sent;
	uint64_t lost;
	uint64_t late; /* open loop: messages that could not start in time */
	struct latency_result latency;
	struct throughput_result throughput;
	struct reliable_result reliable;
	struct rpc_result rpc;
	struct tuned tuned;
	struct socket_facts socket[ROLES];
	struct worker_usage usage[ROLES];
	const uint64_t *samples; /* owned: ns in the order they were taken; NULL when none */
	size_t n_samples;
	struct noise_report noise;
	char warnings[POINT_WARNINGS][WARNING_TEXT];
	size_t n_warnings;
	void *ledger; /* the tracer's own part; NULL when nothing was traced */
};

void point_warn(struct point *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void point_free(struct point *p);
const char *test_name(enum test t);

/* Time per message, from the mean latency (NAN: none), the number of messages that arrived and of
 * those sent, and the duration of the round. NAN: unknown. */
double cost_of_message(enum test t, double mean_ns, double messages, double sent,
		       double elapsed_ns);
double point_cost_ns(const struct point *p);

#endif
