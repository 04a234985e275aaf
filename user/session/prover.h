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
	uint64_t serial;    /* stalled: of the endpoint that seemed to stall */
	enum tx_state cause; /* of which it seemed so */
	pid_t awaited;	     /* waiting: for this process; 0: not seen */
	double share;	     /* of the window before, by samples */
	struct trace_snapshot s;
	double *unanswered; /* by endpoint of `s`: part of the time before in which, by samples,
			       an answer was awaited there; NULL: not known */
	struct verdict v;
	struct trace_ruling computes; /* the culprit is limited by its CPU, see prover.c */
	struct asleep doing; /* the culprit's, afterwards; pid 0: it was not looked at */
};

#define PROOFS_MOST  16
#define RULINGS_MOST 128

struct prover {
	const struct trace_options *filter;
	double budget; /* of the time; 0: nothing is proven */
	struct zoom zoom;
	bool loaded;
	uint64_t load_ns; /* so long loading takes, for all that is known: as that of the looks */
	struct trace_packed last; /* up to here it was judged */
	bool had_last_chance;	  /* to prove anything before the session's end */
	uint64_t next_ns, judging_ns; /* when it is due; the CPU time that the last one took */
	struct cpu_book target;	      /* what the only target had used when it was judged last */
	struct proof proofs[PROOFS_MOST];
	size_t n;
	struct trace_ruling rulings[RULINGS_MOST]; /* of those that found no stall, but a limit */
	size_t n_rulings;
};

void prover_begin(struct prover *p, const struct trace_options *filter, double budget,
		  uint64_t load_ns);
/* Loads the ledger's programs now; otherwise the first proof loads them. */
int prover_load(struct prover *p, struct err *e);
/* A load cannot be interrupted, so this loads the programs early if session `t` lasts long
 * enough for a proof (0: no end). The first window begins just before the load. */
void prover_prepare(struct prover *p, struct trace *t, uint64_t duration_ns);
/* The processes that a proof looks at. */
#define PARTIES_MOST 8

struct parties {
	pid_t v[PARTIES_MOST];
	size_t n;
};

struct parties parties_of_stall(const struct trace_snapshot *s, const struct finding *f);
/* The ledger's view of these processes, which ends with `deadline`; *proof is to be freed. False:
 * none is to be had now. */
bool prover_prove(struct prover *p, const struct parties *who, uint64_t deadline,
		  const struct zoom_stop *stop, struct trace_snapshot *proof);
/* Two sessions see the same socket or pipe, each under a number of its own. */
bool is_same_end(const struct trace_endpoint *a, const struct trace_endpoint *b);
/* To be called often: judges what was seen since the last time, and proves what is new. `t`: the
 * session of looks; a proof takes no longer than until `deadline`. */
int prover_tick(struct prover *p, struct trace *t, uint64_t deadline, const struct zoom_stop *stop,
		struct err *e);
/* What the proof, if it found no stall, says of the suspected end: a limit, and up to which share
 * of its time. */
void prover_rule(struct prover *p, const struct trace_endpoint *suspect, const struct proof *proof);
/* The proof that the card shows instead of the samples' verdict `v`: exact tracing sees the end of
 * a chain of waits, and counts requests. NULL: the card shows `v`. */
const struct proof *prover_answer(const struct prover *p, const struct trace_snapshot *s,
				  const struct verdict *v);
/* A stall that samples suspect is certain if the ledger saw it, with the same cause and the same to
 * blame. */
void prover_confirm(const struct prover *p, const struct trace_snapshot *s, struct verdict *v);
/* what was found of whoever that verdict names the culprit; NULL: nobody looked, or long ago */
const struct asleep *prover_doing(const struct prover *p, const struct trace_snapshot *s,
				  const struct verdict *v);
/* A line for each proof, but for `but` (NULL: none); healthy: so the card says. */
void prover_print(const struct prover *p, const struct proof *but, bool healthy, FILE *out);
/* [{"t", "ns", "ledger"}] */
json_t *prover_to_json(const struct prover *p);
void prover_end(struct prover *p);

#endif
