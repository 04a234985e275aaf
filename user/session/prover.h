/* SPDX-License-Identifier: GPL-2.0-only */
/* If samples suspect a stall, find a wait or see nothing, the ledger traces the processes
 * involved for two seconds. Its result is the proof. */
#ifndef IPCSTALL_SESSION_PROVER_H
#define IPCSTALL_SESSION_PROVER_H

#include <jansson.h>
#include <stdio.h>

#include "host/asleep.h"
#include "session/zoom.h"
#include "tracer/process_cpu.h"
#include "verdict/verdict.h"

struct proof {
	uint64_t at_ns, ns; /* when it ended, and how long the ledger was attached */
	enum outcome of;    /* what samples said */
	uint64_t serial;    /* if stalled: of the suspected endpoint */
	enum tx_state cause; /* the suspected cause */
	pid_t awaited;	     /* if waiting: the awaited process; 0: not seen */
	double share;	     /* of the sampled window before the proof */
	struct trace_snapshot s;
	double *unanswered; /* by endpoint of `s`: part of the time before in which, by samples,
			       an answer was awaited there; NULL: not known */
	struct verdict v;
	struct trace_ruling computes; /* the culprit is limited by its CPU, see prover.c */
	struct asleep
		doing; /* of the culprit, during the proof or after it; pid 0: it was not sampled */
};

#define PROOFS_MOST  16
#define RULINGS_MOST 128

struct prover {
	const struct trace_options *filter;
	double budget; /* of the time; 0: nothing is proven */
	struct zoom zoom;
	bool loaded;
	uint64_t load_ns; /* expected loading time: that of the sampling programs */
	struct trace_packed last; /* the sums up to the last judgement */
	bool had_last_chance;	  /* to prove anything before the session's end */
	uint64_t next_ns, judging_ns; /* when the next judgement is due; CPU time of the last */
	struct cpu_book target;	      /* the only target's CPU use at the last judgement */
	struct proof proofs[PROOFS_MOST];
	size_t n;
	struct trace_ruling rulings[RULINGS_MOST]; /* of proofs that found a limit, and no stall */
	size_t n_rulings;
};

void prover_begin(struct prover *p, const struct trace_options *filter, double budget,
		  uint64_t load_ns);
/* Loads the ledger's programs now; otherwise the first proof loads them. */
int prover_load(struct prover *p, struct err *e);
/* A load cannot be interrupted, so this loads the programs early if session `t` lasts long
 * enough for a proof (0: no end). The first window begins just before the load. */
void prover_prepare(struct prover *p, struct trace *t, uint64_t duration_ns);
/* A stall of this share explains the wait of the other end. */
#define EXPLAINS 0.5

/* The processes that a proof traces. */
#define PARTIES_MOST 8

struct parties {
	pid_t v[PARTIES_MOST];
	size_t n;
};

void parties_add(struct parties *who, pid_t pid);
struct parties parties_of_stall(const struct trace_snapshot *s, const struct finding *f);
/* Traces these processes by the ledger until `deadline` at most. The caller frees *proof. False:
 * no proof can be made now. */
bool prover_prove(struct prover *p, const struct parties *who, uint64_t deadline,
		  const struct zoom_stop *stop, struct trace_snapshot *proof);
/* Do the endpoints of two sessions belong to the same socket or pipe? Each session numbers its
 * endpoints in its own way. */
bool is_same_end(const struct trace_endpoint *a, const struct trace_endpoint *b);
/* The endpoint of that socket or pipe in another session; NULL: it has none. */
const struct trace_endpoint *end_in(const struct trace_snapshot *s,
				    const struct trace_endpoint *ep);
/* A stall with a smaller share is not proven. */
#define LEAST_SHARE 0.1
/* As far as samples show, the reader's CPU is the limit. */
bool is_limited_by_reader(const struct trace_snapshot *s, const struct verdict *v);
/* the part of its time in which an answer was awaited there */
double share_unanswered(const struct trace_endpoint *ep);
/* A wait that takes a much larger share than before that proof is a new one. */
bool proof_wait_has_grown(const struct proof *p, double share);
/* Call often: judges what was seen since the last time, and proves what is new. `t`: the sampled
 * session. A proof ends at `deadline` at the latest. */
int prover_tick(struct prover *p, struct trace *t, uint64_t deadline, const struct zoom_stop *stop,
		struct err *e);
/* If the proof found no stall, rules that a limit explains the suspected endpoint, up to a share
 * of its time. */
void prover_rule(struct prover *p, const struct trace_endpoint *suspect, const struct proof *proof);
/* The proof that the card shows instead of the samples' verdict `v`: exact tracing sees the end of
 * a chain of waits, and counts requests. NULL: the card shows `v`. */
const struct proof *prover_answer(const struct prover *p, const struct trace_snapshot *s,
				  const struct verdict *v);
/* A stall that samples suspect becomes certain if the ledger saw it, with the same cause and the
 * same blame. */
void prover_confirm(const struct prover *p, const struct trace_snapshot *s, struct verdict *v);
/* What the culprit of this verdict did. NULL: it was not sampled, or too long ago. */
const struct asleep *prover_doing(const struct prover *p, const struct trace_snapshot *s,
				  const struct verdict *v);
/* Prints a line for each proof except `but` (NULL: for all). healthy: the card says HEALTHY. */
void prover_print(const struct prover *p, const struct proof *but, bool healthy, FILE *out);
/* [{"t", "ns", "ledger", "asleep", "cpu"}] */
json_t *prover_to_json(const struct prover *p);
void prover_end(struct prover *p);

#endif
